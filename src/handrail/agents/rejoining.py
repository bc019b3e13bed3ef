"""Sub-agents of a call that runs again because its driver died: found in the journal, gone on with, begun only once."""

from __future__ import annotations

from msgspec import Struct

from handrail.agents.opening import Prompt, Resume
from handrail.agents.result import RunFailed, RunResult, Session, result_of
from handrail.agents.writer import Writer
from handrail.clock import Clock
from handrail.journal import events as ev
from handrail.journal.fold import fold
from handrail.journal.state import Spent
from handrail.journal.vocabulary import EndReason


class Earlier(Struct, frozen=True, kw_only=True):
    """A sub-agent that a call has started before. ``is_counted``: what it spent stands in the journal above already."""

    session: str
    is_counted: bool = False


async def earlier_children(session: Session, call: str) -> tuple[Earlier, ...]:
    """The sub-agents that ``call`` has started in ``session``, in order, since it was asked for last."""
    found: list[str] = []
    counted: set[str] = set()
    for event in await session.journal.read(session.id):
        body = event.body
        if isinstance(body, ev.ToolRequested) and body.call == call:
            found.clear()
        elif isinstance(body, ev.ChildSpawned) and body.call == call:
            found.append(body.child)
        elif isinstance(body, ev.ChildEnded):
            counted.add(body.child)
    return tuple(Earlier(session=name, is_counted=name in counted) for name in found)


class Standing(Struct, frozen=True, kw_only=True):
    """How far a sub-agent is: how to open it (None: its run has ended), and what it had ``spent``."""

    opening: Prompt | Resume | None
    spent: Spent = Spent()


async def standing_of(child: Session, prompt: Prompt) -> Standing:
    """How far the run of ``child`` is, which was to begin with ``prompt``; nobody else moves it any more.

    What drove it before may live yet, frozen or cut off: it is kept from writing before anything is read.
    """
    await child.journal.take_over(child.id)
    events = await child.journal.read(child.id)
    if not events:
        return Standing(opening=prompt)
    state, spent = fold(()), Spent()
    for event in events:
        state = fold((event,), state)
        if state.run is not None:
            spent = state.run.spent
    return Standing(opening=None if state.run is None else Resume(), spent=spent)


async def result_of_ended(child: Session, spent: Spent, clock: Clock) -> RunResult:
    """The result of a run that has ended already; raises ``RunFailed`` as awaiting it would have."""
    writer = Writer(child.journal, child.id, clock)
    await writer.open()
    ended = writer.conversation.ended
    result = result_of(writer, spent, "" if ended is None else ended.run, None)
    if result.end_reason is EndReason.FAILED:
        raise RunFailed(result)
    return result
