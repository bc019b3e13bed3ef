"""What is wrong with a run that was broken: held against its own journal, the notes, and the run that nobody broke.

Every check is a pure function of the evidence. A finding is a loss (something that was recorded, sent, answered or
done is gone), a double (something happened twice), a halt (the run cannot go on, or a process failed by itself) or a
difference (it ended as the unbroken run does not, or its history is not valid).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from handrail.journal import events as ev
from handrail.journal.broken import BrokenJournal
from handrail.journal.fold import fold
from handrail.journal.port import Posted as PostedBody
from handrail.journal.vocabulary import ActorKind, AskOutcome
from handrail.journal.wire import type_of
from handrail.testing.drill.likeness import differences
from handrail.testing.drill.lives import Evidence, Histories
from handrail.testing.drill.notes import Acknowledged, Asked, Posted, Ran
from handrail.testing.drill.people import asked_in, is_over
from handrail.testing.drill.stories import SESSION

Kind: TypeAlias = Literal["loss", "double", "halt", "difference"]


_REFUSALS = ("StaleEpoch", "NotStartable")
"""How a driver ends that was frozen, woke, and found its session in other hands."""


class Finding(Struct, frozen=True):
    """One thing that is wrong."""

    kind: Kind
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"


def findings(broken: Evidence, unbroken: Evidence) -> tuple[Finding, ...]:
    """All that is wrong with ``broken``; nothing where it came to what ``unbroken`` came to."""
    found = [finding for check in _CHECKS for finding in check(broken)]
    if is_over(broken.histories.get(SESSION, ())):
        found += [Finding("difference", told) for told in differences(broken.histories, unbroken.histories)]
    return tuple(found)


# Processes and the journal itself ----------------------------------------------------------------------------


def _halts(evidence: Evidence) -> Iterator[Finding]:
    for life in evidence.lives:
        if life.end == "hung":
            yield Finding("halt", f"{life.process} did nothing any more")
        elif life.end == "failed" and not (life.was_frozen and any(name in life.raised for name in _REFUSALS)):
            yield Finding("halt", f"{life.process} failed:\n{life.raised}")
    if not is_over(evidence.histories.get(SESSION, ())):
        yield Finding("halt", f"the run is not over after {len(evidence.lives)} processes")
        return
    for session, events in evidence.histories.items():
        try:
            state = fold(events)
        except BrokenJournal as problem:
            yield Finding("difference", f"the journal of {session} does not fold: {problem}")
            continue
        if state.run is not None:
            yield Finding("halt", f"the run of the helper {session} was left open")
        for ask in state.asks:
            yield Finding("halt", f"a question was left open: {asked_in(ask)}")


def _forgotten(evidence: Evidence) -> Iterator[Finding]:
    """Events that were there, or were said to be, and are not any more."""
    for life in evidence.lives:
        yield from _missing(life.before, evidence.histories, f"since before {life.process}")
        yield from _missing(life.after, evidence.histories, f"since {life.process} ended")
        said = {
            note.what.session: note.what.seq
            for note in evidence.notes
            if note.process == life.process and isinstance(note.what, Acknowledged)
        }
        for session, seq in said.items():
            if len(life.after.get(session, ())) < seq:
                yield Finding("loss", f"{life.process} was told that event {seq} of {session} is kept, and it is gone")


def _missing(earlier: Histories, later: Histories, when: str) -> Iterator[Finding]:
    for session, events in earlier.items():
        if later.get(session, ())[: len(events)] != events:
            yield Finding("loss", f"events of {session} were lost or changed {when}")


def _woken(evidence: Evidence) -> Iterator[Finding]:
    """A driver that was frozen while another took over must not write once it wakes."""
    for life in evidence.lives:
        if life.woken_at is not None and not evidence.schedule.wakes_early and life.after != life.woken_at:
            yield Finding("double", f"{life.process} wrote after another had taken its session over")


# Models and tools --------------------------------------------------------------------------------------------


def _asked_twice(evidence: Evidence) -> Iterator[Finding]:
    """Requests for a reply that was recorded before the process that asks was born, or that it had asked for."""
    births = {life.process: _replies(life.before) for life in evidence.lives}
    asked: Counter[tuple[str, str, str, int]] = Counter()
    for note in evidence.notes:
        what = note.what
        if isinstance(what, Asked):
            if what.replies < births.get(note.process, {}).get((what.session, what.run), 0):
                yield Finding(
                    "double", f"{note.process} asked a model for reply {what.replies + 1}, which was recorded"
                )
            asked[note.process, what.session, what.run, what.replies] += 1
    for (process, _, _, replies), times in asked.items():
        if times > 1:
            yield Finding("double", f"{process} asked a model {times} times for reply {replies + 1}")


def _replies(histories: Histories) -> dict[tuple[str, str], int]:
    """How many replies each run has had, by session and run."""
    counts: Counter[tuple[str, str]] = Counter()
    for session, events in histories.items():
        run = ""
        for event in events:
            if isinstance(event.body, ev.RunStarted):
                run = event.body.run
            elif isinstance(event.body, ev.ModelReplied):
                counts[session, run] += 1
    return dict(counts)


class _Call(Struct):
    """What the journal says of one call."""

    is_twice_safe: bool = False
    starts: int = 0
    is_finished: bool = False
    is_unknown: bool = False


def _calls(histories: Histories) -> dict[str, _Call]:
    calls: dict[str, _Call] = {}
    for events in histories.values():
        for event in events:
            body = event.body
            if isinstance(body, ev.ToolRequested):
                calls.setdefault(body.call, _Call()).is_twice_safe = body.traits.twice_is_safe
            elif isinstance(body, ev.ToolStarted):
                calls.setdefault(body.call, _Call()).starts += 1
            elif isinstance(body, ev.ToolFinished):
                calls.setdefault(body.call, _Call()).is_finished = body.refusal is None
            elif isinstance(body, ev.ToolOutcomeUnknown):
                calls.setdefault(body.call, _Call()).is_unknown = True
    return calls


def _effects(evidence: Evidence) -> Iterator[Finding]:
    """Tools that ran twice, unrecorded, or not at all although their result says so."""
    ran: Counter[str] = Counter()
    settled = {life.process: _calls(life.before) for life in evidence.lives}
    for note in evidence.notes:
        if isinstance(note.what, Ran):
            ran[note.what.call] += 1
            known = settled.get(note.process, {}).get(note.what.call, _Call())
            if known.is_finished or known.is_unknown:
                yield Finding("double", f"{note.process} ran {note.what.tool} ({note.what.call}), which had its result")
    calls = _calls(evidence.histories)
    for name, call in calls.items():
        times = ran[name]
        if times > 1 and not call.is_twice_safe:
            yield Finding("double", f"{name} may run once and ran {times} times")
        if call.is_finished and not times:
            yield Finding("loss", f"{name} has a result and never ran")
        if call.is_unknown and not evidence.kills:
            yield Finding("loss", f"{name} was given up, and nobody had died")
    for name, times in ran.items():
        if times > calls.get(name, _Call()).starts:
            yield Finding("double", f"{name} ran {times} times, more often than its start was recorded")


# What people sent --------------------------------------------------------------------------------------------


def _sent(evidence: Evidence) -> Iterator[Finding]:
    """Every message is in the inbox once, and was taken from it once, in order, as what it was."""
    sent = {(note.what.session, note.what.key) for note in evidence.notes if isinstance(note.what, Posted)}
    kept = Counter((session, entry.key) for session, entries in evidence.inboxes.items() for entry in entries)
    for session, key in sent:
        if kept[session, key] != 1:
            kind: Kind = "double" if kept[session, key] else "loss"
            yield Finding(kind, f"{key} was sent and stands in the inbox {kept[session, key]} times")
    for session, entries in evidence.inboxes.items():
        order = [event.inbox for event in evidence.histories.get(session, ()) if event.inbox is not None]
        if order != sorted(order):
            yield Finding("difference", f"the inbox of {session} was taken out of order: {order}")
        firsts = Counter(
            event.inbox
            for event in evidence.histories.get(session, ())
            if isinstance(event.body, (*get_args(PostedBody), ev.EntryRefused))
        )
        for entry in entries:
            if firsts[entry.number] != 1:
                kind = "double" if firsts[entry.number] else "loss"
                taken = firsts[entry.number]
                yield Finding(kind, f"{type_of(entry.body)} {entry.key} was taken from the inbox {taken} times")


def _inputs(evidence: Evidence) -> Iterator[Finding]:
    """Every steer and follow-up that was received was delivered or given back, once."""
    for events in evidence.histories.values():
        received: Counter[str] = Counter()
        ended: Counter[str] = Counter()
        for event in events:
            body = event.body
            if isinstance(body, ev.InputReceived):
                received[body.input] += 1
            elif isinstance(body, ev.InputDelivered):
                ended.update(body.inputs)
            elif isinstance(body, ev.InputReturned):
                ended[body.input] += 1
        for name, times in received.items():
            if times != 1 or ended[name] != 1:
                kind: Kind = "loss" if ended[name] == 0 else "double"
                yield Finding(kind, f"{name} was received {times} times and delivered {ended[name]} times")


def _answers(evidence: Evidence) -> Iterator[Finding]:
    """Nobody is asked again what they answered, and an answer counts unless its question was taken back before."""
    for session, events in evidence.histories.items():
        opened = {event.body.ask: event.body for event in events if isinstance(event.body, ev.AskOpened)}
        answered: Counter[str] = Counter()
        ends: dict[str, tuple[AskOutcome, ActorKind]] = {}
        for event in events:
            if isinstance(event.body, ev.AskClosed):
                ends[event.body.ask] = event.body.outcome, event.by.kind
                if event.by.kind is ActorKind.PERSON:
                    answered[asked_in(opened[event.body.ask])] += 1
        for asked, times in answered.items():
            if times > 1:
                yield Finding("double", f"somebody had to answer {times} times: {asked}")
        yield from _unheard(evidence, session, ends)


def _unheard(evidence: Evidence, session: str, ends: dict[str, tuple[AskOutcome, ActorKind]]) -> Iterator[Finding]:
    for entry in evidence.inboxes.get(session, ()):
        body = entry.body
        if isinstance(body, ev.AskClosed):
            outcome, by = ends.get(body.ask, (None, None))
            if by is not ActorKind.PERSON and outcome is not AskOutcome.WITHDRAWN:
                yield Finding("loss", f"an answer to {body.ask} did not count: it ended as {outcome}")


_CHECKS: tuple[Callable[[Evidence], Iterator[Finding]], ...] = (
    _halts,
    _forgotten,
    _woken,
    _asked_twice,
    _effects,
    _sent,
    _inputs,
    _answers,
)
