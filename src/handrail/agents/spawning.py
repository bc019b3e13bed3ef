"""Sub-agents: a run of its own for one call, inside the bounds of the run that started it.

Its journal is a session of its own; what it spends counts above it; what happens in it is relayed with its origin;
what it asks reaches the same people. It is cancelled with the call, paused with the run, and strategies go down only
when told to. A call that runs again goes on with those that it had started.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from handrail import ids
from handrail.agents.asks import BOTH
from handrail.agents.content import blocks_of
from handrail.agents.jobs import BOUNDS, Hand, Job, Outcome, Split
from handrail.agents.opening import Opening, Prompt
from handrail.agents.options import RunOptions
from handrail.agents.orphans import end_agents
from handrail.agents.paging import SharedShelf
from handrail.agents.portions import check_room, portion
from handrail.agents.rejoining import ABOVE, Earlier, History, Standing, history_of, result_of_ended, standing_of
from handrail.agents.result import RunFailed, RunResult, Session
from handrail.agents.run import Feed, Relayed, Run
from handrail.agents.teams import Place, Team
from handrail.agents.tool import ToolError
from handrail.agents.work import Activity, Family, Work
from handrail.agents.writer import Writer
from handrail.journal import events as ev
from handrail.transcripts.model import Author, Parent, Via

if TYPE_CHECKING:
    pass

Start: TypeAlias = Callable[[Hand, Opening, RunOptions, Session, Family], Awaitable[Run]]


class _EnoughFailed(Exception):
    """One failed, and the others are not wanted any more."""


class Spawner:
    """Starts the sub-agents of one run. ``is_good`` of ``spawn_each`` says whether a result counts as done."""

    def __init__(self, start: Start, writer: Writer, feed: Feed, options: RunOptions, activity: Activity) -> None:
        self._start = start
        self._writer = writer
        self._feed = feed
        self._options = options
        self._activity = activity
        self._teams: dict[str, Team] = {}
        self._started: Counter[str] = Counter()
        self._histories: dict[str, History] = {}
        self._is_parking = False
        self._moved = asyncio.Event()
        self.work: Work | None = None

    async def spawn(self, call: str, worker: Hand, prompt: str, bounds: RunOptions = BOUNDS) -> RunResult:
        """Run ``worker`` with ``prompt`` for ``call``, within ``bounds`` and within what is left here.

        Where the driver died that ran the call before, the sub-agent it had started is gone on with. ``ToolError``
        where none may be started, and for a sub-agent that failed.
        """
        team = self._team(call)
        place = team.enter()
        try:
            return await self._run(call, place, Job(worker=worker, prompt=prompt, bounds=bounds))
        finally:
            team.leave(place)

    async def spawn_each(self, call: str, split: Split, is_good: Callable[[RunResult], bool]) -> tuple[Outcome, ...]:
        """Run every job of ``split`` for ``call``; what became of each, in their order.

        A job that was done before the driver died, or is under way, is not begun again.
        """
        await self._plan(call, split)
        team = self._team(call)
        waiting, found = deque(split.jobs), dict[int, Outcome]()

        async def work(place: Place) -> None:
            try:
                while waiting:
                    job = waiting.popleft()
                    outcome = found[id(job)] = await self._tried(call, place, job)
                    if split.stops_at_failure and (outcome.result is None or not is_good(outcome.result)):
                        raise _EnoughFailed
            finally:
                team.leave(place)

        places = [team.enter() for _ in range(min(split.max_workers or len(split.jobs), len(split.jobs)))]
        await _all_of([work(place) for place in places])
        undone = "it was not done: another one failed"
        return tuple(found.get(id(job)) or Outcome(job=job, error=undone) for job in split.jobs)

    # What the driver asks

    def is_still(self, call: str) -> bool:
        team = self._teams.get(call)
        return team is not None and team.is_still

    def stood_s(self, call: str) -> float:
        team = self._teams.get(call)
        return 0.0 if team is None else team.stood_s

    def park(self) -> None:
        self._is_parking = True
        for run in self._runs():
            run.park()

    async def end_left(self, call: str | None = None) -> None:
        if not self._writer.state.children:
            return
        history = None if call is None else await self._history(call)
        carried = {run.session.id for run in self._runs()}
        meant = self._writer.state.children if history is None else [one.session for one in history.children]
        await end_agents(self._writer, [child for child in meant if child not in carried])

    def watch(self, event: ev.Event) -> None:
        """Pause and resume with the run whoever is below it."""
        body = event.body
        if type(body) is ev.PauseRequested:
            for place in self._places():
                if place.run is not None and not place.run.is_over:
                    place.is_paused_from_above = True
                    place.run.pause(body.reason, by=ABOVE)
        elif type(body) is ev.ResumeRequested:
            for place in self._places():
                if place.run is not None and place.is_paused_from_above:
                    place.is_paused_from_above = False
                    place.run.resume(body.reason, by=ABOVE)
                    # It has not heard it yet, and is about to.
                    place.stand(False)
            self._moved.set()

    def _places(self) -> list[Place]:
        return [place for team in self._teams.values() for place in team.places]

    def _runs(self) -> list[Run]:
        return [place.run for place in self._places() if place.run is not None]

    def _team(self, call: str) -> Team:
        if call not in self._teams:
            self._teams[call] = Team(self._writer.clock, self._activity.wake)
        return self._teams[call]

    # One sub-agent

    async def _tried(self, call: str, place: Place, job: Job) -> Outcome:
        try:
            return Outcome(job=job, result=await self._run(call, place, job))
        except ToolError as problem:
            return Outcome(job=job, error=problem.message, is_external=problem.is_external)

    async def _run(self, call: str, place: Place, job: Job) -> RunResult:
        await self._unpaused(place)
        run, work = self._writer.state.run, self.work
        if run is None or work is None:
            raise ToolError("the run is over")
        name = job.worker.name or "agent"
        earlier = await self._earlier(call, job)
        if earlier is None:
            check_room(run, work)
            child = Session(ids.new_uuid7(work.clock), self._writer.journal)
            item = None if job.item is None else job.item.id
            # Before it begins: a sub-agent that nobody knows of could not be gone on with.
            await self._writer.record(ev.ChildSpawned(child=child.id, call=call, agent=name, item=item))
        else:
            child = Session(earlier.session, self._writer.journal)
        is_counted = earlier is not None and earlier.is_counted
        try:
            result = await self._carried(call, place, job, child, is_new=earlier is None, is_counted=is_counted)
        except RunFailed as problem:
            await self._ended(problem.result, is_counted)
            raise ToolError(f"the agent {name} failed: {problem}", is_external=True) from problem
        finally:
            place.vacate()
        await self._ended(result, is_counted)
        return result

    async def _carried(
        self, call: str, place: Place, job: Job, child: Session, *, is_new: bool, is_counted: bool
    ) -> RunResult:
        """What the run of ``child`` comes to, begun or gone on with where it has not ended."""
        run, work = self._writer.state.run, self.work
        if run is None or work is None:
            raise ToolError("the run is over")
        options = portion(run, work, self._options, job.bounds, self._writer.journal)
        if options.shelf is not None:
            item = "" if job.item is None else f"/{job.item.id}"
            options = replace(options, shelf=SharedShelf(options.shelf, f"{call}{item}"))
        prompted = Prompt(blocks_of(job.prompt, Author.MODEL, Via.PROMPT, work.place.agent))
        standing = Standing(opening=prompted) if is_new else await standing_of(child, prompted)
        if not is_counted:
            work.purse.charge(standing.spent.tokens, standing.spent.cost)
        if standing.opening is None:
            return await result_of_ended(child, standing.spent, work.clock)
        if standing.is_paused_from_above:
            # Before it looks: paused, it would only stand there, and the run above it with it.
            await child.journal.post(child.id, ev.ResumeRequested(), ABOVE, ids.new_uuid7(work.clock))
        begun = await self._start(job.worker, standing.opening, options, child, self._family(work, job, call, place))
        place.run = begun
        if self._is_parking:
            begun.park()
        return await self._outcome(begun)

    async def _unpaused(self, place: Place) -> None:
        """Wait while nothing new may start."""
        while (run := self._writer.state.run) is not None and (run.is_paused or self._is_parking):
            self._moved.clear()
            place.stand(True)
            await self._moved.wait()
        place.stand(False)

    async def _earlier(self, call: str, job: Job) -> Earlier | None:
        """The sub-agent that this call had started for the same when its driver died."""
        nth = self._started[call]
        self._started[call] += 1
        if not self._was_run_before(call):
            return None
        history = await self._history(call)
        return history.nth(nth) if job.item is None else history.of_item(job.item.id)

    def _was_run_before(self, call: str) -> bool:
        run = self._writer.state.run
        return run is not None and any(one.call == call and one.attempts > 1 for one in run.calls)

    async def _history(self, call: str) -> History:
        """What the call had done when this driver met it first."""
        if call not in self._histories:
            self._histories[call] = await history_of(Session(self._writer.session, self._writer.journal), call)
        return self._histories[call]

    async def _plan(self, call: str, split: Split) -> None:
        """Record how the work is split, once."""
        if self._was_run_before(call) and (await self._history(call)).is_planned:
            return
        names = dict.fromkeys(job.worker.name for job in split.jobs)
        planned = ev.FanOutPlanned(
            fan_out=ids.new_uuid7(self._writer.clock),
            items=tuple(job.item for job in split.jobs if job.item is not None),
            worker=", ".join(name for name in names if name) or None,
            max_workers=split.max_workers,
            stage=self._writer.state.stage,
            call=call,
        )
        await self._writer.record(planned)

    def _family(self, work: Work, job: Job, call: str, place: Place) -> Family:
        name = job.worker.name or "agent"
        return Family(
            origin=(*work.origin, name if job.item is None else f"{name}: {job.item.id}"),
            parent=Parent(session=self._writer.session, kind="subagent", at=call),
            depth=work.place.depth + 1,
            # What its prompt was made of may have come from anywhere this conversation has been.
            taint=self._writer.state.taint or BOTH,
            is_let_go=lambda: self._activity.is_let_go,
            tell_still=place.stand,
        )

    async def _outcome(self, child: Run) -> RunResult:
        relay = asyncio.get_running_loop().create_task(self._relay(child))
        try:
            return await child
        except asyncio.CancelledError:
            # It has committed by now, unless it was let go; what it spent was charged as it was spent.
            if child.last_result is not None:
                await self._ended(child.last_result, False)
            raise
        finally:
            await relay

    async def _relay(self, child: Run) -> None:
        async for item in child:
            if isinstance(item, Relayed):
                self._feed.show(Relayed((child.session.id, *item.origin), item.item))
            else:
                self._feed.show(Relayed((child.session.id,), item))

    async def _ended(self, result: RunResult, is_counted: bool) -> None:
        if self._writer.state.run is None or is_counted:
            return
        await self._writer.record(
            ev.ChildEnded(
                child=result.session.id,
                reason=result.end_reason,
                tokens=result.tokens,
                cost=result.cost or 0.0,
                elapsed_s=result.elapsed_s,
                is_unpriced=result.cost is None,
            )
        )


async def _all_of(works: Sequence[Any]) -> None:
    """Carry ``works`` out side by side; the first that raises ends the others, and they are waited for."""
    tasks = [asyncio.get_running_loop().create_task(one) for one in works]
    try:
        await asyncio.gather(*tasks)
    except _EnoughFailed:
        pass
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
