"""Reading one damaged JSON line: what can be saved of it, and what it cost.

``rescue_line`` finds the objects in a line that a strict decoder refuses (a byte order mark, runs of NUL, bytes
that are not UTF-8, escaped lone surrogates, ``NaN``, a record glued to the stub of another). ``lenient`` turns
such an object into a wire struct field by field, so that one field of a wrong type does not lose the record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, NamedTuple

import msgspec

from handrail import jsonio

Span = tuple[int, int]

_EDGE = b" \t\r\n\x00"
_MAX_GLUED = 64
_NO_NUL = re.compile(rb"[^\x00]+")
_json = json.JSONDecoder()
_Instant = Annotated[datetime, msgspec.Meta(tz=True)]
_NESTED_AFTER = frozenset(b"[,:")


class Damage(NamedTuple):
    """What is wrong with a stretch of a line; ``start`` and ``end`` are offsets into the line."""

    code: str
    start: int
    end: int
    message: str


def rescue_line(
    line: bytes, starts: tuple[bytes, ...], *, is_last: bool
) -> tuple[list[tuple[dict[str, Any], Span]], list[Damage]]:
    """The objects in ``line`` with their spans, in order, and the damages.

    ``starts`` are the bytes a record begins with. ``is_last`` says that no line feed follows: a record cut there
    is one whose writer was stopped (``torn_tail``), elsewhere it is ``not_json``.
    """
    damages = _edge_damages(line)
    start, end = _trim(line)
    found: list[tuple[dict[str, Any], Span]] = []
    pieces = 0
    while start < end:
        piece = line[start:end]
        value, problem = _decode(piece)
        if problem is None:
            _keep(value, piece, (start, end), found, damages)
            break
        cut = _resync(piece, starts) if pieces < _MAX_GLUED else None
        if cut is None:
            start = _keep_leading(line, (start, end), starts, found, damages)
            if start < end:
                damages.append(_lost(problem, start, end, is_cut=is_last and not pieces))
            break
        pieces += 1
        value, _ = _decode(piece[cut:])
        _keep(value, piece[cut:], (start + cut, end), found, damages)
        damages.append(Damage("glued", start + cut, end, "two records stand on one line"))
        end = start + len(piece[:cut].rstrip(_EDGE))
    found.sort(key=lambda item: item[1])
    return found, sorted(damages, key=lambda damage: (damage.start, damage.end))


def _trim(line: bytes) -> Span:
    start = len(jsonio.BOM) if line.startswith(jsonio.BOM) else 0
    start += len(line) - start - len(line[start:].lstrip(_EDGE))
    return start, max(start, len(line.rstrip(_EDGE)))


def _edge_damages(line: bytes) -> list[Damage]:
    damages = []
    if line.startswith(jsonio.BOM):
        damages.append(Damage("bom", 0, len(jsonio.BOM), "a byte order mark"))
    first = line.find(b"\x00")
    if first >= 0:
        last = line.rfind(b"\x00") + 1
        damages.append(Damage("nul", first, last, f"{line.count(0)} NUL bytes"))
    return damages


def _decode(piece: bytes) -> tuple[Any, str | None]:
    """The value of ``piece`` (NUL bytes inside it left out), or why there is none."""
    try:
        return jsonio.decode(piece.replace(b"\x00", b"") if b"\x00" in piece else piece), None
    except jsonio.NotJson as problem:
        return None, str(problem)


def _keep(
    value: Any, piece: bytes, span: Span, found: list[tuple[dict[str, Any], Span]], damages: list[Damage]
) -> None:
    if not isinstance(value, dict):
        damages.append(Damage("not_object", *span, f"a JSON {_kind(value)} where an object is expected"))
        return
    found.append((value, span))
    try:
        piece.decode("utf-8")
    except UnicodeDecodeError as problem:
        damages.append(
            Damage(
                "bad_utf8", span[0] + problem.start, span[0] + problem.end, "bytes that are not UTF-8, read as U+FFFD"
            )
        )


def _lost(problem: str, start: int, end: int, *, is_cut: bool) -> Damage:
    if problem == jsonio.MAX_DEPTH_ERROR:
        return Damage("too_deep", start, end, problem)
    if is_cut:
        return Damage("torn_tail", start, end, f"the last record is cut after {end - start} bytes")
    return Damage("not_json", start, end, f"no JSON: {problem}")


def _resync(piece: bytes, starts: tuple[bytes, ...]) -> int | None:
    """Where the last record of ``piece`` begins when it is whole and another stands before it.

    Tried from the end: an object nested in the last record is followed by a closing bracket and fails after its
    own length, so the work stays within the depth of the nesting times the length of the line.
    """
    if not piece.endswith(b"}"):
        return None
    places = [found.start() for found in re.finditer(b"|".join(map(re.escape, starts)), piece)]
    for at in reversed(places):
        if at > 0 and not _is_nested(piece, at):
            value, problem = _decode(piece[at:])
            if problem is None and isinstance(value, dict):
                return at
    return None


def _keep_leading(
    line: bytes, span: Span, starts: tuple[bytes, ...], found: list[tuple[dict[str, Any], Span]], damages: list[Damage]
) -> int:
    """Keep the whole records of a stretch that does not end with one; where the stub at its end begins."""
    at, end = span
    stub = at
    for _ in range(_MAX_GLUED):
        size = _whole_object(line[at:end])
        if size is None:
            following = _next_start(line, at, end, starts)
            if following is None:
                break
            at = following
            continue
        if stub < at:
            damages.append(Damage("not_json", stub, at, f"no JSON: a record is cut after {at - stub} bytes"))
        value, _ = _decode(line[at : at + size])
        _keep(value, line[at : at + size], (at, at + size), found, damages)
        at = stub = end - len(line[at + size : end].lstrip(_EDGE))
        if line.startswith(starts, at):
            damages.append(Damage("glued", at, end, "two records stand on one line"))
    return stub


def _next_start(line: bytes, at: int, end: int, starts: tuple[bytes, ...]) -> int | None:
    """The first place after ``at`` where a record may begin."""
    for found in re.compile(b"|".join(map(re.escape, starts))).finditer(line, at + 1, end):
        if not _is_nested(line[at:end], found.start() - at):
            return found.start()
    return None


def _whole_object(piece: bytes) -> int | None:
    """How many bytes of ``piece`` the object that it begins with takes, None when that is cut or no object."""
    clean = piece.replace(b"\x00", b"")
    text = clean.decode("utf-8", "surrogateescape")
    if not text.startswith("{"):
        return None
    try:
        _, stop = _json.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    size = len(text[:stop].encode("utf-8", "surrogateescape"))
    # NUL bytes were left out: where the object ends in the piece itself.
    for run in _NO_NUL.finditer(piece):
        if size <= run.end() - run.start():
            return run.start() + size
        size -= run.end() - run.start()
    return None


def _is_nested(piece: bytes, at: int) -> bool:
    """Whether an object at ``at`` stands where a value belongs; a record that names its parent never does."""
    if piece.startswith(b'{"parentUuid"', at):
        return False
    before = piece[max(0, at - 8) : at].rstrip(b" \t\r")
    return bool(before) and before[-1] in _NESTED_AFTER


def _kind(value: Any) -> str:
    names: dict[type, str] = {list: "array", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


# From a decoded value to a wire struct -----------------------------------------------------------------------


def lenient(value: dict[str, Any], info: Any) -> tuple[Any, list[str]]:
    """``value`` as the struct that ``info`` describes (``msgspec.inspect.type_info``), and what did not fit.

    The second is the dotted names of the fields that were of a wrong type and are left at their defaults.
    """
    lost: list[str] = []
    return _fill(info, value, "", lost), lost


class _Misfit(Exception):
    """A value has no part that fits its type."""


def _fill(info: Any, value: Any, path: str, lost: list[str]) -> Any:
    fill = _FILLERS.get(type(info))
    if fill is None:
        raise _Misfit(path)
    return fill(info, value, path, lost)


def _fill_struct(info: Any, value: Any, path: str, lost: list[str]) -> Any:
    if not isinstance(value, dict) or (info.tag is not None and value.get(info.tag_field) != info.tag):
        raise _Misfit(path)
    fields: dict[str, Any] = {}
    for field in info.fields:
        if field.encode_name not in value:
            continue
        name = f"{path}.{field.encode_name}" if path else field.encode_name
        try:
            fields[field.name] = _fill(field.type, value[field.encode_name], name, lost)
        except _Misfit:
            lost.append(name)
    return info.cls(**fields)


def _fill_union(info: Any, value: Any, path: str, lost: list[str]) -> Any:
    for option in info.types:
        missed: list[str] = []
        try:
            found = _fill(option, value, path, missed)
        except _Misfit:
            continue
        lost += missed
        return found
    raise _Misfit(path)


def _fill_list(info: Any, value: Any, path: str, lost: list[str]) -> Any:
    if not isinstance(value, list):
        raise _Misfit(path)
    found = []
    for index, item in enumerate(value):
        try:
            found.append(_fill(info.item_type, item, f"{path}[{index}]", lost))
        except _Misfit:
            lost.append(f"{path}[{index}]")
    return found


def _fill_dict(info: Any, value: Any, path: str, lost: list[str]) -> Any:
    if not isinstance(value, dict):
        raise _Misfit(path)
    found = {}
    for key, item in value.items():
        try:
            found[key] = _fill(info.value_type, item, f"{path}.{key}", lost)
        except _Misfit:
            lost.append(f"{path}.{key}")
    return found


def _fill_any(info: Any, value: Any, path: str, lost: list[str]) -> Any:
    return value


def _fill_raw(info: Any, value: Any, path: str, lost: list[str]) -> Any:
    return msgspec.Raw(jsonio.encode(value))


def _fill_instant(info: Any, value: Any, path: str, lost: list[str]) -> Any:
    try:
        return msgspec.convert(value, _Instant)
    except (msgspec.ValidationError, UnicodeEncodeError) as problem:
        raise _Misfit(path) from problem


def _fill_exact(*kinds: type) -> Callable[[Any, Any, str, list[str]], Any]:
    def fill(info: Any, value: Any, path: str, lost: list[str]) -> Any:
        if type(value) not in kinds:
            raise _Misfit(path)
        return value

    return fill


_FILLERS: dict[type, Callable[[Any, Any, str, list[str]], Any]] = {
    msgspec.inspect.StructType: _fill_struct,
    msgspec.inspect.UnionType: _fill_union,
    msgspec.inspect.ListType: _fill_list,
    msgspec.inspect.DictType: _fill_dict,
    msgspec.inspect.AnyType: _fill_any,
    msgspec.inspect.RawType: _fill_raw,
    msgspec.inspect.DateTimeType: _fill_instant,
    msgspec.inspect.StrType: _fill_exact(str),
    msgspec.inspect.BoolType: _fill_exact(bool),
    msgspec.inspect.IntType: _fill_exact(int),
    msgspec.inspect.FloatType: _fill_exact(float, int),
    msgspec.inspect.NoneType: _fill_exact(type(None)),
}
