"""The end of a run that nobody drives: a person wished it, and no model, tool or blueprint is needed for it."""

from __future__ import annotations

from handrail.agents.orphans import end_agents
from handrail.agents.receiving import take_left
from handrail.agents.result import Session
from handrail.agents.writer import Writer
from handrail.clock import Clock, SystemClock
from handrail.journal import events as ev
from handrail.journal.effects import End
from handrail.journal.ends import closing_events
from handrail.journal.vocabulary import DRIVER, AskOutcome, EndReason


async def cancel_left(session: Session, clock: Clock | None = None) -> bool:
    """End the run of ``session`` as its inbox wishes; whether it wishes so and there was one, open or paused.

    What else stands in the inbox is journalled as received before, and agents below it end first. The question of a
    run that a strategy paused is withdrawn. Whoever drove the run, and was frozen, can write no more. Only to be
    called by one who holds the session.
    """
    writer = Writer(session.journal, session.id, clock or SystemClock())
    await writer.open()
    state = writer.state
    entries = await session.journal.inbox(session.id, state.inbox)
    wish = next((entry.body for entry in entries if isinstance(entry.body, ev.CancelRequested)), None)
    if wish is None or not (state.run is not None or state.asks):
        return False
    if state.run is not None:
        await writer.record_by((ev.DriverTookOver(max(writer.epoch, state.epoch + 1)), DRIVER))
    await take_left(writer)
    await end_agents(writer)
    closing = closing_events(writer.state, End(reason=EndReason.CANCELLED, detail=wish.reason))
    left = () if writer.state.run is not None else writer.state.asks
    withdrawn = tuple(ev.AskClosed(ask=ask.ask, outcome=AskOutcome.WITHDRAWN, comment=wish.reason) for ask in left)
    await writer.record_by(*((body, DRIVER) for body in (*closing, *withdrawn)))
    return True
