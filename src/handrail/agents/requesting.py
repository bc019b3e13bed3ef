"""Asking the model: one request made of the conversation, its stream shown, its reply or failure recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from datetime import timedelta

from handrail import ids
from handrail.agents.cancellation import CancellationToken, Cancelled, CancelledItself
from handrail.agents.charging import charge_of, take, uncounted
from handrail.agents.containment import Gave, Raised, contained, words_of
from handrail.agents.replies import recordable
from handrail.agents.staging import Seen
from handrail.agents.work import Work, offered_names
from handrail.agents.writer import Writer
from handrail.journal import events as ev
from handrail.journal.effects import CallModel
from handrail.journal.vocabulary import Actor, ActorKind, Adjustment
from handrail.models.errors import MalformedReply, ModelError
from handrail.models.port import (
    Effort,
    Model,
    ModelReply,
    ModelRequest,
    OfferedTool,
    ReasoningOptions,
    Summary,
)


class Requests:
    """The requests of one run. ``failure`` is the exception that ended it, for whoever is told."""

    def __init__(self, work: Work, writer: Writer, take_inbox: Callable[[], Awaitable[None]]) -> None:
        self._work = work
        self._writer = writer
        self._take_inbox = take_inbox
        self._offered: dict[tuple[str, ...], tuple[OfferedTool, ...]] = {}
        self.failure: BaseException | None = None

    async def send(self, effect: CallModel, cancellation: CancellationToken) -> None:
        """Deliver what is due, ask, and record how it ended; nothing but a journal's errors comes out."""
        model = model_of(self._work, effect.adjustment)
        requested = ev.ModelRequested(
            request=effect.request,
            round=effect.round,
            model=model.info.name,
            effort=effect.adjustment.effort,
            is_without_tools=effect.is_without_tools,
        )
        delivered = (ev.InputDelivered(effect.deliver, effect.round),) if effect.deliver else ()
        await self._writer.record(*delivered, requested)
        began = self._work.clock.monotonic_s()
        try:
            # Raced with the token: a model that does not heed it is ended all the same.
            got = await cancellation.guard(contained(self._reply(model, self._request(effect), cancellation)))
        except (Cancelled, CancelledItself) as problem:
            got = Raised(problem)
        elapsed_s = self._work.clock.monotonic_s() - began
        if isinstance(got, Gave):
            await self._replied(got.value, model, elapsed_s)
        elif isinstance(got.problem, Cancelled) and cancellation.is_cancelled:
            await self._take_inbox()
            await self._writer.record(
                ev.ModelFailed(error=cancellation.reason or "cut off", is_interrupted=True, elapsed_s=elapsed_s)
            )
        else:
            await self._failed(got.problem, model, elapsed_s)

    async def _reply(self, model: Model, request: ModelRequest, cancellation: CancellationToken) -> ModelReply:
        async with aclosing(model.stream(request, cancellation)) as stream:
            async for item in stream:
                if isinstance(item, ModelReply):
                    return recordable(item)
                self._work.show(item)
        raise MalformedReply(f"{model.info.name} ended its stream without a reply")

    def _request(self, effect: CallModel) -> ModelRequest:
        conversation, work = self._writer.conversation, self._work
        adjustment = effect.adjustment
        seen = Seen(work.instructions, tuple(conversation.sent)) if work.view is None else work.view(conversation)
        choice = adjustment.tool_choice or work.options.tool_choice or "auto"
        return ModelRequest(
            messages=seen.messages,
            instructions="\n\n".join(part for part in (seen.instructions, adjustment.note) if part),
            tools=self._tools(offered_names(work, adjustment)),
            # The tools stay listed: providers want those the history has calls of, and their caches begin with them.
            tool_choice="none" if effect.is_without_tools else choice,
            reasoning=reasoning_of(work.options.reasoning, adjustment),
            max_output_tokens=adjustment.max_output_tokens or work.options.max_output_tokens,
            session=work.place.session,
            run=work.place.run,
            replies=conversation.replies,
        )

    def _tools(self, names: tuple[str, ...]) -> tuple[OfferedTool, ...]:
        if names not in self._offered:
            self._offered[names] = tuple(self._work.tools[name].spec for name in names)
        return self._offered[names]

    async def _replied(self, reply: ModelReply, model: Model, elapsed_s: float) -> None:
        charged = charge_of(reply.message.usage, reply.cost)
        replied = ev.ModelReplied(
            message=reply.message, elapsed_s=elapsed_s, cost=reply.cost or 0.0, is_unpriced=reply.cost is None
        )
        await self._writer.record(replied, by=Actor(ActorKind.MODEL, model.info.name))
        take(self._work.purses, (charged,))
        run = self._writer.state.run
        is_counted = charged.tokens is not None and charged.cost is not None
        if run is not None and not is_counted and (bounds := tuple(uncounted(run, model.info.name, (charged,)))):
            await self._writer.record(*bounds)

    async def _failed(self, problem: BaseException, model: Model, elapsed_s: float) -> None:
        failures = self._writer.conversation.failures + 1
        delay_s = None
        if isinstance(problem, ModelError):
            delay_s = self._work.options.retry.delay_s(problem, failures, ids.chance())
        else:
            problem.add_note("raised by the model")
        fallback = self._fallback(model) if delay_s is None and isinstance(problem, ModelError) else None
        if delay_s is None and fallback is None:
            self.failure = problem
        if fallback is not None:
            delay_s = 0.0
        retry_at = None if delay_s is None else self._work.clock.now() + timedelta(seconds=delay_s)
        code = problem.code if isinstance(problem, ModelError) else type(problem).__name__
        failed = ev.ModelFailed(error=words_of(problem) or code, code=code, retry_at=retry_at, elapsed_s=elapsed_s)
        await self._writer.record(failed, *(() if fallback is None else (_gone_over(fallback),)))

    def _fallback(self, model: Model) -> Model | None:
        """The model after ``model`` in the order in which they are tried; None after the last."""
        names = [one.info.name for one in (self._work.model, *self._work.fallbacks)]
        place = names.index(model.info.name) + 1 if model.info.name in names else len(names)
        return self._work.fallbacks[place - 1] if place < len(names) else None


def _gone_over(fallback: Model) -> ev.Adjusted:
    """The same round is asked of another model, and those that follow."""
    return ev.Adjusted(adjustment=Adjustment(model=fallback.info.name), scope="run", by="fail-over")


def model_of(work: Work, adjustment: Adjustment) -> Model:
    """The model that is in force."""
    return work.model if adjustment.model is None else work.models[adjustment.model]


def reasoning_of(given: ReasoningOptions | Effort | None, adjustment: Adjustment) -> ReasoningOptions | None:
    """The reasoning that is in force; None is the provider's default."""
    if adjustment.effort is not None or adjustment.reasoning_summary is not None:
        effort = None if adjustment.effort is None else Effort(adjustment.effort)
        summary: Summary | None = adjustment.reasoning_summary  # type: ignore[assignment]
        return ReasoningOptions(effort, summary)
    if adjustment.clear_reasoning:
        return None
    return ReasoningOptions(given) if isinstance(given, Effort) else given
