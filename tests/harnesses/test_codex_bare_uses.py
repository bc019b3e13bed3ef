"""Rollouts from before the envelope crop, convert, grow, are listed and recognised like those of today."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import handrail
from handrail.harnesses import harness_names
from handrail.harnesses.codex import HARNESS, open_store
from handrail.harnesses.codex.recognise import recognises
from handrail.harnesses.codex.store import HEAD_BYTES
from handrail.testing.differences import differences, unaccounted
from handrail.transcripts.model import Text
from handrail.transcripts.spans import CropError, Span
from tests.harnesses import rollouts
from tests.harnesses.bare_rollouts import ID, OLDER, ROWS, SESSION, STATE, environment, header, line, lines, said, user

CODEC = HARNESS.codec


# Crop -------------------------------------------------------------------------------------------------------


def cropped(data: bytes, *spans: Span) -> bytes:
    out = CODEC.render(CODEC.crop(CODEC.parse(data), spans))
    assert isinstance(out, bytes)
    return out


def test_all_of_a_session_is_the_session() -> None:
    assert cropped(SESSION, Span(0, 14)) == SESSION
    assert cropped(OLDER, Span(0, 4)) == OLDER


@pytest.mark.parametrize("data", [SESSION, OLDER, SESSION.split(b"\n", 1)[1]])
def test_every_crop_has_the_messages_it_was_asked_for_and_the_session_they_are_of(data: bytes) -> None:
    native = CODEC.parse(data)
    session = CODEC.to_common(native)
    count = len(session.body)
    for start in range(count):
        for end in range(start + 1, count + 1):
            spans = [Span(start, end)] if end < count else [Span(0, 1), Span(start, end)]
            try:
                session.crop_to(spans)
            except CropError:
                continue
            again = CODEC.to_common(CODEC.parse(cropped(data, *spans)))
            wanted = sorted({index for span in spans for index in range(span.start, span.end)})
            assert [message.content for message in again.body] == [session.body[index].content for index in wanted]
            assert again.meta == native.meta if native.meta.id else True


def test_a_crop_keeps_rows_as_they_are_and_the_folder_in_the_head() -> None:
    kept = [STATE, *ROWS[5:6], STATE, *ROWS[15:16]]
    out = cropped(SESSION, Span(1, 2), Span(6, 7))
    assert json.loads(out.splitlines()[0]) == {"cwd": "/srv/shop", **ROWS[0]}
    assert out.split(b"\n", 1)[1] == lines(*kept)
    assert cropped(SESSION, Span(0, 2)).splitlines()[0] == SESSION.splitlines()[0]


def test_messages_that_a_crop_brings_together_stay_apart() -> None:
    data = lines(header(), said("one"), user("go"), said("two"))
    out = cropped(data, Span(0, 1), Span(2, 3))
    assert out == lines(header(), said("one"), STATE, said("two"))
    assert rollouts.outline(CODEC.to_common(CODEC.parse(out))) == ["assistant:text", "assistant:text"]


# Conversion, detection, instructions ------------------------------------------------------------------------


@pytest.mark.parametrize("target", harness_names())
@pytest.mark.parametrize("data", [SESSION, OLDER])
def test_a_conversion_names_all_it_loses(target: str, data: bytes) -> None:
    session = CODEC.to_common(CODEC.parse(data))
    native, loss = handrail.convert(session, to=target)
    codec = handrail.harness(target).codec
    back = codec.to_common(codec.parse(codec.render(native)))
    assert unaccounted(loss, differences(session, back, loss)) == ()
    words = [block.text for message in back.body for block in message.content if type(block) is Text]
    assert "There is still no broom." in words or data == OLDER


def test_it_is_told_to_be_codexs() -> None:
    assert [recognises(data) for data in (SESSION, OLDER, lines(header()))] == [1.0] * 3
    headless = SESSION.split(b"\n", 1)[1]
    assert recognises(headless) == 0.8
    assert recognises(line({"id": "1", "timestamp": "2025-08-27"})) == 0
    assert recognises(line({"type": "message", "id": "1", "message": {"role": "user"}})) == 0


def test_the_head_tells_the_instructions() -> None:
    assert HARNESS.instructions is not None
    assert HARNESS.instructions(CODEC.parse(SESSION)) == "Be brief."
    assert HARNESS.instructions(CODEC.parse(OLDER)) is None


# Growth and streams ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [SESSION, OLDER, lines(user("go"), STATE), b"torn\n\n" + OLDER])
def test_a_session_that_grows_is_read_as_if_at_once(data: bytes) -> None:
    """Whichever piece the rest is appended to, even where it does not yet tell what it is a piece of."""
    assert HARNESS.extend is not None
    rows = data.splitlines(keepends=True)
    for cut in range(len(rows) + 1):
        native = HARNESS.extend(CODEC.parse(b"".join(rows[:cut])), b"".join(rows[cut:]))
        whole = CODEC.parse(data)
        assert (native, native.meta, CODEC.to_common(native)) == (whole, whole.meta, CODEC.to_common(whole))
        assert CODEC.faults(native) == CODEC.faults(whole)


def test_what_is_appended_is_read_as_its_file_begins() -> None:
    assert HARNESS.extend is not None
    today = rollouts.lines(rollouts.meta(), *rollouts.typed("go"))
    on = rollouts.lines(*rollouts.typed("on"))
    for first, more in ((today, lines(user("x"))), (SESSION, on), (lines(STATE), lines({"payload": {}}) + on)):
        native = HARNESS.extend(CODEC.parse(first), more)
        assert CODEC.to_common(native) == CODEC.to_common(CODEC.parse(first + more))


@pytest.mark.parametrize("size", [1, 7, 60, 1 << 16])
def test_a_stream_gives_the_same_records_however_it_is_cut(size: int) -> None:
    data = SESSION[:-1] + line(user("glued")) + line(said("torn"))[:30]
    records = list(CODEC.scan(data[at : at + size] for at in range(0, len(data), size)))
    assert [data[record.start : record.end] == record.raw for record in records] == [True] * len(records)
    assert [record.kind for record in records[:4]] == ["", "", "message", "message"]
    assert [record.fault for record in records if record.fault] == ["glued", "not_json"]


# The store --------------------------------------------------------------------------------------------------


def put(root: Path, name: str, data: bytes) -> None:
    path = root / "2025" / "08" / "27" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_it_is_listed_from_its_head(tmp_path: Path) -> None:
    middle = b"".join(lines(user("x" * 500), STATE) for _ in range(2000))
    put(tmp_path, f"rollout-2025-08-27T16-17-00-{ID}.jsonl", SESSION + middle + lines(said("end")))
    [ref] = open_store(tmp_path).discover()
    assert (ref.id, ref.meta.cwd, ref.meta.git_branch, ref.is_whole) == (ID, "/srv/shop", "main", True)
    assert ref.meta.timestamp == ref.updated_at
    assert len(CODEC.to_common(open_store(tmp_path).load(ref)).body) == 2015


def test_a_folder_that_stands_behind_long_instructions_is_found(tmp_path: Path) -> None:
    told = "y" * (HEAD_BYTES // 2 + 1000)
    notes = (user(f"<user_instructions>\n\n{told}\n\n</user_instructions>"), environment())
    data = lines(header(instructions=told), STATE, *notes, STATE, *[user("x" * 1000)] * 400)
    put(tmp_path, f"rollout-2025-08-27T16-17-00-{ID}.jsonl", data)
    assert [ref.meta.cwd for ref in open_store(tmp_path).discover()] == ["/srv/shop"]


def test_one_that_lost_its_head_is_listed_by_the_id_in_its_name(tmp_path: Path) -> None:
    put(tmp_path, f"rollout-2025-08-27T16-17-00-{ID}.jsonl", SESSION.split(b"\n", 1)[1])
    assert [(ref.id, ref.is_whole) for ref in open_store(tmp_path).discover()] == [(ID, False)]


def test_the_first_sessions_of_all_lie_flat_and_are_named_by_their_day(tmp_path: Path) -> None:
    (tmp_path / f"rollout-2025-05-08-{ID}.jsonl").write_bytes(OLDER)
    (tmp_path / f"rollout-2025-04-17-{ID}.json").write_text(json.dumps({"session": {"id": ID}, "items": []}))
    assert [ref.id for ref in open_store(tmp_path).discover()] == [ID]
