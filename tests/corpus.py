"""Where the real sessions are, when they are at hand: ``HANDRAIL_CORPUS``, else beside the repository."""

from __future__ import annotations

import os
from pathlib import Path

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
_FOLDER = Path(os.environ.get("HANDRAIL_CORPUS") or _BESIDE)

CORPUS: Path | None = _FOLDER if _FOLDER.is_dir() else None
"""The corpus folder, None when it is not there."""

_FOLDERS = {"claude_code": "claude-code"}


def corpus_files(harness: str) -> list[Path]:
    """Every session file of ``harness``, sorted; empty when there is no corpus."""
    if CORPUS is None:
        return []
    return sorted((CORPUS / _FOLDERS.get(harness, harness)).rglob("*.jsonl"))
