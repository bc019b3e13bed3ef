"""The queue of runs on a real PostgreSQL: one job a run, one worker a job, and none lost with its worker."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from handrail.errors import StoreError

pytest.importorskip("procrastinate")

from handrail.runs.worker.queue import SCHEMA, Pace, Queue, pace_for

QUICK = Pace(beat_s=60.0, stalled_s=0.0, reap_s=60.0, poll_s=0.05)
"""Whoever is at work counts as gone at once, but nobody looks for that unless it is asked to."""


def go(story: Coroutine[Any, Any, Any]) -> Any:
    async def bounded() -> Any:
        async with asyncio.timeout(60):
            return await story

    return asyncio.run(bounded())


class Carried:
    """Carries runs by noting them; ``gate`` holds each until it is opened, and the first ``again`` come once more."""

    def __init__(self, again: int = 0) -> None:
        self.seen: list[str] = []
        self.at_once = self.most_at_once = 0
        self.begun, self.gate = asyncio.Event(), asyncio.Event()
        self._again = again

    async def __call__(self, session: str) -> bool:
        self.seen.append(session)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.begun.set()
        await self.gate.wait()
        self.at_once -= 1
        self._again -= 1
        return self._again >= 0


async def until_idle(queue: Queue) -> None:
    while await queue.busy():
        await asyncio.sleep(0.01)


async def worked(queue: Queue, until: Any) -> None:
    """Work on ``queue`` until ``until`` has come true."""
    over = asyncio.Event()
    working = asyncio.ensure_future(queue.work(over))
    await until
    over.set()
    await working


def test_a_run_stands_in_the_queue_once_however_often_it_is_put_there(postgres_url: str) -> None:
    async def story() -> tuple[list[bool], frozenset[str], list[str]]:
        carried = Carried()
        carried.gate.set()
        async with Queue(postgres_url, carried, pace=QUICK).opened() as queue:
            put = [await queue.put(name) for name in ("a", "a", "b")]
            busy = await queue.busy()
            await worked(queue, until_idle(queue))
        return put, busy, carried.seen

    put, busy, seen = go(story())
    assert put == [True, False, True]
    assert busy == {"a", "b"}
    assert sorted(seen) == ["a", "b"]


def test_what_comes_while_a_run_is_carried_waits_until_that_is_done(postgres_url: str) -> None:
    async def story() -> tuple[bool, list[str], int]:
        carried = Carried()
        async with Queue(postgres_url, carried, pace=QUICK).opened() as queue:
            await queue.put("a")

            async def put_again() -> bool:
                await carried.begun.wait()
                is_put = await queue.put("a")
                carried.gate.set()
                await until_idle(queue)
                return is_put

            told = asyncio.ensure_future(put_again())
            await worked(queue, told)
            return told.result(), carried.seen, carried.most_at_once

    assert go(story()) == (True, ["a", "a"], 1)


def test_a_run_that_has_more_to_do_is_put_there_again(postgres_url: str) -> None:
    async def story() -> list[str]:
        carried = Carried(again=2)
        carried.gate.set()
        async with Queue(postgres_url, carried, pace=QUICK).opened() as queue:
            await queue.put("a")
            await worked(queue, until_idle(queue))
        return carried.seen

    assert go(story()) == ["a", "a", "a"]


@pytest.mark.parametrize("is_put_again", [False, True])
def test_the_job_of_a_worker_that_is_gone_is_done_by_another_once(postgres_url: str, is_put_again: bool) -> None:
    async def story() -> tuple[int, list[str]]:
        lost, found = Carried(), Carried()
        found.gate.set()
        async with Queue(postgres_url, lost, most=1, pace=QUICK).opened() as first:
            await first.put("a")
            working = asyncio.ensure_future(first.work(asyncio.Event()))
            await lost.begun.wait()
            async with Queue(postgres_url, found, pace=QUICK).opened() as second:
                if is_put_again:
                    await second.put("a")
                reaped = await second.reap()
                await worked(second, until_idle(second))
            # It wakes, and finds that its job is another's.
            lost.gate.set()
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        return reaped, found.seen

    assert go(story()) == (1, ["a"])


def test_two_that_come_first_at_the_same_time_make_one_queue_apart_from_the_journal(postgres_url: str) -> None:
    async def story() -> list[bool]:
        async def put(session: str) -> bool:
            async with Queue(postgres_url, Carried()).opened() as queue:
                return await queue.put(session)

        return list(await asyncio.gather(*(put(name) for name in "abcd")))

    assert go(story()) == [True] * 4
    import psycopg

    with psycopg.connect(postgres_url) as connection:
        tables = "SELECT table_schema FROM information_schema.tables WHERE table_name LIKE 'procrastinate%'"
        found = connection.execute(tables)
        assert {schema for (schema,) in found.fetchall()} == {SCHEMA}


def test_a_database_that_is_not_there_is_an_error_of_the_house() -> None:
    async def story() -> None:
        async with Queue("postgresql://nobody@127.0.0.1:1/none", Carried()).opened():
            raise AssertionError("it opened")

    with pytest.raises(StoreError, match="the queue of runs"):
        go(story())


def test_signs_of_life_come_often_enough_for_the_time_after_which_a_worker_is_gone() -> None:
    for stalled_s in (1.0, 12.0, 600.0):
        pace = pace_for(stalled_s)
        assert pace.stalled_s == stalled_s
        assert pace.beat_s * 3 <= stalled_s
        assert pace.reap_s < stalled_s
