"""docs/doctor.md names every code that there is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_CODE = re.compile(r'(?:_found|_note|_other|_wound|code=|yield _note)\(?[^"\n]*?"([a-z]+(?:_[a-z0-9]+)*)"')
_SOURCES = (
    "harnesses/families/examining.py",
    "harnesses/claude_code/doctor.py",
    "harnesses/claude_code/medic.py",
    "harnesses/codex/doctor.py",
    "harnesses/codex/medic.py",
    "app/diagnosing.py",
)


def test_the_page_names_every_code() -> None:
    found: set[str] = set()
    for name in _SOURCES:
        found |= set(_CODE.findall((ROOT / "src" / "handrail" / name).read_text(encoding="utf-8")))
    page = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z]+(?:_[a-z0-9]+)*)`", page))
    assert len(found) > 25
    assert found - named == set()
