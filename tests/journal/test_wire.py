"""The stored form: names that are for ever, one spelling, and what a reader makes of what it does not know."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import jsonio
from handrail.journal import events as ev
from handrail.journal.fold import SESSION_HANDLERS
from handrail.journal.fold_calls import CALL_HANDLERS
from handrail.journal.fold_runs import RUN_HANDLERS
from handrail.journal.fold_stages import STAGE_HANDLERS
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind, EndReason, Limits
from handrail.journal.wire import KIND_OF, NotAnEvent, decode_event, digest, encode_event
from handrail.testing.strategies import json_values

AT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)

STORED_NAMES = """
adjusted ask_closed ask_opened ask_reminded ask_voted blueprint_frozen bound_reached boundary_decided cancel_requested
child_ended child_spawned compacted compaction_failed document_edited driver_took_over edge_asked entry_refused
fan_out_planned hook_ran injected input_delivered input_received input_returned interrupted message_imported
model_failed model_replied model_requested pause_requested point_routed prompt_given region_summed region_written
resume_requested rewound run_ended run_started session_opened session_titled stage_entered stage_left stage_repeated
stop_requested taint_raised tool_finished tool_outcome_unknown tool_requested tool_rewritten tool_started
"""


def test_the_stored_names_never_change() -> None:
    assert STORED_NAMES.split() == sorted(KIND_OF)


def test_every_kind_is_folded() -> None:
    handled = {*SESSION_HANDLERS, *RUN_HANDLERS, *CALL_HANDLERS, *STAGE_HANDLERS, ev.AskClosed, ev.AskVoted}
    assert handled == set(ev.KINDS)


def test_an_event_has_one_spelling() -> None:
    event = ev.Event(seq=7, by=Actor(ActorKind.TOOL, "Bash"), at=AT, body=ev.ToolFinished(call="a", content="é\n"))
    expected = (
        '{"at":"2026-01-05T09:00:00Z","body":{"call":"a","content":"é\\n"},'
        '"by":{"kind":"tool","name":"Bash"},"seq":7,"type":"tool_finished","v":1}'
    )
    assert encode_event(event) == expected.encode()
    assert digest(event) == hashlib.sha256(expected.encode() + b"\n").hexdigest()


def test_whole_numbers_where_floats_belong_have_the_floats_spelling() -> None:
    event = ev.Event(seq=1, by=DRIVER, body=ev.RunStarted(run="r", limits=Limits(max_seconds=9)))
    raw = encode_event(event)
    assert b'"max_seconds":9.0' in raw
    assert encode_event(decode_event(raw)) == raw


@given(json_values, st.integers(1, 1 << 60), st.integers(1, 99))
def test_an_unknown_kind_survives_byte_for_byte(fields: Any, seq: int, version: int) -> None:
    row = {"at": None, "body": fields, "by": {"kind": "host"}, "seq": seq, "type": "dreamt", "v": version}
    raw = jsonio.canonical(row)
    event = decode_event(raw)
    assert event.body == ev.Unknown(type="dreamt", v=version, fields=fields)
    assert encode_event(event) == raw


def test_a_known_kind_of_a_later_version_is_unknown() -> None:
    raw = encode_event(ev.Event(seq=1, by=DRIVER, body=ev.SessionTitled("x"))).replace(b'"v":1', b'"v":2')
    assert decode_event(raw).body == ev.Unknown(type="session_titled", v=2, fields={"title": "x"})


def test_a_field_that_a_later_release_added_is_passed_over() -> None:
    raw = encode_event(ev.Event(seq=1, by=DRIVER, body=ev.SessionTitled("x"))).replace(b'"x"', b'"x","zeal":3')
    assert decode_event(raw).body == ev.SessionTitled("x")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"{}",
        b'{"seq":1}',
        b'{"type":"run_ended","seq":0,"by":{"kind":"host"}}',
        b'{"type":"run_ended","seq":1,"by":{"kind":"god"}}',
        b'{"type":"run_ended","seq":1,"v":1,"by":{"kind":"host"},"body":{"run":5}}',
    ],
)
def test_what_is_no_event_is_refused(raw: bytes) -> None:
    with pytest.raises(NotAnEvent):
        decode_event(raw)


def test_a_number_that_is_none_has_no_bytes() -> None:
    with pytest.raises(ValueError, match="no canonical spelling"):
        encode_event(ev.Event(seq=1, by=DRIVER, body=ev.ToolFinished(call="a", content=[float("nan")])))


@given(st.sampled_from(EndReason), st.none() | st.text(max_size=5), json_values)
def test_every_end_reads_back(reason: EndReason, detail: str | None, output: Any) -> None:
    event = ev.Event(seq=1, by=DRIVER, body=ev.RunEnded(run="r", reason=reason, detail=detail, output=output))
    assert decode_event(encode_event(event)) == event
    assert msgspec.json.decode(encode_event(event))["body"]["reason"] == reason.value
