"""Plain functions run beside the loop, each call in a thread of its own.

Not in the loop's pool: it is small, so a few calls that hang would stall every other, and it is joined when the
program ends. These threads are daemons: nobody can stop a thread, but nobody has to wait for one either.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
Value = TypeVar("Value")


async def in_thread(function: Callable[P, Value], *args: P.args, **kwargs: P.kwargs) -> Value:
    """What ``function`` returns or raises, run in a fresh thread with this task's context variables.

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
        # The loop may have been closed in the meantime; then nobody waits for the outcome.
        if not loop.is_closed():
            _report(loop, lambda: settle(value, raised))

    threading.Thread(target=work, name=f"handrail:{getattr(function, '__name__', 'call')}", daemon=True).start()
    value, raised = await ended
    if raised is not None:
        raise raised
    return value  # type: ignore[no-any-return]


def _report(loop: asyncio.AbstractEventLoop, settle: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(settle)
    except RuntimeError:
        # Closed between the question and the call.
        if not loop.is_closed():
            raise
