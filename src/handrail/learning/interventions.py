"""Finding the moments in which a person stepped in: pure code over the canonical model of any harness.

The way is: acts of each message (``acts``), gathered in the gaps between responses (``gaps``), made into events
(``events``) and told as moments here, with what surrounds them (``surroundings``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, Protocol

import msgspec

from handrail.ids import short_hash
from handrail.learning.events import Event, events_of
from handrail.learning.gaps import Gap, iter_gaps
from handrail.learning.lines import REACH, Line, line_of
from handrail.learning.moment import Intervention, Trigger, Verdict
from handrail.learning.provenance import builtin_tools
from handrail.learning.rewinds import Forks, find_forks
from handrail.learning.surroundings import Surroundings
from handrail.transcripts.codec import Branch
from handrail.transcripts.model import Common, Message, Meta, Transcript

__all__ = ["Intervention", "Scorer", "Trigger", "Verdict", "find_interventions", "shipped_scorer"]

_PROMPTS_COMPARED = 2


class Scorer(Protocol):
    """Judges whether the follow-up ``moment`` is a step-in; ``line[at]`` is the message it stands in.

    ``line`` is the live line, or a branch with the last ``REACH`` messages before it.
    """

    def __call__(self, moment: Intervention, line: Common, at: int) -> Verdict: ...


def shipped_scorer(moment: Intervention, line: Common, at: int) -> Verdict:
    """The scorer that comes with this package (``pushback``), loaded when a follow-up is first judged."""
    from handrail.learning.pushback import score_pushback

    return score_pushback(moment, line, at)


def find_interventions(
    session: Transcript[Common],
    branches: Sequence[Branch] = (),
    *,
    scorer: Scorer | None = shipped_scorer,
    tools: Collection[str] = (),
) -> tuple[Intervention, ...]:
    """Every moment of ``session`` in which a person stepped in or may have, in the order of the live line.

    ``branches`` are the session's other lines; what happened on one stands where it leaves. ``scorer`` judges the
    follow-ups; with None each of them is a candidate only. ``tools`` are tool names from the owner's own
    configuration, which the clean view may show beside the harness's built-ins. Raises nothing, however odd the
    session is.
    """
    case = _Case(
        session,
        find_forks(session.body, branches),
        frozenset(builtin_tools(session.meta.harness)) | frozenset(tools),
    )
    found: list[tuple[int, Intervention]] = []
    for branch in (*branches, None):
        line = line_of(session.body, branch, reach=REACH)
        for moment in _line_moments(case, line):
            position = moment.at if branch is None else branch.at
            found.append((position, _judged(moment, line, scorer)))
    # The sort is stable: moments of a branch come before those of the live line at the place where it was left.
    found.sort(key=lambda pair: pair[0])
    return tuple(moment for _, moment in found)


def _judged(moment: Intervention, line: Line, scorer: Scorer | None) -> Intervention:
    if scorer is None or moment.trigger != Trigger.FOLLOWUP:
        return moment
    verdict = scorer(moment, line.body, line.start + moment.at)
    reasons = verdict.reasons if verdict.is_candidate and verdict.reasons else moment.reasons
    return msgspec.structs.replace(moment, is_stepin=verdict.is_stepin, reasons=reasons, verdict=verdict)


class _Case(NamedTuple):
    """What telling the moments of one session needs on each of its lines."""

    session: Transcript[Common]
    forks: Forks
    known: frozenset[str]


def _line_moments(case: _Case, line: Line) -> Iterator[Intervention]:
    """The moments whose act stands in the line's own messages."""
    around = Surroundings(line.body)
    gaps = list(iter_gaps(line.body))
    ends = _next_words(gaps, len(line.body))
    was_left = line.branch in case.forks.left
    taken = case.forks.taken.get(line.branch, ())
    earlier: list[str] = []
    for gap, end in zip(gaps, ends, strict=True):
        # A branch is taken where it begins, the live line where another one left it.
        begins = [(fork, line.start if line.branch is not None else fork.left.at) for fork in taken]
        forks = [(fork, at) for fork, at in begins if gap.start <= at < gap.end]
        for event in events_of(gap, earlier[-_PROMPTS_COMPARED:], forks):
            if event.at >= line.start and _counts(line, around, gap, event, was_left=was_left):
                yield _told(case, line, around, gap, event, end)
        if gap.words:
            earlier.append("\n\n".join(word.text for word in gap.words))


def _next_words(gaps: Sequence[Gap], length: int) -> list[int]:
    """For each gap the start of the next one in which the person speaks, or the line's length."""
    ends: list[int] = []
    following = length
    for gap in reversed(gaps):
        ends.append(following)
        following = gap.start if gap.words else following
    return ends[::-1]


def _counts(line: Line, around: Surroundings, gap: Gap, event: Event, *, was_left: bool) -> bool:
    """Whether an event is a moment of its own: not the task, and not the stop that a rewind already tells."""
    match event.trigger:
        case Trigger.FOLLOWUP:
            return line.is_cut or (gap.has_task and around.has_spoken(event.at))
        case Trigger.INTERRUPT | Trigger.DENIAL:
            return gap.is_answered or bool(event.said) or not was_left
        case _:
            return True


def _told(case: _Case, line: Line, around: Surroundings, gap: Gap, event: Event, end: int) -> Intervention:
    context, tools_before = _before(case, around, event)
    aftermath, said_at = around.aftermath(gap.end - 1)
    tools_after, called_at = around.tools_after(gap.end - 1, end)
    words = "\n\n".join(event.said)
    at, block = event.spoken[0][:2] if event.spoken else (event.at, event.block)
    left = event.fork.left.id if event.fork else None
    uid = _record(line.body[at], block)
    return Intervention(
        trigger=event.trigger,
        context=context,
        text=words or event.shown or around.denied(event.calls),
        aftermath=aftermath,
        at=event.at - line.start,
        tools_before=tools_before,
        tools_after=tools_after,
        id=_id(case.session.meta, uid or f"#{line.branch}:{at}", block, event.trigger, left),
        uid=uid,
        block=block,
        branch=line.branch,
        is_stepin=event.is_stepin,
        reasons=(event.reason,),
        words=words,
        actor=event.actor,
        uids=_uids(line.body, event),
        left=left,
        until=max(gap.end - 1, said_at, called_at) - line.start,
        known_tools=case.known.intersection(tools_before + tools_after),
    )


def _before(case: _Case, around: Surroundings, event: Event) -> tuple[str, tuple[str, ...]]:
    """Context and tools before ``event``; for one who went back those of the line they left."""
    at = event.at
    if event.fork is not None:
        left = line_of(case.session.body, event.fork.left, reach=REACH).body
        around, at = Surroundings(left), len(left)
    # A stop may stand in the very response it cut short.
    at += event.trigger in (Trigger.INTERRUPT, Trigger.REWIND)
    context = around.last_said(at) if event.trigger == Trigger.FOLLOWUP else around.doing(at)
    return context, around.tools_before(at, event.calls)


def _id(meta: Meta, uid: str, block: int, trigger: Trigger, left: str | None) -> str:
    parts: list[str | int] = [meta.harness or "", meta.id, uid, block, trigger.value]
    return short_hash(*parts, *([] if left is None else [left]))


def _record(message: Message, block: int) -> str:
    """The id of the record that holds a block: its own where there is one record a block, else the message's."""
    return message.uids[block] if len(message.uids) == len(message.content) else message.uid


def _uids(body: Common, event: Event) -> tuple[str, ...]:
    places = dict.fromkeys([event.at, *(word.message for word in event.spoken)])
    uids = (uid for place in places for uid in (body[place].uids or (body[place].uid,)))
    return tuple(dict.fromkeys(uid for uid in uids if uid))
