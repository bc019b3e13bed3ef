"""Declared regions: spelling, faults, budgets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from handrail.blueprints.regions import (
    DEFAULT_TOKENS,
    Checklist,
    CommandSeed,
    Compacting,
    FilesSeed,
    GlobSeed,
    Keyed,
    LiteralSeed,
    Percent,
    Pinned,
    Region,
    Sliding,
    Volatility,
)

REGION: TypeAdapter[Any] = TypeAdapter(Region)
PERCENT: TypeAdapter[float] = TypeAdapter(Percent)

ALL: tuple[Any, ...] = (
    Pinned(name="plan", budget=15, seed="task", title="The plan", required=True, required_message="Write a plan."),
    Sliding(name="conversation", max_items=6, strategy="per_item", since="stage"),
    Compacting(name="notes", compact_at=70, seed=LiteralSeed(literal="")),
    Keyed(name="files", max_entries=3, seed=GlobSeed(glob="docs/*.md")),
    Checklist(name="steps", seed=FilesSeed(files=("STEPS",)), is_read_only=True),
    Pinned(name="state", seed=CommandSeed(command=("git", "status")), volatility=Volatility.REWRITTEN),
)


@pytest.mark.parametrize("region", ALL, ids=lambda region: f"{region.kind}-{region.name}")
@pytest.mark.parametrize("is_short", [False, True])
def test_json_gives_the_same_region_back(region: Any, is_short: bool) -> None:
    assert region == REGION.validate_json(REGION.dump_json(region, exclude_defaults=is_short))
    assert region == REGION.validate_json(REGION.dump_json(region, exclude_unset=is_short))
    assert region == REGION.validate_python(REGION.dump_python(region, exclude_defaults=is_short))


@given(st.floats(0.01, 100))
def test_every_share_is_read_back_as_it_was(share: float) -> None:
    assert share == PERCENT.validate_json(PERCENT.dump_json(share))


@pytest.mark.parametrize("written", ["20%", " 20 % ", "20.0%", 20, 20.0], ids=repr)
def test_a_share_is_a_number_or_a_number_with_its_sign(written: object) -> None:
    assert 20.0 == PERCENT.validate_python(written)


@pytest.mark.parametrize(
    "written", ["20", "0%", 0, 101, "101%", "1e2%", "1_0%", "-3%", "nan%", "%", True, None], ids=repr
)
def test_what_is_no_share_is_refused(written: object) -> None:
    with pytest.raises(ValidationError):
        PERCENT.validate_python(written)


# H 164: round(window × per cent), then the cap, then the floor.
@pytest.mark.parametrize(
    ("declared", "window", "expected"),
    [
        ({"budget": "15%"}, 1000, 150),
        ({"budget": "12.5%"}, 1001, 125),
        ({"budget": "15%", "max_tokens": 100}, 1000, 100),
        ({"budget": "15%", "max_tokens": 200}, 1000, 150),
        ({"budget": "15%", "min_tokens": 400}, 1000, 400),
        ({"budget": "15%", "max_tokens": 100, "min_tokens": 300}, 1000, 300),
        ({"budget": "0.01%"}, 10, 1),
        ({}, 1000, DEFAULT_TOKENS),
        ({"max_tokens": 9}, None, 9),
        ({"budget": "50%", "max_tokens": 9}, None, 9),
        ({"budget": "50%"}, None, DEFAULT_TOKENS),
    ],
    ids=str,
)
def test_the_floor_wins_over_the_cap_and_the_cap_over_the_share(
    declared: dict[str, Any], window: int | None, expected: int
) -> None:
    assert expected == Pinned(name="r", **declared).budget_tokens(window)


@pytest.mark.parametrize(
    ("declared", "place", "said"),
    [
        ({"kind": "pined", "name": "r"}, (), "does not match any of the expected tags"),
        ({"name": "r"}, (), "Unable to extract tag"),
        ({"kind": "pinned", "name": "1r"}, ("pinned", "name"), "should match pattern"),
        ({"kind": "pinned", "name": "r\n"}, ("pinned", "name"), "should match pattern"),
        ({"kind": "pinned", "name": "r", "max_entries": 3}, ("pinned", "max_entries"), "not permitted"),
        ({"kind": "pinned", "name": "r", "admission": "evict"}, ("pinned", "admission"), "not permitted"),
        ({"kind": "pinned", "name": "r", "title": "a\nb"}, ("pinned", "title"), "should match pattern"),
        ({"kind": "keyed", "name": "r", "admission": "drop"}, ("keyed", "admission"), "'evict' or 'reject'"),
        ({"kind": "keyed", "name": "r", "max_entries": 0}, ("keyed", "max_entries"), "greater than or equal to 1"),
        ({"kind": "keyed", "name": "r", "max_tokens": 2.5}, ("keyed", "max_tokens"), "valid integer"),
        ({"kind": "keyed", "name": "r", "max_tokens": "5"}, ("keyed", "max_tokens"), "valid integer"),
        ({"kind": "keyed", "name": "r", "is_read_only": "yes"}, ("keyed", "is_read_only"), "valid boolean"),
        ({"kind": "keyed", "name": "r", "seed": "tusk"}, ("keyed", "seed", "task"), "should be 'task'"),
        ({"kind": "keyed", "name": "r", "seed": {"shell": "ls"}}, ("keyed", "seed"), "one of literal, files, glob"),
        ({"kind": "keyed", "name": "r", "seed": {"files": []}}, ("keyed", "seed", "files", "files"), "at least 1 item"),
        ({"kind": "pinned", "name": "r", "required_message": "Why?"}, ("pinned",), "no effect without required"),
    ],
    ids=str,
)
def test_a_fault_is_named_where_it_is(declared: dict[str, Any], place: tuple[str, ...], said: str) -> None:
    with pytest.raises(ValidationError) as raised:
        REGION.validate_python(declared)
    assert [(place, True)] == [(fault["loc"], said in fault["msg"]) for fault in raised.value.errors()]


def test_every_fault_of_a_region_is_named_at_once() -> None:
    declared = {"kind": "sliding", "name": "", "budget": "200%", "strategy": "newest", "count": 0}
    with pytest.raises(ValidationError) as raised:
        REGION.validate_python(declared)
    assert ["name", "budget", "strategy", "count"] == [fault["loc"][-1] for fault in raised.value.errors()]


def test_a_region_is_a_value() -> None:
    region = ALL[0]
    assert {region} == {region.model_copy(), Pinned(**region.model_dump())}
    with pytest.raises(ValidationError):
        region.name = "other"
