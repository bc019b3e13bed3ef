"""The canonical model as data: JSON both ways, equality, copies, repr, and a body of any kind."""

from __future__ import annotations

import copy
import json
import pickle
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given

from handrail.errors import MalformedSession
from handrail.testing.examples import EXAMPLES, PLAIN
from handrail.testing.strategies import sessions
from handrail.transcripts.model import (
    Author,
    Common,
    Message,
    Meta,
    Taint,
    Text,
    Transcript,
    from_json,
    to_json,
)


@given(sessions())
def test_json_goes_both_ways(session: Transcript[Common]) -> None:
    assert from_json(to_json(session)) == session
    assert from_json(to_json(session).decode()) == session


@pytest.mark.parametrize("session", EXAMPLES)
def test_defaults_are_left_out_of_json(session: Transcript[Common]) -> None:
    assert b"null" not in to_json(session).replace(b'["variety",null]', b"")
    assert json.loads(to_json(Transcript(Meta(), ()))) == {"meta": {}, "body": []}


def test_half_a_character_goes_both_ways() -> None:
    body: Common = (Message(role="user", content=(Text("tag \udf30"),)),)
    session = Transcript(Meta(title="cut \ud83c"), body)
    data = to_json(session)
    data.decode()
    assert from_json(data) == session


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'{"meta":{}}',
        b'{"meta":{},"body":[{"role":"system"}]}',
        b'{"meta":{},"body":[{"role":"user","content":[{"type":"hologram"}]}]}',
        b'{"meta":{},"body":[{"role":"user","content":[{"type":"\\ud83c"}]}]}',
        b'{"meta":{},"body":[{"role":"user","uid":NaN}]}',
        b'{"meta":{"timestamp":"yesterday"},"body":[]}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_session_is_malformed(data: bytes) -> None:
    with pytest.raises(MalformedSession):
        from_json(data)


def test_fields_of_newer_writers_are_passed_over() -> None:
    data = b'{"meta":{"id":"s","mood":"fine"},"body":[{"role":"user","colour":"red"}],"more":1}'
    assert from_json(data) == Transcript(Meta(id="s"), (Message(role="user"),))


@pytest.mark.parametrize("session", EXAMPLES)
def test_a_copy_is_equal_and_so_is_what_a_process_sends(session: Transcript[Common]) -> None:
    for twin in (copy.copy(session), copy.deepcopy(session), pickle.loads(pickle.dumps(session))):
        assert twin == session
        assert repr(twin) == repr(session)


def test_sessions_differ_when_a_word_does() -> None:
    other = msgspec.structs.replace(PLAIN.body[0], content=(Text("How many?", Author.PERSON),))
    assert Transcript(PLAIN.meta, (other, *PLAIN.body[1:])) != PLAIN
    assert Transcript(msgspec.structs.replace(PLAIN.meta, title="x"), PLAIN.body) != PLAIN


def test_repr_shows_the_class_and_its_fields() -> None:
    shown = repr(Transcript(Meta(id="s1"), (Message(role="user", content=(Text("hi", Author.PERSON),)),)))
    assert shown.startswith("Transcript(meta=Meta(id='s1'")
    assert "Text(text='hi', author=<Author.PERSON: 'person'>" in shown


def test_nothing_can_be_changed_in_place() -> None:
    for value, field in (
        (PLAIN, "meta"),
        (PLAIN.meta, "id"),
        (PLAIN.body[0], "uid"),
        (PLAIN.body[0].content[0], "text"),
    ):
        with pytest.raises(AttributeError):
            setattr(value, field, "other")


def test_a_transcript_holds_any_kind_of_body() -> None:
    native = Transcript(Meta(id="s"), ["row", "row"])
    assert native.body == ["row", "row"]
    assert native == Transcript(Meta(id="s"), ["row", "row"])
    assert native != Transcript(Meta(id="s"), ["row"])


def test_instants_keep_their_zone() -> None:
    session = from_json(b'{"meta":{"timestamp":"2026-01-05T10:00:00+01:00"},"body":[]}')
    assert session.meta.timestamp == datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def test_taint_only_grows() -> None:
    private, untrusted = Taint(private=True), Taint(untrusted=True)
    assert private | untrusted == Taint(private=True, untrusted=True) == untrusted | private
    assert private | Taint() == private


def test_text_is_nobodys_unless_it_says_so() -> None:
    assert Text("hello").author is Author.UNKNOWN
