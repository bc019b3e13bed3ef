"""Serving in front of somebody: lines about what happens to runs, until a signal says that it is enough."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

from handrail import app
from handrail.cli.cells import one_line
from handrail.cli.surface import Surface

Named: TypeAlias = tuple[str | None, Path | None]
"""An address for notices, and a file with more."""


def serve(surface: Surface, *, most: int, webhooks: Named, database: str | None) -> None:
    """Serve until a signal comes; raises as ``Server.serve`` does."""
    server = app.Server(
        surface.machine(),
        surface.environment,
        _teller(surface),
        most=most,
        database=database,
        webhooks=app.Webhooks(url=webhooks[0], file=webhooks[1]),
    )
    asyncio.run(_until_told(server.serve, server.stop))


def work(surface: Surface, *, most: int, stalled_after_s: float, webhooks: Named, database: str | None) -> None:
    """Work until a signal comes; raises as ``Worker.work`` does."""
    worker = app.Worker(
        surface.machine(),
        surface.environment,
        _teller(surface),
        most=most,
        stalled_after_s=stalled_after_s,
        database=database,
        webhooks=app.Webhooks(url=webhooks[0], file=webhooks[1]),
    )
    asyncio.run(_until_told(worker.work, worker.stop))


def _teller(surface: Surface) -> Callable[[app.Served], None]:
    def tell(told: app.Served) -> None:
        if surface.as_json:
            surface.emit(told, lambda event, _: ())
        else:
            surface.note(_line(told))

    return tell


async def _until_told(work: Callable[[], Awaitable[None]], stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, stop)
    await work()


def _line(told: app.Served) -> str:
    if told.event == "ready":
        return "carrying on runs that nobody drives; Ctrl-C ends"
    if told.event == "notice":
        return one_line(told.detail or "")
    reason = "" if told.reason is None or told.event == "waits" else f" {told.reason.value.replace('_', ' ')}"
    detail = f": {one_line(told.detail)}" if told.detail else ""
    return f"{told.session} {told.event}{reason}{detail}"
