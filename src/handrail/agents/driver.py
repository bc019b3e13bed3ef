"""The driver: takes what others sent, asks the journal's state what comes next, carries it out, until the run is over.

All it knows of a run is in the journal's events. It names no provider, no tool, no store and no surface.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeGuard, assert_never

from msgspec.structs import replace

from handrail.agents.asks import Asks
from handrail.agents.boundary import Asking, ask_all, context_at
from handrail.agents.calls import Calls
from handrail.agents.cancellation import CancellationToken
from handrail.agents.charging import take, uncounted
from handrail.agents.compose import composed, consequences
from handrail.agents.inbox import Inbox
from handrail.agents.opening import NotStartable
from handrail.agents.requesting import Requests, model_of
from handrail.agents.staging import Stages
from handrail.agents.summarising import summarise
from handrail.agents.timing import is_cut_off, unless_cut, whole
from handrail.agents.underway import UnderWay
from handrail.agents.work import Activity, Work
from handrail.agents.writer import Writer
from handrail.journal import events as ev
from handrail.journal.effects import (
    Advance,
    CallModel,
    Compact,
    Decide,
    Effect,
    End,
    OpenAsk,
    RunHook,
    RunTool,
    Spawn,
    Step,
    WaitUntil,
)
from handrail.journal.ends import closing_events
from handrail.journal.limits import SecondsLeft, seconds_left, why_not
from handrail.journal.rounds import next_effects
from handrail.journal.spending import after_decision
from handrail.journal.state import Spent, State, adjustment_of
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind, Bound, Choice, EndReason

Summarise = Callable[[Compact, CancellationToken], Coroutine[Any, Any, None]]

LAST_ROUND_S = 60.0
"""How long the last round at a limit may take in a run whose seconds are bounded; never more than they are."""


class Driver:
    """Drives the open run of one session: to its end, or while the stage lasts that ``work`` is for.

    One at a time; the writer's epoch sees to that. ``is_parked``: it stopped where all there is to do is wait for a
    person, and the run is still open.
    """

    def __init__(
        self,
        work: Work,
        writer: Writer,
        inbox: Inbox,
        activity: Activity,
        asking: Asking,
        compact: Summarise,
    ) -> None:
        self._work = work
        self._writer = writer
        self._inbox = inbox
        self._activity = activity
        self._asking = asking
        self._compact = compact
        self._under_way = UnderWay(inbox.wake)
        self.asks = Asks(work, writer, inbox.wake)
        self._calls = Calls(work, writer, self.asks)
        self.requests = Requests(work, writer, inbox.take)
        self.failure: BaseException | None = None
        self.spent = Spent()
        self.is_parked = False
        self._stage = _visit_of(writer.state)

    async def drive(self) -> None:
        """Until the run, or its stage, is over. A cancelled task commits what there is, then raises on."""
        try:
            while self._goes_on():
                await self._step()
        except asyncio.CancelledError:
            if not self._activity.is_let_go:
                await whole(self._commit_cancelled())
            raise
        finally:
            await self._abandon()
            await self.asks.close()

    def _goes_on(self) -> bool:
        run = self._writer.state.run
        if run is None or self.is_parked:
            return False
        return run.stage is None if self._stage is None else _visit_of(self._writer.state) == self._stage

    async def _step(self) -> None:
        if self._activity.is_let_go:
            # The run above is being left, and this one with it: what has come since is for whoever goes on with them.
            await asyncio.get_running_loop().create_future()
        await self._inbox.take()
        await self._reap()
        if self._activity.is_to_park:
            self._work.agents.park()
            if not self._has_landed():
                await self._inbox.woken()
            else:
                await self._leave_or_stand(may_leave=self._work.place.depth == 0)
            return
        effects = next_effects(self._writer.state, self._work.clock.now())
        flying = self._under_way.effects
        fresh = [effect for effect in effects if effect not in flying] if flying else effects
        if fresh:
            if _are_asked(fresh):
                await self._admit([effect.call for effect in fresh])
            else:
                for effect in fresh:
                    await self._begin(effect)
            if len(self._under_way) < len(flying) + len(fresh):
                return
            # All of it is under way: nothing is due before something lands or comes in.
        elif self._under_way and self._has_landed() and not self.asks.are_put:
            if self._is_stopping():
                # Nobody need be waited for any more, here as little as where the run was left.
                await self._land("a stop was requested")
                return
            await self._leave_or_stand(may_leave=self._work.options.parks)
            return
        await self._inbox.woken()

    async def _admit(self, calls: Sequence[str]) -> None:
        """Judge calls, and run at once what may."""
        token = self._activity.begin(self._writer.state.inbox)
        for effect, is_started in await self._calls.admit(calls, self._work.clock.now()):
            self._under_way.begin(effect, self._in_time(self._calls.run(effect.call, token, is_started=is_started)))

    async def _begin(self, effect: Effect) -> None:
        """Carry ``effect`` out, or start what may run beside others."""
        token = self._activity.begin(self._writer.state.inbox)
        match effect:
            case CallModel():
                if self._work.options.pools and await self._is_pool_spent():
                    return
                if self._work.stages is not None and await self._saw_to_regions(self._work.stages, token):
                    return
                await self._in_time(self.requests.send(effect, token))
            case RunTool(call=call, step=Step.RUN) | Spawn(call=call):
                self._under_way.begin(effect, self._in_time(self._calls.run(call, token)))
            case RunTool(step=Step.SKIP):
                await self._calls.skip(effect)
                await self._work.agents.end_left(effect.call)
            case RunTool(step=Step.RECOVER):
                await self._work.agents.end_left(effect.call)
                await self._calls.recover(effect)
            case RunTool():
                await self._admit((effect.call,))
            case RunHook():
                self._under_way.begin(effect, unless_cut(self._calls.hook(effect, token)))
            case OpenAsk():
                await self._calls.ask(effect)
            case Decide():
                await unless_cut(self._decide(effect, token))
            case Compact():
                await self._in_time(unless_cut(self._compact(effect, token)))
            case WaitUntil():
                await self._wait(effect)
            case Advance():
                await self._advance(effect)
            case End():
                await self._end(effect)
            case _:
                assert_never(effect)

    # Boundaries

    async def _decide(self, effect: Decide, token: CancellationToken) -> None:
        run = self._writer.state.run
        if run is None:
            return
        model = model_of(self._work, adjustment_of(self._writer.state))
        context = context_at(effect, run, self._writer.conversation, self._work.place, model.info, self._activity.run)
        opinions = await ask_all(self._work.strategies, context, self._asking, token)
        # What was sent while they thought is heard first: a cancelled run takes no injection any more.
        await self._inbox.take_all()
        said = [one.contribution for one in opinions]
        charges = [charge for one in opinions for charge in one.charges]
        now = self._writer.state.run
        if now is not None:
            # What they took counts by now: a round that it leaves nothing for is not promised.
            now = replace(now, spent=after_decision(now.spent, said))
            effect = replace(effect, why_not=why_not(now))
        decided = composed(opinions, effect, run.injections, run.limits.max_injections)
        if decided.choice is Choice.FAIL:
            self.failure = next((one.error for one in opinions if one.contribution.choice is Choice.FAIL), None)
        asked = (self.asks.pause(decided.note or ""),) if decided.choice is Choice.PAUSE else ()
        by = Actor(ActorKind.STRATEGY, ", ".join(decided.by) or None)
        bounds = uncounted(run, "a strategy's model", charges)
        await self._writer.record(decided, *consequences(decided), *asked, *bounds, by=by)
        take(self._work.purses, charges)

    async def _advance(self, effect: Advance) -> None:
        if self._work.stages is None:
            raise NotStartable("the run is one of a blueprint", hint="go on with it by its blueprint")
        self._note_spent()
        await self._work.stages.advance(effect, self._writer)

    async def _saw_to_regions(self, stages: Stages, token: CancellationToken) -> bool:
        """Whether the regions of a stage had to be seen to, or that was cut off: what is to be done may differ then."""
        before = self._writer.state.seq
        ask = partial(summarise, self._work, self._writer, token)
        await self._in_time(unless_cut(stages.keep_up(self._writer, ask)))
        return token.is_cancelled or self._writer.state.seq != before

    # What takes time

    def _in_time(self, work: Coroutine[Any, Any, None]) -> Coroutine[Any, Any, None]:
        """``work``, cut off where the bound on seconds is spent by then."""
        run = self._writer.state.run
        left = None if run is None else seconds_left(run)
        return work if run is None or left is None else self._timed(work, left, is_last=run.grace == "granted")

    async def _timed(self, work: Coroutine[Any, Any, None], left: SecondsLeft, *, is_last: bool) -> None:
        left_s = min(left.limit_s, LAST_ROUND_S) if is_last else left.left_s
        if not await is_cut_off(work, left_s, self._activity):
            return
        if is_last and left.stage is None:
            # There is no round after the last one, so no boundary to come to.
            await self._end(End(reason=EndReason.MAX_SECONDS))
        else:
            # Said, not computed: two clocks measured this, and the sum of what was done may lie just below the bound.
            await self._writer.record(ev.BoundReached(bound=Bound.MAX_SECONDS, stage=left.stage))

    async def _wait(self, effect: WaitUntil) -> None:
        for ask in effect.overdue:
            await self.asks.time_out(ask)
        for ask in effect.remind:
            await self._writer.record(ev.AskReminded(ask))
        if effect.overdue or effect.remind:
            return
        for opened in () if effect.is_paused else self._writer.state.asks:
            if opened.ask in effect.asks:
                self.asks.put(opened)
        if self._may_park(effect):
            await self._leave_or_stand(may_leave=self._work.options.parks, until=effect.at)
        else:
            await self._inbox.woken(until=effect.at)

    def _may_park(self, effect: WaitUntil) -> bool:
        """Whether nobody in this process is asked, and nothing is under way that could not be taken up again."""
        return not self.asks.are_put and bool(effect.asks or effect.is_paused) and self._has_landed()

    def _is_stopping(self) -> bool:
        run = self._writer.state.run
        return run is not None and run.is_stopping

    def _has_landed(self) -> bool:
        """Whether all that is under way are calls that wait for a person, here or in agents below, and may run again
        for the answer."""
        run = self._writer.state.run
        calls = () if run is None else run.calls
        agents = self._work.agents
        held = {
            one.call for one in calls if one.traits.twice_is_safe and (one.ask is not None or agents.is_still(one.call))
        }
        return all(isinstance(one, RunTool | Spawn) and one.call in held for one in self._under_way.effects)

    async def _leave_or_stand(self, *, may_leave: bool, until: datetime | None = None) -> None:
        """Park where that may be; else wait, and let the run above know that there is nothing else to do."""
        if may_leave or self._writer.state.run is None:
            await self._park()
            return
        self._activity.tell_still(True)
        try:
            await self._inbox.woken(until=until)
        finally:
            self._activity.tell_still(False)

    async def _park(self) -> None:
        """Let go of what waits, with nothing recorded: whoever resumes the run finds its questions as they are."""
        self.asks.let_go()
        self._activity.leave()
        await self._under_way.drop()
        self._note_spent()
        self.is_parked = True

    async def _reap(self) -> None:
        """Forget what has landed; raise what went wrong in it."""
        if self._under_way:
            await self._under_way.reap()
        if self.asks.are_put:
            await self.asks.reap()

    async def _is_pool_spent(self) -> bool:
        run = self._writer.state.run
        if run is None or Bound.POOL in run.outside:
            return False
        told = next((pool.spent_bound for pool in self._work.options.pools if pool.spent_bound), None)
        if told is not None:
            await self._writer.record(ev.BoundReached(bound=Bound.POOL, detail=told))
        return told is not None

    # The end

    async def _end(self, effect: End) -> None:
        await self._land(effect.detail or effect.reason.value)
        await self._work.agents.end_left()
        self._note_spent()
        await self._writer.record_if(lambda: [(one, DRIVER) for one in closing_events(self._writer.state, effect)])

    def _note_spent(self) -> None:
        run = self._writer.state.run
        if run is not None:
            self.spent = run.spent

    async def _land(self, reason: str) -> None:
        """End what still runs and wait for it: each gives its own result."""
        if self._under_way:
            self._activity.cut(reason)
            await self._under_way.land()

    async def _abandon(self) -> None:
        """End what still runs after something went wrong: that is raised already, and theirs follow from it."""
        if self._under_way:
            self._activity.let_go("the run broke off")
        await self._under_way.outlast()

    async def _commit_cancelled(self) -> None:
        state = self._writer.state
        if state.run is None:
            return
        wish = ev.CancelRequested("the task was cancelled")
        await self._writer.record(wish, by=Actor(ActorKind.HOST))
        await self._end_now()

    async def _end_now(self) -> None:
        for effect in next_effects(self._writer.state, self._work.clock.now()):
            if isinstance(effect, End):
                await self._end(effect)


def _visit_of(state: State) -> tuple[str, int] | None:
    """The visit to a stage that the run is in; None in a run without stages, and between two of them."""
    stage = None if state.run is None else state.run.stage
    return None if stage is None else (stage.stage, stage.visit)


def _are_asked(effects: Sequence[Effect]) -> TypeGuard[Sequence[RunTool]]:
    """Whether ``effects`` admit the calls of a response, which are admitted together or not at all."""
    first = effects[0]
    return isinstance(first, RunTool) and first.step is Step.ADMIT
