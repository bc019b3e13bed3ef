"""Two workers that share the runs of one PostgreSQL database: whoever has time carries the run, by a queue of jobs."""

from __future__ import annotations

import asyncio

from handrail.agents.run import Run
from handrail.journal.port import Journal, StaleEpoch
from handrail.runs.worker import Pace, Queue
from handrail.testing.drill.carriers import Carrier, Scene, has_post, options_of, run_of
from handrail.testing.drill.journals import url_in
from handrail.testing.drill.people import is_over
from handrail.testing.drill.stories import LOOKS_EVERY_S, SESSION

PACE = Pace(beat_s=0.5, stalled_s=2.0, reap_s=0.5, poll_s=0.05)
"""Quick, for the drill waits for a dead worker to be missed. One that a slow machine keeps quiet for too long is held
for gone as well, and has then been taken over."""


async def _work(scene: Scene) -> None:
    """Work until the run is over; what has to be done is put into the queue by whoever sees it first."""
    over = asyncio.Event()

    async def carry(session: str) -> bool:
        run = await run_of(scene, options_of(scene, parks=True))
        if run is not None:
            await _unless_taken_over(run)
        return False

    async with Queue(url_in(scene.folder), carry, pace=PACE).opened() as queue:
        watching = asyncio.create_task(_watch(scene.journal, queue, over))
        try:
            await queue.work(over)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)


async def _unless_taken_over(run: Run) -> None:
    """``run`` until it waits or ends; a worker that was held for gone has nothing more to say."""
    try:
        await run
    except StaleEpoch:
        return


async def _watch(journal: Journal, queue: Queue, over: asyncio.Event) -> None:
    while not over.is_set():
        events = await journal.read(SESSION)
        if is_over(events):
            over.set()
        elif not events or await has_post(journal):
            await queue.put(SESSION)
        await asyncio.sleep(LOOKS_EVERY_S)


WORKERS = Carrier(name="worker", carry=_work, crew=2)
"""Two processes that work on the same queue."""
