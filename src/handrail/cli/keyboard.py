"""Lines from a terminal while other things go on: what is being typed is known, so that output need not tear it.

The terminal is switched so that keys come one by one (Ctrl-C stays a signal) and is set back at the end.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import unicodedata
from collections.abc import Callable, Iterator

_END_OF_INPUT = "\x04"
_ERASE = "\x7f\x08"
_ERASE_LINE = "\x15"
_ERASE_WORD = "\x17"
_ESCAPE = "\x1b"
_PASTE_BEGINS, _PASTE_ENDS = "[200~", "[201~"
_READ_BYTES = 4096

PASTES_MARKED, PASTES_PLAIN = "\x1b[?2004h", "\x1b[?2004l"
"""What tells a terminal to mark what is pasted, so that its line breaks are no Enter, and to stop doing so."""


class LineEditor:
    """Makes lines of keys: letters, erasing, and nothing else. ``typed`` is what stands there now.

    What is pasted (and marked as such) may hold line breaks; it is sent with the next Enter like the rest.
    """

    def __init__(self) -> None:
        self.typed = ""
        self.is_over = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._sequence: str | None = None
        self._is_pasting = False

    def feed(self, data: bytes) -> list[str]:
        """The lines that ``data`` completes. ``is_over`` is set when the end was typed on an empty line."""
        lines: list[str] = []
        for key in self._decoder.decode(data):
            if self._sequence is not None:
                self._continue_sequence(key)
            elif key in "\r\n" and not self._is_pasting:
                lines.append(self.typed)
                self.typed = ""
            else:
                self._edit(key)
        return lines

    def _edit(self, key: str) -> None:
        if key == _ESCAPE:
            self._sequence = ""
        elif key in "\r\n":
            self.typed += "\n"
        elif key in _ERASE:
            self.typed = self.typed[:-1]
        elif key == _ERASE_LINE:
            self.typed = ""
        elif key == _ERASE_WORD:
            self.typed = self.typed.rstrip().rpartition(" ")[0]
        elif key == _END_OF_INPUT:
            self.is_over = self.is_over or not self.typed
        elif unicodedata.category(key) != "Cc":
            self.typed += key

    def _continue_sequence(self, key: str) -> None:
        """Arrows and the like are sequences that end in a letter or a tilde; only those of a paste mean anything."""
        sequence = f"{self._sequence}{key}"
        is_open = sequence in ("[", "O") or (sequence.startswith("[") and not "@" <= key <= "~")
        self._sequence = sequence if is_open else None
        if sequence in (_PASTE_BEGINS, _PASTE_ENDS):
            self._is_pasting = sequence == _PASTE_BEGINS


class Keyboard:
    """A terminal whose keys come one by one; made by ``keyboard``."""

    def __init__(self, handle: int, heard: Callable[[bytes], None]) -> None:
        import termios

        self._handle = handle
        self._heard = heard
        self._before = termios.tcgetattr(handle)

    def take(self) -> None:
        """Listen to the terminal, in the running loop."""
        import termios
        import tty

        tty.setcbreak(self._handle, termios.TCSADRAIN)
        asyncio.get_running_loop().add_reader(self._handle, self._read)

    def give_back(self) -> None:
        """Leave the terminal as it was before."""
        import termios

        asyncio.get_running_loop().remove_reader(self._handle)
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self._handle, termios.TCSADRAIN, self._before)

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """Let another program have the terminal as long as the block lasts."""
        self.give_back()
        try:
            yield
        finally:
            self.take()

    def _read(self) -> None:
        try:
            data = os.read(self._handle, _READ_BYTES)
        except OSError:
            # The terminal was closed under us.
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._handle)
        self._heard(data)


@contextlib.contextmanager
def keyboard(handle: int, heard: Callable[[bytes], None]) -> Iterator[Keyboard]:
    """Give ``heard`` what is typed on the terminal ``handle`` as long as the block lasts; ``b""`` once it is gone.

    For use in a running loop.
    """
    keys = Keyboard(handle, heard)
    keys.take()
    try:
        yield keys
    finally:
        keys.give_back()
