"""The seam between two rounds: what a host is asked at a boundary, and the words it answers with.

A strategy is any object with ``on_round(ctx)``, async or plain, or a function of one argument. It sees a
``RoundContext`` and returns a ``RoundDecision``; None is the same as ``RoundDecision.proceed()``. Nothing here does
anything: ``compose`` makes one decision of several, the journal records it, the fold acts on it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from handrail.agents.cancellation import CancellationToken
from handrail.agents.content import Content
from handrail.journal.events import BoundaryDecided
from handrail.journal.vocabulary import Bound, Boundary, Limits, Scope
from handrail.models.port import Effort, ModelInfo, ReasoningOptions
from handrail.transcripts.model import Json, Message, Refusal, Usage

RoundBoundary: TypeAlias = Boundary
"""The four places between rounds; the journal's own enum, under the name that hosts know it by."""

# What may change -------------------------------------------------------------------------------------------


class ReasoningChange(Struct, frozen=True):
    """A change of how the model reasons: ``options``, or back to the provider's default where they are None."""

    options: ReasoningOptions | None = None

    @staticmethod
    def set(options: ReasoningOptions | Effort) -> ReasoningChange:
        """Reason with ``options``; an effort alone will do."""
        return ReasoningChange(ReasoningOptions(options) if isinstance(options, Effort) else options)

    @staticmethod
    def clear() -> ReasoningChange:
        """Back to the provider's default."""
        return ReasoningChange(None)


class RoundAdjustment(Struct, frozen=True, kw_only=True):
    """What changes for the rounds in scope; None leaves a thing as it is. Checked whole before any of it is applied.

    ``tools`` are the names of those that are offered, ``tool_choice`` is ``auto``, ``none``, ``required`` or a name,
    ``limits`` replaces the bounds of the run, ``max_output_tokens`` is how much a response may say, ``note`` is added
    to the instructions. ``scope`` None is that of the decision it comes with: ``run`` with
    ``Continue``, ``round`` with ``Inject`` and ``Retry``. ``session`` outlives the run.
    """

    model: ModelInfo | None = None
    reasoning: ReasoningChange | None = None
    tools: tuple[str, ...] | None = None
    tool_choice: str | None = None
    limits: Limits | None = None
    max_output_tokens: int | None = None
    note: str | None = None
    scope: Scope | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return replace(self, scope=None) == RoundAdjustment()

    def with_model(self, model: ModelInfo) -> RoundAdjustment:
        """A copy that switches to ``model``, which must be one the agent knows."""
        return replace(self, model=model)

    def with_reasoning(self, change: ReasoningChange | ReasoningOptions | Effort) -> RoundAdjustment:
        """A copy that changes the reasoning."""
        return replace(self, reasoning=change if isinstance(change, ReasoningChange) else ReasoningChange.set(change))

    def with_tools(self, *names: str) -> RoundAdjustment:
        """A copy that offers only the tools called ``names``."""
        return replace(self, tools=names)

    def with_tool_choice(self, choice: str) -> RoundAdjustment:
        """A copy that says which tool must be called, if any."""
        return replace(self, tool_choice=choice)

    def with_limits(self, limits: Limits) -> RoundAdjustment:
        """A copy that replaces the run's bounds."""
        return replace(self, limits=limits)

    def with_max_output_tokens(self, tokens: int) -> RoundAdjustment:
        """A copy that says how much a response may say."""
        return replace(self, max_output_tokens=tokens)

    def with_note(self, note: str) -> RoundAdjustment:
        """A copy that adds ``note`` to the instructions."""
        return replace(self, note=note)

    def with_scope(self, scope: Scope) -> RoundAdjustment:
        """A copy that lasts for ``scope``."""
        return replace(self, scope=scope)


# What a host decides ---------------------------------------------------------------------------------------


class RoundDecision(Struct, frozen=True):
    """What a strategy returns. Its kinds are below; they may grow, so a reader keeps a default arm."""

    @staticmethod
    def proceed() -> Continue:
        """Go on by the default flow, nothing changed."""
        return Continue()

    @staticmethod
    def inject(content: Content) -> Inject:
        """Put ``content`` in and run another round."""
        return Inject(content)

    @staticmethod
    def stop(reason: str | None = None) -> Stop:
        """End the run here, gracefully."""
        return Stop(reason)

    @staticmethod
    def finish(value: Json) -> Finish:
        """End the run with ``value`` as its output, without asking the model."""
        return Finish(value)

    @staticmethod
    def retry(note: Content) -> Retry:
        """Do not accept what came; ask again, with ``note``."""
        return Retry(note)

    @staticmethod
    def fail(error: BaseException | str) -> Fail:
        """End the run as failed: ``RunFailed`` is raised with what there is so far."""
        return Fail(error)

    @staticmethod
    def pause(question: str) -> Pause:
        """End the run for now, with a question to a person; it goes on with their answer."""
        return Pause(question)


class Continue(RoundDecision, frozen=True):
    """The default flow: at a tool boundary the next round, at an assistant boundary the answer is accepted.

    ``adjust`` applies to the rounds that follow. ``note`` is recorded with the decision and told to nobody.
    """

    adjust: RoundAdjustment = RoundAdjustment()
    note: str | None = None


class Inject(RoundDecision, frozen=True):
    """Do not end: append ``content`` as a user turn of the host and run another round, with ``adjust`` for it.

    Admitted only where a round can follow (``ctx.can_continue``), below the cap, and when it is not empty.
    """

    content: Content
    adjust: RoundAdjustment = RoundAdjustment()


class Retry(RoundDecision, frozen=True):
    """What came is not accepted: it stays in the history, ``note`` says what is wrong, and another round follows."""

    note: Content
    adjust: RoundAdjustment = RoundAdjustment()


class Stop(RoundDecision, frozen=True):
    """End the run here; it commits exactly as ``run.stop()`` does and asserts nothing about the answer."""

    reason: str | None = None


class Finish(RoundDecision, frozen=True):
    """End the run with ``value`` (anything that is JSON, or of the run's output type)."""

    value: Any


class Fail(RoundDecision, frozen=True):
    """End the run as failed."""

    error: BaseException | str


class Pause(RoundDecision, frozen=True):
    """End the run waiting for the answer to ``question``."""

    question: str


# What a host is asked --------------------------------------------------------------------------------------


class RoundToolResult(Struct, frozen=True, kw_only=True):
    """One call of the round and what it came to. ``tool_name`` and ``input`` are as the model gave them.

    ``refusal`` says why it was not carried out, with who refused. ``details`` were never shown to the model.
    """

    tool_use_id: str
    tool_name: str
    input: Json = None
    content: Json = ""
    is_error: bool = False
    refusal: Refusal | None = None
    details: Json = None
    elapsed_s: float = 0.0


class Remaining(Struct, frozen=True, kw_only=True):
    """What is left of each bound; None where there is no bound. Never below zero."""

    rounds: int | None = None
    requests: int | None = None
    tool_calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None


class Pending(Struct, frozen=True, kw_only=True):
    """How many messages wait in the queues. They win over any strategy where they are due."""

    steers: int = 0
    follow_ups: int = 0


class Charging(Protocol):
    """Counts one reply of a model against a run; ``ValueError`` for amounts that nothing can have cost."""

    def __call__(self, usage: Usage | None, cost: float | None = None) -> None: ...


def _charged_to_nobody(usage: Usage | None, cost: float | None = None) -> None:
    """For a context that belongs to no run."""


class RoundContext(Struct, frozen=True, kw_only=True):
    """The question put at a boundary; a snapshot that may be kept. What it holds is the run's: nobody changes it.

    ``bound`` is the bound that is near or reached, at the two limit boundaries. ``assistant_message`` is the last
    response, at every boundary (None before the first). ``tool_results`` are those of this round, in the order of
    its calls; none at an assistant boundary. ``rounds_completed`` counts this one. ``model_requests`` counts
    retries, ``transport_retries`` them alone. ``usage`` is the run's total and ``last_usage`` that of this response.
    ``elapsed_s`` is effect time, no person's waiting. ``can_continue`` says whether another round can follow, and
    ``why_not`` why none can. ``injections`` is how many were admitted, of at most ``max_injections``. ``depth`` is 0
    for a run nobody spawned, ``parent`` is the session that spawned it. ``decisions`` are those of this run so far.
    ``cancellation`` is cancelled when the run is to end now.

    ``charge(usage, cost)`` counts what a strategy asked of a model of its own against the bounds of the run, for each
    reply; a usage or a cost that is not known is None.
    """

    boundary: RoundBoundary
    run: str
    session: str
    model: ModelInfo
    bound: Bound | None = None
    agent: str | None = None
    depth: int = 0
    parent: str | None = None
    assistant_message: Message | None = None
    stop_reason: str | None = None
    tool_results: tuple[RoundToolResult, ...] = ()
    rounds_completed: int = 0
    model_requests: int = 0
    transport_retries: int = 0
    tool_calls: int = 0
    usage: Usage = Usage(input_tokens=0, output_tokens=0)
    last_usage: Usage | None = None
    cost: float = 0.0
    elapsed_s: float = 0.0
    limits: Limits = Limits()
    remaining: Remaining = Remaining()
    can_continue: bool = True
    why_not: str | None = None
    pending: Pending = Pending()
    injections: int = 0
    max_injections: int = 0
    decisions: tuple[BoundaryDecided, ...] = ()
    cancellation: CancellationToken
    read_history: Callable[[], tuple[Message, ...]] = tuple
    charge: Charging = _charged_to_nobody

    @property
    def history(self) -> tuple[Message, ...]:
        """The whole conversation up to here; made when it is asked for."""
        return self.read_history()


@runtime_checkable
class RoundStrategy(Protocol):
    """Something that is asked at every boundary. The caller's own object, never copied."""

    async def on_round(self, ctx: RoundContext) -> RoundDecision | None:
        """What to do now."""
        ...


class PlainStrategy(Protocol):
    """A strategy whose ``on_round`` is no coroutine; it runs in a thread."""

    def on_round(self, ctx: RoundContext) -> RoundDecision | None: ...


Function: TypeAlias = Callable[[RoundContext], RoundDecision | Awaitable[RoundDecision | None] | None]
Factory: TypeAlias = Callable[[], "RoundStrategy | PlainStrategy | Function"]

StrategyLike: TypeAlias = RoundStrategy | PlainStrategy | Function | Factory | str
"""A strategy, a function of one argument, a factory (a class, or a function of none) called once per run, or the
name of a strategy that ships."""
