"""The live view: lines that scroll, and below them one that shows what is going on and what is being typed."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from handrail.cli.cells import cut, one_line, scrub, width
from handrail.cli.keyboard import PASTES_MARKED, PASTES_PLAIN

_CLEAR = "\r\x1b[K"
_MARK = "› "
_IDLE = "type to steer, /help for more"


class Screen:
    """Writes to the terminal behind ``stream``. ``is_live`` False (a dumb terminal): lines only, nothing moves."""

    def __init__(self, stream: BinaryIO, *, is_live: bool = True) -> None:
        self._stream = stream
        self._is_live = is_live
        self._shown = ""
        self._typed = ""
        self._state = ""
        self._is_gone = False
        self._kept: list[str] | None = None
        if is_live:
            self._write(PASTES_MARKED)

    def show(self, lines: Iterable[str]) -> None:
        """Add ``lines`` above the last one; they may hold colours, and nothing else that moves the cursor."""
        if self._kept is not None:
            self._kept += lines
            return
        text = "".join(f"{line}\n" for line in lines)
        if text:
            foot = self._foot()
            self._write(f"{_CLEAR if self._shown else ''}{text}{foot}")
            self._shown = foot

    def type(self, typed: str) -> None:
        """Show ``typed`` in the last line."""
        self._typed = typed
        self._draw()

    def state(self, text: str) -> None:
        """Show ``text`` (a question, the end of what streams) before what is typed."""
        self._state = text
        self._draw()

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """Let another program write to the terminal as long as the block lasts; what comes meanwhile is shown after."""
        self._write(f"{_CLEAR if self._shown else ''}{PASTES_PLAIN if self._is_live else ''}")
        self._shown = ""
        self._kept = []
        try:
            yield
        finally:
            kept, self._kept = self._kept, None
            self._write(PASTES_MARKED if self._is_live else "")
            self.show(kept)
            self._draw()

    def close(self) -> None:
        """Take the last line away; what is shown from now on are lines."""
        if self._is_live:
            self._write(f"{_CLEAR if self._shown else ''}{PASTES_PLAIN}")
        self._shown = ""
        self._is_live = False

    def _draw(self) -> None:
        foot = self._foot()
        if self._kept is None and foot != self._shown:
            self._write(f"{_CLEAR}{foot}")
            self._shown = foot

    def _foot(self) -> str:
        if not self._is_live:
            return ""
        cells = max(shutil.get_terminal_size().columns - 1, 8)
        state = one_line(self._state)
        if not self._typed:
            return f"{_end_of(state, cells - width(_MARK) - 1)} {_MARK}" if state else cut(f"{_MARK}{_IDLE}", cells)
        room = max(cells - width(_MARK), 1)
        return _MARK + _end_of(scrub(self._typed), room)

    def _write(self, text: str) -> None:
        if self._is_gone:
            return
        try:
            self._stream.write(text.encode("utf-8", "replace"))
            self._stream.flush()
        except OSError:
            # The terminal was closed; the run is told so by a signal, and there is nobody to show anything to.
            self._is_gone = True


def _end_of(text: str, cells: int) -> str:
    """The end of ``text`` that fits into ``cells``."""
    while width(text) > cells:
        text = text[1:]
    return text
