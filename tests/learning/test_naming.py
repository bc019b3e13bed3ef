"""Ids may be begun; what is named must be one thing."""

from __future__ import annotations

import pytest
from msgspec import Struct

from handrail.errors import UnknownName
from handrail.learning.naming import one_named


class _Thing(Struct, frozen=True):
    id: str


THINGS = (_Thing("r12"), _Thing("r123"), _Thing("r9"))


@pytest.mark.parametrize(("prefix", "id"), [("r12", "r12"), ("r123", "r123"), (" R9 ", "r9"), ("r9", "r9")])
def test_an_id_or_the_only_one_that_begins_like_it_is_found(prefix: str, id: str) -> None:
    assert one_named(THINGS, prefix, "thing", UnknownName, "look").id == id


@pytest.mark.parametrize("prefix", ["", "  ", "r", "r1", "x"])
def test_nothing_several_and_an_empty_name_are_errors(prefix: str) -> None:
    with pytest.raises(UnknownName):
        one_named(THINGS, prefix, "thing", UnknownName, "look")
