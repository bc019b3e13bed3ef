"""Rows of several kinds told apart by a tag: each is read as its own, and what is none of them is kept as other."""

from __future__ import annotations

import json
from typing import cast

import pytest
from msgspec import Struct

from handrail.harnesses.families.decoding import RowDecoder
from handrail.harnesses.families.jsonl import RowReader, Rows


class Cat(Struct, tag_field="type", tag="cat", gc=False):
    name: str | None = None
    lives: int = 9


class Dog(Struct, tag_field="type", tag="dog", gc=False):
    name: str | None = None


class Other(Struct, gc=False):
    type: str = ""
    name: str | None = None


Row = Cat | Dog | Other


def is_other(row: Row) -> bool:
    return isinstance(row, Other) and row.type not in ("cat", "dog")


DECODER = RowDecoder[Row](cast("type[Row]", Cat | Dog), other=lambda: Other, is_other=is_other)


def read(*lines: str) -> Rows[Row]:
    return RowReader(DECODER, (b'{"type"',)).read("\n".join(lines).encode(), "p")


CAT, DOG, COW = '{"type":"cat","name":"a"}', '{"name":"b","type":"dog"}', '{"type":"cow","name":"c"}'


@pytest.mark.parametrize(
    ("lines", "rows", "faults"),
    [
        ([CAT, DOG], [Cat("a"), Dog("b")], []),
        ([CAT, COW, DOG], [Cat("a"), Other("cow", "c"), Dog("b")], []),
        (['{"name":"c"}', "{}", '{"type":null}'], [Other("", "c"), Other(), Other()], ["wrong_type"]),
        (['{"type":"cat","name":5,"lives":3}', CAT], [Cat(None, 3), Cat("a")], ["wrong_type"]),
        (['{"type":"cow","name":5}', DOG], [Other("cow"), Dog("b")], ["wrong_type"]),
        ([CAT + COW, DOG], [Cat("a"), Other("cow", "c"), Dog("b")], ["glued"]),
    ],
)
def test_a_row_is_read_as_its_kind_and_any_other_is_kept(lines: list[str], rows: list[Row], faults: list[str]) -> None:
    found = read(*lines)
    assert rows == found.rows
    assert faults == [fault.code for fault in found.faults]


def test_a_row_of_another_kind_has_its_line_as_it_stands() -> None:
    lines = [CAT, f"{COW} \r", DOG]
    found = read(*lines)
    assert lines == [found.raw(index).decode() for index in range(3)]
    assert () == found.faults


def test_without_another_kind_only_the_known_are_read() -> None:
    decoder = RowDecoder(Dog)
    assert decoder.decode(memoryview(COW.encode())) is None
    assert (Dog("b"), []) == decoder.fill(json.loads(DOG))
