"""Ids: what may become a path, what is stable, what is fresh."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.errors import TranscriptError, UnsafeId
from handrail.ids import MAX_ID_BYTES, check_id, new_uuid4, new_uuid7, short_hash, stable_uuid
from handrail.testing.clock import ManualClock
from handrail.testing.contracts.store import HOSTILE_IDS


@pytest.mark.parametrize(
    "value",
    [
        "a",
        "0198f3c2-77aa-7bbb-8ccc-123456789abc",
        "T-12",
        "ses_1",
        "agent-a.b",
        "sitzung-ü",
        "名前",
        "x" * 200,
        "ü" * 100,
    ],
)
def test_an_ordinary_id_passes_unchanged(value: str) -> None:
    assert check_id(value) == value


@pytest.mark.parametrize("value", [value for value in HOSTILE_IDS if value not in {"~", "%2e%2e%2fpwned"}])
def test_an_id_that_must_not_become_a_path_is_refused(value: str) -> None:
    with pytest.raises(UnsafeId) as caught:
        check_id(value)
    assert isinstance(caught.value, TranscriptError)
    str(caught.value).encode()


def test_an_id_is_measured_in_bytes() -> None:
    """Two hundred characters may be eight hundred bytes, and no file system takes such a name."""
    with pytest.raises(UnsafeId):
        check_id("ü" * 101)


@given(st.text(max_size=MAX_ID_BYTES + 5))
def test_what_passes_is_one_component_of_a_path_everywhere(value: str) -> None:
    try:
        check_id(value)
    except UnsafeId:
        return
    assert PurePosixPath("root", value).parts == ("root", value)
    assert PureWindowsPath("root", value).parts == ("root", value)
    assert len(f".{value}.jsonl.12345678.tmp".encode()) <= 255


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5) | st.integers(), max_size=3))
def test_a_stable_uuid_is_a_uuid_and_stays_the_same(parts: list[str | int]) -> None:
    assert stable_uuid(*parts) == stable_uuid(*parts)
    assert uuid.UUID(stable_uuid(*parts)).version == 5


def test_stable_uuids_tell_parts_apart() -> None:
    assert len({stable_uuid("a", "b"), stable_uuid("ab"), stable_uuid("a", "b", ""), stable_uuid("b", "a")}) == 4
    assert stable_uuid("a\x1fb") != stable_uuid("a", "b")


def test_a_stable_uuid_can_be_made_of_half_a_character() -> None:
    assert stable_uuid("\ud83c") != stable_uuid("\ud83d")


def test_short_hashes_tell_parts_apart() -> None:
    seen = {
        short_hash("ab"),
        short_hash("a", "b"),
        short_hash("a", "b", ""),
        short_hash("b", "a"),
        short_hash("\ud83c"),
    }
    assert len(seen) == 5
    assert all(re.fullmatch("[0-9a-f]{12}", value) for value in seen)


def test_fresh_ids_are_uuids_of_their_version_and_differ() -> None:
    assert uuid.UUID(new_uuid4()).version == 4
    assert uuid.UUID(new_uuid7()).version == 7
    assert len({new_uuid4() for _ in range(50)} | {new_uuid7() for _ in range(50)}) == 100


def test_a_uuid7_sorts_by_time_and_holds_it() -> None:
    clock = ManualClock()
    ids = []
    for _ in range(5):
        ids.append(new_uuid7(clock))
        clock.advance(0.001)
    assert ids == sorted(ids)
    assert uuid.UUID(ids[0]).int >> 80 == int(clock.now().timestamp() * 1000) - 5
    assert uuid.UUID(new_uuid7(clock)).variant == uuid.RFC_4122
    assert clock.now() - ManualClock().now() == timedelta(milliseconds=5)
