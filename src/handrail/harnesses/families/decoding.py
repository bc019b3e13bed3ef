"""One JSON object of a file as a harness's own typed row: strictly where it fits, leniently where it is damaged."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Generic, TypeVar

import msgspec

from handrail.harnesses.families.rescue import lenient

Row = TypeVar("Row")

_REFUSALS = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
"""What the decoder raises for bytes that it does not read."""


class RowDecoder(Generic[Row]):
    """Decodes into the wire struct ``row``, which has a default for every field.

    ``row`` may be a union of structs that a tag tells apart; the decoder refuses what has none of the tags. What
    ``is_other`` finds to be something else, once it is read as the struct that ``other`` gives, is kept as that.
    """

    def __init__(
        self,
        row: type[Row],
        *,
        other: Callable[[], type[Row]] | None = None,
        is_other: Callable[[Row], bool] = lambda _: True,
    ) -> None:
        self._row: Any = row
        self._other: Callable[[], Any] | None = other
        self._is_other = is_other
        self._decoder = msgspec.json.Decoder(row)

    def decode_lines(self, lines: memoryview) -> list[Row] | None:
        """The rows of ``lines``, None where one of them is damaged or of no kind that is known."""
        try:
            return self._decoder.decode_lines(lines)
        except _REFUSALS:
            return None

    def decode(self, line: memoryview) -> Row | None:
        """The row that ``line`` is, None where it is damaged."""
        try:
            return self._decoder.decode(line)
        except _REFUSALS:
            return self._decode_other(line)

    def _decode_other(self, line: memoryview) -> Row | None:
        if self._other is None:
            return None
        try:
            row: Row = _decoder_of(self._other()).decode(line)
        except _REFUSALS:
            return None
        return row if self._is_other(row) else None

    def fill(self, value: dict[str, Any]) -> tuple[Row, list[str]]:
        """The row that a damaged object is, and the names of the fields that are not what they should be."""
        if self._other is not None:
            row, lost = lenient(value, _info_of(self._other()))
            if self._is_other(row):
                return row, lost
        return lenient(value, _info_of(self._row))


@cache
def _decoder_of(row: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(row)


@cache
def _info_of(row: Any) -> Any:
    """What a wire struct holds. To find out takes milliseconds, and only damaged lines need it."""
    return msgspec.inspect.type_info(row)
