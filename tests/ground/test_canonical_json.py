"""The canonical spelling: one for each value, the same whichever way it was reached."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import jsonio
from handrail.testing.strategies import json_values

LONE = "\ud83c"


@given(json_values)
def test_what_is_spelled_reads_back_and_spells_the_same_again(value: Any) -> None:
    spelled = jsonio.canonical(value)
    assert jsonio.decode(spelled) == value
    assert jsonio.canonical(jsonio.decode(spelled)) == spelled


@given(json_values)
def test_a_half_character_elsewhere_changes_nothing_about_the_rest(value: Any) -> None:
    assert jsonio.canonical([LONE, value]) == b'["\\ud83c",' + jsonio.canonical(value) + b"]"
    assert jsonio.encode([LONE, value]) == b'["\\ud83c",' + jsonio.encode(value) + b"]"


@given(st.text(st.characters(categories=["Cs", "Ll", "Cc", "So"]), max_size=8))
def test_text_with_half_characters_reads_back(text: str) -> None:
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    if joined == text:
        assert json.loads(jsonio.canonical({text: [text]})) == {text: [text]}


@given(st.dictionaries(st.text(st.characters(codec=None), max_size=3), st.none(), max_size=6))
def test_keys_stand_in_the_order_of_their_code_points(value: dict[str, None]) -> None:
    pairs = json.JSONDecoder(object_pairs_hook=list).decode(jsonio.canonical(value).decode())
    keys = [key for key, _ in pairs]
    if not any("\ud800" <= char <= "\udfff" for key in value for char in key):
        assert keys == sorted(value)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_refused_wherever_it_stands(number: float) -> None:
    for value in (number, [number], {"a": [1, {"b": number}]}, {LONE: number}, (None, number)):
        with pytest.raises(ValueError, match="no canonical spelling"):
            jsonio.canonical(value)


@pytest.mark.parametrize("value", [None, {"a": None}, "null", [None, 1.5, "NaN"]])
def test_a_null_that_was_meant_is_kept(value: Any) -> None:
    assert jsonio.decode(jsonio.canonical(value)) == value
