"""Carrying out the calls of a response: judged, looked at by hooks, run, skipped or recovered; each event recorded."""

from __future__ import annotations

from collections.abc import Container, Iterable
from datetime import datetime
from functools import partial
from typing import TypeGuard

import msgspec
from msgspec.structs import replace

from handrail.agents.admission import Admission, Gate, admit
from handrail.agents.approval import digest_of
from handrail.agents.asks import BOTH, Asks
from handrail.agents.cancellation import CancellationToken
from handrail.agents.conversation import CallRecord
from handrail.agents.execution import execute, not_run, unknown_tool
from handrail.agents.hooks import (
    Hook,
    HookCall,
    HookEvent,
    HookOutcome,
    blocked_call,
    hooks_for,
    output_after,
    run_hook,
)
from handrail.agents.permissions import Verdict
from handrail.agents.results import cut_off, finished, with_note
from handrail.agents.taint import CLEAN, taint_after, turn_taint
from handrail.agents.tool import Answer, Question, Tool, ToolContext, ToolOutput
from handrail.agents.work import Progress, Work, offered_names
from handrail.agents.writer import Said, Writer
from handrail.journal import events as ev
from handrail.journal.effects import Effect, OpenAsk, RunHook, RunTool, Spawn, Step
from handrail.journal.ends import result_of_lost
from handrail.journal.rounds import next_effects
from handrail.journal.state import CallPhase, CallState, State, adjustment_of
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind, CallTraits, HookVerdict
from handrail.transcripts.calls import call_name, parse_call, render_call
from handrail.transcripts.model import Json, Refusal, RefusalKind, ToolUse


class Calls:
    """The calls of one run."""

    def __init__(self, work: Work, writer: Writer, asks: Asks) -> None:
        self._work = work
        self._writer = writer
        self._asks = asks
        self._waited_s: dict[str, float] = {}

    # Before a call runs

    async def admit(self, calls: Iterable[str], now: datetime) -> list[tuple[RunTool | Spawn, bool]]:
        """Judge the calls of one response together and record what may go on, and what may not with its refusal.

        What may ``run`` at once, at the instant ``now``, is given back, and whether it is recorded as started already:
        with the same append where twice is safe. Any other is not, for were this process to die before it runs,
        nobody would know that it never did.
        """
        digests: dict[str, str] = {}
        due: list[tuple[RunTool | Spawn, bool]] = []

        def starts(state: State) -> list[Said]:
            safe = {one.call for one in state.run.calls if one.traits.twice_is_safe} if state.run is not None else ()
            due.extend((one, one.call in safe) for one in next_effects(state, now) if _is_start(one, digests))
            return [(_started(one.call, 1, digests[one.call]), DRIVER) for one, is_started in due if is_started]

        await self._writer.record_by(*[self._judged(call, digests) for call in calls], then=starts)
        return due

    def _judged(self, call: str, digests: dict[str, str]) -> Said:
        """What is recorded of a call that was asked for; the digest of one that is admitted goes to ``digests``."""
        name, input = render_call(self._record(call).becomes)
        offered = offered_names(self._work, adjustment_of(self._writer.state))
        tool = self._work.tools.get(name) if name in offered else None
        if tool is None:
            return finished(call, unknown_tool(name, offered), name)
        if self._is_cut(input):
            return finished(call, cut_off(name), name)
        if tool.is_alone and self._has_others():
            told = f"{name} was not run: it has to be the only call of its turn. Call it again, by itself."
            return finished(call, not_run(told, by="policy"), name)
        admission = self._admission(tool, input)
        if admission.refused is not None:
            return finished(call, admission.refused, name)
        digests[call] = admission.digest
        hooks = hooks_for(self._work.options.hooks, HookEvent.PRE_TOOL_USE, name)
        traits = CallTraits(
            private=tool.traits.private,
            untrusted=tool.traits.untrusted,
            sends=tool.traits.sends,
            destructive=tool.traits.destructive,
            twice_is_safe=tool.is_twice_safe,
            is_parallel=tool.is_parallel and not tool.is_terminal,
            is_terminal=tool.is_terminal,
        )
        requested = ev.ToolRequested(
            call=call,
            tool=name,
            traits=traits,
            hooks=tuple(hook.name for hook in hooks),
            needs_approval=admission.verdict is Verdict.ASK,
        )
        return requested, DRIVER

    def _has_others(self) -> bool:
        """Whether the response asks for more than one call."""
        run = self._writer.state.run
        return run is not None and len(run.calls) > 1

    def _is_cut(self, input: Json) -> bool:
        """Whether the response ended in the middle of the call: that is no fault of its arguments."""
        run = self._writer.state.run
        return run is not None and run.stop_reason == "max_tokens" and not isinstance(input, dict)

    def _admission(self, tool: Tool, input: Json) -> Admission:
        names = (call_name(one.becomes) for one in self._writer.conversation.calls.values())
        batch = [self._work.tools[name].traits for name in names if name in self._work.tools]
        return admit(
            self._gate(),
            tool,
            input,
            turn=turn_taint(self._writer.state.taint or BOTH, batch),
            root=self._work.options.workspace,
        )

    def _gate(self) -> Gate:
        gate, held = self._work.options.gate, self._writer.conversation.grants
        return replace(gate, grants=(*gate.grants, *held)) if held else gate

    async def hook(self, effect: RunHook, cancellation: CancellationToken) -> None:
        """Let a hook look at a call; a rewrite is judged like a new call."""
        name, input = render_call(self._record(effect.call).becomes)
        hook = next((one for one in self._work.options.hooks if one.name == effect.hook), None)
        began = self._work.clock.monotonic_s()
        if hook is None:
            gone = "the hook failed: this run does not have it"
            outcome = HookOutcome(hook=effect.hook, verdict=HookVerdict.ERROR, reason=gone)
        else:
            shown = self._shown(HookEvent.PRE_TOOL_USE, effect.call, name, input)
            outcome = await cancellation.guard(run_hook(hook, shown))
        ran = ev.HookRan(
            hook=effect.hook,
            call=effect.call,
            verdict=outcome.verdict,
            reason=outcome.reason,
            elapsed_s=self._work.clock.monotonic_s() - began,
        )
        by = Actor(ActorKind.HOOK, effect.hook)
        await self._writer.record_if(
            lambda: ((ran, by), *self._after_hook(effect.call, name, outcome, by)) if self._is_due(effect) else ()
        )

    def _is_due(self, effect: RunHook) -> bool:
        """Whether the call still waits for this hook: it may have been given its result in the meantime."""
        state = self._state(effect.call)
        return state is not None and state.phase is CallPhase.ADMITTED and effect.hook in state.hooks

    def _after_hook(self, call: str, name: str, outcome: HookOutcome, by: Actor) -> tuple[Said, ...]:
        if outcome.is_blocking:
            return (finished(call, blocked_call(outcome, name), name, by),)
        if outcome.becomes is msgspec.UNSET:
            return ()
        admission = self._admission(self._work.tools[name], outcome.becomes)
        if admission.refused is not None:
            return (finished(call, admission.refused, name),)
        becomes = parse_call(name, outcome.becomes)
        needs = admission.verdict is Verdict.ASK
        return ((ev.ToolRewritten(call=call, becomes=becomes, needs_approval=needs), by),)

    def _shown(self, event: HookEvent, call: str, name: str, input: Json, output: ToolOutput | None = None) -> HookCall:
        return HookCall(
            event=event,
            tool=name,
            input=input,
            call_id=call,
            workspace=self._work.options.workspace,
            agent=self._work.place.agent,
            output=output,
            read_history=self._writer.conversation.reader(),
        )

    async def ask(self, effect: OpenAsk) -> None:
        """Ask a person about a call, unless an answer to another one settles it by now."""
        name, input = render_call(self._record(effect.call).becomes)
        tool = self._work.tools[name]
        admission = self._admission(tool, input)
        if admission.refused is not None:
            await self._settle(finished(effect.call, admission.refused, name))
        else:
            await self._asks.approve(effect.call, admission, tool, input)

    # Running it, or not

    async def run(self, call: str, cancellation: CancellationToken, *, is_started: bool = False) -> None:
        """Run a call that may run; the start is recorded before it, unless it was, and the one result after it."""
        record = self._record(call)
        name, input = render_call(record.becomes)
        tool = self._work.tools.get(name)
        if not is_started and not await self._writer.record_if(lambda: self._start(call, digest_of(name, input))):
            return
        began = self._work.clock.monotonic_s()
        self._asks.questions.begin(call)
        if tool is None:
            output = unknown_tool(name, tuple(self._work.tools))
        else:
            context = self._context(call, tool, cancellation)
            output = await execute(ToolUse(call, record.becomes), tool, context)
            for hook in hooks_for(self._work.options.hooks, HookEvent.POST_TOOL_USE, name):
                output = await self._looked_at(hook, call, name, input, output)
        await self._asks.questions.end(call)
        waited_s = self._waited_s.pop(call, 0.0) + self._work.agents.stood_s(call)
        elapsed_s = self._work.clock.monotonic_s() - began - waited_s
        if record.is_rewritten:
            output = with_note(output, record)
        taint = CLEAN if tool is None else taint_after(CLEAN, tool.traits, output)
        is_end = tool is not None and tool.is_terminal and not output.is_error
        output = self._kept_in_regions(output, name)
        await self._writer.record_by(
            finished(call, output, name, taint=taint, elapsed_s=max(elapsed_s, 0.0), is_end=is_end),
            *(self._written(output, name) if output.regions else ()),
        )

    def _kept_in_regions(self, output: ToolOutput, name: str) -> ToolOutput:
        """``output``; an error instead where it would change context regions that it may not change like that."""
        stages = self._work.stages
        if output.is_error or not output.regions:
            return output
        why = "there are no context regions here" if stages is None else stages.refused(output.regions)
        return output if why is None else ToolOutput(f"{name} failed: {why}", is_error=True)

    def _written(self, output: ToolOutput, name: str) -> list[Said]:
        """The context regions as the call leaves them; a call that failed changed none."""
        by = Actor(ActorKind.TOOL, name)
        written = {} if output.is_error else output.regions
        stage = self._writer.state.stage
        return [(ev.RegionWritten(region=name, entries=held, stage=stage), by) for name, held in written.items()]

    def _start(self, call: str, digest: str) -> tuple[Said, ...]:
        """The start of a call; nothing when it was given its result before its turn came."""
        state = self._state(call)
        if state is None or state.phase not in (CallPhase.ADMITTED, CallPhase.LOST):
            return ()
        return ((_started(call, state.attempts + 1, digest), DRIVER),)

    def _context(self, call: str, tool: Tool, cancellation: CancellationToken) -> ToolContext:
        options = self._work.options
        agents, stages = self._work.agents, self._work.stages
        return ToolContext(
            call_id=call,
            cancellation=cancellation,
            workspace_root=options.workspace,
            environment=options.environment,
            emit=lambda text: self._work.show(Progress(call, text)),
            ask=None if options.answerer is None else partial(self._question, call, cancellation),
            spawn=partial(agents.spawn, call),
            spawn_each=partial(agents.spawn_each, call),
            shelf=options.shelf,
            limits=options.result_limits,
            taint=self._writer.state.taint or BOTH,
            regions=None if stages is None else stages.regions(self._writer.state.taint or BOTH),
        )

    async def _question(self, call: str, cancellation: CancellationToken, question: Question) -> Answer:
        began = self._work.clock.monotonic_s()
        try:
            return await self._asks.questions.ask(call, question, cancellation)
        finally:
            waited_s = self._work.clock.monotonic_s() - began
            self._waited_s[call] = self._waited_s.get(call, 0.0) + waited_s

    async def _looked_at(self, hook: Hook, call: str, name: str, input: Json, output: ToolOutput) -> ToolOutput:
        outcome = await run_hook(hook, self._shown(HookEvent.POST_TOOL_USE, call, name, input, output))
        return output_after(outcome, output, name)

    async def skip(self, effect: RunTool) -> None:
        """Give a call that will not run its result; an open question about it is withdrawn, which is that result."""
        state = self._state(effect.call)
        if state is not None and state.ask is not None:
            await self._asks.withdraw(state.ask, effect.why)
            return
        why = effect.why or "the run ended"
        is_limit = why.endswith("is reached")
        refusal = Refusal(RefusalKind.BLOCKED, "limit", why) if is_limit else Refusal(RefusalKind.NOT_RUN, "run", why)
        name = call_name(self._record(effect.call).becomes)
        output = ToolOutput(f"{name} was not run: {why}.", is_error=True, refusal=refusal)
        await self._settle(finished(effect.call, output, name))

    async def recover(self, effect: RunTool) -> None:
        """Say of a call that nobody carries out any more that it was ended, or that nobody knows how it ended."""
        state = self._state(effect.call)
        if state is None:
            return
        if state.ask is not None:
            await self._asks.withdraw(state.ask)
        name = call_name(self._record(effect.call).becomes)
        known = (
            f"{name} was started, and what ran it died. Whether it took effect is unknown: look before repeating it."
        )
        await self._writer.record(result_of_lost(state, known, is_asking=state.ask is not None))

    def _record(self, call: str) -> CallRecord:
        return self._writer.conversation.calls[call]

    async def _settle(self, said: Said) -> None:
        """Give a call that was never started its result, unless it has begun or has one by now."""
        call = said[0].call if isinstance(said[0], ev.ToolFinished) else ""

        def make() -> tuple[Said, ...]:
            state = self._state(call)
            is_waiting = state is not None and state.phase in (CallPhase.ASKED, CallPhase.ADMITTED)
            return (said,) if is_waiting else ()

        await self._writer.record_if(make)

    def _state(self, call: str) -> CallState | None:
        run = self._writer.state.run
        return None if run is None else next((one for one in run.calls if one.call == call), None)


def _is_start(effect: Effect, calls: Container[str]) -> TypeGuard[RunTool | Spawn]:
    """Whether ``effect`` is to run one of ``calls``."""
    match effect:
        case Spawn(call=call) | RunTool(call=call, step=Step.RUN):
            return call in calls
    return False


def _started(call: str, attempt: int, digest: str) -> ev.ToolStarted:
    return ev.ToolStarted(call=call, attempt=attempt, digest=digest)
