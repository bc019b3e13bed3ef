"""Every real session at hand: bytes out, conversions with every difference named, crops, moments, no exception."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import handrail
from handrail.testing.differences import differences, unaccounted
from handrail.transcripts.model import Common, Transcript
from handrail.transcripts.spans import CropError, Span
from tests.corpus import CORPUS, corpus_files

_HARNESSES = ("claude_code", "codex")
_FILES = [(name, path) for name in _HARNESSES for path in corpus_files(name)]

pytestmark = pytest.mark.skipif(CORPUS is None, reason="there is no corpus here")


def _named(value: object) -> str | None:
    return str(value.relative_to(CORPUS)) if isinstance(value, Path) and CORPUS else None


def _read(name: str, path: Path) -> tuple[handrail.Codec[Any], Transcript[Any], Transcript[Common]]:
    codec = handrail.harness(name).codec
    native = codec.parse(path.read_bytes())
    return codec, native, codec.to_common(native)


def _valid_spans(session: Transcript[Common], count: int) -> list[Span]:
    """Random spans of ``session`` that can be cropped, the same ones every time."""
    source = random.Random(session.meta.id)
    spans = []
    for _ in range(count):
        start, end = sorted(source.sample(range(len(session.body) + 1), 2))
        try:
            session.crop(Span(start, end))
        except CropError as problem:
            assert problem.suggestion is not None
            spans.append(problem.suggestion)
        else:
            spans.append(Span(start, end))
    return spans


@pytest.mark.parametrize(("name", "path"), _FILES, ids=_named)
def test_a_real_session_survives_everything(name: str, path: Path) -> None:
    codec, native, session = _read(name, path)
    assert codec.render(native) == path.read_bytes()
    session.tool_pairs()
    branches = codec.branches(native)
    for moment in handrail.find_interventions(session, branches=branches):
        assert 0 <= moment.at
        moment.user_evidence_only()
    for span in _valid_spans(session, 3) if session.body else ():
        cropped = codec.crop(native, [span])
        again = codec.to_common(codec.parse(codec.render(cropped)))
        assert differences(session.crop(span), again) == ()


@pytest.mark.parametrize("target", handrail.harness_names())
@pytest.mark.parametrize(("name", "path"), _FILES, ids=_named)
def test_every_difference_of_a_real_conversion_is_named(name: str, path: Path, target: str) -> None:
    _, _, session = _read(name, path)
    native, loss = handrail.convert(session, to=target)
    codec = handrail.harness(target).codec
    back = codec.to_common(codec.parse(codec.render(native)))
    silent = unaccounted(loss, differences(session, back, loss))
    assert not silent, "\n".join(map(str, silent[:10]))
