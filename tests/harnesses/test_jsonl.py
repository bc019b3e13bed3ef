"""Rows of JSON lines: read quickly where they are whole, saved where they are not, bytes never changed."""

from __future__ import annotations

import copy
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.harnesses.families.jsonl import JsonlFiles, RowReader, Rows
from handrail.harnesses.families.streaming import quick_kind, scan

STARTS = (b'{"parentUuid"', b'{"type"', b'{"timestamp"')


class Inner(msgspec.Struct, gc=False):
    text: str = ""
    size: int = 0


class Wire(msgspec.Struct, gc=False):
    type: str = ""
    uuid: str | None = None
    inner: Inner | str | None = None
    items: list[Inner] = []
    extra: msgspec.Raw | None = None


READER = RowReader(Wire, STARTS)


def read(data: bytes) -> Rows[Wire]:
    return READER.read(data, "p")


def row(**fields: object) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode()


def codes(rows: Rows[Wire]) -> list[str]:
    return [fault.code for fault in rows.faults]


A = row(type="a", uuid="1")
B = row(type="b", uuid="2")


@pytest.mark.parametrize(
    ("data", "types", "faults"),
    [
        (b"", [], []),
        (A, ["a"], []),
        (A + b"\n" + B + b"\n", ["a", "b"], []),
        (A + b"\r\n" + B + b"\r\n", ["a", "b"], []),
        (b"\n\n" + A + b"\n  \n" + B, ["a", "b"], []),
        (b"\xef\xbb\xbf" + A + b"\n" + B, ["a", "b"], ["bom"]),
        (A + b"\n" + b"\x00" * 300 + B + b"\n", ["a", "b"], ["nul"]),
        (A + b"\n" + b"\x00" * 300 + b"\n" + B + b"\n", ["a", "b"], ["nul"]),
        (A + b"\x00" * 9 + B + b"\n", ["a", "b"], ["nul", "glued"]),
        (A + b'\n{"type":"b","in', ["a"], ["torn_tail"]),
        (A + b'\n{"type":"b","in\n' + B, ["a", "b"], ["not_json"]),
        (A + B + b"\n", ["a", "b"], ["glued"]),
        (b'{"type":"pr-link","prNu{"parentUuid":"p","type":"user"}\n', ["user"], ["not_json", "glued"]),
        (b'[]\n"str"\n5\nnull\ntrue\n' + A, ["a"], ["not_object"] * 5),
        (b'{"type":5,"uuid":"7"}\n' + A, ["", "a"], ["wrong_type"]),
        (b'{"type":"a","x":"\xff"}\n{"type":"b","uuid":"\xff"}', ["a", "b"], ["bad_utf8"]),
        (b'{"type":"a","x":NaN}', ["a"], []),
        (b'{"type":"a","uuid":"\\ud83c"}', ["a"], []),
        (b'{"type":"a","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", [], ["too_deep"]),
        ('{"type":"a","uuid":"x\u2028y\u0085z"}\n'.encode() + B, ["a", "b"], []),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_damaged_line_costs_only_itself(data: bytes, types: list[str], faults: list[str]) -> None:
    rows = read(data)
    assert types == [found.type for found in rows.rows]
    assert faults == codes(rows)
    assert all(0 <= fault.start <= fault.end <= len(data) and fault.part == "p" for fault in rows.faults)


def test_one_field_of_a_wrong_type_does_not_lose_the_record() -> None:
    rows = read(b'{"type":"a","uuid":7,"items":[{"text":"x","size":"big"},5,{"text":"y"}],"inner":{"text":"t"}}')
    assert [Wire("a", None, Inner("t"), [Inner("x"), Inner("y")])] == rows.rows
    assert "uuid" in rows.faults[0].message and "items[1]" in rows.faults[0].message


def test_an_escaped_lone_surrogate_is_kept() -> None:
    assert "\ud83c" == read(b'{"uuid":"\\ud83c"}').rows[0].uuid


def test_lines_that_only_look_like_one_object_each_are_not_mixed_up() -> None:
    glued_and_short = A + B + b"\n" + b'{"type":"c","x":"}\n{"}' + b"\n"
    assert ["a", "b"] == [found.type for found in read(glued_and_short).rows]


def test_every_row_knows_where_it_stands() -> None:
    data = b"\n" + A + b"\n" + b"\x00\x00" + B + b"\n[]\n" + A + B
    rows = read(data)
    assert [A, B, A, B] == [rows.raw(index) for index in range(4)]
    assert [data[start:end] for start, end in rows.spans] == [A, B, A, B]
    assert data == b"".join(data[start:end] for start, end, _ in rows.lines())


def test_stretches_do_not_change_what_is_read() -> None:
    data = b"\n".join(row(type=str(n), uuid="x" * (n % 50)) for n in range(500)) + b"\n[]\n" + A
    whole = read(data)
    cut = RowReader(Wire, STARTS, stretch_bytes=64).read(data, "p")
    assert whole.rows == cut.rows
    assert whole.spans == cut.spans
    assert whole.faults == cut.faults


@given(st.binary(max_size=200), st.binary(max_size=60))
def test_no_bytes_make_the_reader_raise(before: bytes, after: bytes) -> None:
    rows = read(before + b"\n" + A + b"\n" + after)
    assert len(rows.spans) == len(rows.rows)
    assert any(found.uuid == "1" for found in rows.rows)


@given(st.lists(st.sampled_from([A, B, b"", b"[]", b'{"type":"x', b"\x00", A + B, b"{}"]), max_size=12))
def test_scan_and_read_find_the_same_records(lines: list[bytes]) -> None:
    data = b"\n".join(lines) + b"\n"
    found = [record.kind for record in scan([data[i : i + 7] for i in range(0, len(data), 7)], STARTS) if record.kind]
    assert [wire.type for wire in read(data).rows if wire.type] == found


def test_scan_names_offsets_and_damage() -> None:
    data = A + b"\n[]\n" + b"\x00" + B + b"\n" + b'{"type":"c'
    records = list(scan([data], STARTS))
    assert {("a", None), ("", "not_object"), ("b", None), ("", "nul"), ("", "not_json")} == {
        (record.kind, record.fault) for record in records
    }
    assert all(data[record.start : record.end] == record.raw for record in records)


def test_scan_does_not_decode_bulky_kinds() -> None:
    line = b'{"uuid":"1","type":"progress","data":' + b"[" * 200_000 + b"}"
    assert [("progress", None)] == [(r.kind, r.fault) for r in scan([line], STARTS, frozenset({"progress"}))]


def test_quick_kind_is_not_fooled_by_nested_or_quoted_types() -> None:
    assert "a" == quick_kind(b'{"x":"y","type":"a","z":{}}')
    assert "" == quick_kind(b'{"message":{"type":"inner"},"type":"a"}')
    assert "a" == quick_kind(row(x='"type":"b"', type="a"))


def test_a_native_body_is_equal_by_its_bytes_and_prints_small() -> None:
    data = A + b"\n" + b" " * 10_000
    one, two = JsonlFiles(data, READER.read), JsonlFiles(bytes(data), READER.read)
    assert one == two and hash(one) == hash(two)
    assert one != JsonlFiles({"": data}, READER.read)
    assert one == copy.deepcopy(one) and one.rows() is one.rows()
    assert len(repr(one)) < 60
    assert [] == one.rows("absent").rows
