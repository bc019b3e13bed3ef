"""Watching a run in front of somebody: lines for a person, JSON lines for a program."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from dataclasses import replace

from handrail import app
from handrail.cli.cells import one_line
from handrail.cli.exit_codes import ExitCode
from handrail.cli.surface import Surface, give_up
from handrail.cli.views.run import ANSWERS, RunLines
from handrail.journal.board import RunRow
from handrail.journal.vocabulary import EndReason


def watch(surface: Surface, run: str, *, is_whole: bool, once: bool, database: str | None) -> ExitCode:
    """Watch until the run is over, the reader goes away or Ctrl-C; the exit code."""
    try:
        return asyncio.run(_watch(surface, run, is_whole=is_whole, once=once, database=database))
    except BrokenPipeError:
        give_up(sys.stdout)
        return ExitCode.OK


async def _watch(surface: Surface, run: str, *, is_whole: bool, once: bool, database: str | None) -> ExitCode:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("watching needs a task to be ended by")
    # The same exit code as an interrupted command has anywhere, and no traceback.
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, task.cancel)
    lines = RunLines(replace(surface, is_plain=surface.is_plain), names_asks=True)
    code = ExitCode.OK
    watched = app.watch(surface.machine(), surface.environment, run, is_whole=is_whole, once=once, database=database)
    try:
        async with contextlib.aclosing(watched) as source:  # type: ignore[type-var]
            async for seen in source:
                if isinstance(seen, app.WatchEnded):
                    code = _code(seen.run)
                _show(surface, lines, seen)
    except asyncio.CancelledError:
        return ExitCode.INTERRUPTED
    return code


def _show(surface: Surface, lines: RunLines, seen: app.Watched) -> None:
    if surface.as_json:
        event = seen if isinstance(seen, app.WatchBegan | app.WatchEnded) else app.run_event(seen)
        surface.emit(event, lambda told, _: ())
    elif isinstance(seen, app.WatchBegan):
        surface.write_text(f"{_heading(seen.run)}\n")
    elif isinstance(seen, app.WatchEnded):
        surface.write_text(f"{_end(seen.run)}\n")
    else:
        surface.write_text("".join(f"{line}\n" for line in lines.render(seen)))


def _heading(run: RunRow) -> str:
    parts = [f"session {run.session}", run.blueprint, run.model, run.cwd]
    return one_line(" ".join(part for part in parts if part))


def _end(run: RunRow) -> str:
    if run.status != "ended":
        waits = f" for {len(run.waits_for)}" if run.waits_for else ""
        return f"{run.status}{waits}"
    reason = "over" if run.reason is None else run.reason.value.replace("_", " ")
    return one_line(f"{reason}: {run.detail}" if run.detail else reason)


def _code(run: RunRow) -> ExitCode:
    if run.status != "ended":
        return ExitCode.WAITING
    if run.reason in ANSWERS:
        return ExitCode.OK
    if run.reason is EndReason.FAILED:
        return ExitCode.ERROR
    return ExitCode.INTERRUPTED if run.reason is EndReason.CANCELLED else ExitCode.UNFINISHED
