"""Running an agent in front of somebody: a person at a terminal, a log, or a program that reads JSON lines."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import BinaryIO

from handrail import app
from handrail.agents.result import RunFailed, RunResult
from handrail.agents.run import Happening, Run
from handrail.app import Order, Running
from handrail.app.running import was_sent_more
from handrail.cli.attending import Attendant, is_for_desk
from handrail.cli.cells import one_line
from handrail.cli.door import Door
from handrail.cli.editing import Editor
from handrail.cli.exit_codes import ExitCode
from handrail.cli.keyboard import keyboard
from handrail.cli.live import Screen
from handrail.cli.surface import Surface, give_up
from handrail.cli.views.run import ANSWERS, RunLines, render_end
from handrail.journal.vocabulary import Actor, ActorKind, EndReason
from handrail.runs.desk import Desk


def has_person() -> bool:
    """Whether somebody sits at a terminal: what is given then is a person's, else it is a program's."""
    return sys.stdin.isatty() or sys.stdout.isatty() or sys.stderr.isatty()


def run(surface: Surface, order: Order) -> ExitCode:
    """Run ``order``, show it as ``surface`` says, and give the exit code; raises as ``start_run`` and the run do."""
    stream = _terminal(surface)
    if stream is not None:
        return asyncio.run(_attended(surface, order, stream))
    try:
        return asyncio.run(_unattended(surface, order))
    except BrokenPipeError:
        give_up(sys.stdout)
        surface.note("nobody reads standard output any more; a run that was going on was cancelled")
        return ExitCode.INTERRUPTED


def _terminal(surface: Surface) -> BinaryIO | None:
    """Where a person who can type sees what happens; None where there is nobody."""
    if surface.as_json or not sys.stdin.isatty():
        return None
    return next((stream.buffer for stream in (sys.stdout, sys.stderr) if stream.isatty()), None)


async def _attended(surface: Surface, order: Order, stream: BinaryIO) -> ExitCode:
    """With a live view and a keyboard. The answer goes to standard output too where that is not the terminal."""
    is_live = surface.environment.get("TERM") != "dumb"
    screen = Screen(stream, is_live=is_live)
    lines = RunLines(surface)
    attendant = Attendant(screen, lines)
    people = app.People(approver=attendant.approve, answerer=attendant.answer)
    try:
        async with app.start_run(surface.machine(), order, surface.environment, people) as begun:
            attendant.run = begun.run
            lines.know(await begun.journal.read(begun.run.session.id))
            screen.show(_heading(begun))
            with (
                _on_signals(begun, attendant.interrupt),
                keyboard(sys.stdin.fileno(), attendant.heard) as keys,
            ):
                editor = Editor(surface.environment, app.drafts_folder(surface.machine()))
                attendant.door = Door(Desk(begun.journal), editor, keys, screen)
                waiting = await begun.journal.asks(session=begun.run.session.id)
                attendant.put(row.opened for row in waiting if is_for_desk(row.opened))
                result = await _followed(begun.run, attendant.watch, lambda ended: _close(screen, ended))
    finally:
        screen.close()
    if not sys.stdout.isatty():
        _print_answer(surface, result)
    return ExitCode.INTERRUPTED if attendant.was_interrupted else _code(result)


async def _unattended(surface: Surface, order: Order) -> ExitCode:
    """With nobody to ask: JSON lines, or plain lines on standard error and the answer on standard output."""
    lines = RunLines(replace(surface, is_plain=True))

    def show(happening: Happening) -> None:
        if surface.as_json:
            surface.emit(app.run_event(happening), lambda event, _: ())
        else:
            for line in lines.render(happening):
                surface.note(line)

    async with app.start_run(surface.machine(), order, surface.environment) as begun:
        lines.know(await begun.journal.read(begun.run.session.id))
        if surface.as_json:
            began = app.RunBegan(session=begun.run.session.id, model=begun.model, notices=begun.notices)
            surface.emit(began, lambda event, _: ())
        else:
            for line in _heading(begun):
                surface.note(line)
        with _on_signals(begun, lambda: begun.run.cancel("Ctrl-C")) as told:
            result = await _followed(begun.run, show, lambda ended: _finish(surface, ended))
    session, is_left = result.session.id, result.is_left and not told.is_set()
    if is_left and await was_sent_more(surface.machine(), surface.environment, session, order.database):
        # Whoever sent it was told that the run is driven.
        return await _unattended(
            surface, app.Order(workspace=order.workspace, session=session, database=order.database)
        )
    return _code(result)


def _finish(surface: Surface, result: RunResult) -> None:
    if surface.as_json:
        surface.emit(app.run_finished(result), lambda event, _: ())
        return
    for line in render_end(result):
        surface.note(line)
    _print_answer(surface, result)


def _close(screen: Screen, result: RunResult) -> None:
    screen.close()
    screen.show(render_end(result))


async def _followed(run: Run, show: Callable[[Happening], None], finish: Callable[[RunResult], None]) -> RunResult:
    """Show what happens until the end; a run that failed raises once its end was told."""
    async for happening in run:
        show(happening)
    try:
        result = await run
    except RunFailed as problem:
        finish(problem.result)
        raise
    finish(result)
    return result


def _heading(begun: Running) -> list[str]:
    """Which session is written, and what is not as one may expect; names of files in it may be a stranger's."""
    return [one_line(text) for text in (f"session {begun.run.session.id} {begun.model}", *begun.notices)]


def _print_answer(surface: Surface, result: RunResult) -> None:
    if result.end_reason is EndReason.WAITING and result.is_left:
        # What was said last is no answer: the run is not over.
        return
    if result.text:
        surface.write_text(f"{result.text}\n")
    elif result.output is not None:
        from handrail import jsonio

        surface.write(jsonio.encode(result.output) + b"\n")


def _code(result: RunResult) -> ExitCode:
    if result.end_reason in ANSWERS:
        return ExitCode.OK
    if result.end_reason is EndReason.CANCELLED:
        return ExitCode.INTERRUPTED
    return ExitCode.WAITING if result.end_reason is EndReason.WAITING else ExitCode.UNFINISHED


@contextlib.contextmanager
def _on_signals(begun: Running, interrupt: Callable[[], object]) -> Iterator[asyncio.Event]:
    """Call ``interrupt`` for every Ctrl-C as long as the block lasts, instead of tearing the loop down.

    The event is set once this process was told to end in another way.

    Told to end by another program, or because the terminal was closed, the run is cancelled: what it started ends
    with it. One of a blueprint is left open instead: somebody may answer it tomorrow. Where a signal is ignored
    (``nohup``) it stays so.
    """
    loop = asyncio.get_running_loop()
    told = asyncio.Event()
    heard = [signal.SIGINT]
    loop.add_signal_handler(signal.SIGINT, interrupt)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, partial(_told_to_end, begun, told, number.name))
            heard.append(number)
    try:
        yield told
    finally:
        for number in heard:
            loop.remove_signal_handler(number)


def _told_to_end(begun: Running, told: asyncio.Event, why: str) -> None:
    told.set()
    if begun.blueprint is None:
        begun.run.cancel(why, by=Actor(ActorKind.HOST, "signal"))
    else:
        begun.run.park()
