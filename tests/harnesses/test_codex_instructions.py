"""What a rollout records of the instructions its model had."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handrail.harnesses.codex import HARNESS


def _told(**payload: Any) -> str | None:
    row = {"timestamp": "2026-05-03T08:00:00.000Z", "type": "session_meta", "payload": {"id": "s", **payload}}
    data = json.dumps(row).encode() + b"\n"
    assert HARNESS.instructions is not None
    return HARNESS.instructions(HARNESS.codec.parse(data))


@pytest.mark.parametrize(
    ("payload", "told"),
    [
        ({"base_instructions": {"text": "Be brief."}}, "Be brief."),
        ({"instructions": "Be brief."}, "Be brief."),
        ({"instructions": None}, None),
        ({"base_instructions": {"text": 7}}, None),
        ({"base_instructions": {"text": "  "}}, None),
        ({}, None),
    ],
)
def test_the_head_of_a_rollout_tells_its_instructions(payload: dict[str, Any], told: str | None) -> None:
    assert _told(**payload) == told


@pytest.mark.parametrize("data", [b"", b"{", b'{"type":"session_meta"}\n', b'{"type":"session_meta","payload":[]}\n'])
def test_a_head_that_is_none_tells_nothing(data: bytes) -> None:
    assert HARNESS.instructions is not None
    assert HARNESS.instructions(HARNESS.codec.parse(data)) is None
