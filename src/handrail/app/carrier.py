"""The process that drives one detached run: ``python -m handrail.app.carrier``, started by ``detaching``.

It reads its charge from standard input, says on standard output in one line what began or what kept it from beginning,
and from then on writes nowhere but to the journal, and to a log where it breaks.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

import msgspec

from handrail import files, jsonio
from handrail.agents.result import RunFailed
from handrail.app.detaching import Charge, Detached, Report, Trouble
from handrail.app.journals import sessions_folder
from handrail.app.machine import Machine, open_machine
from handrail.app.ordering import Order, read_order
from handrail.app.running import ELSEWHERE, Running, start_run, was_sent_more
from handrail.errors import HandrailError

LOG = "carriers.log"
"""What the file is called, in the folder of the sessions, that holds what carriers broke by."""


def main() -> int:
    """Carry the run that standard input says; the exit code."""
    charge = msgspec.json.decode(sys.stdin.buffer.read(), type=Charge)
    order = read_order(charge.order)
    if order is None:
        _say(Report(trouble=Trouble(code="not_detached", message="the order cannot be read", exit_code=2)))
        return 2
    machine = open_machine({name: Path(root) for name, root in charge.roots.items()})
    try:
        asyncio.run(_carry(machine, order))
    except HandrailError as problem:
        _say(
            Report(
                trouble=Trouble(
                    code=problem.code, message=problem.message, hint=problem.hint, exit_code=problem.exit_code
                )
            )
        )
        return problem.exit_code
    return 0


async def _carry(machine: Machine, order: Order) -> None:
    """Carry the run, again while somebody sent it something just when it was left."""
    is_told = False
    while True:
        async with start_run(machine, order, os.environ, ELSEWHERE) as begun:
            if not is_told:
                _say(Report(begun=_detached(begun)))
                _go_silent(sessions_folder(machine) / LOG)
                is_told = True
            is_left = await _is_left(begun)
        session = begun.run.session.id
        if not is_left or not await was_sent_more(machine, os.environ, session, order.database):
            return
        order = Order(workspace=order.workspace, session=session, database=order.database)


async def _is_left(begun: Running) -> bool:
    """Drive the run; whether it waits for somebody. Told to end, this process leaves it as it is."""
    loop = asyncio.get_running_loop()
    stops = asyncio.Event()

    def leave() -> None:
        stops.set()
        begun.run.park()

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        loop.add_signal_handler(number, leave)
    try:
        result = await begun.run
    except RunFailed:
        # How it ended is in its journal, for everybody to see.
        return False
    return result.is_left and not stops.is_set()


def _detached(begun: Running) -> Detached:
    return Detached(
        session=begun.run.session.id,
        model=begun.model,
        pid=os.getpid(),
        blueprint=begun.blueprint,
        notices=begun.notices,
    )


def _say(report: Report) -> None:
    """Tell whoever started this, who may be gone by now."""
    with contextlib.suppress(OSError):
        os.write(1, jsonio.encode(report) + b"\n")


def _go_silent(log: Path) -> None:
    """Let go of the streams of whoever started this; what breaks from now on is told in ``log``."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, files.PRIVATE_FILE)
    for handle, goes_to in ((0, nowhere), (1, nowhere), (2, written)):
        os.dup2(goes_to, handle)
    os.close(nowhere)
    os.close(written)


if __name__ == "__main__":
    sys.exit(main())
