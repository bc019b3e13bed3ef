"""Tool calls between wire form and typed form: nothing is lost, and nothing is guessed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import jsonio
from handrail.testing.strategies import any_calls, json_values, wire_names, words
from handrail.transcripts.calls import call_name, parse_call, render_call, spell_call
from handrail.transcripts.model import Bash, Command, Edit, EditStep, Json, MultiEdit, Raw, Read, ToolCall, Write

_KEYS = st.sampled_from(
    ["file_path", "content", "old_string", "new_string", "replace_all", "edits", "command", "offset", "limit", "args"]
)
_VALUES = words | st.booleans() | st.integers(-2, 9) | st.none() | st.lists(st.dictionaries(_KEYS, words), max_size=2)


def _spelled(call: tuple[str, Json]) -> str:
    """Tells true from 1 and 1 from 1.0, which ``==`` does not."""
    return json.dumps(call, sort_keys=True)


@given(wire_names, json_values | st.dictionaries(_KEYS, _VALUES, max_size=4))
def test_every_wire_call_comes_back_exactly(name: str, given_input: Json) -> None:
    assert _spelled(render_call(parse_call(name, given_input))) == _spelled((name, given_input))


@given(any_calls)
def test_every_typed_call_comes_back_or_is_raw_of_the_same_words(call: ToolCall) -> None:
    name, rendered = render_call(call)
    again = parse_call(name, rendered)
    assert render_call(again) == (name, rendered)
    if not isinstance(call, Raw):
        assert again == call
    assert call_name(call) == name


@given(any_calls)
def test_a_call_is_spelled_as_it_is_rendered(call: ToolCall) -> None:
    name, rendered = render_call(call)
    assert (name, jsonio.encode(rendered)) == spell_call(call)


def test_half_a_character_is_spelled_too() -> None:
    assert spell_call(Bash("\ud83c", description="x")) == ("Bash", rb'{"command":"\ud83c","description":"x"}')


@pytest.mark.parametrize(
    ("name", "given_input", "call"),
    [
        ("Read", {"file_path": "a"}, Read("a")),
        ("Read", {"file_path": "a", "offset": 0, "limit": 5}, Read("a", 0, 5)),
        ("Write", {"file_path": "a", "content": ""}, Write("a", "")),
        ("Edit", {"file_path": "a", "old_string": "b", "new_string": "c"}, Edit("a", "b", "c")),
        (
            "Edit",
            {"file_path": "a", "old_string": "b", "new_string": "c", "replace_all": False},
            Edit("a", "b", "c", False),
        ),
        (
            "MultiEdit",
            {"file_path": "a", "edits": [{"old_string": "b", "new_string": "c", "replace_all": True}]},
            MultiEdit("a", (EditStep("b", "c", True),)),
        ),
        ("MultiEdit", {"file_path": "a", "edits": []}, MultiEdit("a", ())),
        (
            "Bash",
            {"command": "ls", "description": "List", "timeout_ms": 9, "run_in_background": True, "workdir": "/"},
            Bash("ls", "/", 9, "List", True),
        ),
        ("/release", {"args": "patch"}, Command("/release", "patch")),
        ("/clear", {}, Command("/clear")),
    ],
)
def test_an_input_that_fits_exactly_is_typed(name: str, given_input: Json, call: ToolCall) -> None:
    assert parse_call(name, given_input) == call


@pytest.mark.parametrize(
    ("name", "given_input"),
    [
        ("Bash", ["ls"]),
        ("Bash", "ls"),
        ("Bash", None),
        ("Bash", {}),
        ("Bash", {"command": None}),
        ("Bash", {"command": ["ls"]}),
        ("Bash", {"command": "ls", "timeout": 5}),
        ("Bash", {"command": "ls", "timeout_ms": -1}),
        ("Bash", {"command": "ls", "timeout_ms": 1.5}),
        ("Bash", {"command": "ls", "timeout_ms": "5"}),
        ("Bash", {"command": "ls", "timeout_ms": True}),
        ("Bash", {"command": "ls", "workdir": None}),
        ("Bash", {"command": "ls", "run_in_background": 1}),
        ("Read", {"file_path": "a", "pages": "1-2"}),
        ("Edit", {"file_path": "a", "old_string": "b"}),
        ("Edit", {"file_path": "a", "old_string": "b", "new_string": "c", "replace_all": None}),
        ("MultiEdit", {"file_path": "a", "edits": [{"old_string": "b", "new_string": "c", "why": "x"}]}),
        ("MultiEdit", {"file_path": "a", "edits": {}}),
        ("/release", {"args": None}),
        ("/release", {"args": "a", "more": "b"}),
        ("/release", "patch"),
        ("mcp__search__query", {"q": "x"}),
        ("read", {"file_path": "a"}),
        ("Raw", {"tool_name": "x"}),
    ],
)
def test_anything_else_stays_raw(name: str, given_input: Json) -> None:
    assert parse_call(name, given_input) == Raw(name, given_input)
