"""How a run ended: one value for every end, and the one error that carries it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from handrail.agents.content import words_of
from handrail.agents.conversation import NO_USAGE
from handrail.agents.writer import Writer
from handrail.errors import HandrailError
from handrail.journal.events import AskOpened, RunEnded
from handrail.journal.port import Journal
from handrail.journal.state import Spent
from handrail.journal.vocabulary import AskKind, EndReason
from handrail.transcripts.model import Common, Json, Message, ToolUse, Transcript, Usage


class Session(Struct, frozen=True):
    """A conversation: its id and the journal that keeps it. Hand it to the next run to go on."""

    id: str
    journal: Journal


class RunResult(Struct, frozen=True, kw_only=True):
    """Everything a run came to; what was committed is in ``transcript`` whatever the end.

    ``output`` is the answer: the words of the last response, the value a tool or strategy finished with, or a value
    of the run's output type; None where the run ended without one. ``detail`` is the reason given for the end.
    ``usage`` is of this run's own responses; ``tokens`` (input and output) and ``cost`` (US dollars; None when a
    response had no known price) are all that counted against its bounds, so those of agents below it and of summaries
    too. ``requests`` counts retries. ``question`` is what a waiting run asks. ``waits_for`` are the open questions of
    a run that was left (``is_left``), and of the agents below it: it is still open, and goes on by being resumed.
    """

    output: Any
    end_reason: EndReason
    transcript: Transcript[Common]
    session: Session
    run: str
    detail: str | None = None
    usage: Usage = NO_USAGE
    tokens: int = 0
    cost: float | None = 0.0
    rounds: int = 0
    requests: int = 0
    tool_calls: int = 0
    elapsed_s: float = 0.0
    last_assistant: Message | None = None
    question: str | None = None
    waits_for: tuple[AskOpened, ...] = ()
    is_left: bool = False

    @property
    def text(self) -> str:
        """The answer as words; "" when there is none."""
        return self.output if isinstance(self.output, str) else ""

    def __repr__(self) -> str:
        """Short: ``asyncio.run`` spells out what its task came to each time, and a whole transcript takes long."""
        return (
            f"RunResult(output={self.output!r}, end_reason={self.end_reason.value!r}, detail={self.detail!r},"
            f" rounds={self.rounds}, session={self.session.id!r}, run={self.run!r})"
        )


class RunFailed(HandrailError):
    """The run could not go on: the model gave no reply, or a strategy said so. ``result`` holds what there is."""

    code = "run_failed"

    def __init__(self, result: RunResult) -> None:
        super().__init__(result.detail or "the run failed")
        self.result = result


def result_of(
    writer: Writer, spent: Spent, run: str, read: Callable[[Json], Any] | None, *, is_parked: bool = False
) -> RunResult:
    """The result of the run that ended last in ``writer``; ``read`` makes a value of a typed output.

    ``is_parked``: of the run that is open there and waits.
    """
    conversation = writer.conversation
    ended = RunEnded(run=run, reason=EndReason.WAITING) if is_parked else conversation.ended
    if ended is None:
        raise ValueError("no run has ended")
    transcript = conversation.transcript()
    asks = writer.state.asks
    question = next((ask.prompt for ask in asks if is_parked or ask.kind is AskKind.PAUSE), None)
    return RunResult(
        output=_output(ended, transcript, read),
        end_reason=ended.reason,
        transcript=transcript,
        session=Session(writer.session, writer.journal),
        run=run,
        detail=ended.detail,
        usage=conversation.usage,
        tokens=spent.tokens,
        cost=spent.cost if conversation.is_priced else None,
        rounds=spent.rounds,
        requests=spent.requests,
        tool_calls=spent.tool_calls,
        elapsed_s=spent.seconds,
        last_assistant=conversation.last_reply,
        question=question if ended.reason is EndReason.WAITING else None,
        waits_for=asks if is_parked else (),
        is_left=is_parked,
    )


def _output(ended: RunEnded, transcript: Transcript[Common], read: Callable[[Json], Any] | None) -> Any:
    """The value that ended the run, else the words of the answer it ended with."""
    if ended.reason in (EndReason.TOOL_FINISHED, EndReason.STRATEGY_FINISH) or ended.output is not None:
        return ended.output if read is None else read(ended.output)
    if read is not None or not transcript.body:
        return None
    last = transcript.body[-1]
    if last.role != "assistant" or any(type(block) is ToolUse for block in last.content):
        return None
    return words_of(last.content)
