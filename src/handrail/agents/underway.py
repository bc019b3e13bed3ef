"""What a driver has begun and not seen the end of: one task an effect, reaped when it has landed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from handrail.journal.effects import Effect


class UnderWay:
    """The effects that are being carried out beside one another; ``wake`` is called when one has landed."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._flying: list[tuple[Effect, asyncio.Task[None]]] = []

    def __len__(self) -> int:
        return len(self._flying)

    @property
    def effects(self) -> list[Effect]:
        return [effect for effect, _ in self._flying]

    def begin(self, effect: Effect, work: Coroutine[Any, Any, None]) -> None:
        """Carry ``effect`` out by ``work``, beside whatever else there is."""
        self._flying.append((effect, asyncio.get_running_loop().create_task(self._waking(work))))

    async def _waking(self, work: Coroutine[Any, Any, None]) -> None:
        """``work``, after which the driver looks again: by then the task that this is has ended."""
        try:
            await work
        finally:
            self._wake()

    async def reap(self) -> None:
        """Forget what has landed; raise what went wrong in it."""
        landed = [task for _, task in self._flying if task.done()]
        if landed:
            self._flying = [one for one in self._flying if one[1] not in landed]
        for task in landed:
            await task

    async def land(self) -> None:
        """Wait for all of it, each to its own end; raise what went wrong in it."""
        tasks = self._taken()
        if tasks:
            await asyncio.wait(tasks)
        for task in tasks:
            await task

    async def drop(self) -> None:
        """Cancel all of it and wait until it is gone; what it raises is nobody's any more."""
        tasks = self._taken()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def outlast(self) -> None:
        """Wait until all of it has ended, however it ends."""
        await asyncio.gather(*self._taken(), return_exceptions=True)

    def _taken(self) -> list[asyncio.Task[None]]:
        tasks = [task for _, task in self._flying]
        self._flying.clear()
        return tasks
