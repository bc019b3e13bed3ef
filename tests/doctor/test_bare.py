"""Rollouts from before the envelope: nothing false is said of them, and what is broken is mended in their own form."""

from __future__ import annotations

import json

import pytest

from handrail.harnesses.codex import HARNESS
from handrail.transcripts.model import Author, Text, ToolResult
from handrail.transcripts.repair import Severity
from tests.doctor.files import body, codes, look, medic, mend, png, texts, the
from tests.harnesses.bare_rollouts import (
    ID,
    OLDER,
    ROWS,
    SESSION,
    STATE,
    environment,
    header,
    line,
    lines,
    output,
    said,
    shell,
    user,
)


def answers(data: bytes) -> list[tuple[str, object]]:
    blocks = [block for message in body(data, "codex") for block in message.content]
    return [(block.tool_use_id, block.content) for block in blocks if isinstance(block, ToolResult)]


@pytest.mark.parametrize(("data", "turns"), [(SESSION, 8), (OLDER, 2)])
def test_a_whole_one_is_only_old(data: bytes, turns: int) -> None:
    found = look(data, "codex", 50)
    assert (found.session, found.records, found.turns, found.shown) == (ID, data.count(b"\n"), turns, turns)
    assert [(finding.code, finding.severity) for finding in found.findings] == [("old_format", Severity.NOTE)]
    assert mend(data, "codex") == data


def test_rows_without_time_or_id_that_are_alike_are_no_copies() -> None:
    again = (STATE, user("continue"), STATE, said("Done."))
    data = lines(header(), STATE, environment(), *again, *again, *again, STATE, STATE, environment(), environment())
    assert codes(data, "codex") == set()
    assert mend(data, "codex") == data


def test_history_written_again_is_told_by_its_calls_and_dropped() -> None:
    data = SESSION + lines(*ROWS[7:19])
    assert the("history_again", data, "codex").count == 12
    assert mend(data, "codex") == SESSION


def test_glued_and_torn_records_are_mended() -> None:
    for at in range(2, len(ROWS)):
        assert mend(lines(*ROWS[:at])[:-1] + lines(*ROWS[at:]), "codex") == SESSION
        # Where a stub ends with one of these, what follows it on its line may as well be a part of it.
        stub = line(ROWS[at])[: len(line(ROWS[at])) // 2].rstrip(b"[,:")
        data = lines(*ROWS[:at]) + stub + lines(*ROWS[at:])
        assert codes(data, "codex") in ({"cut_record"}, {"cut_record", "lost_on_resume"})
        assert mend(data, "codex") == SESSION
        assert mend(lines(*ROWS[:at]) + stub, "codex").startswith(lines(*ROWS[:at]))


def test_turns_on_lines_that_are_no_json_are_counted_as_lost() -> None:
    data = lines(header(), user("one"))[:-1] + lines(said("two"), environment())
    assert the("lost_on_resume", data, "codex").message == "2 turns lost on resume, 1 of them typed by a person"


def test_a_call_without_output_gets_one_without_an_envelope() -> None:
    data = lines(header(), user("go"), STATE, shell("c1"), STATE, user("stop"))
    assert codes(data, "codex") == {"unanswered_call"}
    copy = mend(data, "codex")
    added = json.loads(copy.splitlines()[4])
    assert (added["type"], added["call_id"]) == ("function_call_output", "c1")
    assert [call for call, _ in answers(copy)] == ["c1"]


def test_an_output_without_its_call_becomes_a_note_of_the_harness() -> None:
    data = lines(header(), output("cX", "42 files"), user("go"))
    assert codes(data, "codex") == {"orphan_result"}
    copy = mend(data, "codex")
    notes = [block for message in body(copy, "codex") for block in message.content if "42 files" in str(block)]
    assert [isinstance(note, Text) and note.author is Author.HARNESS for note in notes] == [True]
    assert texts(copy, "codex")[-1] == "go"


@pytest.mark.parametrize("glued", [False, True])
def test_what_becomes_a_note_stays_on_a_line_of_its_own(glued: bool) -> None:
    after = lines(output("cX", "42 files"), user("go")) if glued else lines(output("cX", "42 files"))
    after = after.replace(b"\n", b"", 1)
    copy = mend(lines(header(), shell("c1")) + after, "codex")
    assert copy.count(b"\n") == 4 + glued
    assert all(json.loads(part) for part in copy.splitlines())


def test_call_ids_used_twice_are_told_apart() -> None:
    data = lines(header(), shell("c1"), output("c1", "one"), STATE, shell("c1", "pwd"), output("c1", "two"))
    assert codes(data, "codex") == {"duplicate_call"}
    assert answers(mend(data, "codex")) == [("c1", "one"), ("c1_2", "two")]


def test_one_without_its_header_gets_one_of_its_kind() -> None:
    data = lines(STATE, environment(), user("go"))
    assert codes(data, "codex") == {"missing_header"}
    copy = mend(data, "codex")
    assert copy.split(b"\n", 1)[1] == data
    assert json.loads(copy.splitlines()[0]).keys() == {"id", "timestamp", "instructions"}
    assert HARNESS.codec.parse(copy).meta.cwd == "/srv/shop"


def test_an_image_that_is_too_large_is_found_and_left_out_where_that_is_wished() -> None:
    picture = user("see")
    picture["content"].append({"type": "input_image", "image_url": f"data:image/png;base64,{png(9000, 9000)}"})
    data = lines(header(), picture)
    assert codes(data, "codex") == {"image_too_large"}
    assert medic("codex").diagnose([data]).turns == 1
    copy = mend(data, "codex", images="placeholder")
    assert "image left out" in texts(copy, "codex")[-1]
