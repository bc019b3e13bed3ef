"""Where things stand in a TOML file: the line of every key and element, which the standard library does not tell.

A scan over text that need not be valid: what it cannot make out it passes over, since ``tomllib`` then says what is
wrong. It takes time in proportion to the text, and refuses what is nested so deeply that others would not.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping

from handrail.blueprints.problems import Path

MAX_DEPTH = 50
"""How deep tables, arrays and dotted keys may be nested, all together."""

_BLANK = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_KEY = re.compile(r"""[ \t]*+("(?:[^"\\\n]++|\\.)*+"|'[^'\n]*+'|[^\s.=\[\]{}"'\#,]++)[ \t]*+""")
_STRING = re.compile(
    r'"""(?:[^"\\]++|\\.|"{1,2}(?!"))*+"{3,5}'
    r"|'''(?:[^']++|'{1,2}(?!'))*+'{3,5}"
    r'|"(?:[^"\\\n]++|\\.)*+"?+'
    r"|'[^'\n]*+'?+",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\[\]{}\n#]++")
_REST = re.compile(r"[^\n]*+")


class TooDeep(ValueError):
    """Nested deeper than ``MAX_DEPTH``, in ``line``."""

    def __init__(self, line: int) -> None:
        super().__init__(f"nested deeper than {MAX_DEPTH} levels")
        self.line = line


def find_places(text: str) -> Mapping[Path, int]:
    """The line (from 1) of every table, key and element of the TOML ``text``; ``TooDeep``."""
    scan = _Scan(text)
    scan.document()
    return scan.places


class _Scan:
    """One pass over a text; ``at`` is how far it has come."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.places: dict[Path, int] = {(): 1}
        self._ends = [found.start() for found in re.finditer("\n", text)]
        self._counts: dict[Path, int] = {}

    def document(self) -> None:
        table: Path = ()
        while self._skip(_BLANK) < len(self.text):
            before = self.at
            if self._takes("[["):
                table = self._header(is_array=True)
            elif self._takes("["):
                table = self._header(is_array=False)
            else:
                self._pair(table)
            if self.at == before:
                self._skip(_REST)

    def _line(self) -> int:
        return bisect_right(self._ends, self.at - 1) + 1

    def _skip(self, pattern: re.Pattern[str]) -> int:
        if found := pattern.match(self.text, self.at):
            self.at = found.end()
        return self.at

    def _takes(self, mark: str) -> bool:
        if not self.text.startswith(mark, self.at):
            return False
        self.at += len(mark)
        return True

    def _put(self, path: Path, line: int) -> None:
        if len(path) > MAX_DEPTH:
            raise TooDeep(line)
        self.places.setdefault(path, line)

    def _keys(self) -> tuple[str, ...]:
        keys: list[str] = []
        while found := _KEY.match(self.text, self.at):
            self.at = found.end()
            keys.append(_unquoted(found[1]))
            if len(keys) > MAX_DEPTH:
                raise TooDeep(self._line())
            if not self._takes("."):
                break
        return tuple(keys)

    def _header(self, *, is_array: bool) -> Path:
        line = self._line()
        keys = self._keys()
        path: Path = ()
        for place, key in enumerate(keys):
            path = (*path, key)
            if is_array and place == len(keys) - 1:
                self._put(path, line)
                self._counts[path] = self._counts.get(path, 0) + 1
            if path in self._counts:
                path = (*path, self._counts[path] - 1)
            self._put(path, line)
        self._skip(_REST)
        return path

    def _pair(self, table: Path) -> None:
        line = self._line()
        path = table
        for key in self._keys():
            path = (*path, key)
            self._put(path, line)
        if self._takes("="):
            self._value(path)

    def _value(self, path: Path) -> None:
        self._put(path, self._line())
        self._skip(_BLANK)
        if self._takes("["):
            self._array(path)
        elif self._takes("{"):
            self._inline_table(path)
        elif self.text[self.at : self.at + 1] in ('"', "'"):
            self._skip(_STRING)
        else:
            self._skip(_SCALAR)

    def _array(self, path: Path) -> None:
        number = 0
        while self._skip(_BLANK) < len(self.text) and not self._takes("]"):
            before = self.at
            self._value((*path, number))
            number += 1
            self._skip(_BLANK)
            if not self._takes(",") and self.at == before:
                return

    def _inline_table(self, path: Path) -> None:
        while self._skip(_BLANK) < len(self.text) and not self._takes("}"):
            before = self.at
            self._pair(path)
            self._skip(_BLANK)
            if not self._takes(",") and self.at == before:
                return


def _unquoted(key: str) -> str:
    if key[0] == "'":
        return key[1:-1]
    if key[0] != '"' or "\\" not in key:
        return key.strip('"')
    try:
        return str(tomllib.loads(f"k = {key}")["k"])
    except tomllib.TOMLDecodeError:
        return key
