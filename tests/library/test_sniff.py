"""Whose file is this?"""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail import harnesses
from handrail.errors import MalformedSession
from handrail.library import guess_harness
from handrail.transcripts.codec import HarnessInfo
from tests.corpus import CORPUS, corpus_files

INFOS = [harnesses.harness(name) for name in harnesses.harness_names()]

CLAUDE_ROW = (
    b'{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/srv/shop","sessionId":"s1",'
    b'"version":"2.1.0","type":"user","message":{"role":"user","content":"hello"},"uuid":"u1",'
    b'"timestamp":"2026-05-01T08:00:00.000Z"}\n'
)
CODEX_ROW = b'{"timestamp":"2026-05-01T08:00:00.000Z","type":"session_meta","payload":{"id":"x"}}\n'


@pytest.mark.parametrize(("data", "expected"), [(CLAUDE_ROW, "claude_code"), (CODEX_ROW, "codex")])
def test_a_harness_knows_its_own_rows_for_certain(data: bytes, expected: str) -> None:
    guess = guess_harness(data, INFOS)
    assert (guess.harness, guess.confidence) == (expected, 1.0)


def test_a_file_of_nothing_but_local_commands_is_claude_codes() -> None:
    row = CLAUDE_ROW.replace(
        b'"type":"user","message":{"role":"user","content":"hello"}', b'"type":"system","subtype":"x"'
    )
    assert guess_harness(row, INFOS).harness == "claude_code"


def test_damage_around_the_rows_does_not_hide_whose_they_are() -> None:
    assert guess_harness(b"\x00\x00\n" + CLAUDE_ROW + b'{"type":"us', INFOS).harness == "claude_code"


@pytest.mark.parametrize(
    "data",
    [
        b'{"role":"user","content":"hi"}\n{"role":"assistant","content":"hello"}\n',
        b'{"type":"user","message":{"role":"user","content":"hi"}}\n',
        # The envelope of another tool, which keeps its words under "parts".
        b'{"uuid":"u","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","parts":[]}}\n',
        b"",
        b"SQLite format 3\x00",
        b"# a page of prose\n",
        b"[1,2,3]\n",
        b'{"type":[],"role":{},"message":[],"payload":[],"record_type":[]}\n',
    ],
)
def test_rows_with_roles_alone_are_nobodys(data: bytes) -> None:
    with pytest.raises(MalformedSession, match=r"it\.txt is no session that any known harness recognises"):
        guess_harness(data, INFOS, "it.txt")


@pytest.mark.skipif(CORPUS is None, reason="the corpus is not at hand")
@pytest.mark.parametrize("harness", ["claude_code", "codex"])
def test_every_real_session_is_recognised(harness: str) -> None:
    wrong = [
        path.name
        for path in corpus_files(harness)
        if "history" not in path.parts and guess_harness(path.read_bytes(), INFOS).harness != harness
    ]
    assert wrong == []


@pytest.mark.skipif(CORPUS is None, reason="the corpus is not at hand")
def test_no_file_of_another_tool_is_taken_for_claude_code_or_codex() -> None:
    assert CORPUS is not None
    own = [info for info in INFOS if info.name in {"claude_code", "codex"}]
    taken = [path.name for path in _foreign(CORPUS) if any(_sure(path.read_bytes(), info) for info in own)]
    assert taken == []


def _foreign(corpus: Path) -> list[Path]:
    return [
        path
        for path in sorted(corpus.rglob("*"))
        if path.is_file() and path.relative_to(corpus).parts[0] not in {"claude-code", "codex"}
    ]


def _sure(data: bytes, info: HarnessInfo) -> bool:
    return info.recognises is not None and info.recognises(data) > 0
