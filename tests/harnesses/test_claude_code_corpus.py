"""Claude Code's codec over real sessions."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.harnesses.claude_code.line import find_lines
from handrail.harnesses.claude_code.wire import read_rows
from handrail.testing.differences import differences, unaccounted
from handrail.transcripts.codec import convert
from handrail.transcripts.model import Interrupt, Refusal, Text, ToolResult, ToolUse, Via
from handrail.transcripts.spans import Span, SplitPair
from tests.corpus import corpus_files
from tests.harnesses.claude_rows import CODEC

FILES = corpus_files("claude_code")
SESSIONS = [path for path in FILES if "history" not in path.parts]

pytestmark = pytest.mark.skipif(not FILES, reason="no corpus")


def test_every_file_round_trips_and_reads_without_a_fault() -> None:
    for path in FILES:
        data = path.read_bytes()
        native = CODEC.parse(data)
        assert data == CODEC.render(native), path
        assert "history" in path.parts or not CODEC.faults(native), path
        assert len(CODEC.to_common(native).tool_pairs()) >= 0
        CODEC.branches(native)
        CODEC.children(native)


def test_the_live_line_loses_no_more_than_the_one_true_rewind_and_a_crash() -> None:
    rows_off = 0
    told = 0
    left: list[tuple[str, int]] = []
    for path in SESSIONS:
        rows = read_rows(path.read_bytes(), "").rows
        lines = find_lines(rows)
        live = set(lines.live)
        talk = [index for index, row in enumerate(rows) if row.is_talk]
        told += len(talk)
        off = [index for index in talk if index not in live]
        rows_off += len(off)
        left += [(path.name, len(off))] if off else []
    assert told > 23_000
    assert 14 >= rows_off, left


def test_only_the_true_rewind_is_a_branch_with_human_turns() -> None:
    turns = [
        branch.human_turns
        for path in SESSIONS
        for branch in CODEC.branches(CODEC.parse(path.read_bytes()))
        if branch.human_turns
    ]
    assert [3] == turns


def test_calls_without_an_answer_are_those_that_have_none() -> None:
    unanswered = 0
    for path in SESSIONS:
        session = CODEC.to_common(CODEC.parse(path.read_bytes()))
        calls = sum(
            type(block) is ToolUse
            for message in session.body
            if message.role == "assistant"
            for block in message.content
        )
        answers = sum(session.body[call].role == "assistant" for call, _ in session.tool_pairs())
        unanswered += calls - answers
    assert 9 == unanswered


def blocks() -> Iterator[object]:
    for path in SESSIONS:
        for message in CODEC.to_common(CODEC.parse(path.read_bytes())).body:
            yield from message.content


def test_refusals_steers_and_interruptions_are_all_there() -> None:
    found = list(blocks())
    refusals = [block.refusal for block in found if type(block) is ToolResult and block.refusal]
    denied = [refusal for refusal in refusals if type(refusal) is Refusal and refusal.by == "person"]
    assert (95, 13) == (len(denied), sum(refusal.by == "policy" for refusal in refusals))
    assert 59 == sum(type(block) is Interrupt for block in found)
    steers = [block for block in found if type(block) is Text and block.via is Via.STEER]
    assert 55 <= len(steers)


def test_what_is_written_reads_back_and_the_loss_names_what_does_not() -> None:
    for path in SESSIONS:
        session = CODEC.to_common(CODEC.parse(path.read_bytes()))
        native, loss = convert(session, CODEC)
        back = CODEC.to_common(CODEC.parse(CODEC.render(native)))
        assert () == unaccounted(loss, differences(session, back, loss)), path


def valid_spans(length: int, chance: random.Random) -> list[Span]:
    spans = []
    for _ in range(chance.randint(1, 3)):
        start = chance.randrange(length)
        spans.append(Span(start, chance.randint(start + 1, min(length, start + 40))))
    return spans


@pytest.mark.parametrize("path", SESSIONS[::4], ids=lambda path: Path(path).stem[:30])
def test_a_native_crop_reads_back_as_the_crop(path: Path) -> None:
    chance = random.Random(path.name)
    native = CODEC.parse(path.read_bytes())
    session = CODEC.to_common(native)
    if not session.body:
        pytest.skip("nothing was said")
    spans = valid_spans(len(session.body), chance)
    for _ in itertools.repeat(None, 60):
        try:
            wanted = session.crop_to(spans)
            break
        except SplitPair as problem:
            assert problem.suggestion is not None
            spans = [problem.suggestion if span == problem.span else span for span in spans]
    cropped = CODEC.crop(native, spans)
    assert wanted == CODEC.to_common(cropped)
    assert wanted.body == CODEC.to_common(CODEC.parse(CODEC.render(cropped))).body
