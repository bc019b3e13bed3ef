"""Work under a run's bound on seconds: cut off where that is spent."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

from handrail.agents.cancellation import Cancelled
from handrail.agents.work import Activity
from handrail.journal.vocabulary import Bound


async def is_cut_off(work: Coroutine[Any, Any, None], left_s: float, activity: Activity) -> bool:
    """``work``, and whether it was cut off after ``left_s`` seconds, where the bound on them is spent."""
    is_cut = False

    def run_out() -> None:
        nonlocal is_cut
        is_cut = True
        activity.cut(f"{Bound.MAX_SECONDS} is reached")

    timer = asyncio.get_running_loop().call_later(left_s, run_out)
    try:
        await work
    finally:
        timer.cancel()
    return is_cut


async def unless_cut(work: Coroutine[Any, Any, None]) -> None:
    """``work``, given up when it is cut off: nothing was recorded then, so it is due again if still wanted."""
    with contextlib.suppress(Cancelled):
        await work


async def whole(work: Coroutine[Any, Any, None]) -> None:
    """``work`` to its end, however often the task that waits for it is cancelled; the cancelling is the caller's."""
    task = asyncio.get_running_loop().create_task(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({task})
    await task
