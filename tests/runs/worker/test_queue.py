"""The queue of runs: what is to be carried on is at once, and who waits for a lock is woken when it is let go of."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

pytest.importorskip("procrastinate")

from handrail.runs.worker.queue import QUEUE, Pace, Queue

PATIENCE_S = 60.0
"""Far longer than anything here takes; what hangs fails."""

NEVER_S = 600.0
"""A pace at which nothing is met by looking within a test."""


@asynccontextmanager
async def working(queue: Queue) -> AsyncIterator[None]:
    """``queue`` at work as long as the block lasts."""
    is_over = asyncio.Event()
    async with queue.opened(), asyncio.timeout(PATIENCE_S):
        work = asyncio.create_task(queue.work(is_over))
        try:
            yield
        finally:
            is_over.set()
            await work


def test_a_run_that_has_more_to_do_is_carried_on_without_waiting_to_be_looked_for(postgres_url: str) -> None:
    async def story() -> int:
        times, is_done = 0, asyncio.Event()

        async def carry(session: str) -> bool:
            nonlocal times
            times += 1
            if times == 3:
                is_done.set()
            return times < 3

        queue = Queue(postgres_url, carry, pace=Pace(poll_s=NEVER_S))
        async with working(queue):
            await queue.put("one")
            await is_done.wait()
        return times

    assert asyncio.run(story()) == 3


def test_a_run_that_has_more_to_do_when_its_worker_ends_is_left_in_the_queue_for_another(postgres_url: str) -> None:
    async def story() -> tuple[int, frozenset[str]]:
        times, is_over = 0, asyncio.Event()

        async def carry(session: str) -> bool:
            nonlocal times
            times += 1
            is_over.set()
            return True

        queue = Queue(postgres_url, carry, pace=Pace(poll_s=NEVER_S))
        async with queue.opened(), asyncio.timeout(PATIENCE_S):
            await queue.put("one")
            await queue.work(is_over)
            return times, await queue.busy()

    assert asyncio.run(story()) == (1, frozenset({"one"}))


def test_workers_are_woken_when_a_job_lets_go_of_a_lock_that_another_waits_for(postgres_url: str) -> None:
    async def story() -> list[int]:
        begun, may_end, is_done, order = asyncio.Event(), asyncio.Event(), asyncio.Event(), list[str]()

        async def carry(session: str) -> bool:
            order.append(session)
            if len(order) == 1:
                begun.set()
                await may_end.wait()
            else:
                is_done.set()
            return False

        queue = Queue(postgres_url, carry, pace=Pace(poll_s=0.05))
        async with working(queue), heard(postgres_url) as told:
            await queue.put("one")
            await begun.wait()
            await queue.put("one")
            may_end.set()
            await is_done.wait()
            return await told(3)

    first, second, third = asyncio.run(story())
    assert third == first != second


def test_nobody_is_woken_when_a_job_ends_that_nothing_waits_for(postgres_url: str) -> None:
    async def story() -> list[int]:
        ended: asyncio.Queue[str] = asyncio.Queue()

        async def carry(session: str) -> bool:
            ended.put_nowait(session)
            return False

        queue = Queue(postgres_url, carry, pace=Pace(poll_s=0.05))
        async with working(queue), heard(postgres_url) as told:
            await queue.put("one")
            await ended.get()
            while await queue.busy():
                await asyncio.sleep(0.01)
            await queue.put("two")
            return await told(2)

    first, second = asyncio.run(story())
    assert first != second


@asynccontextmanager
async def heard(url: str) -> AsyncIterator[Callable[[int], Awaitable[list[int]]]]:
    """Waits for that many jobs that workers are told of, and gives them in order."""
    import psycopg

    told: list[int] = []
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        connection.add_notify_handler(lambda one: told.append(json.loads(one.payload)["job_id"]))
        await connection.execute(f'LISTEN "procrastinate_queue_v1#{QUEUE}"'.encode())

        async def first(count: int) -> list[int]:
            while len(told) < count:
                # What has come is taken in with the answer to a query.
                await connection.execute("SELECT 1")
            return told[:count]

        yield first
