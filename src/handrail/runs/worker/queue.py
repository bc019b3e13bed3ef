"""The jobs of one PostgreSQL database: each says «carry the run of this session until it waits or ends».

Procrastinate keeps them, in a schema of its own: a lock a run, so that one worker at a time has it; a queueing lock, so
that a run stands in the queue once, however many reasons there are; heartbeats, so that the jobs of a worker that died
or stands still are given to others. What a job did is in the journal, never in the job: it may be run any number of
times.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from handrail.errors import MissingExtra, StoreError

if TYPE_CHECKING:
    import procrastinate

SCHEMA = "handrail_queue"
"""Apart from the journal's: its tables belong to Procrastinate and are changed by it alone; ours is one trigger."""

QUEUE = "runs"
_TASK = "carry"
_TRIGGER = "handrail_freed_lock"
_LOCK_OF_THE_SCHEMA = 0x68616E65

Carry: TypeAlias = Callable[[str], Awaitable[bool]]
"""Carries the run of a session until it waits or ends; whether it is to be carried on at once."""

_TELLING = f"""
CREATE FUNCTION handrail_tell_of_freed_lock() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM {SCHEMA}.procrastinate_jobs WHERE lock = OLD.lock AND status = 'todo') THEN
        PERFORM pg_notify(
            'procrastinate_queue_v1#' || OLD.queue_name,
            json_build_object('type', 'job_inserted', 'job_id', OLD.id)::text
        );
    END IF;
    RETURN NULL;
END;
$$;
CREATE TRIGGER {_TRIGGER} AFTER UPDATE OF status OR DELETE ON procrastinate_jobs
    FOR EACH ROW WHEN (OLD.status = 'doing') EXECUTE FUNCTION handrail_tell_of_freed_lock();
"""
"""Wakes the workers where a job lets go of a lock that another one waits for.

Procrastinate tells of new jobs alone, and one that cannot be taken when it is told of is only met again by looking.
"""


class Pace(Struct, frozen=True, kw_only=True):
    """How often what is done, in seconds.

    A worker gives a sign of life each ``beat_s``, and counts as gone after ``stalled_s`` without; each ``reap_s`` one
    looks for jobs of those that are gone. Each ``poll_s`` one looks for jobs where nobody woke it, which is so where
    it was told of one while it looked.
    """

    beat_s: float = 3.0
    stalled_s: float = 12.0
    reap_s: float = 4.0
    poll_s: float = 2.0


def pace_for(stalled_s: float) -> Pace:
    """The pace at which a worker counts as gone after ``stalled_s`` seconds."""
    return Pace(beat_s=stalled_s / 4, stalled_s=stalled_s, reap_s=stalled_s / 3, poll_s=min(2.0, stalled_s))


class Queue:
    """Jobs of the database at ``url``, and who works on them: ``carry`` does one, ``most`` at a time.

    Raises ``MissingExtra`` without the extra ``postgres``.
    """

    def __init__(self, url: str, carry: Carry, *, most: int = 8, pace: Pace | None = None) -> None:
        require_queue()
        self._url = url
        self._carry = carry
        self._most = most
        self._pace = pace or Pace()
        self._app: procrastinate.App | None = None
        self._is_over = asyncio.Event()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Queue]:
        """The queue, open as long as the block lasts. ``StoreError`` where the database cannot be used."""
        with _told():
            await _make_schema(self._url)
            app = self._new_app()
            await app.open_async()
        try:
            self._app = app
            yield self
        finally:
            self._app = None
            await app.close_async()

    async def put(self, session: str) -> bool:
        """Have the run of ``session`` carried; False where that stands in the queue already."""
        from procrastinate import exceptions

        task = self._opened().tasks[_TASK].configure(lock=session, queueing_lock=session)
        try:
            with _told():
                await task.defer_async(session=session)
        except exceptions.AlreadyEnqueued:
            return False
        return True

    async def work(self, is_over: asyncio.Event) -> None:
        """Do jobs until ``is_over``; what is being done then is finished first."""
        app, pace, self._is_over = self._opened(), self._pace, is_over
        worker: asyncio.Task[None] = asyncio.get_running_loop().create_task(
            app.run_worker_async(
                queues=[QUEUE],
                concurrency=self._most,
                delete_jobs="always",
                install_signal_handlers=False,
                fetch_job_polling_interval=pace.poll_s,
                update_heartbeat_interval=pace.beat_s,
                stalled_worker_timeout=pace.stalled_s,
            )
        )
        reaper = asyncio.get_running_loop().create_task(self._reap_again_and_again())
        over: asyncio.Task[Any] = asyncio.get_running_loop().create_task(is_over.wait())
        try:
            with _told():
                await asyncio.wait((worker, reaper, over), return_when=asyncio.FIRST_COMPLETED)
                for task in (worker, reaper):
                    if task.done():
                        task.result()
        finally:
            for task in (over, reaper, worker):
                # A worker that is cancelled takes no more jobs, and waits for those it has.
                task.cancel()
            await asyncio.gather(over, reaper, worker, return_exceptions=True)

    async def busy(self) -> frozenset[str]:
        """The sessions whose runs are carried now, or stand in the queue."""
        found: set[str] = set()
        manager = self._opened().job_manager
        with _told():
            for status in ("todo", "doing"):
                found |= {job.lock for job in await manager.list_jobs_async(queue=QUEUE, status=status) if job.lock}
        return frozenset(found)

    async def reap(self) -> int:
        """Give the jobs of workers that are gone to others; how many those were."""
        from procrastinate import exceptions, jobs, utils

        manager = self._opened().job_manager
        count = 0
        for job in await manager.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=self._pace.stalled_s):
            count += 1
            try:
                await manager.retry_job(job, retry_at=utils.utcnow())
            except exceptions.UniqueViolation:
                # It stands in the queue once more already, and only waits for this one to let go of the run.
                await _dropped(manager.finish_job(job, status=jobs.Status.FAILED, delete_job=True))
            except exceptions.ConnectorException:
                # Another one gave it away, or its worker was alive after all and has just finished it.
                count -= 1
        return count

    async def _reap_again_and_again(self) -> None:
        while True:
            await self.reap()
            await asyncio.sleep(self._pace.reap_s)

    def _opened(self) -> procrastinate.App:
        if self._app is None:
            raise RuntimeError("the queue is not open")
        return self._app

    def _new_app(self) -> procrastinate.App:
        import procrastinate

        connector = procrastinate.PsycopgConnector(
            conninfo=self._url, configure=_find_schema, min_size=1, max_size=self._most + 3
        )
        app = procrastinate.App(connector=connector)

        async def carry(session: str) -> None:
            while await self._carry(session):
                # Gone on with here: what is queued behind this job waits for its lock.
                if self._is_over.is_set():
                    await self.put(session)
                    return

        app.task(name=_TASK, queue=QUEUE)(carry)
        return app


async def _dropped(finishing: Awaitable[None]) -> None:
    """Finish a job that somebody else may just have finished."""
    from procrastinate import exceptions

    with contextlib.suppress(exceptions.ConnectorException):
        await finishing


def require_queue() -> None:
    """``MissingExtra`` unless what workers need is installed."""
    if find_spec("procrastinate") is None or find_spec("psycopg") is None:
        raise MissingExtra("workers need the extra 'postgres'", hint="pip install 'handrail[postgres]'")


async def _find_schema(connection: Any) -> None:
    await connection.execute(f"SET search_path TO {SCHEMA}")
    if not connection.autocommit:
        await connection.commit()


async def _make_schema(url: str) -> None:
    """The tables of the queue, and what wakes those who wait for a lock, made by whoever comes first."""
    import psycopg
    from procrastinate.schema import SchemaManager

    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK_OF_THE_SCHEMA,))
        found = await connection.execute("SELECT to_regnamespace(%s)", (SCHEMA,))
        row = await found.fetchone()
        if row is not None and row[0] is None:
            await connection.execute(f"CREATE SCHEMA {SCHEMA}".encode())
            await connection.execute(f"SET LOCAL search_path TO {SCHEMA}".encode())
            await connection.execute(SchemaManager.get_schema())
        found = await connection.execute(
            "SELECT FROM pg_trigger WHERE tgname = %s AND tgrelid = to_regclass(%s)",
            (_TRIGGER, f"{SCHEMA}.procrastinate_jobs"),
        )
        if await found.fetchone() is None:
            await connection.execute(f"SET LOCAL search_path TO {SCHEMA}".encode())
            await connection.execute(_TELLING.encode())


@contextlib.contextmanager
def _told() -> Any:
    """Failures of the database as errors of the house."""
    import psycopg
    from procrastinate import exceptions

    try:
        yield
    except (psycopg.Error, exceptions.ConnectorException) as problem:
        why = " ".join(str(problem.__cause__ or problem).split()) or type(problem).__name__
        raise StoreError(f"the queue of runs: {why}") from problem
