"""From the acts of one gap to its events: one event is one moment, however many records it left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from handrail.learning.acts import Decided, Refused, Stopped, Words
from handrail.learning.gaps import Gap
from handrail.learning.moment import Actor, Trigger
from handrail.learning.rewinds import Fork, is_said_again
from handrail.transcripts.model import Decision

_SENDS_BACK = frozenset(
    {"abort", "cancel", "change", "decline", "deny", "edit", "no", "redo", "refuse", "reject", "revise", "stop"}
)
"""First words of an option that is no yes; points and approvals are written with labels like these."""

_REVISING = frozenset({"revise", "edit", "abort"})
"""What an option of an interaction point does that is no yes."""


class Event(NamedTuple):
    """What happened once. ``at`` is the message the act stands in, ``block`` its block there.

    ``said`` are the person's own texts in order, ``spoken`` where they stand (empty where the act holds them
    itself). ``calls`` are those refused or edited. ``shown`` is what to show where nothing was said, ``""`` where
    that is the calls.
    """

    trigger: Trigger
    at: int
    block: int
    said: tuple[str, ...]
    spoken: tuple[Words, ...]
    reason: str
    is_stepin: bool = True
    actor: Actor = "person"
    calls: tuple[str, ...] = ()
    shown: str = ""
    fork: Fork | None = None


def events_of(gap: Gap, earlier: Sequence[str], forks: Sequence[tuple[Fork, int]] = ()) -> list[Event]:
    """The events of ``gap`` in order.

    ``earlier`` is what the person said last before it. ``forks`` are those whose taken line begins in this gap, each
    with the message it begins at.
    """
    rewound, words = _rewinds(gap, forks)
    refused, words = _refusals(gap, words)
    decided, words = _decisions(gap, words)
    stopped: list[Event] = []
    if gap.stops and not gap.refusals and not rewound:
        stopped, words = _stop(gap.stops, words, earlier)
    rest = [*_plain(words)]
    return sorted([*rewound, *refused, *decided, *stopped, *rest], key=lambda event: (event.at, event.block))


def _rewinds(gap: Gap, forks: Sequence[tuple[Fork, int]]) -> tuple[list[Event], list[Words]]:
    words = gap.words
    new = [word for word in words if any(word.message >= at for _, at in forks)]
    if not new:
        return [], words
    why = "the person went back and said it another way"
    events = [_spoken(Trigger.REWIND, new, why)._replace(fork=fork) for fork, _ in forks]
    return events, [word for word in words if word not in new]


def _refusals(gap: Gap, words: list[Words]) -> tuple[list[Event], list[Words]]:
    """A refusal with words of its own is one event; wordless ones are one together and take the next words."""
    comments = {act.decision.ask: (act.decision.comment or "").strip() for act in gap.decisions}
    events: list[Event] = []
    wordless: list[Refused] = []
    for act in gap.refusals:
        reason = act.reason or comments.get(act.call, "")
        if reason:
            why = "the person refused a call and said why"
            events.append(Event(Trigger.DENIAL, act.message, act.block, (reason,), (), why, calls=(act.call,)))
        else:
            wordless.append(act)
    if not wordless:
        return events, words
    last = wordless[-1]
    calls = tuple(act.call for act in wordless)
    why = "the person refused a call, and said what they wanted" if words else "the person refused a call"
    said = tuple(word.text for word in words)
    events.append(Event(Trigger.DENIAL, last.message, last.block, said, tuple(words), why, calls=calls))
    return events, []


def _decisions(gap: Gap, words: list[Words]) -> tuple[list[Event], list[Words]]:
    refused = {act.call for act in gap.refusals}
    events: list[Event] = []
    for act in gap.decisions:
        decision = act.decision
        if decision.ask in refused:
            continue
        comment = (decision.comment or "").strip()
        if _is_edit(decision):
            shown = _difference(decision.before or "", decision.after or "")
            # At an interaction point an edit is one way to send back what was shown; elsewhere it is an act of its own.
            trigger = Trigger.EDIT if decision.effect is None else Trigger.REVISION
            event = _decided(trigger, act, comment, shown, "the person edited what was shown")
            event = event._replace(calls=(decision.ask,))
        elif comment or _sends_back(decision):
            why = "the person did not simply say yes"
            event = _decided(Trigger.REVISION, act, comment, decision.choice or "", why)
            if not comment:
                following = tuple(word for word in words if word[:2] > act[:2])
                event = event._replace(said=tuple(word.text for word in following), spoken=following)
                words = [word for word in words if word not in following]
        else:
            continue
        events.append(event)
    return events, words


def _decided(trigger: Trigger, act: Decided, comment: str, shown: str, why: str) -> Event:
    said = (comment,) if comment else ()
    return Event(trigger, act.message, act.block, said, (), why, shown=shown)


def _is_edit(decision: Decision) -> bool:
    """Whether a decision changed what was shown; one that says so may have kept neither text, or the new one only."""
    if (decision.choice or "").strip().casefold() == "edit":
        return decision.before is None or decision.before != decision.after
    return decision.before is not None and decision.after is not None and decision.before != decision.after


def _sends_back(decision: Decision) -> bool:
    """Whether an option says no: by what it does where that is known, else by its first word."""
    if decision.effect is not None:
        return decision.effect in _REVISING
    choice = decision.choice
    first = "".join(char if char.isalnum() else " " for char in (choice or "").casefold()).split()
    return bool(first) and first[0] in _SENDS_BACK


def _stop(stops: Sequence[Stopped], words: list[Words], earlier: Sequence[str]) -> tuple[list[Event], list[Words]]:
    first = stops[0]
    before = [word for word in words if word[:2] < first[:2]]
    after = tuple(word for word in words if word[:2] > first[:2])
    said = tuple(word.text for word in after)
    event = Event(Trigger.INTERRUPT, first.message, first.block, said, after, "")
    if said and is_said_again("\n\n".join(said), [*earlier, *(word.text for word in before)]):
        why = "the person stopped the agent and said it again in similar words"
        event = event._replace(trigger=Trigger.REWIND, reason=why)
    elif said:
        event = event._replace(reason="the person stopped the agent and said what they wanted")
    elif any(stop.is_person for stop in stops):
        event = event._replace(reason="the person stopped the agent")
    else:
        why = "the agent was stopped, and nothing shows by whom"
        event = event._replace(reason=why, is_stepin=False, actor="unknown")
    return [event], before


def _plain(words: Sequence[Words]) -> Iterable[Event]:
    """Words that belong to no other act: one steer or one follow-up, in however many pieces."""
    if not words:
        return
    if any(word.is_steer for word in words):
        yield _spoken(Trigger.STEER, words, "the person spoke while the agent was working")
    else:
        yield _spoken(Trigger.FOLLOWUP, words, "the person spoke after an answer")._replace(is_stepin=False)


def _spoken(trigger: Trigger, words: Sequence[Words], why: str) -> Event:
    said = tuple(word.text for word in words)
    return Event(trigger, words[0].message, words[0].block, said, tuple(words), why)


def _difference(before: str, after: str) -> str:
    """Lines that only one of two texts holds: removed ones after ``- ``, added ones after ``+ ``."""
    old, new = before.splitlines(), after.splitlines()
    had, has = set(old), set(new)
    removed = (f"- {line}" for line in old if line not in has)
    added = (f"+ {line}" for line in new if line not in had)
    return "\n".join(chain(removed, added))
