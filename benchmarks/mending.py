"""Diagnosing and repairing: how fast, in how much memory, and a thousand damaged files of real ones."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import handrail
from benchmarks import shapes
from benchmarks.reading import CORPUS, floor
from benchmarks.timing import fresh_process, side_by_side_s
from handrail.testing.damage import damaged
from handrail.transcripts.repair import Bytes, Wishes, is_spliced, splice

_LOOK = """
import sys
from pathlib import Path
import handrail
from handrail.files import OpenFile
with OpenFile(Path(sys.argv[1])) as file:
    found = handrail.harness("claude_code").medic.diagnose(file.chunks())
    RESULT = {"mb": file.size // 10**6, "records": found.records, "findings": len(found.findings)}
"""
_LARGEST_BYTES = 600_000


def speed(trials: int) -> Iterator[dict[str, object]]:
    """Diagnosing the real files and generated ones, in memory, against an untyped decode of every line."""
    sets: list[tuple[str, str, list[bytes]]] = []
    for folder, harness in (("claude-code", "claude_code"), ("codex", "codex")):
        found = [path.read_bytes() for path in sorted((CORPUS / folder).rglob("*.jsonl"))]
        sets += [(f"real files, {harness}", harness, found)] if found else []
    sets.append(("chatty 20,000 rows", "claude_code", [shapes.chatty()]))
    for name, harness, files in sets:
        size = sum(map(len, files)) / 1e6
        ours, least = side_by_side_s(
            lambda files=files, harness=harness: _look(harness, files),  # type: ignore[misc]
            lambda files=files: _floors(files),  # type: ignore[misc]
            trials=trials,
        )
        rates = {"mb_s": round(size / ours), "floor_mb_s": round(size / least)}
        yield {"what": f"diagnosis: {name}", "mb": round(size, 1), **rates}


def _look(harness: str, files: list[bytes]) -> None:
    medic = handrail.harness(harness).medic
    assert medic is not None
    for data in files:
        medic.diagnose(Bytes(data).chunks())


def _floors(files: list[bytes]) -> None:
    for data in files:
        floor(data)


def memory(size: int) -> Iterator[dict[str, object]]:
    """Peak memory of a fresh process that diagnoses ``size`` bytes in rows of a megabyte; then 20,000 small rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        with path.open("wb") as stream:
            stream.writelines(shapes.progress_rows(size))
        yield {"what": "diagnosis of one large file, fresh process", **_rounded(fresh_process(_LOOK, str(path)))}
        path.write_bytes(shapes.chatty())
        yield {"what": "diagnosis of 20,000 rows, fresh process", **_rounded(fresh_process(_LOOK, str(path)))}


def _rounded(run: dict[str, object]) -> dict[str, object]:
    return {key: round(value, 1) if isinstance(value, float) else value for key, value in run.items()}


def thousand(files: int = 1_000) -> Iterator[dict[str, object]]:
    """``files`` damaged copies of real sessions, by seed: how many are repaired, proved and stable."""
    for folder, harness in (("claude-code", "claude_code"), ("codex", "codex")):
        paths = [path for path in sorted((CORPUS / folder).rglob("*.jsonl")) if path.stat().st_size < _LARGEST_BYTES]
        if not paths:
            continue
        outcomes = {"repaired": 0, "no_session_left": 0, "failed": 0}
        for seed in range(files // 2):
            outcomes[_repair(harness, damaged(paths[seed % len(paths)].read_bytes(), seed).data)] += 1
        yield {"what": f"damaged real files, {harness}", **outcomes}


def _repair(harness: str, data: bytes) -> str:
    medic = handrail.harness(harness).medic
    assert medic is not None
    before = medic.diagnose(Bytes(data).chunks())
    if not before.is_session:
        return "no_session_left"
    edits = medic.edits(Bytes(data), Wishes())
    copy = b"".join(splice(Bytes(data).chunks(), edits))
    after = medic.diagnose(Bytes(copy).chunks())
    is_stable = not medic.edits(Bytes(copy), Wishes())
    is_proved = is_spliced(Bytes(data), Bytes(copy), edits) and not after.is_damaged and after.shown >= before.shown
    return "repaired" if is_stable and is_proved else "failed"
