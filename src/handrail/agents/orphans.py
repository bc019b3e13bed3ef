"""Agents that nobody carries on any more, because the run that started them ends: ended with all they had open."""

from __future__ import annotations

from collections.abc import Collection

from handrail.agents.receiving import take_left
from handrail.agents.result import Session
from handrail.agents.writer import Writer
from handrail.journal import events as ev
from handrail.journal.effects import End
from handrail.journal.ends import closing_events
from handrail.journal.fold import fold
from handrail.journal.state import Spent
from handrail.journal.vocabulary import DRIVER, EndReason

_WHY = "the run that started it ended"


async def end_agents(writer: Writer, among: Collection[str] | None = None) -> None:
    """End the agents that the open run of ``writer`` started and that have not ended: those ``among`` them, or all.

    What was sent to them is journalled as received before, so that an answer counts that was accepted; questions that
    are open then are withdrawn. Those below them end first, and what they spent counts above. Whoever drives one of
    them yet can write no more.
    """
    for child in writer.state.children:
        if among is not None and child not in among:
            continue
        ended = await _ended(Session(child, writer.journal), writer)
        if writer.state.run is not None:
            await writer.record(ended)


async def _ended(child: Session, above: Writer) -> ev.ChildEnded:
    writer = Writer(child.journal, child.id, above.clock)
    await writer.open()
    spent, reason = await _spent_by(child), EndReason.CANCELLED
    if writer.state.run is not None:
        await writer.record(ev.DriverTookOver(max(writer.epoch, writer.state.epoch + 1)))
        await take_left(writer)
        await end_agents(writer)
        spent = Spent() if writer.state.run is None else writer.state.run.spent
        closing = closing_events(writer.state, End(reason=reason, detail=_WHY))
        await writer.record_by(*((body, DRIVER) for body in closing))
        # No run of this session comes to hear what was sent in between.
        await take_left(writer)
    elif writer.conversation.ended is not None:
        reason = writer.conversation.ended.reason
    return ev.ChildEnded(
        child=child.id,
        reason=reason,
        tokens=spent.tokens,
        cost=spent.cost,
        elapsed_s=spent.seconds,
        is_unpriced=not writer.conversation.is_priced,
    )


async def _spent_by(child: Session) -> Spent:
    """What the last run of ``child`` has spent; nothing where it never began."""
    state, spent = fold(()), Spent()
    for event in await child.journal.read(child.id):
        state = fold((event,), state)
        if state.run is not None:
            spent = state.run.spent
    return spent
