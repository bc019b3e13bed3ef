"""JSON lines that keep their bytes, read as leniently as is safe."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.jsonio import NotJson, decode, encode, iter_chunk_lines, iter_lines
from handrail.testing.strategies import json_values

_PIECES = st.sampled_from(
    [b"", b"\n", b"{}", b"\r\n", b'"\xe2\x80\xa8"', b"\xc2\x85", b"\x00", b"\xff", b"\x0b\x0c\x1c"]
)


@given(json_values)
def test_what_is_written_reads_back(value: Any) -> None:
    assert json.dumps(decode(encode(value)), sort_keys=True) == json.dumps(value, sort_keys=True)


@given(
    st.recursive(st.text(max_size=4), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=4)
)
def test_half_characters_are_written_as_escapes_and_read_back(value: Any) -> None:
    data = encode(value)
    data.decode()
    assert decode(data) == value


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'"\\ud83c"', "\ud83c"),
        (b'"\\ud83c\\udf30"', "\U0001f330"),
        (b'"a\xffb"', "a\ufffdb"),
        (b"1180591620717411303424", 2**70),
        (b"-1180591620717411303424", -(2**70)),
        (b"1e400", math.inf),
        (b"[-Infinity]", [-math.inf]),
        (b' {"a" : 1}\r', {"a": 1}),
        (b'{"a":1,"a":2}', {"a": 2}),
    ],
)
def test_what_real_files_hold_is_read(raw: bytes, value: Any) -> None:
    assert decode(raw) == value
    assert decode(memoryview(raw)) == value


@pytest.mark.parametrize("text", ['{"a":1}', '"half \ud83c"', '"\\ud83c"', "[NaN"])
def test_text_is_read_like_bytes_and_keeps_half_characters(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(NotJson):
            decode(text)
    else:
        assert decode(text) == expected


def test_no_number_is_a_float_that_is_none() -> None:
    assert math.isnan(decode(b"NaN"))


@pytest.mark.parametrize(
    "raw",
    [b"", b" ", b"{", b"nul", b"\x00{}", b"{}{}", b"\xef\xbb\xbf{}", b"[" * 100_000, b"[" * 50_000 + b"]" * 50_000],
)
def test_what_is_no_json_says_why(raw: bytes) -> None:
    with pytest.raises(NotJson) as caught:
        decode(raw)
    assert str(caught.value)


@given(st.lists(_PIECES, max_size=8).map(b"".join))
def test_lines_are_cut_at_line_feeds_and_nowhere_else(data: bytes) -> None:
    lines = [data[start:end] for start, end in iter_lines(data)]
    assert lines == (data.removesuffix(b"\n").split(b"\n") if data else [])
    assert all(end == len(data) or data[end : end + 1] == b"\n" for _, end in iter_lines(data))


@given(st.lists(_PIECES, max_size=8), st.lists(_PIECES, max_size=8))
def test_lines_of_a_stream_do_not_depend_on_its_chunks(left: list[bytes], right: list[bytes]) -> None:
    data = b"".join([*left, *right])
    expected = [(start, data[start:end]) for start, end in iter_lines(data)]
    assert list(iter_chunk_lines([*left, *right])) == expected
    assert list(iter_chunk_lines([b"".join(left), b"".join(right)])) == expected
    assert list(iter_chunk_lines([data[at : at + 1] for at in range(len(data))])) == expected
