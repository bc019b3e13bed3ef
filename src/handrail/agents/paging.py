"""Results cut to what a model can take, on whole lines, with the full text kept and a way to read on."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handrail import files, jsonio
from handrail.agents.tool import ResultLimits, ResultShelf, ToolOutput
from handrail.errors import StoreError
from handrail.ids import short_hash
from handrail.transcripts.model import Json

READER = "ReadToolResult"
"""The name of the tool that reads on in a result that was cut."""

_WIDEST = 4
"""The bytes of the widest character."""


class Page(Struct, frozen=True, kw_only=True):
    """Part of a text. ``next_line`` and ``next_column`` say where the next page starts; None at the end."""

    text: str
    next_line: int | None = None
    next_column: int = 1


class MemoryShelf:
    """Full texts in memory, as long as the shelf lives."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def keep(self, call_id: str, text: str) -> None:
        self._texts[call_id] = text

    def find(self, call_id: str) -> str | None:
        return self._texts.get(call_id)


class FolderShelf:
    """Full texts as files of ``folder`` that only their owner can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, call_id: str, text: str) -> None:
        files.write_atomically(self._path(call_id), text.encode("utf-8", "surrogatepass"), replace=True)

    def find(self, call_id: str) -> str | None:
        path = self._path(call_id)
        return files.read_bytes(path).decode("utf-8", "surrogatepass") if path.exists() else None

    def _path(self, call_id: str) -> Path:
        # Call ids are a provider's: hashed, so that none of them can choose the path.
        return self._folder / f"{short_hash(call_id)}.txt"


class SharedShelf:
    """A part of ``shelf`` for calls whose ids may be the same as those of others that use it."""

    def __init__(self, shelf: ResultShelf, part: str) -> None:
        self._shelf = shelf
        self._part = part

    def keep(self, call_id: str, text: str) -> None:
        self._shelf.keep(f"{self._part}/{call_id}", text)

    def find(self, call_id: str) -> str | None:
        return self._shelf.find(f"{self._part}/{call_id}")


def page(text: str, limits: ResultLimits, line: int = 1, column: int = 1) -> Page:
    """The part of ``text`` from ``line`` and ``column`` (both from 1) that fits ``limits``.

    It ends at the end of a line; only a line that alone is longer than a page is cut, between two characters. Pages
    read one after the other are the text, without a gap.
    """
    lines = text.split("\n")
    taken: list[str] = []
    room = limits.max_bytes
    at = line - 1
    while at < len(lines) and len(taken) < limits.max_lines:
        start = column if at == line - 1 else 1
        rest = lines[at][start - 1 :]
        size = len(rest.encode("utf-8", "surrogatepass")) + 1
        if size > room:
            is_giant = size > limits.max_bytes and room >= _WIDEST
            if taken and not is_giant:
                break
            fitting = _fitting(rest, room)
            return Page(text="\n".join([*taken, fitting]), next_line=at + 1, next_column=start + len(fitting))
        taken.append(rest)
        room -= size
        at += 1
    return Page(text="\n".join(taken), next_line=at + 1 if at < len(lines) else None)


def _fitting(text: str, max_bytes: int) -> str:
    """The longest start of ``text`` of at most ``max_bytes`` (but never less than one character)."""
    cut = text.encode("utf-8", "surrogatepass")[:max_bytes]
    while cut and (cut[-1] & 0xC0) == 0x80:
        cut = cut[:-1]
    if cut and cut[-1] >= 0xC0:
        cut = cut[:-1]
    return cut.decode("utf-8", "surrogatepass") or text[:1]


def limited(output: ToolOutput, call_id: str, shelf: ResultShelf | None, limits: ResultLimits) -> ToolOutput:
    """``output`` with no more content than ``limits`` allow; the rest stands on ``shelf``.

    Text is cut on whole lines. Structured content is never cut in the middle: a pointer takes its place. The parts
    of mixed content are cut one by one, images are left alone. Details, refusal and flags stay as they are.
    """
    content = output.content
    if isinstance(content, str):
        return replace(output, content=_limited_text(content, call_id, shelf, limits))
    if _is_mixed(content):
        parts = [_limited_part(part, f"{call_id}.{number}", shelf, limits) for number, part in enumerate(content)]
        return replace(output, content=parts)
    compact = jsonio.encode(content)
    if len(compact) <= limits.max_bytes:
        return output
    text = msgspec.json.format(compact).decode()
    kept = _kept(call_id, text, shelf)
    told = f"[{len(text)} characters of JSON, {_count(text)} lines, too long to show. {_way_on(kept, call_id, 1, 1)}]"
    return replace(output, content=told)


def _is_mixed(content: Json) -> bool:
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(part, dict) and "type" in part for part in content)
    )


def _limited_part(
    part: dict[str, Json], call_id: str, shelf: ResultShelf | None, limits: ResultLimits
) -> dict[str, Json]:
    if part["type"] != "text" or not isinstance(part.get("text"), str):
        return part
    return {**part, "text": _limited_text(part["text"], call_id, shelf, limits)}


def _fits(text: str, limits: ResultLimits) -> bool:
    if len(text) > limits.max_bytes or text.count("\n") >= limits.max_lines:
        return False
    return len(text) * 4 <= limits.max_bytes or len(text.encode("utf-8", "surrogatepass")) <= limits.max_bytes


def _limited_text(text: str, call_id: str, shelf: ResultShelf | None, limits: ResultLimits) -> str:
    if _fits(text, limits):
        return text
    first = page(text, limits)
    kept = _kept(call_id, text, shelf)
    return f"{first.text}\n{trailer(first, text, call_id, kept=kept)}"


def trailer(shown: Page, text: str, call_id: str, *, kept: bool) -> str:
    """The line that says how much of ``text`` a page leaves out and how to read on."""
    if shown.next_line is None:
        return f"[end of the result, {_count(text)} lines]"
    where = f"line {shown.next_line}" + (f", column {shown.next_column}" if shown.next_column > 1 else "")
    return f"[cut here, before {where} of {_count(text)}. {_way_on(kept, call_id, shown.next_line, shown.next_column)}]"


def _way_on(kept: bool, call_id: str, line: int, column: int) -> str:
    if not kept:
        return "The full text could not be kept."
    start = f"start_line={line}" + (f", start_column={column}" if column > 1 else "")
    return f'Read on with {READER}(tool_use_id="{call_id}", {start}).'


def _count(text: str) -> int:
    return text.count("\n") + 1


def _kept(call_id: str, text: str, shelf: ResultShelf | None) -> bool:
    if shelf is None:
        return False
    try:
        shelf.keep(call_id, text)
    except StoreError:
        # The model is told, which is all that hangs on it: the call itself went well.
        return False
    return True
