"""How a run is closed: every call has a result, every question is withdrawn, every input goes back, in one append."""

from __future__ import annotations

from collections.abc import Iterator

from handrail.journal.effects import End
from handrail.journal.events import AskClosed, InputReturned, Known, RunEnded, ToolFinished, ToolOutcomeUnknown
from handrail.journal.state import CallPhase, CallState, State, open_ask, stage_asks
from handrail.journal.vocabulary import AskKind, AskOutcome
from handrail.transcripts.model import Refusal, RefusalKind


def closing_events(state: State, end: End) -> tuple[Known, ...]:
    """What to append so that the run is over and the history valid; nothing when no run is open."""
    run = state.run
    if run is None:
        return ()
    asks = tuple(AskClosed(ask=ask.ask, outcome=AskOutcome.WITHDRAWN) for ask in stage_asks(state))
    calls = tuple(event for call in run.calls if call.phase is not CallPhase.SETTLED for event in _close(state, call))
    inputs = tuple(InputReturned(one.input, f"the run ended: {end.reason}") for one in run.queue)
    ended = RunEnded(run=run.started.run, reason=end.reason, detail=end.detail, output=end.output)
    return (*asks, *calls, *inputs, ended)


def _close(state: State, call: CallState) -> Iterator[Known]:
    ask = None if call.ask is None else open_ask(state, call.ask)
    if ask is not None:
        yield AskClosed(ask=ask.ask, outcome=AskOutcome.WITHDRAWN)
        if ask.kind is AskKind.APPROVAL:
            # A withdrawn approval is the call's result.
            return
    if call.phase in (CallPhase.STARTED, CallPhase.LOST):
        yield result_of_lost(call, "it was running when the run ended", is_asking=ask is not None)
    else:
        yield ToolFinished(
            call=call.call, content="not run: the run ended", is_error=True, refusal=Refusal(RefusalKind.NOT_RUN)
        )


def result_of_lost(call: CallState, unknown: str, *, is_asking: bool) -> ToolFinished | ToolOutcomeUnknown:
    """The result of a call that was begun and is not carried out any more.

    One that may run twice was left while it waited: for the person it was ``is_asking``, or for an agent of its own
    that has been ended. Of any other nobody knows how it ended; ``unknown`` says what is known.
    """
    if not call.traits.twice_is_safe or not (is_asking or call.was_ended):
        return ToolOutcomeUnknown(call=call.call, known=unknown)
    waited = "it was still waiting for an answer"
    if call.was_ended:
        waited = "the agent it had started was ended before it was done; what that agent did until then stays done"
    return ToolFinished(
        call=call.call,
        content=f"interrupted: {waited}",
        is_error=True,
        refusal=Refusal(RefusalKind.INTERRUPTED, "run", "the run ended"),
    )
