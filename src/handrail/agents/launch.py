"""From an agent, options and a session to a run: checked, put together, opened, driven, closed."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from handrail import ids
from handrail.agents.adjusting import checked
from handrail.agents.boundary import Asking, Enlisted, Place, enlisted
from handrail.agents.compacting import Compactor
from handrail.agents.compose import as_json
from handrail.agents.driver import Driver
from handrail.agents.inbox import Inbox
from handrail.agents.jobs import Hand, Worker
from handrail.agents.opening import HOST, Opening, Started, opened
from handrail.agents.options import OnError, RunOptions
from handrail.agents.output import Output
from handrail.agents.pool import Pool
from handrail.agents.rejoining import asks_below
from handrail.agents.result import RunFailed, RunResult, Session, result_of
from handrail.agents.run import Feed, Run
from handrail.agents.spawning import Spawner
from handrail.agents.staging import Staged, Stages
from handrail.agents.steering import Mailbox
from handrail.agents.tool import Tool, by_name
from handrail.agents.work import Activity, Family, Work
from handrail.agents.writer import Writer
from handrail.clock import Clock
from handrail.errors import UnknownName
from handrail.journal.events import Event
from handrail.journal.memory import MemoryJournal
from handrail.journal.state import RunState
from handrail.journal.vocabulary import EndReason

if TYPE_CHECKING:
    from handrail.agents.agent import Agent


class Launch(Struct, frozen=True, kw_only=True):
    """Everything a run is started from."""

    agent: Agent
    opening: Opening
    options: RunOptions
    session: Session
    output: Output | None
    family: Family
    clock: Clock
    strategies: tuple[Enlisted, ...]
    stages: Stages | None = None


def launch(
    agent: Agent,
    opening: Opening,
    options: RunOptions,
    *,
    session: Session | None = None,
    output: Output | None = None,
    family: Family | None = None,
    stages: Stages | None = None,
) -> Run:
    """Start a run in the running loop. Raises at once for what is wrong with what was given.

    ``stages`` is there for a run of a blueprint: what each stage works with comes from it, and not from ``agent``.
    """
    clock = agent.clock
    options.bounds()
    OnError(options.on_strategy_error)
    _check_hooks(options)
    _tools(agent, output)
    given = Launch(
        agent=agent,
        opening=opening,
        options=options,
        session=session or Session(ids.new_uuid7(clock), options.journal or MemoryJournal(clock)),
        output=output,
        family=family or Family(),
        clock=clock,
        strategies=enlisted(options.strategies),
        stages=stages,
    )
    return _Launched(given).handle


def _check_hooks(options: RunOptions) -> None:
    """``ValueError`` when two hooks have one name: the journal tells them apart by it."""
    names = [hook.name for hook in options.hooks]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two hooks are called {name!r}")


class _Launched:
    """The parts of one run, put together; what the run has come to stands in its journal alone."""

    def __init__(self, given: Launch) -> None:
        self._given = given
        also = None if given.stages is None else given.stages.take
        self._writer = Writer(given.session.journal, given.session.id, given.clock, also)
        self._feed = Feed()
        self._activity = Activity(given.family.is_let_go, given.family.tell_still)
        self._spawner: Spawner | None = None
        self._mailbox = Mailbox(given.session.journal, given.session.id, lambda entry: self._inbox.heard(entry))
        self._inbox = Inbox(self._writer, self._mailbox, self._activity, given.options.max_queued)
        self._is_parked = False
        loop = asyncio.get_running_loop()
        self._activity.wake = lambda: loop.call_soon_threadsafe(self._inbox.wake)
        task = loop.create_task(self._carry())
        self.handle = Run(ids.new_uuid7(given.clock), given.session, self._feed, self._mailbox, self._activity, task)

    async def _carry(self) -> RunResult:
        with ExitStack() as held:
            try:
                await self._writer.open()
                self._writer.watch = self._watch
                self.handle.id = await self._opened()
                self._heed_tokens(held)
                self._inbox.watch_others()
                driver = await self._drive()
            finally:
                await self._inbox.close(is_over=not self._is_parked)
                self._feed.end()
        result = self.handle.last_result
        if result is None:
            raise RuntimeError("the run was driven to its end and has none")
        if result.end_reason is EndReason.FAILED:
            raise RunFailed(result) from (driver.failure or driver.requests.failure)
        return result

    async def _drive(self) -> Driver:
        """Drive the run to its end, each visit to a stage with what that stage works with, or until it is parked."""
        while True:
            driver = self._new_driver(self.handle.id)
            try:
                await driver.drive()
            finally:
                if self._writer.state.run is None and self._writer.conversation.ended is not None:
                    self.handle.last_result = self._result(driver)
            self._is_parked = driver.is_parked
            if self._is_parked:
                below = await asks_below(self._writer.journal, self._writer.state.children)
                parked = self._result(driver)
                self.handle.last_result = replace(parked, waits_for=(*parked.waits_for, *below))
            if self._is_parked or self._writer.state.run is None:
                return driver

    def _result(self, driver: Driver) -> RunResult:
        output = None if self._given.stages is not None else self._given.output
        read = None if output is None else output.read
        return result_of(self._writer, driver.spent, self.handle.id, read, is_parked=driver.is_parked)

    def _watch(self, event: Event) -> None:
        self._mailbox.watch(event)
        self._feed.show(event)
        if self._inbox.asks is not None:
            self._inbox.asks.watch(event)
        if self._spawner is not None:
            self._spawner.watch(event)

    async def _opened(self) -> str:
        given = self._given
        started = Started(
            run=self.handle.id,
            model=given.agent.model.info.id,
            agent=given.agent.name,
            strategies=tuple(one.name for one in given.strategies),
            taint=given.agent.taint | given.family.taint,
            parent=given.family.parent,
            blueprint=None if given.stages is None else given.stages.frozen,
            instructions=given.agent.instructions,
            tools=tuple(one.name for one in given.agent.toolbox),
        )
        if self._writer.state.is_open and self._writer.state.run is None:
            await self._inbox.take_before_run()
        return await opened(self._writer, given.opening, started, given.options, given.clock)

    def _heed_tokens(self, held: ExitStack) -> None:
        """Hear the host's tokens: one that is cancelled is a wish like any other."""
        options, run = self._given.options, self.handle
        if options.stop is not None:
            held.callback(options.stop.on_cancel(lambda reason: run.stop(reason, by=HOST)))
        if options.cancellation is not None:
            held.callback(options.cancellation.on_cancel(lambda reason: run.cancel(reason, by=HOST)))

    def _new_driver(self, run: str) -> Driver:
        state = self._writer.state.run
        if state is None:
            raise RuntimeError("the run was opened and is not open")
        staged = self._staged()
        work = self._work(run, state, staged)
        asking = Asking(
            timeout_s=work.options.strategy_timeout_s,
            on_error=OnError(work.options.on_strategy_error),
            check=partial(checked, models=work.models, tools=work.tools),
            finish=as_json if staged.output is None else staged.output.check,
            clock=work.clock,
        )
        compactor = Compactor(work, self._writer)
        driver = Driver(work, self._writer, self._inbox, self._activity, asking, compactor.compact)
        self._inbox.asks = driver.asks
        return driver

    def _staged(self) -> Staged:
        """What the stage that the run is in works with; in a run without stages, and before the first, all of it."""
        given = self._given
        staged = None if given.stages is None else given.stages.staged()
        if staged is not None:
            return staged
        return Staged(agent=given.agent, options=given.options, strategies=given.strategies, output=given.output)

    def _work(self, run: str, state: RunState, staged: Staged) -> Work:
        given = self._given
        agent, family = staged.agent, given.family
        purse = Pool(max_tokens=state.limits.max_tokens, max_cost=state.limits.max_cost)
        purse.charge(state.spent.tokens, state.spent.cost)
        spawner = Spawner(_start_child, self._writer, self._feed, staged.options, self._activity)
        work = Work(
            model=agent.model,
            models={model.info.name: model for model in (*agent.models, *staged.fallbacks, agent.model)},
            instructions=agent.instructions,
            tools=_tools(agent, staged.output),
            strategies=_in_order(state.strategies, staged.strategies),
            options=staged.options,
            place=Place(
                run=run,
                session=given.session.id,
                agent=agent.name,
                depth=family.depth,
                parent=None if family.parent is None else family.parent.session,
            ),
            clock=given.clock,
            origin=family.origin,
            show=self._feed.show,
            purse=purse,
            agents=spawner,
            stages=given.stages,
            fallbacks=staged.fallbacks,
            view=staged.view,
        )
        spawner.work = work
        self._spawner = spawner
        return work


def _tools(agent: Agent, output: Output | None) -> dict[str, Tool]:
    """The tools of ``agent`` by name, with the one that takes the typed answer; ``ValueError`` for a name twice."""
    return by_name((*agent.toolbox, *(() if output is None else (output.tool,))))


def _in_order(names: tuple[str, ...], given: tuple[Enlisted, ...]) -> tuple[Enlisted, ...]:
    """The strategies a run was started with; ``UnknownName`` for one that was not passed again and is none of ours."""
    known = {one.name: one for one in given}
    found: list[Enlisted] = []
    for name in names:
        found.append(known[name] if name in known else _shipped(name))
    return tuple(found)


def _shipped(name: str) -> Enlisted:
    try:
        return enlisted((name,))[0]
    except (UnknownName, TypeError) as problem:
        raise UnknownName(f"the run needs the strategy {name!r}", hint="pass it again to go on") from problem


async def _start_child(worker: Hand, opening: Opening, options: RunOptions, session: Session, family: Family) -> Run:
    if isinstance(worker, Worker):
        return await worker.begin(opening, options, session, family)
    return launch(worker, opening, options, session=session, family=family)
