"""The contract of a codec: bytes in are bytes out, nothing raises, nothing is lost unsaid.

``CodecCase`` says what to judge: a harness, and native sessions to try it on. Sessions are also made by the codec
itself out of canonical ones, so a codec without any sample is judged too.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from handrail.errors import TranscriptError
from handrail.testing import hostile, strategies
from handrail.testing.contracts.rules import Rule
from handrail.testing.differences import differences, unaccounted, unfounded
from handrail.testing.examples import EXAMPLES, PLAIN
from handrail.transcripts.codec import Codec, HarnessInfo, Parts, is_person
from handrail.transcripts.model import Author, Common, Text, ToolResult, Transcript, Via, to_json
from handrail.transcripts.spans import CropError, Span

_quick = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)
_MUTATIONS = 120


@dataclass(frozen=True)
class CodecCase:
    """A harness and native sessions of it, one file each."""

    harness: HarnessInfo
    samples: tuple[bytes, ...] = ()

    @property
    def codec(self) -> Codec[Any]:
        return self.harness.codec

    @cached_property
    def whole(self) -> tuple[Parts | bytes, ...]:
        """Sessions nothing is wrong with: the samples, and those the codec writes of the examples."""
        return *self.samples, *(self.codec.render(self.codec.from_common(example)) for example in EXAMPLES)

    @cached_property
    def files(self) -> tuple[bytes, ...]:
        """``whole`` as single files."""
        return tuple(_one_file(data) for data in self.whole)

    def inputs(self) -> Iterator[tuple[str, bytes]]:
        """Every hostile input by name."""
        yield from hostile.LONELY.items()
        for number, data in enumerate(self.files):
            for name, hurt in hostile.around(data):
                yield f"session {number}, {name}", hurt
            for seed in range(_MUTATIONS // len(self.files)):
                yield f"session {number}, mutation {seed}", hostile.mutated(data, seed)
        for seed in range(40):
            yield f"noise {seed}", hostile.noise(seed)


def _one_file(data: Parts | bytes) -> bytes:
    return data if isinstance(data, bytes) else max(data.values(), key=len, default=b"")


def _for_each(inputs: Iterable[tuple[object, Any]], check: Callable[[Any], None]) -> None:
    """Run ``check`` on every input; whatever it raises says which input it was."""
    for name, data in inputs:
        try:
            check(data)
        except BaseException as problem:
            problem.add_note(f"with the input: {name}")
            raise


# Reading ----------------------------------------------------------------------------------------------------


def _bytes_survive(case: CodecCase) -> None:
    def check(data: Parts | bytes) -> None:
        assert case.codec.render(case.codec.parse(data)) == data

    _for_each(case.inputs(), check)
    _for_each(enumerate(case.whole), check)


def _parts_survive(case: CodecCase) -> None:
    def check(data: bytes) -> None:
        parts = {"main.jsonl": data, "main/subagents/agent-1.jsonl": data[:50], "empty": b""}
        assert case.codec.render(case.codec.parse(parts)) == parts

    _for_each(enumerate(case.files), check)
    assert case.codec.render(case.codec.parse({})) == {}


def _nothing_raises(case: CodecCase) -> None:
    codec = case.codec

    def check(data: bytes) -> None:
        native = codec.parse(data)
        session = codec.to_common(native)
        with contextlib.suppress(CropError):
            session.tool_pairs()
        for branch in codec.branches(native):
            assert codec.to_common(native, branch.id).meta.id == session.meta.id
            assert branch.body
            assert 0 <= branch.at <= len(session.body)
        codec.children(native)
        assert all(count > 0 for count in codec.unknown(native).values())

    _for_each(case.inputs(), check)


def _faults_are_placed(case: CodecCase) -> None:
    def check(data: bytes) -> None:
        for fault in case.codec.faults(case.codec.parse(data)):
            assert 0 <= fault.start < fault.end <= len(data), fault
            assert fault.code
            assert fault.message

    def check_whole(data: Parts | bytes) -> None:
        assert case.codec.faults(case.codec.parse(data)) == ()

    _for_each(case.inputs(), check)
    _for_each(enumerate(case.whole), check_whole)


def _torn_tail_costs_itself(case: CodecCase) -> None:
    def check(data: bytes) -> None:
        if not _is_line_format(case.codec, data):
            return
        torn = data.removesuffix(b"\n") + b'\n{"type":"user","message":{"con'
        native = case.codec.parse(torn)
        assert case.codec.to_common(native) == case.codec.to_common(case.codec.parse(data))
        faults = case.codec.faults(native)
        assert [fault.end for fault in faults] == [len(torn)]

    _for_each(enumerate(case.files), check)


def _is_line_format(codec: Codec[Any], data: bytes) -> bool:
    return sum(1 for _ in codec.scan([data])) == len(data.splitlines()) > 1


def _reading_is_repeatable(case: CodecCase) -> None:
    def check(data: Parts | bytes) -> None:
        once, again = case.codec.parse(data), case.codec.parse(data)
        assert once == again
        assert case.codec.to_common(once) == case.codec.to_common(again)
        assert case.codec.branches(once) == case.codec.branches(again)

    _for_each(enumerate(case.whole), check)


def _native_repr_is_short(case: CodecCase) -> None:
    for name in ("one huge line", "nul bytes"):
        assert len(repr(case.codec.parse(hostile.LONELY[name]))) < 2_000


def _scan_tells_records_apart(case: CodecCase) -> None:
    def check(data: bytes) -> None:
        records = list(case.codec.scan([data]))
        for record in records:
            assert record.raw == data[record.start : record.end], f"{record.start}..{record.end} is not its raw bytes"
        for left, right in itertools.pairwise(records):
            assert left.end <= right.start, f"{left.start}..{left.end} overlaps {right.start}..{right.end}"
        for size in (1, 7, 4096):
            if size * 4000 >= len(data):
                chunks = [data[start : start + size] for start in range(0, len(data), size)]
                assert list(case.codec.scan(chunks)) == records, f"chunks of {size} bytes give other records"

    _for_each(case.inputs(), check)


def _no_branch_of_that_name(case: CodecCase) -> None:
    native = case.codec.parse(case.whole[0])
    for name in ("", "no such branch", "../x", "\ud83c"):
        try:
            case.codec.to_common(native, name)
        except TranscriptError:
            continue
        raise AssertionError(f"a branch called {name!r} was found")


def _a_model_is_no_person(case: CodecCase) -> None:
    def check(data: bytes) -> None:
        native = case.codec.parse(data)
        for body in (case.codec.to_common(native).body, *(branch.body for branch in case.codec.branches(native))):
            for message in body:
                assert message.role == "user" or not any(map(is_person, message.content))

    _for_each(case.inputs(), check)


# Writing ----------------------------------------------------------------------------------------------------


def _writing_is_pure(case: CodecCase) -> None:
    @_quick
    @given(strategies.conversations())
    def check(source: Transcript[Common]) -> None:
        before = to_json(source)
        native, loss = case.codec.write(source)
        assert case.codec.render(native) == case.codec.render(case.codec.from_common(source))
        assert case.codec.write(source)[1] == loss
        assert to_json(source) == before

    check()


def _written_reads_back(case: CodecCase) -> None:
    @_quick
    @given(strategies.conversations())
    def check(source: Transcript[Common]) -> None:
        _assert_accounted(case, source)

    for example in EXAMPLES:
        _assert_accounted(case, example)
    check()


def _any_session_is_written_or_refused(case: CodecCase) -> None:
    @_quick
    @given(strategies.sessions())
    def check(source: Transcript[Common]) -> None:
        try:
            case.codec.write(source)
        except TranscriptError:
            return
        _assert_accounted(case, source)

    check()


def _assert_accounted(case: CodecCase, source: Transcript[Common]) -> None:
    native, loss = case.codec.write(source)
    back = case.codec.to_common(case.codec.parse(case.codec.render(native)))
    silent = unaccounted(loss, differences(source, back, loss))
    assert not silent, "\n".join(["not named in the Loss:", *map(str, silent), f"the Loss: {loss.items}"])


def _loss_points_at_the_source(case: CodecCase) -> None:
    @_quick
    @given(strategies.conversations())
    def check(source: Transcript[Common]) -> None:
        native, loss = case.codec.write(source)
        for item in loss.items:
            assert item.what
            assert item.why
            assert item.message is None or 0 <= item.message < len(source.body)
            assert item.block is None or item.message is not None
            assert item.block is None or 0 <= item.block < len(source.body[item.message or 0].content)
        written = {uid for message in case.codec.to_common(native).body for uid in message.uids}
        known = {uid for message in source.body for uid in (message.uid, *message.uids)}
        assert set(loss.uids) <= known
        assert set(loss.uids.values()) <= written

    check()


def _loss_is_no_wolf_crier(case: CodecCase) -> None:
    @_quick
    @given(strategies.conversations())
    def check(source: Transcript[Common]) -> None:
        native, loss = case.codec.write(source)
        back = case.codec.to_common(native)
        idle = unfounded(loss, differences(source, back, loss))
        assert not idle, "\n".join(["named in the Loss, but it came through:", *map(str, idle)])

    check()


def _written_is_sound(case: CodecCase) -> None:
    @_quick
    @given(strategies.conversations())
    def check(source: Transcript[Common]) -> None:
        native = case.codec.from_common(source)
        read = case.codec.parse(case.codec.render(native))
        assert case.codec.faults(read) == ()
        assert dict(case.codec.unknown(read)) == {}
        assert case.codec.to_common(read) == case.codec.to_common(native)

    check()


def _nobody_becomes_a_person(case: CodecCase) -> None:
    @_quick
    @given(strategies.conversations())
    def check(source: Transcript[Common]) -> None:
        back = case.codec.to_common(case.codec.from_common(source))
        assert not _words_of_people(back) - _words_of_people(source)

    check()


def _words_of_people(session: Transcript[Common]) -> Counter[str]:
    return Counter(
        block.text
        for message in session.body
        for block in message.content
        if isinstance(block, Text) and is_person(block)
    )


def _broken_characters_are_written(case: CodecCase) -> None:
    """Tool output cut in the middle of a character is real; half a character must not cost the session."""
    half = "tag \ud83c"
    message = PLAIN.body[0]
    texts = msgspec.structs.replace(message, content=(Text(half, Author.PERSON, via=Via.PROMPT),))
    results = msgspec.structs.replace(PLAIN.body[2], content=(ToolResult("toolu_1", half),))
    for broken in (texts, results):
        body = tuple(broken if message.uid == broken.uid else message for message in PLAIN.body)
        _assert_accounted(case, Transcript(PLAIN.meta, body))


def _what_was_read_of_bad_bytes_is_written(case: CodecCase) -> None:
    def check(data: bytes) -> None:
        session = case.codec.to_common(case.codec.parse(data))
        with contextlib.suppress(TranscriptError):
            case.codec.render(case.codec.from_common(session))
        to_json(session)

    _for_each(case.inputs(), check)


# Cropping ---------------------------------------------------------------------------------------------------


def _native_crop_is_the_crop(case: CodecCase) -> None:
    def check(data: Parts | bytes) -> None:
        native = case.codec.parse(data)
        session = case.codec.to_common(native)

        @_quick
        @given(st.lists(strategies.spans_within(len(session.body)), min_size=1, max_size=3))
        def check_spans(spans: list[Span]) -> None:
            try:
                expected = session.crop_to(spans)
            except CropError as problem:
                _assert_refused(case.codec, native, spans, problem)
                return
            cropped = case.codec.crop(native, spans)
            back = case.codec.to_common(case.codec.parse(case.codec.render(cropped)))
            found = differences(expected, back)
            assert not found, "\n".join(map(str, found))

        check_spans()

    _for_each(enumerate(case.whole), check)


def _assert_refused(codec: Codec[Any], native: Any, spans: list[Span], expected: CropError) -> None:
    try:
        codec.crop(native, spans)
    except CropError as problem:
        assert type(problem) is type(expected)
        assert (problem.span, problem.suggestion) == (expected.span, expected.suggestion)
    else:
        raise AssertionError(f"a crop was made that the session refuses: {expected}")


CODEC_RULES: tuple[Rule[CodecCase], ...] = (
    Rule(1, "bytes in are bytes out, broken ones too", _bytes_survive),
    Rule(2, "parts in are parts out", _parts_survive),
    Rule(3, "reading raises nothing", _nothing_raises),
    Rule(4, "faults name bytes that are there, and whole sessions have none", _faults_are_placed),
    Rule(5, "a torn tail costs itself only", _torn_tail_costs_itself),
    Rule(6, "reading the same bytes twice gives equal values", _reading_is_repeatable),
    Rule(7, "the repr of a native session stays short", _native_repr_is_short),
    Rule(8, "scan tells records apart, however the bytes arrive", _scan_tells_records_apart),
    Rule(9, "a branch that is not there is a TranscriptError", _no_branch_of_that_name),
    Rule(10, "words in a model's message are never a person's", _a_model_is_no_person),
    Rule(11, "writing is pure and gives the same bytes twice", _writing_is_pure),
    Rule(12, "what was written reads back, and the Loss names what changed", _written_reads_back),
    Rule(13, "any session is written with its Loss, or refused", _any_session_is_written_or_refused),
    Rule(14, "the Loss points into the source and at what was written", _loss_points_at_the_source),
    Rule(15, "what was written has no fault and nothing unknown", _written_is_sound),
    Rule(16, "nobody's words become a person's by writing", _nobody_becomes_a_person),
    Rule(17, "half a character is written and reads back", _broken_characters_are_written),
    Rule(18, "a native crop reads back as the session's crop, and is refused as it is", _native_crop_is_the_crop),
    Rule(19, "what was read of bad bytes can be written, or is refused", _what_was_read_of_bad_bytes_is_written),
    Rule(20, "the Loss names nothing that came through", _loss_is_no_wolf_crier),
)
"""The suite, in the order that finds the simplest cause first."""
