"""What is wrong with the bytes themselves, in both harnesses: found with its place, mended, nothing else touched."""

from __future__ import annotations

import pytest

from handrail.transcripts.repair import Severity
from tests.doctor.files import (
    chain,
    codes,
    codex,
    header,
    line,
    lines,
    look,
    mend,
    prompted,
    replied,
    result,
    texts,
    the,
    turn,
)

FOUR = chain(4)
ALL_FOUR = ["prompt 0", "answer 1", "prompt 2", "answer 3"]
ROLLOUT = [header(), *prompted("count the files"), *replied("Seven."), *prompted("and the folders", 4)]


def test_a_whole_file_has_no_findings() -> None:
    assert look(lines(FOUR)).findings == ()
    assert look(lines(ROLLOUT), "codex").findings == ()


@pytest.mark.parametrize("chunk", [1, 7, 64, 100_000])
def test_a_diagnosis_does_not_depend_on_how_the_stream_is_cut(chunk: int) -> None:
    data = lines(FOUR[:2]) + bytes(9) + line(FOUR[2])[:-1] + lines(FOUR[3:])[:-20]
    assert look(data, chunk=chunk) == look(data)


def test_a_cut_record_in_the_middle_hides_what_follows_and_is_taken_out() -> None:
    stub = b'{"type":"attachment","att\n'
    data = lines(FOUR[:2]) + stub + lines(FOUR[2:])
    found = the("cut_record", data)
    assert data[found.start : found.end] == stub
    assert the("lost_on_resume", data).message == "2 turns lost on resume, 1 of them typed by a person"
    assert mend(data) == lines(FOUR)


def test_a_torn_tail_is_named_with_its_size_and_cut_off() -> None:
    tail = b'{"type":"assistant","message":{"con'
    found = the("torn_tail", lines(FOUR) + tail)
    assert (found.severity, found.end - found.start) == (Severity.DAMAGE, len(tail))
    assert "(35 bytes)" in found.message
    assert mend(lines(FOUR) + tail) == lines(FOUR)


def test_a_record_glued_to_a_stub_is_recovered() -> None:
    data = lines(FOUR[:2]) + b'{"type":"pr-link","sessionId":"s","prNu' + lines(FOUR[2:])
    assert mend(data) == lines(FOUR)


def test_a_whole_record_before_a_stub_on_its_line_is_recovered() -> None:
    data = lines(FOUR)[:-1] + b'{"parentUuid":"u3","ty'
    assert codes(data) == {"torn_tail"}
    assert mend(data) == lines(FOUR)


def test_glued_records_get_lines_of_their_own() -> None:
    data = lines(FOUR[:2])[:-1] + lines(FOUR[2:])
    assert codes(data) == {"glued", "lost_on_resume"}
    assert mend(data) == lines(FOUR)
    rollout = lines(ROLLOUT[:3])[:-1] + lines(ROLLOUT[3:])
    assert "glued" in codes(rollout, "codex")
    assert mend(rollout, "codex") == lines(ROLLOUT)


@pytest.mark.parametrize("run", [bytes(300), bytes(300) + b"\n"])
def test_a_run_of_nul_between_rows_is_taken_out(run: bytes) -> None:
    data = lines(FOUR[:2]) + run + lines(FOUR[2:])
    assert "300 NUL bytes" in the("nul", data).message
    assert mend(data) == lines(FOUR)


def test_nul_inside_a_record_is_taken_out() -> None:
    data = lines(FOUR).replace(b"prompt 2", b"prom\x00\x00pt 2")
    assert mend(data) == lines(FOUR)


def test_a_stub_that_was_written_again_whole_is_dropped() -> None:
    data = lines(ROLLOUT[:4]) + line(ROLLOUT[4])[:60] + b"\n" + lines(ROLLOUT[4:])
    assert codes(data, "codex") == {"cut_record"}
    assert mend(data, "codex") == lines(ROLLOUT)


@pytest.mark.parametrize("odd", [b"[]\n", b'"str"\n', b"7\n", b"null\n"])
def test_a_line_that_is_no_record_is_taken_out(odd: bytes) -> None:
    data = lines(FOUR[:2]) + odd + lines(FOUR[2:])
    assert codes(data) == {"not_object"}
    assert mend(data) == lines(FOUR)


def test_blank_lines_and_records_of_a_wrong_type_are_no_damage() -> None:
    data = lines(FOUR[:2]) + b'\n  \n{"type":5}\n' + lines(FOUR[2:])
    assert codes(data) == set()
    assert codes(data, severity=Severity.NOTE) == {"wrong_type"}
    assert mend(data) == data


def test_half_a_character_is_replaced_and_a_whole_one_is_not() -> None:
    data = line(turn("user", "u0", None, "tag X")).replace(b"X", rb"\ud83c \ud83c\udf1f \udf1f \\ud83c")
    assert the("lone_surrogate", data.replace(rb" \udf1f", b"")).message.startswith("half of a character")
    assert mend(data) == data.replace(rb"\ud83c ", rb"\ufffd ", 1).replace(rb" \udf1f ", rb" \ufffd ")


@pytest.mark.parametrize("harness", ["claude_code", "codex"])
def test_separators_inside_a_text_are_a_note_and_written_as_escapes(harness: str) -> None:
    rows = [turn("user", "u0", None, "a\u2028b\u2029c\u0085d")] if harness == "claude_code" else []
    rows = rows or [header(), *prompted("a\u2028b\u2029c\u0085d")]
    assert codes(lines(rows), harness) == set()
    assert codes(lines(rows), harness, Severity.NOTE) == {"line_separator"}
    copy = mend(lines(rows), harness)
    assert rb"a\u2028b\u2029c\u0085d" in copy
    assert texts(copy, harness) == ["a\u2028b\u2029c\u0085d"]


@pytest.mark.parametrize("harness", ["claude_code", "codex"])
def test_a_byte_order_mark_is_taken_off(harness: str) -> None:
    data = lines(FOUR if harness == "claude_code" else ROLLOUT)
    found = the("bom", b"\xef\xbb\xbf" + data, harness)
    assert (found.start, found.end) == (0, 3)
    assert mend(b"\xef\xbb\xbf" + data, harness) == data


def test_bytes_that_are_not_utf_8_become_replacement_characters() -> None:
    data = lines(FOUR).replace(b"prompt 2", b"pro\x8fmpt 2")
    assert codes(data) == {"bad_utf8"}
    assert mend(data) == data.replace(b"\x8f", "\ufffd".encode())


def test_numbers_that_json_cannot_spell_become_null() -> None:
    made = {"type": "tool_use", "id": "t1", "name": "Count", "input": {"x": "NUMBER", "y": "NaN"}}
    rows = [*FOUR[:3], turn("assistant", "u3", "u2", [made]), turn("user", "u4", "u3", [result("t1")])]
    data = lines(rows).replace(b'"NUMBER"', b"NaN")
    assert "not_strict" in codes(data)
    assert mend(data) == lines(rows).replace(b'"NUMBER"', b"null")


def test_a_missing_last_line_feed_is_a_note_and_put_in() -> None:
    data = lines(FOUR)[:-1]
    assert (codes(data), codes(data, severity=Severity.NOTE)) == (set(), {"no_final_newline"})
    assert mend(data) == lines(FOUR)


def test_a_record_too_deep_for_us_is_kept() -> None:
    deep = b'{"type":"progress","data":' + b"[" * 20_000 + b"]" * 20_000 + b"}\n"
    data = lines(FOUR[:2]) + deep + lines(FOUR[2:])
    assert codes(data) == set()
    assert mend(data) == data


def test_a_huge_record_is_a_note_with_its_size() -> None:
    data = lines([*chain(2), turn("user", "u2", "u1", "x" * 13_000_000)])
    assert the("large_record", data).message.startswith("one record of 13.0 MB")


def test_progress_rows_that_hold_the_history_again_are_no_damage() -> None:
    progress = {"parentUuid": "u1", "type": "progress", "data": {"agentId": "a", "normalizedMessages": [{}] * 1000}}
    data = lines([*chain(2), {**progress, "uuid": "p1"}, turn("user", "u2", "p1", "go on")])
    assert look(data).findings == ()


@pytest.mark.parametrize("harness", ["claude_code", "codex"])
@pytest.mark.parametrize("data", [b"", b"\n\n", bytes(600), b"no session\n", b"{}\n", b'{"a":1}\n' * 3])
def test_a_file_without_a_session_is_unreadable(data: bytes, harness: str) -> None:
    assert not look(data, harness).is_session


def test_findings_beyond_a_hundred_of_a_code_are_told_as_one() -> None:
    data = b"".join(line(row) + b"[]\n" for row in chain(150))
    found = [finding for finding in look(data).findings if finding.code == "not_object"]
    assert (len(found), sum(finding.count for finding in found)) == (101, 150)


def test_a_rollout_whose_glued_rows_codex_leaves_out_says_how_many_turns() -> None:
    rows = [header(), *prompted("one"), *replied("two"), codex("turn_context", {})]
    data = lines(rows[:2])[:-1] + lines(rows[2:])
    assert the("lost_on_resume", data, "codex").message == "1 turn lost on resume, 1 of them typed by a person"
