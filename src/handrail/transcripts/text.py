"""A session as plain text, to be read by people and by models. One-way.

Every block stands under a label in brackets that says who speaks. No body can forge one: a line of a body that
would read as a label or as a rule between messages is indented by one space. Times, usage, signatures,
encrypted reasoning and the bytes of pictures and files are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, assert_never

from msgspec import Struct

from handrail.transcripts.calls import render_call
from handrail.transcripts.model import (
    Artifact,
    Author,
    Block,
    Common,
    Compaction,
    Decision,
    Image,
    Interrupt,
    Message,
    Meta,
    Role,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Transcript,
    Via,
)
from handrail.transcripts.spans import Span, check_span

_LABELS = (
    "session|user|assistant|model|harness|host|peer|unknown|thinking|tool|result|image|artifact|interrupt|compaction"
    "|decision"
)
# Some readers break lines at more than the line feed.
_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_FORGED = re.compile(rf"(?:\A|(?<=[{_BREAKS}]))(?=── |\[(?:{_LABELS})\b)")
_SPACES = re.compile(r"\s+")
_PLAIN_VIA = frozenset({None, Via.PROMPT})


class Piece(Struct, frozen=True, gc=False):
    """One block as text: its ``label`` (without brackets), its ``body``, and whether a person speaks in it."""

    label: str
    body: str = ""
    is_person: bool = False


class Numbers:
    """Small numbers for tool ids, in the order they are first seen."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, tool_id: str) -> int:
        """The number of ``tool_id``, from 1."""
        return self._known.setdefault(tool_id, len(self._known) + 1)

    def name(self, ask: str) -> str:
        """The number of a tool id that was seen; anything else as it is."""
        return str(self._known.get(ask, ask))


def render_text(session: Transcript[Common], spans: Sequence[Span] | None = None, limit: int | None = None) -> str:
    """The header and the messages of ``spans`` (all for None) in the session's order.

    ``limit`` cuts results, reasoning and tool input after that many characters and says how many are missing.
    Raises ``CropError`` for a span that is no part of the session; tool pairs are not looked at.
    """
    chosen = chosen_indices(len(session.body), spans)
    numbers = Numbers()
    parts = [render_header(session.meta, len(session.body), spans)]
    for index in chosen:
        parts.append(f"\n── #{index + 1} ──\n")
        parts.extend(f"\n{render_piece(piece)}" for piece in iter_pieces(session.body[index], numbers, limit))
    return "".join(parts)


def chosen_indices(length: int, spans: Sequence[Span] | None) -> list[int]:
    """The message indices that ``spans`` name, sorted, each once; every index for None."""
    if spans is None:
        return list(range(length))
    for span in spans:
        check_span(span, length)
    return sorted({index for span in spans for index in range(span.start, span.end)})


def render_header(meta: Meta, length: int, spans: Sequence[Span] | None) -> str:
    """``[session]`` and one ``key=value`` line for each thing known; values are one line each."""
    fields: list[tuple[str, str | None]] = [
        ("id", meta.id),
        ("harness", meta.harness),
        ("started", meta.timestamp.isoformat() if meta.timestamp else None),
        ("title", meta.title),
        ("cwd", meta.cwd),
        ("branch", meta.git_branch),
        ("model", meta.model),
    ]
    if spans is not None and tuple(spans) != (Span(0, length),):
        fields += [("fragment", ",".join(str(span) for span in spans)), ("of", str(length))]
    lines = [f"{key}={_SPACES.sub(' ', value).strip()}" for key, value in fields if value and value.strip()]
    return "\n".join(["[session]", *lines]) + "\n"


def render_piece(piece: Piece) -> str:
    """``[label]`` and the body under it, ending in a line feed."""
    body = _FORGED.sub(" ", piece.body)
    if body and not body.endswith("\n"):
        body += "\n"
    return f"[{piece.label}]\n{body}"


def iter_pieces(message: Message, numbers: Numbers, limit: int | None = None) -> Iterator[Piece]:
    """The blocks of ``message`` as text, in order."""
    for block in message.content:
        yield _piece(block, message.role, numbers, limit)


def _piece(block: Block, role: Role, numbers: Numbers, limit: int | None) -> Piece:
    match block:
        case Text():
            return Piece(_speaker(block, role), block.text, block.author is Author.PERSON)
        case Thinking():
            return Piece("thinking", _cut(block.text, limit))
        case ToolUse():
            name, given = render_call(block.call)
            return Piece(f"tool {numbers.of(block.id)} {_one_line(name)}", _cut(_compact(given), limit))
        case ToolResult():
            return _result(block, numbers, limit)
        case Image():
            return Piece(f"image {_one_line(block.media_type)} omitted")
        case Artifact():
            return Piece(
                f"artifact {_one_line(block.name)}", _cut(block.path or block.text or "binary data omitted", limit)
            )
        case Interrupt():
            return Piece(f"interrupt{_by(block.by)}", is_person=block.by is Author.PERSON)
        case Compaction():
            return Piece(f"compaction {_one_line(block.trigger or '')}".rstrip(), _cut(block.summary or "", limit))
        case Decision():
            return _decision(block, numbers, limit)
        case _:
            assert_never(block)


def _speaker(block: Text, role: Role) -> str:
    if role == "assistant":
        return "assistant"
    name = "user" if block.author is Author.PERSON else str(block.author.value)
    words = [name, _one_line(block.by or ""), "" if block.via in _PLAIN_VIA else str(block.via)]
    return " ".join(word for word in words if word)


def _result(block: ToolResult, numbers: Numbers, limit: int | None) -> Piece:
    label = f"result {numbers.of(block.tool_use_id)}"
    if block.refusal is not None:
        by = f" by {_one_line(block.refusal.by)}" if block.refusal.by else ""
        body = block.refusal.reason if block.refusal.reason is not None else _result_text(block.content)
        is_person = block.refusal.by == Author.PERSON.value
        return Piece(f"{label} {block.refusal.kind.value}{by}", body, is_person)
    return Piece(f"{label} error" if block.is_error else label, _cut(_result_text(block.content), limit))


def _result_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list) and content and all(_has_type(item) for item in content):
        return "\n".join(_part_text(item) for item in content)
    return _compact(content)


def _has_type(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("type"), str)


def _part_text(item: dict[str, Any]) -> str:
    if item["type"] in {"text", "input_text", "output_text"} and isinstance(item.get("text"), str):
        return str(item["text"])
    if "image" in item["type"]:
        return "(image omitted)"
    return _compact(item)


def _decision(block: Decision, numbers: Numbers, limit: int | None) -> Piece:
    lines = [block.choice, block.comment]
    if block.before != block.after:
        changed = (("before", block.before), ("after", block.after))
        lines += [f"{label}: {_cut(text, limit)}" for label, text in changed if text is not None]
    body = "\n".join(line for line in lines if line)
    return Piece(f"decision on {_one_line(numbers.name(block.ask))}{_by(block.by)}", body, block.by is Author.PERSON)


def _by(author: Author) -> str:
    return "" if author is Author.UNKNOWN else f" by {author.value}"


def _compact(value: Any) -> str:
    if value is None or value == {}:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    except RecursionError:
        return "(nested too deeply to show)"


def _one_line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def _cut(text: str, limit: int | None) -> str:
    if limit is None or len(text) <= limit:
        return text
    return f"{text[:limit]}\n… {len(text) - limit:,} more characters"
