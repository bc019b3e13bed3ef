"""Sub-agents: a run of its own for one call, inside the bounds of the run that started it.

Its journal is a session of its own; what it spends counts above it; what happens in it is relayed with its origin;
what it asks reaches the same people. It is cancelled with the call, and strategies go down only when told to.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from handrail import ids
from handrail.agents.asks import BOTH
from handrail.agents.boundary import remaining
from handrail.agents.content import blocks_of
from handrail.agents.opening import Opening, Prompt
from handrail.agents.options import RunOptions
from handrail.agents.paging import SharedShelf
from handrail.agents.rejoining import Earlier, Standing, earlier_children, result_of_ended, standing_of
from handrail.agents.result import RunFailed, RunResult, Session
from handrail.agents.run import Feed, Relayed, Run
from handrail.agents.tool import ToolError
from handrail.agents.work import Activity, Family, Work
from handrail.agents.writer import Writer
from handrail.journal import events as ev
from handrail.journal.state import RunState
from handrail.journal.vocabulary import Actor, ActorKind
from handrail.transcripts.model import Author, Parent, Via

if TYPE_CHECKING:
    from handrail.agents.agent import Agent

MAX_DEPTH = 2
"""How many agents may stand below the root, one under the other."""

BOUNDS = RunOptions(max_rounds=30, workspace=Path())
"""What a sub-agent may do where nothing else is said."""

Start = Callable[["Agent", Opening, RunOptions, Session, Family], Run]


class Spawner:
    """Starts the sub-agents of one run."""

    def __init__(self, start: Start, writer: Writer, feed: Feed, options: RunOptions, activity: Activity) -> None:
        self._start = start
        self._writer = writer
        self._feed = feed
        self._options = options
        self._activity = activity
        self._started: Counter[str] = Counter()
        self.work: Work | None = None

    async def spawn(self, call: str, agent: Agent, prompt: str, bounds: RunOptions = BOUNDS) -> RunResult:
        """Run ``agent`` with ``prompt`` for ``call``, within ``bounds`` and within what is left here.

        Where the driver died that ran the call before, the sub-agent it had started is gone on with. ``ToolError``
        where none may be started, and for a sub-agent that failed.
        """
        run, work = self._writer.state.run, self.work
        if run is None or work is None:
            raise ToolError("the run is over")
        name = agent.name or "agent"
        earlier = await self._earlier(run, call)
        if earlier is None:
            _check_room(run, work)
            child = Session(ids.new_uuid7(work.clock), self._writer.journal)
            # Before it begins: a sub-agent that nobody knows of could not be gone on with.
            await self._writer.record(ev.ChildSpawned(child=child.id, call=call, agent=name))
        else:
            child = Session(earlier.session, self._writer.journal)
        options = self._child_options(run, work, bounds, Actor(ActorKind.MODEL, work.place.agent))
        if options.shelf is not None:
            options = replace(options, shelf=SharedShelf(options.shelf, call))
        prompted = Prompt(blocks_of(prompt, Author.MODEL, Via.PROMPT, work.place.agent))
        standing = Standing(opening=prompted) if earlier is None else await standing_of(child, prompted)
        is_counted = earlier is not None and earlier.is_counted
        if not is_counted:
            work.purse.charge(standing.spent.tokens, standing.spent.cost)
        try:
            if standing.opening is None:
                result = await result_of_ended(child, standing.spent, work.clock)
            else:
                family = self._family(work, name, call)
                result = await self._outcome(self._start(agent, standing.opening, options, child, family))
        except RunFailed as problem:
            await self._ended(problem.result, is_counted)
            raise ToolError(f"the agent {name} failed: {problem}", is_external=True) from problem
        await self._ended(result, is_counted)
        return result

    async def _earlier(self, run: RunState, call: str) -> Earlier | None:
        """The sub-agent that this call had started in the same place when its driver died."""
        nth = self._started[call]
        self._started[call] += 1
        if all(one.call != call or one.attempts < 2 for one in run.calls):
            return None
        known = await earlier_children(Session(self._writer.session, self._writer.journal), call)
        return known[nth] if nth < len(known) else None

    def _family(self, work: Work, name: str, call: str) -> Family:
        return Family(
            origin=(*work.origin, name),
            parent=Parent(session=self._writer.session, kind="subagent", at=call),
            depth=work.place.depth + 1,
            # What its prompt was made of may have come from anywhere this conversation has been.
            taint=self._writer.state.taint or BOTH,
            is_let_go=lambda: self._activity.is_let_go,
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

    def _child_options(self, run: RunState, work: Work, own: RunOptions, by: Actor) -> RunOptions:
        limits = run.limits
        work.purse.max_tokens, work.purse.max_cost = limits.max_tokens, limits.max_cost
        left = remaining(run)
        return replace(
            self._options,
            max_rounds=own.max_rounds,
            max_requests=own.max_requests,
            max_tool_calls=own.max_tool_calls,
            max_tokens=_tighter(own.max_tokens, left.tokens),
            max_cost=_tighter(own.max_cost, left.cost),
            max_seconds=_tighter(own.max_seconds, left.seconds),
            pools=(*self._options.pools, work.purse),
            strategies=self._options.strategies if self._options.inherits else own.strategies,
            by=by,
            journal=self._writer.journal,
            stop=None,
            cancellation=None,
            tools=None,
            tool_choice=None,
            title=None,
            # Its call waits for it in this process.
            parks=False,
        )

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


def _check_room(run: RunState, work: Work) -> None:
    """``ToolError`` where no further sub-agent may be started."""
    if work.place.depth >= MAX_DEPTH:
        raise ToolError(f"no further agent can be started: {MAX_DEPTH} stand one under the other already")
    left = remaining(run)
    if left.tokens == 0 or left.cost == 0 or left.seconds == 0:
        raise ToolError("no further agent can be started: nothing is left of what this run may spend")


def _tighter(one: Any, other: Any) -> Any:
    given = [value for value in (one, other) if value is not None]
    return min(given) if given else None
