"""One token says "stop now" to everything below it, from any thread.

A token is cancelled once, with a reason, and never again cleared: a run, a model call and a tool call each get a
child of their own, so that ending one of them says nothing about the next.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Awaitable, Callable
from typing import TypeVar

from handrail.errors import HandrailError

Value = TypeVar("Value")

ENDING_GRACE_S = 5.0
"""How long work that was told to end may take before it is left behind."""


class Cancelled(HandrailError):
    """Work was given up because its token was cancelled; the message is the token's reason."""

    code = "cancelled"


class CancelledItself(HandrailError):
    """Work was cancelled by nobody but its own code."""

    code = "cancelled_itself"

    def __init__(self) -> None:
        super().__init__("it cancelled itself")


class CancellationToken:
    """Thread-safe and one-way. Children are cancelled with their parent, never the other way round."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reason: str | None = None
        self._callbacks: dict[object, Callable[[str], object]] = {}
        # Weak, so that a long run does not keep a token for each call it ever made.
        self._children: weakref.WeakSet[CancellationToken] = weakref.WeakSet()

    @property
    def is_cancelled(self) -> bool:
        return self._reason is not None

    @property
    def reason(self) -> str | None:
        """Why it was cancelled; None while it is not."""
        return self._reason

    def cancel(self, reason: str = "cancelled") -> bool:
        """Cancel this token and all below it. False when it was cancelled already: the first reason stands.

        Callbacks run in the calling thread, each once, in the order they were added. One that raises does not
        keep the others from running; what it raised comes out in an ``ExceptionGroup`` at the end.
        """
        with self._lock:
            if self._reason is not None:
                return False
            self._reason = reason
            callbacks = tuple(self._callbacks.values())
            children = tuple(self._children)
            self._callbacks.clear()
        failures: list[Exception] = []
        steps: list[Callable[[str], object]] = [*callbacks, *(child.cancel for child in children)]
        for step in steps:
            try:
                step(reason)
            except Exception as problem:  # noqa: BLE001 - other people's code, reported below
                failures.append(problem)
        if failures:
            raise ExceptionGroup("callbacks of a cancelled token failed", failures)
        return True

    def child(self) -> CancellationToken:
        """A token that is cancelled when this one is, and may be cancelled alone."""
        made = CancellationToken()
        with self._lock:
            reason = self._reason
            if reason is None:
                self._children.add(made)
        if reason is not None:
            made.cancel(reason)
        return made

    def on_cancel(self, callback: Callable[[str], object]) -> Callable[[], None]:
        """Call ``callback(reason)`` when the token is cancelled (at once if it is). Returns what takes it back."""
        key = object()
        with self._lock:
            reason = self._reason
            if reason is None:
                self._callbacks[key] = callback
        if reason is not None:
            callback(reason)
        return lambda: self._forget(key)

    def _forget(self, key: object) -> None:
        with self._lock:
            self._callbacks.pop(key, None)

    def raise_if_cancelled(self) -> None:
        """Raise ``Cancelled`` with the reason when the token is cancelled."""
        if self._reason is not None:
            raise Cancelled(self._reason)

    async def wait(self) -> str:
        """Return the reason as soon as the token is cancelled, from whatever thread."""
        loop = asyncio.get_running_loop()
        fired: asyncio.Future[str] = loop.create_future()

        def settle(reason: str) -> None:
            if not fired.done():
                fired.set_result(reason)

        forget = self.on_cancel(lambda reason: loop.call_soon_threadsafe(settle, reason))
        try:
            return await fired
        finally:
            forget()

    async def guard(self, work: Awaitable[Value]) -> Value:
        """The value of ``work``; ``Cancelled`` as soon as the token is, after ``work`` was cancelled and has ended.

        ``CancelledItself`` where nobody but its own code ended it, so that this is not taken for the caller's end.
        Work that does not end when it is cancelled is left behind after ``ENDING_GRACE_S``.
        """
        loop = asyncio.get_running_loop()
        task, over = begin(work, loop)
        forget = self.on_cancel(lambda _: loop.call_soon_threadsafe(settle, over))
        try:
            await over
            if self._reason is not None and (not task.done() or task.cancelled()):
                raise Cancelled(self._reason)
            return _value(task)
        finally:
            forget()
            if not task.done():
                await end(task)


def begin(work: Awaitable[Value], loop: asyncio.AbstractEventLoop) -> tuple[asyncio.Task[Value], asyncio.Future[None]]:
    """``work`` as a task of its own, and a future that is settled when it has ended, or by whoever waits no longer.

    Bare futures: to wait for a set of tasks would cost as much as most calls.
    """
    over: asyncio.Future[None] = loop.create_future()
    return loop.create_task(_settling(work, over)), over


async def _settling(work: Awaitable[Value], over: asyncio.Future[None]) -> Value:
    # Whoever waits is woken in the loop's next turn, when the task that this is has ended.
    try:
        return await work
    finally:
        settle(over)


def settle(over: asyncio.Future[None]) -> None:
    """Let whoever waits for ``over`` go on."""
    if not over.done():
        over.set_result(None)


async def end(task: asyncio.Future[Value]) -> None:
    """Cancel ``task`` unless it is done, and wait until it has ended, but not for ever."""
    if task.done():
        return
    task.cancel()
    await asyncio.wait({task}, timeout=ENDING_GRACE_S)
    if not task.done():
        # Nobody will look at how it ends; this keeps the loop from complaining about that.
        task.add_done_callback(lambda left: left.cancelled() or left.exception())


def _value(task: asyncio.Future[Value]) -> Value:
    if task.cancelled():
        raise CancelledItself
    return task.result()


async def within(work: Awaitable[Value], timeout_s: float | None) -> Value:
    """The value of ``work``; ``TimeoutError`` once ``timeout_s`` (None: no limit) is over and ``work`` was ended.

    ``CancelledItself`` as with ``CancellationToken.guard``.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=timeout_s)
        if not task.done():
            raise TimeoutError(f"no result within {timeout_s:g} seconds")
        return _value(task)
    finally:
        await end(task)
