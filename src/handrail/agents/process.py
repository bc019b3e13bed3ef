"""Child processes that cannot outlive their call: own group, bounded output, killed on timeout and cancel."""

from __future__ import annotations

import asyncio
import codecs
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from handrail.agents.environment import handed_on

KEPT_BYTES = 16 * 1024 * 1024
"""How much of what a child writes is kept; beyond it the middle is dropped, and that is said."""

_DRAIN_S = 0.25
"""How long what a child left in its pipes is waited for once it has exited: a grandchild may hold them open."""

_EXIT_S = 5.0
"""How long a killed child is waited for; only one stuck in the kernel takes longer."""


class Ran(Struct, frozen=True, kw_only=True):
    """How a child ended. ``exit_code`` is negative for the signal that killed it, None when it was killed by us."""

    exit_code: int | None
    output: str
    errors: str
    is_timed_out: bool = False


async def run_process(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout_s: float | None = None,
    is_merged: bool = False,
    emit: Callable[[str], None] | None = None,
    kept_bytes: int = KEPT_BYTES,
) -> Ran:
    """Run ``argv`` (no shell) to its end, and end all it started with it.

    ``is_merged`` puts its errors among its output. Without an ``environment`` it gets this process's, but for the
    keys of models. Raises ``OSError`` when it cannot be started. When the task is
    cancelled the group is killed first.
    """
    loop = asyncio.get_running_loop()
    transport, child = await loop.subprocess_exec(
        lambda: _Child(loop, kept_bytes, emit),
        *argv,
        cwd=cwd,
        env=handed_on(os.environ) if environment is None else dict(environment),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT if is_merged else asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    is_timed_out = False
    try:
        _feed(transport, stdin)
        ended = await asyncio.wait({child.exited}, timeout=timeout_s)
        is_timed_out = not ended[0]
        if not is_timed_out:
            await asyncio.wait({child.drained}, timeout=_DRAIN_S)
    finally:
        kill_group(transport.get_pid())
        # Closing asks for the exit status as well: only once it has arrived, or one of the two would miss it.
        await asyncio.wait({child.exited}, timeout=_EXIT_S)
        transport.close()
    code = None if is_timed_out else transport.get_returncode()
    return Ran(exit_code=code, output=child.text(1), errors=child.text(2), is_timed_out=is_timed_out)


def _feed(transport: asyncio.SubprocessTransport, data: bytes) -> None:
    pipe = transport.get_pipe_transport(0)
    if isinstance(pipe, asyncio.WriteTransport):
        pipe.write(data)
        pipe.close()


def kill_group(pid: int) -> None:
    """Kill the process group that ``pid`` leads, and so whatever it started, if any of it is left.

    The group's number is not given away again while a member is alive; an empty group is no error.
    """
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


class _Child(asyncio.SubprocessProtocol):
    """Collects what a child writes; two futures say when it has exited and when its pipes have closed."""

    def __init__(self, loop: asyncio.AbstractEventLoop, kept_bytes: int, emit: Callable[[str], None] | None) -> None:
        self.exited: asyncio.Future[None] = loop.create_future()
        self.drained: asyncio.Future[None] = loop.create_future()
        self._kept = {1: _Kept(kept_bytes), 2: _Kept(kept_bytes)}
        self._emit = emit
        self._decoders = {fd: codecs.getincrementaldecoder("utf-8")("replace") for fd in self._kept}

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        raw = data.encode() if isinstance(data, str) else data
        self._kept[fd].add(raw)
        if self._emit is not None:
            self._emit(self._decoders[fd].decode(raw))

    def process_exited(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        # Called once the child has exited and every pipe is closed.
        if not self.drained.done():
            self.drained.set_result(None)

    def text(self, fd: int) -> str:
        return self._kept[fd].text()


class _Kept:
    """The start and the end of a stream, together at most ``max_bytes`` (and as much again while it comes in)."""

    def __init__(self, max_bytes: int) -> None:
        self._half = max_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, data: bytes) -> None:
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._half:
            self._trim()

    def _trim(self) -> None:
        excess = len(self._tail) - self._half
        if excess > 0:
            del self._tail[:excess]
            self._dropped += excess

    def text(self) -> str:
        self._trim()
        head, tail = self._head.decode("utf-8", "replace"), self._tail.decode("utf-8", "replace")
        return f"{head}\n[{self._dropped} bytes dropped here]\n{tail}" if self._dropped else self._whole()

    def _whole(self) -> str:
        return bytes(self._head + self._tail).decode("utf-8", "replace")
