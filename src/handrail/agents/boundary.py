"""At a boundary: the question as strategies see it, and asking them, each bounded and contained.

``enlisted`` makes of what a host passed the strategies of one run, each under a name of its own.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from handrail import registry
from handrail.agents.cancellation import CancellationToken, CancelledItself
from handrail.agents.charging import Ledger
from handrail.agents.compose import BadDecision, Opinion, failed_opinion, opinion_of
from handrail.agents.containment import Raised, contained, misfit
from handrail.agents.conversation import CallRecord, Conversation
from handrail.agents.options import OnError
from handrail.agents.strategy import (
    Pending,
    Remaining,
    RoundAdjustment,
    RoundContext,
    RoundToolResult,
    StrategyLike,
)
from handrail.agents.threads import in_thread
from handrail.clock import Clock
from handrail.journal.effects import Decide
from handrail.journal.limits import counted
from handrail.journal.refusals import wording_of
from handrail.journal.state import RunState
from handrail.journal.vocabulary import Adjustment, Bound, Boundary, Choice
from handrail.models.port import ModelInfo
from handrail.transcripts.calls import render_call
from handrail.transcripts.model import Json, Refusal, RefusalKind

STRATEGIES = "handrail.agents.strategies"

_CHOICE_ON_ERROR = {
    OnError.FAIL: Choice.FAIL,
    OnError.CONTINUE: Choice.CONTINUE,
    OnError.STOP: Choice.STOP,
}


class Enlisted(Struct, frozen=True):
    """A strategy of a run: its name, unique in it, and the function that is asked."""

    name: str
    ask: Callable[[RoundContext], Any]


def enlisted(strategies: Iterable[StrategyLike]) -> tuple[Enlisted, ...]:
    """The strategies of one run, factories called.

    A name may be followed by ``:`` and an argument (``verify:make test``). ``UnknownName`` for a name nothing ships
    under, ``TypeError`` for what can be no strategy.
    """
    found: list[Enlisted] = []
    taken: dict[str, int] = {}
    for given in strategies:
        strategy = _made(given)
        ask = getattr(strategy, "on_round", strategy)
        if not callable(ask):
            raise TypeError(f"{type(strategy).__name__} has no on_round(ctx) and is no function")
        name = _name(given if isinstance(given, str) else strategy)
        taken[name] = taken.get(name, 0) + 1
        found.append(Enlisted(name if taken[name] == 1 else f"{name}#{taken[name]}", ask))
    return tuple(found)


def _made(given: StrategyLike) -> object:
    """The strategy itself: looked up by its name, or made by its factory."""
    if isinstance(given, str):
        name, has_argument, argument = given.partition(":")
        shipped = registry.member(STRATEGIES, name, "STRATEGY")
        return shipped(argument) if has_argument else shipped()
    is_strategy = hasattr(given, "on_round") and not isinstance(given, type)
    if is_strategy or not callable(given) or (not isinstance(given, type) and _takes_context(given)):
        return given
    return given()  # type: ignore[call-arg]


def _takes_context(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(one.kind not in (one.KEYWORD_ONLY, one.VAR_KEYWORD) for one in parameters)


def _name(strategy: object) -> str:
    if isinstance(strategy, str):
        return strategy
    name = getattr(strategy, "name", None)
    if isinstance(name, str) and name:
        return name
    function_name = getattr(strategy, "__name__", None)
    return function_name if isinstance(function_name, str) else type(strategy).__name__


class Asking(Struct, frozen=True, kw_only=True):
    """What holds for every question of a run: how long it may take, what a failure does, how answers are checked."""

    timeout_s: float | None
    on_error: OnError
    check: Callable[[RoundAdjustment], Adjustment]
    finish: Callable[[object], Json]
    clock: Clock


async def ask_all(
    strategies: Sequence[Enlisted], context: RoundContext, asking: Asking, cancellation: CancellationToken
) -> list[Opinion]:
    """What each says, in their order; ``Cancelled`` as soon as the token is."""
    return [await _ask(one, context, asking, cancellation) for one in strategies]


async def _ask(one: Enlisted, context: RoundContext, asking: Asking, cancellation: CancellationToken) -> Opinion:
    ledger = Ledger()
    opinion = await _heard(one, replace(context, charge=ledger.charge), asking, cancellation)
    return opinion.charged(ledger.charges)


async def _heard(one: Enlisted, context: RoundContext, asking: Asking, cancellation: CancellationToken) -> Opinion:
    began = asking.clock.monotonic_s()
    problem: BaseException
    try:
        async with asyncio.timeout(asking.timeout_s):
            answer = await cancellation.guard(contained(_put(one, context)))
    except TimeoutError:
        problem = TimeoutError(f"no decision within {asking.timeout_s:g} seconds")
    except CancelledItself as bad:
        problem = bad
    else:
        elapsed_s = asking.clock.monotonic_s() - began
        if isinstance(answer, Raised):
            problem = answer.problem
        else:
            try:
                return _fitting(opinion_of(one.name, answer.value, elapsed_s, asking.check, asking.finish))
            except Exception as bad:  # noqa: BLE001 - what is in a decision was made by other people's code as well
                problem = bad
    elapsed_s = asking.clock.monotonic_s() - began
    return failed_opinion(one.name, problem, elapsed_s, _CHOICE_ON_ERROR[asking.on_error])


def _fitting(opinion: Opinion) -> Opinion:
    if problem := misfit(opinion.contribution):
        raise BadDecision(f"{opinion.contribution.strategy} decided what does not fit: {problem}")
    return opinion


async def _put(one: Enlisted, context: RoundContext) -> object:
    """Its answer; plain functions run in a thread."""
    if inspect.iscoroutinefunction(one.ask):
        return await one.ask(context)
    given = await in_thread(one.ask, context)
    return await given if isinstance(given, Awaitable) else given


# The question ----------------------------------------------------------------------------------------------


class Place(Struct, frozen=True, kw_only=True):
    """Where a run stands among others, for its whole life."""

    run: str
    session: str
    agent: str | None
    depth: int
    parent: str | None


def context_at(
    effect: Decide,
    run: RunState,
    conversation: Conversation,
    place: Place,
    model: ModelInfo,
    cancellation: CancellationToken,
) -> RoundContext:
    """The question at the boundary of ``effect``."""
    spent = run.spent
    queued_steers = sum(1 for one in run.queue if one.via == "steer")
    has_results = effect.boundary is not Boundary.ASSISTANT_MESSAGE_COMMITTED
    return RoundContext(
        boundary=effect.boundary,
        bound=effect.bound,
        run=place.run,
        session=place.session,
        agent=place.agent,
        depth=place.depth,
        parent=place.parent,
        model=model,
        assistant_message=conversation.last_reply,
        stop_reason=run.stop_reason,
        tool_results=tuple(map(_result, conversation.calls.values())) if has_results else (),
        rounds_completed=spent.rounds,
        model_requests=spent.requests,
        transport_retries=conversation.retries,
        tool_calls=spent.tool_calls,
        usage=conversation.usage,
        last_usage=conversation.last_usage,
        cost=spent.cost,
        elapsed_s=spent.seconds,
        limits=run.limits if run.stage is None else run.stage.limits,
        remaining=remaining(run),
        can_continue=effect.why_not is None,
        why_not=effect.why_not,
        pending=Pending(steers=queued_steers, follow_ups=len(run.queue) - queued_steers),
        injections=run.injections,
        max_injections=run.limits.max_injections,
        decisions=tuple(conversation.decisions),
        cancellation=cancellation,
        read_history=conversation.reader(),
    )


def remaining(run: RunState) -> Remaining:
    """What is left of each bound, of the stage's or of the run's, whichever is less."""
    left = {bound: min(amounts) for bound, amounts in _left(run).items()}
    return Remaining(
        rounds=left.get(Bound.MAX_ROUNDS),
        requests=left.get(Bound.MAX_REQUESTS),
        tool_calls=left.get(Bound.MAX_TOOL_CALLS),
        tokens=left.get(Bound.MAX_TOKENS),
        cost=left.get(Bound.MAX_COST),
        seconds=left.get(Bound.MAX_SECONDS),
    )


def _left(run: RunState) -> dict[Bound, list[Any]]:
    found: dict[Bound, list[Any]] = {}
    for bound, used, limit in counted(run):
        found.setdefault(bound, []).append(max(limit - used, 0))
    return found


def _result(record: CallRecord) -> RoundToolResult:
    name, input = render_call(record.use.call)
    done = record.finished
    if done is not None:
        return RoundToolResult(
            tool_use_id=record.use.id,
            tool_name=name,
            input=input,
            content=done.content,
            is_error=done.is_error or done.refusal is not None,
            refusal=done.refusal,
            details=done.details,
            elapsed_s=done.elapsed_s,
        )
    refusal = record.refusal
    if record.unknown is not None:
        refusal = Refusal(RefusalKind.OUTCOME_UNKNOWN, None, record.unknown.known)
    return RoundToolResult(
        tool_use_id=record.use.id,
        tool_name=name,
        input=input,
        content="" if refusal is None else wording_of(name, refusal),
        is_error=True,
        refusal=refusal,
    )
