"""Every real file at hand gets a diagnosis, from a stream, the same however it is cut."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from handrail.transcripts.repair import Diagnosis, Severity
from tests.corpus import CORPUS, corpus_files
from tests.doctor.files import look

pytestmark = pytest.mark.skipif(CORPUS is None, reason="there is no corpus here")

_FILES = [(name, path) for name in ("claude_code", "codex") for path in corpus_files(name)]


@cache
def _diagnosis(name: str, path: Path) -> Diagnosis:
    return look(path.read_bytes(), name)


def _named(value: object) -> str | None:
    return str(value.relative_to(CORPUS)) if isinstance(value, Path) and CORPUS else None


@pytest.mark.parametrize(("name", "path"), _FILES, ids=_named)
def test_a_real_file_gets_a_diagnosis(name: str, path: Path) -> None:
    found = _diagnosis(name, path)
    assert found.shown <= found.turns <= found.records
    for finding in found.findings:
        assert 0 <= finding.start <= finding.end <= path.stat().st_size
        assert finding.message


def test_the_known_damage_of_real_files_is_found() -> None:
    counts = Counter(
        (name, finding.code)
        for name, path in _FILES
        for finding in _diagnosis(name, path).findings
        if finding.severity is Severity.DAMAGE
    )
    assert counts["codex", "glued"] == 1
    assert counts["claude_code", "duplicate_uuid"] == counts["claude_code", "parent_cycle"] == 0
    assert counts["claude_code", "nul"] == counts["codex", "nul"] == 0
    assert counts["claude_code", "lost_on_resume"] == 4
    assert counts["claude_code", "unanswered_call"] + counts["claude_code", "orphan_result"] == 6
