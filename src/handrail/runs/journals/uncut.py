"""Work that a cancellation cannot cut short: it comes through afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


async def uncut(begin: Callable[[], asyncio.Future[Value]]) -> Value:
    """What the work that ``begin`` starts gives or raises.

    A cancellation that came before it is raised and nothing is begun. One that comes meanwhile waits for the work, and
    is raised where the task waits next, so that the task knows what the work did.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        # Where a cancellation is due this is where it is raised; in a task that is past it, nothing happens.
        await asyncio.sleep(0)
    work = begin()
    is_cancelled = False
    try:
        while not work.done():
            try:
                await asyncio.shield(work)
            except asyncio.CancelledError:
                if work.cancelled():
                    break
                is_cancelled = True
                if task is not None:
                    task.uncancel()
        return work.result()
    finally:
        if is_cancelled and task is not None:
            task.cancel()
