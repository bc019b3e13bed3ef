"""Journals as files: whole sessions in and out, rewinds as branches, damage that costs one event."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from handrail import jsonio
from handrail.errors import StoreError, TranscriptError, UnsafeId
from handrail.harnesses import harness
from handrail.harnesses.handrail.codec import HandrailCodec
from handrail.harnesses.handrail.store import HandrailStore, open_store
from handrail.journal import events as ev
from handrail.journal.fold import fold
from handrail.journal.port import number
from handrail.journal.vocabulary import DRIVER
from handrail.journal.wire import decode_event, encode_event
from handrail.testing.examples import CORRECTED, EXAMPLES, PLAIN
from handrail.testing.strategies import conversations
from handrail.transcripts.model import Common, Message, Meta, Raw, Text, ToolResult, ToolUse, Transcript
from handrail.transcripts.spans import Span

CODEC = HandrailCodec()


def file_of(*bodies: ev.Known) -> bytes:
    return b"".join(encode_event(event) + b"\n" for event in number(bodies, after=0, by=DRIVER))


def data_of(common: Transcript[Common]) -> bytes:
    data = CODEC.render(CODEC.from_common(common))
    assert isinstance(data, bytes)
    return data


@settings(deadline=None)
@given(conversations())
def test_a_conversation_comes_back_whole(common: Transcript[Common]) -> None:
    native, loss = CODEC.write(common)
    assert not loss.items
    back = CODEC.to_common(CODEC.parse(CODEC.render(native)))
    assert back.body == common.body
    assert back.meta.parent == common.meta.parent
    assert back.meta.harness == "handrail"


@pytest.mark.parametrize("common", EXAMPLES, ids=lambda common: common.meta.title)
def test_a_converted_session_is_a_journal_that_can_be_gone_on_with(common: Transcript[Common]) -> None:
    lines = data_of(common).splitlines()
    state = fold(map(decode_event, lines))
    assert state.seq == len(common.body) + 1
    assert (state.run, state.unknown) == (None, ())


def test_every_line_is_canonical() -> None:
    for line in data_of(CORRECTED).splitlines():
        assert jsonio.canonical(jsonio.decode(line)) == line


def test_a_message_without_a_uid_gets_the_session_and_an_ordinal() -> None:
    body: Common = (Message(role="user", content=(Text("a"),)),)
    (message,) = CODEC.to_common(CODEC.from_common(Transcript(Meta(id="s1"), body))).body
    assert (message.uid, message.uids) == ("s1:1", ("s1:1",))


def test_numbers_that_are_none_become_null_and_are_named() -> None:
    call = ToolUse("a", Raw("x", {"n": float("nan")}))
    result = ToolResult("a", [float("inf"), 1])
    body = (Message(role="assistant", content=(call,)), Message(role="user", content=(result,)))
    native, loss = CODEC.write(Transcript(Meta(id="s1"), body))
    assert [(item.what, item.message, item.block) for item in loss.items] == [
        ("tool_use.call", 0, 0),
        ("tool_result.content", 1, 0),
    ]
    blocks = [message.content[0] for message in CODEC.to_common(native).body]
    assert blocks == [ToolUse("a", Raw("x", {"n": None})), ToolResult("a", [None, 1])]


def test_a_rewind_is_a_branch_that_can_be_read_as_a_line() -> None:
    said = [ev.MessageImported(Message(role="user", content=(Text(word),), uid=word)) for word in "abc"]
    native = CODEC.parse(file_of(ev.SessionOpened(Meta(id="s1")), *said[:2], ev.Rewound(2), said[2]))
    (branch,) = CODEC.branches(native)
    assert [message.uid for message in CODEC.to_common(native).body] == ["a", "c"]
    assert [message.uid for message in CODEC.to_common(native, branch.id).body] == ["a", "b"]
    with pytest.raises(TranscriptError):
        CODEC.to_common(native, "a")


def test_a_lost_event_costs_its_message_and_is_named_by_its_bytes() -> None:
    lines = data_of(PLAIN).splitlines(keepends=True)
    broken = lines[2][:40] + b"\n"
    data = b"".join([*lines[:2], broken, *lines[3:]])
    native = CODEC.parse(data)
    assert CODEC.render(native) == data
    assert CODEC.to_common(native).body == (*PLAIN.body[:1], *PLAIN.body[2:])
    (fault,) = CODEC.faults(native)
    assert data[fault.start : fault.end] == broken.rstrip()


def test_a_row_that_is_no_event_and_an_event_of_no_known_kind_are_told_apart() -> None:
    strange = b'{"at":null,"body":{},"by":{"kind":"host"},"seq":3,"type":"dreamt","v":1}\n'
    wrong = b'{"at":null,"body":{"title":7},"by":{"kind":"host"},"seq":4,"type":"session_titled","v":1}\n'
    native = CODEC.parse(file_of(ev.SessionOpened(Meta(id="s1"))) + strange + wrong)
    assert CODEC.unknown(native) == {"dreamt": 1}
    assert [fault.code for fault in CODEC.faults(native)] == ["not_an_event"]


def test_order_is_the_sequence_and_copies_count_once() -> None:
    lines = data_of(PLAIN).splitlines(keepends=True)
    shuffled = b"".join(reversed(lines)) + lines[1]
    assert CODEC.to_common(CODEC.parse(shuffled)).body == PLAIN.body


def test_a_crop_is_a_journal_of_its_own_that_keeps_every_uid() -> None:
    cropped = CODEC.crop(CODEC.from_common(PLAIN), [Span(1, 3)])
    assert CODEC.to_common(cropped).body == PLAIN.body[1:3]
    data = CODEC.render(cropped)
    assert isinstance(data, bytes)
    assert fold(map(decode_event, data.splitlines())).is_open


def test_the_harness_knows_its_own_files_and_no_others() -> None:
    recognises = harness("handrail").recognises
    assert recognises is not None
    assert recognises(data_of(PLAIN)) == 1.0
    assert recognises(b'{"type":"user","message":{"role":"user","content":"x"},"uuid":"1"}\n') == 0.0


def test_the_store_is_the_state_folder_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path))
    assert open_store().root == tmp_path / "sessions"
    assert open_store(tmp_path / "x").root == tmp_path / "x"
    for name in ("HANDRAIL_HOME", "XDG_STATE_HOME", "HOME", "USERPROFILE"):
        monkeypatch.delenv(name, raising=False)
    homeless = open_store()
    assert list(homeless.discover()) == []
    with pytest.raises(StoreError, match="no home folder"):
        homeless.save(CODEC.from_common(PLAIN))


def test_the_store_touches_nothing_outside_its_root(tmp_path: Path) -> None:
    store = HandrailStore(tmp_path / "root")
    ref = store.save(CODEC.from_common(PLAIN))
    outside = HandrailStore(tmp_path / "elsewhere")
    for refused in (outside.load, outside.delete):
        with pytest.raises(StoreError):
            refused(ref)
    with pytest.raises(UnsafeId):
        store.save(CODEC.from_common(Transcript(Meta(id="../x"), ())))
    assert outside.fingerprint(ref) == ""
    assert [found.id for found in store.discover()] == [PLAIN.meta.id]


def test_a_listing_has_the_last_title_and_tells_a_torn_tail(tmp_path: Path) -> None:
    data = file_of(ev.SessionOpened(Meta(id="s1", title="old")), ev.SessionTitled("new"))
    (tmp_path / "s1.jsonl").write_bytes(data + b'{"at":null,"bo')
    (tmp_path / "notes.jsonl").write_bytes(b"once upon a time\n")
    (ref,) = HandrailStore(tmp_path).discover()
    assert (ref.meta.title, ref.is_whole) == ("new", False)


def test_a_listing_goes_by_the_time_of_the_last_event_and_not_by_when_the_file_was_copied(tmp_path: Path) -> None:
    noon = datetime(2026, 5, 4, 12, tzinfo=UTC)
    opened, titled = number([ev.SessionOpened(Meta(id="s1")), ev.SessionTitled("new")], after=0, by=DRIVER)
    late = encode_event(replace(titled, at=noon + timedelta(hours=1)))
    (tmp_path / "s1.jsonl").write_bytes(encode_event(replace(opened, at=noon)) + b"\n" + late + b"\n")
    (ref,) = HandrailStore(tmp_path).discover()
    assert (ref.meta.timestamp, ref.updated_at) == (noon, noon + timedelta(hours=1))
