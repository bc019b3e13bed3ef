"""Codex read from real rollouts: nothing raises, nothing is lost, cuts are cuts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from handrail.harnesses import convert
from handrail.harnesses.codex import HARNESS
from handrail.harnesses.codex.event_kinds import TokenCount
from handrail.testing.differences import differences, unaccounted
from handrail.transcripts.model import Common, Interrupt, Message, Text, ToolResult, ToolUse, Transcript, Usage
from handrail.transcripts.spans import Span, smallest_valid
from tests.corpus import corpus_files

CODEC = HARNESS.codec
FILES = corpus_files("codex")
ROLLOUTS = [path for path in FILES if path.parent.name != "history"]

pytestmark = pytest.mark.skipif(not FILES, reason="no corpus")


def by_name(path: Path) -> str:
    return path.name


def read(path: Path) -> Transcript[Common]:
    return CODEC.to_common(CODEC.parse(path.read_bytes()))


def sessions() -> Iterator[Transcript[Common]]:
    return map(read, ROLLOUTS)


@pytest.mark.parametrize("path", FILES, ids=by_name)
def test_every_file_is_rendered_byte_for_byte(path: Path) -> None:
    data = path.read_bytes()
    assert CODEC.render(CODEC.parse(data)) == data


@pytest.mark.parametrize("path", ROLLOUTS, ids=by_name)
def test_calls_and_results_pair_in_every_rollout(path: Path) -> None:
    session = read(path)
    calls = Counter(block.id for message in session.body for block in message.content if type(block) is ToolUse)
    results = [block for message in session.body for block in message.content if type(block) is ToolResult]
    assert len(session.tool_pairs()) == len(results)
    assert set(calls.values()) <= {1}


@pytest.mark.parametrize("path", ROLLOUTS, ids=by_name)
def test_every_record_has_one_uid_of_its_own(path: Path) -> None:
    uids = [uid for message in read(path).body for uid in message.uids]
    assert len(uids) == len(set(uids))


@pytest.mark.parametrize("path", ROLLOUTS, ids=by_name)
def test_calls_stand_in_responses_and_results_in_deliveries(path: Path) -> None:
    for message in read(path).body:
        kinds = {type(block) for block in message.content}
        assert (ToolUse in kinds) <= (message.role == "assistant")
        assert (ToolResult in kinds or Interrupt in kinds) <= (message.role == "user")
        assert message.content


@pytest.mark.parametrize("path", ROLLOUTS, ids=by_name)
def test_a_native_crop_reads_as_the_crop_of_what_was_read(path: Path) -> None:
    native = CODEC.parse(path.read_bytes())
    session = CODEC.to_common(native)
    pairs = session.tool_pairs()
    source = random.Random(path.name)
    for _ in range(3):
        spans = [smallest_valid(pairs, span) for span in some_spans(source, len(session.body))]
        cropped = CODEC.parse(CODEC.render(CODEC.crop(native, spans)))
        assert strip_uids(CODEC.to_common(cropped)) == strip_uids(session.crop_to(spans))


def some_spans(source: random.Random, size: int) -> Iterator[Span]:
    for _ in range(source.randint(1, 2)):
        start = source.randrange(size)
        yield Span(start, min(size, start + source.randint(1, 20)))


def strip_uids(session: Transcript[Common]) -> list[Message]:
    return [msgspec.structs.replace(message, uid="", uids=()) for message in session.body]


@pytest.mark.parametrize("path", ROLLOUTS, ids=by_name)
def test_a_rollout_written_anew_differs_by_no_more_than_its_loss(path: Path) -> None:
    session = read(path)
    native, loss = convert(session, "codex")
    back = CODEC.to_common(CODEC.parse(CODEC.render(native)))
    assert not [str(difference) for difference in unaccounted(loss, differences(session, back, loss))]


def test_the_one_pair_of_glued_records_gives_both() -> None:
    faults = [fault for path in ROLLOUTS for fault in CODEC.faults(CODEC.parse(path.read_bytes()))]
    assert [fault.code for fault in faults] == ["glued"]


def test_no_record_of_the_corpus_is_unknown() -> None:
    assert {} == {kind: n for path in ROLLOUTS for kind, n in CODEC.unknown(CODEC.parse(path.read_bytes())).items()}


def test_every_typed_text_is_read_as_submitted() -> None:
    """344 items in the corpus are followed by an equal event; one of its prompts is a program's."""
    vias = Counter(
        (message.uid, block.via.value)
        for session in sessions()
        for message in session.body
        for block in message.content
        if type(block) is Text and block.via is not None
    )
    assert 300 <= len(vias) <= 344


def test_aborted_turns_are_one_interrupt_each() -> None:
    """19 events, 12 of them beside a mark in the item log."""
    blocks = [type(block) for session in sessions() for message in session.body for block in message.content]
    assert blocks.count(Interrupt) == 19


def test_failed_commands_are_errors_wherever_the_exit_code_stands() -> None:
    """302 non-zero exits, and what the harness itself could not start."""
    errors = sum(
        type(block) is ToolResult and block.is_error
        for session in sessions()
        for message in session.body
        for block in message.content
    )
    assert errors >= 302


def test_usage_is_counted_once_a_response() -> None:
    """The running total of a file is the sum of its responses, where no response was counted outside of one."""
    path = next(path for path in ROLLOUTS if path.name == "gitsync-0.130-21turns.jsonl")
    usages = [message.usage for message in read(path).body if type(message.usage) is Usage]
    assert sum(usage.output_tokens for usage in usages) == last_total(path, "output_tokens")


def last_total(path: Path, name: str) -> int:
    rows = CODEC.parse(path.read_bytes()).body.main.rows
    counts = [row.payload for row in rows if isinstance(row.payload, TokenCount)]
    infos = [count.info for count in counts if count.info is not None]
    return int(getattr(infos[-1].total_token_usage, name))
