"""One moment in which a person stepped in, and the view of it that holds nobody's bytes but the person's.

It stands apart from the finding because provenance, reflections and surfaces need the value and not the search.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from handrail.ids import short_hash


class Trigger(StrEnum):
    """What the person did.

    ``steer``: spoke while the agent worked. ``denial``: refused a call. ``followup``: spoke after an answer (a
    candidate only). ``edit``: changed what was shown. ``interrupt``: stopped the agent. ``rewind``: went back and
    said it another way. ``revision``: sent something back, or ended it, at a point or an approval.
    """

    STEER = "steer"
    DENIAL = "denial"
    FOLLOWUP = "followup"
    EDIT = "edit"
    INTERRUPT = "interrupt"
    REWIND = "rewind"
    REVISION = "revision"


Actor: TypeAlias = Literal["person", "unknown"]
"""Who acted: ``unknown`` where a stop is recorded and nobody's words follow it."""

MCP_TOOL = "mcp"
OTHER_TOOL = "other"
MAX_TOOLS_AFTER = 8

_WORDLESS = {
    Trigger.DENIAL: "[refused without words; what was refused is withheld]",
    Trigger.INTERRUPT: "[stopped without words]",
    Trigger.EDIT: "[edited; the edit is withheld, for it is mixed with words that are not the person's]",
    Trigger.REVISION: "[sent back, changed or ended without words; what was chosen or written is withheld]",
}
_NO_WORDS = "[no words]"


class Verdict(Struct, frozen=True, kw_only=True, gc=False):
    """What a scorer says of a follow-up.

    ``likelihood`` (0 to 1) that it is a step-in, None where the scorer has no number. ``is_candidate``: worth a closer
    look; ``is_stepin``: to be counted as one. ``reasons`` speak for it, ``doubts`` against, the weightiest first, in
    phrases of ours that hold nothing from the session.
    """

    likelihood: float | None = None
    is_candidate: bool = False
    is_stepin: bool = False
    reasons: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


class Intervention(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One moment in a session where a person stepped in, or may have.

    ``text`` is what the person said; where they said nothing it is what was denied, edited or chosen. ``words``
    holds their own words only (``""`` when there are none) and is never cut. ``at`` is the index of the message
    the act stands in, in the live body or, where ``branch`` is set, in that branch's own body. ``uid`` and
    ``block`` name the record and the block that hold the words (the act itself when there are none); ``uids`` are
    all records of the event. ``left`` is the id of the line that a rewind abandoned. ``until`` is the index, in
    the same body, of the last message that anything here was taken from.

    ``context`` and ``aftermath`` are excerpts of at most ``EXCERPT_CHARS`` characters and an ellipsis.
    ``tools_before`` and ``tools_after`` are names, never arguments; refused calls stand last. ``known_tools`` are
    those of them that are built-ins of the harness or named by the owner.

    ``is_stepin`` false is a candidate. ``reasons`` say why it is, or may be, a step-in, in phrases of ours that hold
    nothing from the session. ``verdict`` is what the scorer said of a follow-up, doubts included.
    """

    trigger: Trigger
    context: str
    text: str
    aftermath: str
    at: int
    tools_before: tuple[str, ...] = ()
    tools_after: tuple[str, ...] = ()
    id: str
    uid: str = ""
    block: int = 0
    branch: str | None = None
    is_stepin: bool = False
    reasons: tuple[str, ...] = ()
    words: str = ""
    actor: Actor = "person"
    uids: tuple[str, ...] = ()
    left: str | None = None
    until: int = 0
    known_tools: frozenset[str] = frozenset()
    verdict: Verdict | None = None

    def user_evidence_only(self) -> Intervention:
        """The clean view: the person's own words, the trigger, the position, and tool names from closed sets.

        Not one byte of it was written by a model, a tool, a page or a harness. Names outside ``known_tools``
        become ``mcp`` or ``other``; record ids are left out and the branch's is replaced by its hash; markers say
        what was withheld, so that absence is not mistaken for the start of a task.
        """
        before = _clean_names(self.tools_before, self.known_tools)
        after = _clean_names(self.tools_after, self.known_tools)
        return msgspec.structs.replace(
            self,
            text=self.words or _WORDLESS.get(self.trigger, _NO_WORDS),
            context=_withheld("what the agent was doing", before),
            aftermath=_withheld("how the agent went on", after),
            tools_before=before,
            tools_after=after,
            uid="",
            uids=(),
            branch=None if self.branch is None else short_hash(self.branch),
            left=None if self.left is None else short_hash(self.left),
        )


def _clean_names(names: Iterable[str], known: frozenset[str]) -> tuple[str, ...]:
    return tuple(name if name in known or name in (MCP_TOOL, OTHER_TOOL) else _stand_in(name) for name in names)


def _stand_in(name: str) -> str:
    return MCP_TOOL if name.startswith("mcp__") else OTHER_TOOL


def _withheld(what: str, tools: tuple[str, ...]) -> str:
    used = f"; tools: {', '.join(tools)}" if tools else ""
    return f"[withheld: {what}, for it may hold words that are not the person's{used}]"
