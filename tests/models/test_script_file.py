"""A script as a file."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from handrail.errors import StoreError
from handrail.models.errors import MalformedScript, Overloaded
from handrail.models.names import model_from_name
from handrail.models.script_file import parse_script
from handrail.models.scripted import Call, Reply
from handrail.transcripts.model import Usage
from tests.models.conversations import driven, text_of

_SCRIPT = b"""[
  {"error": "overloaded"},
  {"call": "probe", "input": {"value": "a"}},
  ["both", {"call": "probe"}],
  {"content": ["half"], "thinking": "hm", "stop_reason": "max_tokens",
   "usage": {"input_tokens": 3, "output_tokens": 1}},
  "done"
]"""


def test_every_kind_of_item_is_read() -> None:
    failure, call, several, full, answer = parse_script(_SCRIPT)
    assert isinstance(failure, Overloaded)
    assert Call("probe", {"value": "a"}) == call
    assert ["both", Call("probe", {})] == several
    usage = Usage(input_tokens=3, output_tokens=1)
    assert Reply(content=("half",), thinking="hm", stop_reason="max_tokens", usage=usage) == full
    assert "done" == answer


def test_a_script_is_played_under_its_name(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text('[{"call": "probe", "input": {"value": "a"}}, "done"]')
    messages = asyncio.run(driven(model_from_name(f"scripted:{path}"), "go"))
    assert "done" == text_of(messages[-1])


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (b"{", "no JSON"),
        (b'"answer"', "a list of replies"),
        (b'["fine", 3]', "item 2 of the script: neither a text nor a call"),
        (b'[{"call": "probe", "inputs": {}}]', "item 1 of the script: neither"),
        (b'[{"error": "nonsense"}]', "no error has the code 'nonsense'"),
        (b'[{"content": ["x"], "stop": "y"}]', "a reply has no stop"),
        (b'[{"content": ["x"], "usage": {"input_tokens": "many"}}]', "item 1 of the script"),
    ],
)
def test_what_is_no_script_is_told_with_its_place(script: bytes, why: str) -> None:
    with pytest.raises(MalformedScript, match=why):
        parse_script(script)


def test_a_script_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be read"):
        model_from_name(f"scripted:{tmp_path / 'none.json'}")
