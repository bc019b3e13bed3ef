"""Plain functions run beside the loop, each call in a thread that has nothing else to do.

Not in the loop's pool: it is small, so a few calls that hang would stall every other, and it is joined when the
program ends. These threads are daemons: nobody can stop a thread, but nobody has to wait for one either. One that
has finished its call waits a while for the next, because starting a thread costs more than most calls.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
Value = TypeVar("Value")

_IDLE_S = 5.0
"""How long a thread waits for another call before it ends."""


async def in_thread(function: Callable[P, Value], *args: P.args, **kwargs: P.kwargs) -> Value:
    """What ``function`` returns or raises, run in a thread of its own with this task's context variables.

    Cancelling the await gives the result up; the thread itself runs on.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any, raised: BaseException | None) -> None:
        if not ended.done():
            ended.set_result((value, raised))

    def work() -> None:
        value: Any = None
        raised: BaseException | None = None
        try:
            value = context.run(function, *args, **kwargs)
        except BaseException as problem:  # noqa: BLE001 - raised again where the call is awaited
            raised = problem
        _report(loop, lambda: settle(value, raised))

    _WORKERS.run(work)
    value, raised = await ended
    if isinstance(raised, KeyboardInterrupt):
        # Ctrl-C comes to the main thread alone; raised here on, this one would end the loop and all it runs.
        raise RuntimeError("KeyboardInterrupt was raised in a thread") from raised
    if raised is not None:
        raise raised
    return value  # type: ignore[no-any-return]


def _report(loop: asyncio.AbstractEventLoop, settle: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(settle)
    except RuntimeError:
        # The loop was closed in the meantime; then nobody waits for the outcome.
        if not loop.is_closed():
            raise


class _Workers:
    """Threads that wait for work, the one that waited least first; as many more as there are calls at once."""

    def __init__(self) -> None:
        self._idle: deque[queue.SimpleQueue[Callable[[], None]]] = deque()

    def run(self, work: Callable[[], None]) -> None:
        try:
            inbox = self._idle.pop()
        except IndexError:
            inbox = queue.SimpleQueue()
            threading.Thread(target=self._live, args=(inbox,), name="handrail worker", daemon=True).start()
        inbox.put(work)

    def forget(self) -> None:
        """Wait for none of the threads any more."""
        self._idle.clear()

    def _live(self, inbox: queue.SimpleQueue[Callable[[], None]]) -> None:
        while True:
            try:
                inbox.get(timeout=_IDLE_S)()
            except queue.Empty:
                if self._is_let_go(inbox):
                    return
                inbox.get()()
            self._idle.append(inbox)

    def _is_let_go(self, inbox: queue.SimpleQueue[Callable[[], None]]) -> bool:
        """Take ``inbox`` off the list; False when somebody else just has, to put work into it."""
        try:
            self._idle.remove(inbox)
        except ValueError:
            return False
        return True


_WORKERS = _Workers()
if hasattr(os, "register_at_fork"):
    # A forked child has the list but none of the threads.
    os.register_at_fork(after_in_child=_WORKERS.forget)
