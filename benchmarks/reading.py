"""Bytes to the canonical model, against the floor: an untyped decode of every line, results discarded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import msgspec

import handrail
from benchmarks import shapes
from benchmarks.timing import side_by_side_s
from handrail.harnesses.claude_code import wire as claude_code
from handrail.harnesses.codex import wire as codex

CORPUS = Path(os.environ.get("HANDRAIL_CORPUS", Path(__file__).parents[2] / "shared" / "corpus"))
_ROW_READERS = {"claude_code": claude_code.READER.read, "codex": codex.reader.read}
PEER_TEXT_TO_TEXT_MS = 187
"""txcript 0.10, native release build, 20,000 messages; measured elsewhere on a like machine (two cores)."""


def floor(data: bytes) -> None:
    """The least a reader of JSON lines can do: decode every line and keep nothing."""
    decode = msgspec.json.Decoder().decode
    for line in data.split(b"\n"):
        if line:
            try:
                decode(line)
            except msgspec.DecodeError:
                continue


def read(harness: str, data: bytes) -> None:
    """Parse and take the canonical view, as every command does."""
    codec = handrail.harness(harness).codec
    codec.to_common(codec.parse(data))


def rows_only(harness: str, data: bytes) -> None:
    """What any reader into rows has to do: find the lines, decode what is read of them, let go of it again."""
    _ROW_READERS[harness](data)


def _each(harness: str, files: Iterable[bytes]) -> None:
    for data in files:
        read(harness, data)


def _rows(harness: str, files: Iterable[bytes]) -> None:
    for data in files:
        rows_only(harness, data)


def _floors(files: Iterable[bytes]) -> None:
    for data in files:
        floor(data)


def against_floor(trials: int) -> Iterator[dict[str, object]]:
    """One row a data set: MB/s, the floor's MB/s, and the ratio of the times (below 1 is faster than the floor).

    ``rows_alone_times_floor`` is the part of that ratio which is spent before a single message is made.
    """
    sets: list[tuple[str, str, list[bytes]]] = []
    for folder, harness in (("claude-code", "claude_code"), ("codex", "codex")):
        found = [path.read_bytes() for path in sorted((CORPUS / folder).rglob("*.jsonl"))]
        if found:
            sets.append((f"real files, {harness}", harness, found))
    sets += [(name, "claude_code", [make()]) for name, make in shapes.SHAPES.items()]
    for name, harness, files in sets:
        size = sum(map(len, files))
        works = (partial(_each, harness, files), partial(_rows, harness, files), partial(_floors, files))
        ours, rows, least = side_by_side_s(*works, trials=trials)
        yield {
            "what": f"parse and canonical view: {name}",
            "mb": round(size / 1e6, 1),
            "mb_s": round(size / 1e6 / ours),
            "floor_mb_s": round(size / 1e6 / least),
            "times_floor": round(ours / least, 2),
            "rows_alone_times_floor": round(rows / least, 2),
        }


def text_to_text(trials: int) -> Iterator[dict[str, object]]:
    """Claude Code text to Codex text: parse, canonical view, write, render."""
    data = shapes.chatty()
    source, target = handrail.harness("claude_code").codec, handrail.harness("codex").codec

    def work() -> object:
        return target.render(target.from_common(source.to_common(source.parse(data))))

    ours, least = side_by_side_s(work, partial(floor, data), trials=trials)
    yield {
        "what": "text to text: claude_code to codex, 20,000 rows",
        "mb": round(len(data) / 1e6, 1),
        "ms": round(ours * 1000),
        "times_floor": round(ours / least, 2),
        "peer_ms_elsewhere": PEER_TEXT_TO_TEXT_MS,
    }
