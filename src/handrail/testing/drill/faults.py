"""The places where a process of the drill may be ended, and what ends it there.

A place is reached by name (``before append tool_started``). What is handed in decides what that means: ``NoFaults``
does nothing, ``Fated`` notes the place and, at the one it was told, ends or freezes its own process the way a machine
would: no handler runs, nothing is flushed, no lock is given back but by the system.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Literal, NoReturn, Protocol

from msgspec import Struct

from handrail.testing.drill.notes import Notes, Reached


class Faults(Protocol):
    """What the wrappers of the drill tell where they are."""

    def reach(self, point: str) -> None:
        """The process stands at ``point``; it may not come back from here."""
        ...


class NoFaults:
    """Nothing happens anywhere."""

    def reach(self, point: str) -> None:
        return None


class Fate(Struct, frozen=True, gc=False):
    """What becomes of a process at the ``nth`` place it reaches (from 1).

    ``kill`` is SIGKILL, ``stop`` is SIGSTOP. Before a kill, ``delay_s`` lets the process run on for so many seconds,
    which puts the end in the middle of whatever comes after the place: a system call, half an append. Before a stop it
    holds the process at the place, and lets only what its other threads are doing come to an end.
    """

    nth: int
    does: Literal["kill", "stop"] = "kill"
    delay_s: float = 0.0


class Fated:
    """Fulfils ``Faults``: notes each place, and meets its ``fate`` (None: none)."""

    def __init__(self, notes: Notes, fate: Fate | None) -> None:
        self._notes = notes
        self._fate = fate
        self._count = 0
        self._lock = threading.Lock()

    def reach(self, point: str) -> None:
        with self._lock:
            self._count += 1
            count = self._count
            self._notes.add(Reached(point))
        fate = self._fate
        if fate is None or count != fate.nth:
            return
        if fate.does == "stop":
            time.sleep(fate.delay_s)
            os.kill(os.getpid(), signal.SIGSTOP)
        elif fate.delay_s:
            threading.Thread(target=_end_later, args=(fate.delay_s,), daemon=True).start()
        else:
            _end()


def _end_later(delay_s: float) -> NoReturn:
    time.sleep(delay_s)
    _end()


def _end() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a process outlived SIGKILL")
