"""Sub-agents of a call that runs again because its driver died: found in the journal, gone on with, begun only once."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from handrail.agents.opening import Prompt, Resume
from handrail.agents.result import RunFailed, RunResult, Session, result_of
from handrail.agents.writer import Writer
from handrail.clock import Clock
from handrail.journal import events as ev
from handrail.journal.fold import fold
from handrail.journal.port import Journal
from handrail.journal.state import Spent
from handrail.journal.vocabulary import Actor, ActorKind, EndReason

ABOVE = Actor(ActorKind.DRIVER, "parent")
"""Who pauses an agent because the run that started it is paused."""


class Earlier(Struct, frozen=True, kw_only=True):
    """A sub-agent that a call has started before. ``is_counted``: what it spent stands in the journal above already."""

    session: str
    item: str | None = None
    is_counted: bool = False


class History(Struct, frozen=True, kw_only=True):
    """What a call has done since it was asked for last: the sub-agents it started, in order, and whether its work was
    split."""

    children: tuple[Earlier, ...] = ()
    is_planned: bool = False

    def nth(self, number: int) -> Earlier | None:
        """The one that was started in that place, from 0, for no item."""
        plain = [child for child in self.children if child.item is None]
        return plain[number] if number < len(plain) else None

    def of_item(self, item: str) -> Earlier | None:
        """The one that was started for ``item``."""
        return next((child for child in self.children if child.item == item), None)


async def history_of(session: Session, call: str) -> History:
    """What ``call`` has done in ``session``."""
    found: list[ev.ChildSpawned] = []
    counted: set[str] = set()
    is_planned = False
    for event in await session.journal.read(session.id):
        body = event.body
        if isinstance(body, ev.ToolRequested) and body.call == call:
            found.clear()
            is_planned = False
        elif isinstance(body, ev.ChildSpawned) and body.call == call:
            found.append(body)
        elif isinstance(body, ev.FanOutPlanned) and body.call == call:
            is_planned = True
        elif isinstance(body, ev.ChildEnded):
            counted.add(body.child)
    children = tuple(Earlier(session=one.child, item=one.item, is_counted=one.child in counted) for one in found)
    return History(children=children, is_planned=is_planned)


class Standing(Struct, frozen=True, kw_only=True):
    """How far a sub-agent is: how to open it (None: its run has ended), and what it had ``spent``.

    ``is_paused_from_above``: it was paused together with the run that started it.
    """

    opening: Prompt | Resume | None
    spent: Spent = Spent()
    is_paused_from_above: bool = False


async def standing_of(child: Session, prompt: Prompt) -> Standing:
    """How far the run of ``child`` is, which was to begin with ``prompt``; nobody else moves it any more.

    What drove it before may live yet, frozen or cut off: it is kept from writing before anything is read.
    """
    await child.journal.take_over(child.id)
    events = await child.journal.read(child.id)
    if not events:
        return Standing(opening=prompt)
    state, spent, paused_by = fold(()), Spent(), None
    for event in events:
        state = fold((event,), state)
        if state.run is not None:
            spent = state.run.spent
        if isinstance(event.body, ev.PauseRequested):
            paused_by = event.by
    # It may lie in the inbox yet, and be taken once the run goes on.
    entries = await child.journal.inbox(child.id, state.inbox)
    wishes = [entry for entry in entries if isinstance(entry.body, ev.PauseRequested | ev.ResumeRequested)]
    is_paused = state.run is not None and state.run.is_paused
    if wishes:
        is_paused, paused_by = isinstance(wishes[-1].body, ev.PauseRequested), wishes[-1].by
    return Standing(
        opening=None if state.run is None else Resume(),
        spent=spent,
        is_paused_from_above=is_paused and paused_by == ABOVE,
    )


async def result_of_ended(child: Session, spent: Spent, clock: Clock) -> RunResult:
    """The result of a run that has ended already; raises ``RunFailed`` as awaiting it would have."""
    writer = Writer(child.journal, child.id, clock)
    await writer.open()
    ended = writer.conversation.ended
    result = result_of(writer, spent, "" if ended is None else ended.run, None)
    if result.end_reason is EndReason.FAILED:
        raise RunFailed(result)
    return result


async def asks_below(journal: Journal, children: Iterable[str]) -> tuple[ev.AskOpened, ...]:
    """The open questions of ``children`` and of whoever is below them, in the order of the agents."""
    found: list[ev.AskOpened] = []
    for child in children:
        state = fold(await journal.read(child))
        found += state.asks
        found += await asks_below(journal, state.children)
    return tuple(found)
