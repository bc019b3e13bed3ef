"""What had entered the conversation by each message, and how much of a moment may be believed because of it.

Two flags only ever grow: somebody's private data, words of an untrusted source. Where nobody can tell, the answer
is None, and None is treated as untrusted everywhere. Nothing loosens this: there is no setting.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache

from msgspec import Struct

from handrail.errors import UnknownHarness
from handrail.harnesses import harness
from handrail.learning.lines import line_of
from handrail.learning.moment import Intervention
from handrail.transcripts.calls import call_name
from handrail.transcripts.codec import Branch, ToolTraits
from handrail.transcripts.model import (
    Artifact,
    Author,
    Block,
    Command,
    Common,
    Compaction,
    Image,
    RefusalKind,
    Taint,
    Text,
    ToolCall,
    ToolResult,
    ToolUse,
    Transcript,
)

CLEAN = Taint()
PRIVATE = Taint(private=True)
OUTSIDE = Taint(private=True, untrusted=True)
"""What a tool that nobody vouches for may bring."""

_NEVER_RAN = frozenset(
    {RefusalKind.DENIED, RefusalKind.BLOCKED, RefusalKind.EXPIRED, RefusalKind.WITHDRAWN, RefusalKind.NOT_RUN}
)


class Origin(StrEnum):
    """Whose bytes a lesson would be drawn from.

    ``derived``: a harness's record of something that nobody is known to have done.
    """

    CLEAN = "clean"
    UNTRUSTED = "untrusted"
    DERIVED = "derived"


class EvidenceKind(StrEnum):
    """How much of a moment may be shown: all of it, or the person's own words only."""

    FULL = "full"
    USER_TURNS = "user_turns"


class Evidence(Struct, frozen=True, kw_only=True):
    """What a reflection may read of a moment (``view``), how much that is, and whose bytes it holds."""

    kind: EvidenceKind
    origin: Origin
    view: Intervention


def builtin_tools(name: str | None) -> Mapping[str, ToolTraits]:
    """The built-in tools of the harness ``name``; none when it is unknown."""
    try:
        return harness(name).tools if name else {}
    except UnknownHarness:
        return {}


def classify(covering: Taint | None) -> Origin:
    """``clean`` only where it is known that nothing untrusted had entered; private data alone is clean."""
    return Origin.CLEAN if covering is not None and not covering.untrusted else Origin.UNTRUSTED


def evidence_for(covering: Taint | None, moment: Intervention) -> Evidence:
    """The evidence a reflection may use, given the taint ``covering`` the moment (None: unknown).

    Clean cover shows the moment whole. Anything else shows the clean view, which is clean by what it leaves out.
    A stop that nobody is known to have made is ``derived``: there is no person in it to learn from.
    """
    is_clean = classify(covering) == Origin.CLEAN
    return Evidence(
        kind=EvidenceKind.FULL if is_clean else EvidenceKind.USER_TURNS,
        origin=Origin.CLEAN if moment.actor == "person" else Origin.DERIVED,
        view=moment if is_clean else moment.user_evidence_only(),
    )


def covering(session: Transcript[Common], moment: Intervention, branches: Sequence[Branch] = ()) -> Taint | None:
    """The taint of everything ``moment`` shows: up to the last message its excerpts come from, the left line included.

    None where it is unknown, or where the moment's line is not among ``branches``.
    """
    return coverings(session, (moment,), branches)[0]


def coverings(
    session: Transcript[Common], moments: Iterable[Intervention], branches: Sequence[Branch] = ()
) -> tuple[Taint | None, ...]:
    """``covering`` of each of ``moments``, with every line of the session gone through once."""
    by_id = {branch.id: branch for branch in branches}

    @cache
    def timeline(name: str | None) -> tuple[int, tuple[Taint | None, ...]]:
        line = line_of(session.body, by_id[name] if name is not None else None)
        return line.start, taint_timeline(Transcript(session.meta, line.body))

    def cover(moment: Intervention) -> Taint | None:
        if any(name is not None and name not in by_id for name in (moment.branch, moment.left)):
            return None
        start, own = timeline(moment.branch)
        taint = own[start + moment.until]
        return taint if moment.left is None else _both(taint, timeline(moment.left)[1][-1])

    return tuple(map(cover, moments))


def _both(one: Taint | None, other: Taint | None) -> Taint | None:
    return None if one is None or other is None else one | other


def taint_timeline(session: Transcript[Common]) -> tuple[Taint | None, ...]:
    """For each message of ``session`` what had entered the conversation when it ended; None where that is unknown.

    A recorded taint is taken and added to what came before. Elsewhere the harness's table of built-in tools
    decides; a tool it does not name may have brought anything. Once unknown stays unknown until the next record,
    for a record says what had entered by then.
    """
    return taint_by_table(session, builtin_tools(session.meta.harness))


def taint_by_table(session: Transcript[Common], table: Mapping[str, ToolTraits]) -> tuple[Taint | None, ...]:
    """``taint_timeline`` with the harness's table of built-in tools given; an empty one knows nothing."""
    entered = CLEAN
    is_known = bool(table) and not _has_unseen_past(session)
    timeline: list[Taint | None] = []
    brought = _brought(session.body, table) if table else (CLEAN for _ in session.body)
    for message, taint in zip(session.body, brought, strict=True):
        if message.taint is None:
            entered |= taint
        else:
            entered |= message.taint
            is_known = bool(table)
        timeline.append(entered if is_known or message.taint is not None else None)
    return tuple(timeline)


def _has_unseen_past(session: Transcript[Common]) -> bool:
    """Whether something was said before the first message that is not in the body."""
    parent = session.meta.parent
    if parent is not None and parent.kind != "subagent":
        return all(message.origin is None for message in session.body)
    first = session.body[0].content if session.body else ()
    return any(type(block) is Compaction for block in first)


def _brought(body: Common, table: Mapping[str, ToolTraits]) -> Iterator[Taint]:
    """What each message brought into the conversation, by the table of built-in tools."""
    answered = {block.tool_use_id for message in body for block in message.content if type(block) is ToolResult}
    calls: dict[str, ToolCall] = {}
    for message in body:
        taint = CLEAN
        for block in message.content:
            if type(block) is ToolUse:
                calls[block.id] = block.call
                # What a provider's own tool brings may leave no result behind.
                taint |= CLEAN if block.id in answered else _call_taint(block.call, table)
            elif type(block) is ToolResult:
                is_brought = block.refusal is None or block.refusal.kind not in _NEVER_RAN
                taint |= _call_taint(calls.get(block.tool_use_id), table) if is_brought else CLEAN
            elif message.role == "user":
                taint |= _block_taint(block)
        yield taint


def _call_taint(call: ToolCall | None, table: Mapping[str, ToolTraits]) -> Taint:
    if type(call) is Command:
        # A harness's own commands print its own words; those of a server are the server's.
        return OUTSIDE if call.command.startswith("/mcp__") else CLEAN
    traits = None if call is None else table.get(call_name(call))
    return OUTSIDE if traits is None else Taint(private=traits.private, untrusted=traits.untrusted)


def _block_taint(block: Block) -> Taint:
    """What a block of a user message brings; who another agent or an unknown author read is not known."""
    match block:
        case Image() | Artifact():
            return PRIVATE
        case Text(author=Author.PEER | Author.UNKNOWN) if block.text.strip():
            return OUTSIDE
        case _:
            return CLEAN
