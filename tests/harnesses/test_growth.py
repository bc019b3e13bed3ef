"""Sessions that grow by whole lines read as if they had been read at once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from handrail.harnesses import harness
from handrail.harnesses.claude_code.wire import read_rows
from handrail.testing.builders import ClaudeCodeSession, CodexSession
from handrail.testing.builders.claude_code import say

START = datetime(2026, 5, 4, 8, tzinfo=UTC)
ID = "0f8fad5b-d9cb-469f-a165-70867728950e"


def _claude_code() -> bytes:
    made = ClaudeCodeSession(ID, "/srv/shop", START)
    made.prompt("tidy the shop")
    made.reply(say("I will drop it."), made.call("drop", "Bash", command="drop old"))
    made.deny("drop", "keep it")
    before = made.last
    made.reply(say("Kept."))
    made.prompt("now the cellar")
    made.reply(say("Sweeping."))
    made.go_back_to(before)
    made.prompt("now the attic")
    made.reply(say("Dusting."))
    return made.render()


def _codex() -> bytes:
    made = CodexSession("019b0c1e-1111-7abc-8def-0123456789ab", "/srv/bank", START)
    made.prompt("count the files")
    made.shell("count", "ls | wc -l", "7")
    made.finish("Seven.")
    made.prompt("again")
    made.abort()
    made.roll_back(1)
    made.prompt("once more")
    made.finish("Seven.")
    return made.render()


@pytest.mark.parametrize(("name", "data"), [("claude_code", _claude_code()), ("codex", _codex())])
def test_a_session_that_grew_line_by_line_is_the_one_read_at_once(name: str, data: bytes) -> None:
    info = harness(name)
    assert info.extend is not None
    native: Any = info.codec.parse(b"")
    seen = b""
    for line in data.splitlines(keepends=True):
        native = info.extend(native, line)
        seen += line
        whole = info.codec.parse(seen)
        assert (native, info.codec.render(native)) == (whole, seen)
        assert info.codec.to_common(native) == info.codec.to_common(whole)
        assert info.codec.branches(native) == info.codec.branches(whole)


DAMAGED = b'{"type":"a"}\n\n{"type":"b","te{"type":"c"}\nnothing\n{"type":"d"}\n'


@pytest.mark.parametrize("cut", [index + 1 for index, byte in enumerate(DAMAGED) if byte == 0x0A])
def test_damage_and_places_of_rows_are_told_in_bytes_of_the_whole(cut: int) -> None:
    whole, grown = read_rows(DAMAGED, ""), read_rows(DAMAGED[:cut], "").followed_by(read_rows(DAMAGED[cut:], ""))
    assert (grown.faults, grown.spans, list(grown.lines())) == (whole.faults, whole.spans, list(whole.lines()))


def test_what_is_appended_to_a_torn_line_is_read_as_part_of_it() -> None:
    info = harness("claude_code")
    assert info.extend is not None
    data = _claude_code()
    assert info.extend(info.codec.parse(data[:100]), data[100:]) == info.codec.parse(data)
    grown = info.extend(info.codec.parse(data[:100]), data[100:])
    assert info.codec.to_common(grown) == info.codec.to_common(info.codec.parse(data))


@pytest.mark.parametrize("name", ["claude_code", "codex"])
def test_a_session_of_several_files_is_not_taken_for_an_empty_one(name: str) -> None:
    found = harness(name)
    assert found.extend is not None
    native = found.codec.parse({"a.jsonl": b"{}\n"})
    with pytest.raises(ValueError, match="several files"):
        found.extend(native, b"{}\n")
