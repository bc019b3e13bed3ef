"""Processes of the drill: forked from one that has everything loaded, watched until they end, are killed or frozen.

A fresh interpreter would spend half a second on imports before it did anything worth killing.
"""

from __future__ import annotations

import gc
import os
import signal
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

End: TypeAlias = Literal["finished", "killed", "stopped", "failed"]
"""Ran to its end, was killed, is frozen and can be woken, or ended with an exception."""

_LOOK_EVERY_S = 0.001


class Child(Struct, frozen=True):
    """A process by its ``name`` in the drill; what it raised stands in ``errors``."""

    name: str
    pid: int
    errors: Path

    @property
    def raised(self) -> str:
        """The exception that ended it, with its traceback; "" when none did."""
        try:
            return self.errors.read_text()
        except FileNotFoundError:
            return ""


class Ended(Struct, frozen=True):
    """How a process came to its end, or to a halt."""

    child: Child
    end: End


def fork(name: str, folder: Path, work: Callable[[], None]) -> Child:
    """Run ``work`` in a process of its own; its errors go to ``folder``."""
    errors = folder / f"{name}.errors"
    gc.freeze()
    pid = os.fork()
    if pid == 0:
        os._exit(_carry_out(work, errors))
    return Child(name, pid, errors)


def _carry_out(work: Callable[[], None], errors: Path) -> int:
    try:
        work()
    except BaseException:  # noqa: BLE001 - the last frame of the process: told to the one that judges it
        errors.write_text(traceback.format_exc())
        return 1
    return 0


def wait(children: Iterable[Child], timeout_s: float) -> Ended | None:
    """The first of ``children`` that ends or is frozen; None when none does within ``timeout_s`` seconds."""
    deadline_s = time.monotonic() + timeout_s
    watched = tuple(children)
    while True:
        for child in watched:
            pid, status = os.waitpid(child.pid, os.WNOHANG | os.WUNTRACED)
            if pid:
                return Ended(child, _end_of(status))
        if time.monotonic() > deadline_s:
            return None
        time.sleep(_LOOK_EVERY_S)


def _end_of(status: int) -> End:
    if os.WIFSTOPPED(status):
        return "stopped"
    if os.WIFSIGNALED(status):
        return "killed"
    return "finished" if os.WEXITSTATUS(status) == 0 else "failed"


def wake(child: Child) -> None:
    """Let a frozen process run on."""
    os.kill(child.pid, signal.SIGCONT)


def kill(child: Child) -> None:
    """End ``child``, frozen or not, and take its status."""
    os.kill(child.pid, signal.SIGKILL)
    os.waitpid(child.pid, 0)
