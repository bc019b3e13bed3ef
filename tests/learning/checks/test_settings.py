"""Hooks in other tools' settings: put in and taken out with every other byte as it was."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.learning.checks import settings_json, settings_toml
from handrail.learning.checks.hosts import EVENTS
from handrail.learning.checks.settings_json import Unchangeable

MARK = "-m handrail hook run claude_code"
COMMAND = f"/usr/bin/python3 -P {MARK}"

_KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)
_OTHER_GROUPS = st.lists(
    st.fixed_dictionaries(
        {"matcher": st.just("Bash"), "hooks": st.just([{"type": "command", "command": "lint", "timeout": 3}])}
    ),
    min_size=1,
    max_size=3,
)
_HOOKS = st.dictionaries(st.sampled_from([*EVENTS, "SessionStart"]), _OTHER_GROUPS, min_size=1)


@st.composite
def _settings(draw: st.DrawFn) -> bytes:
    """Settings as people and tools write them: any keys, any indentation, either line end."""
    held = draw(st.dictionaries(_KEYS.filter(lambda key: key != "hooks"), _VALUES, max_size=4))
    if draw(st.booleans()):
        held["hooks"] = draw(_HOOKS)
    indent = draw(st.sampled_from([None, 1, 2, 4, "\t"]))
    text = json.dumps(held, indent=indent, ensure_ascii=draw(st.booleans()))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return (draw(st.sampled_from(["", "\n", "  "])) + text + draw(st.sampled_from(["", "\n", "\n\n"]))).encode()


@given(_settings())
def test_what_is_put_into_json_can_be_taken_out_to_the_byte(data: bytes) -> None:
    after = settings_json.with_hook(data, COMMAND, 10)

    assert settings_json.has_hook(after, MARK)
    assert settings_json.without_hook(after, MARK) == data


@given(_settings())
def test_nothing_else_in_json_changes(data: bytes) -> None:
    before = json.loads(data)
    after = json.loads(settings_json.with_hook(data, COMMAND, 10))

    for event in EVENTS:
        assert after["hooks"][event].pop() == {"hooks": [{"type": "command", "command": COMMAND, "timeout": 10}]}
        if not after["hooks"][event]:
            del after["hooks"][event]
    if not after["hooks"]:
        del after["hooks"]
    assert list(after.items()) == list(before.items())


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b"{} {}",
        b'{"a": 1, "a": 2}',
        b'{"hooks": 3}',
        b'{"hooks": {"Stop": {}}}',
        b"\xff",
        b'\xef\xbb\xbf{"a": 1}',
        b'{"a": 1} // said by hand',
        b'{"hooks": null}',
    ],
)
def test_settings_that_cannot_be_changed_without_risk_are_left_alone(data: bytes) -> None:
    with pytest.raises(Unchangeable):
        settings_json.with_hook(data, COMMAND, 10)


def test_a_hook_that_shares_its_group_leaves_the_others_in_it() -> None:
    other = {"type": "command", "command": "lint"}
    own = {"type": "command", "command": COMMAND}
    data = json.dumps({"hooks": {"Stop": [{"hooks": [other, own]}]}}).encode()

    assert json.loads(settings_json.without_hook(data, MARK)) == {"hooks": {"Stop": [{"hooks": [other]}]}}


def test_no_settings_are_begun_and_left_empty() -> None:
    after = settings_json.with_hook(b"", COMMAND, 10)

    assert set(json.loads(after)["hooks"]) == set(EVENTS)
    assert json.loads(settings_json.without_hook(after, MARK)) == {}


def test_the_added_part_is_indented_like_the_rest() -> None:
    after = settings_json.with_hook(b'{\n    "model": "x"\n}\n', COMMAND, 10).decode()

    assert '\n    "hooks": {\n        "PreToolUse": [' in after


# TOML

_LINES = st.lists(
    st.sampled_from(
        [
            'model = "x"',
            "# a comment",
            "",
            "[features]",
            "[mcp_servers.docs]",
            '[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = "command"\ncommand = "lint"',
            '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "lint"',
            '[hooks.state."/x:stop:0:0"]\ntrusted_hash = "abc"',
        ]
    ),
    unique=True,
    max_size=6,
)


@given(
    _LINES,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n"]),
    st.sampled_from([COMMAND, "it's -m handrail hook run claude_code"]),
)
def test_what_is_put_into_toml_can_be_taken_out_to_the_byte(
    lines: list[str], line: str, end: str, command: str
) -> None:
    data = ("\n".join(lines) + end).replace("\n", line).encode()
    before = tomllib.loads(data.decode())

    after = settings_toml.with_hook(data, command, 10)

    found = tomllib.loads(after.decode())
    for event in EVENTS:
        assert found["hooks"][event][-1] == {"hooks": [{"type": "command", "command": command, "timeout": 10}]}
    assert settings_toml.has_hook(after, MARK)
    taken = settings_toml.without_hook(after, MARK)
    assert tomllib.loads(taken.decode()) == before
    # A last line without an end has one afterwards.
    assert taken in (data, data + line.encode(), data + b"\n")


def test_what_the_host_writes_between_our_lines_stays_its_own() -> None:
    # Codex keeps which hooks its person trusts in the same file, and may put it before our last comment.
    after = settings_toml.with_hook(b'model = "x"\n', COMMAND, 10)
    trust = '[hooks.state."a"]\ntrusted_hash = "b"\n\n'
    written = after.decode().replace(settings_toml.END, trust + settings_toml.END)

    assert settings_toml.without_hook(written.encode(), MARK) == b'model = "x"\n' + trust.encode()


@pytest.mark.parametrize(
    "data", [b"hooks = 3\n", b"hooks = { Stop = [] }\n", b"[hooks]\nStop = []\n", b"a = \n", b"\xff"]
)
def test_toml_that_cannot_be_added_to_is_left_alone(data: bytes) -> None:
    with pytest.raises(Unchangeable):
        settings_toml.with_hook(data, COMMAND, 10)
