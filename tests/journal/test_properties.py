"""Laws of the journal, over random schedules of everything that can happen in a run."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.journal import events as ev
from handrail.journal.fold import fold
from handrail.journal.receipts import receipts
from handrail.journal.transcript import project
from handrail.journal.vocabulary import Limits
from handrail.journal.wire import decode_event, encode_event
from handrail.transcripts.model import ToolResult, ToolUse

from .driver import DiceDriver, Tape, begin

STEPS = 2_000

schedules = st.integers(0, 1 << 40)


def _run(seed: int) -> Tape:
    dice = Random(seed)
    limits = Limits(
        max_requests=60,
        max_rounds=dice.choice([None, None, 1, 6]),
        max_tool_calls=dice.choice([None, None, None, 1, 8]),
        max_seconds=dice.choice([None, None, 9]),
    )
    tape = begin(
        limits=limits,
        strategies=dice.choice([(), ("judge",)]),
        steers=dice.choice(["one", "all"]),
        follow_ups=dice.choice(["one", "all"]),
        compact_at=dice.choice([None, 10]),
        blueprint=dice.choice([None, "digest"]),
    )
    assert DiceDriver(tape, dice).drive(STEPS), "the run does not end"
    return tape


@settings(deadline=None, max_examples=150)
@given(schedules)
def test_every_schedule_ends(seed: int) -> None:
    tape = _run(seed)
    assert isinstance(tape.events[-1].body, ev.RunEnded)


@settings(deadline=None, max_examples=60)
@given(schedules, st.data())
def test_folding_on_from_any_prefix_is_folding_the_whole(seed: int, data: st.DataObject) -> None:
    events = _run(seed).events
    at = data.draw(st.integers(0, len(events)))
    assert fold(events) == fold(events[at:], fold(events[:at]))


@settings(deadline=None, max_examples=60)
@given(schedules)
def test_bytes_are_stable(seed: int) -> None:
    for event in _run(seed).events:
        raw = encode_event(event)
        assert decode_event(raw) == event
        assert encode_event(decode_event(raw)) == raw


@settings(deadline=None, max_examples=80)
@given(schedules, st.data())
def test_a_run_taken_over_at_any_point_ends_too(seed: int, data: st.DataObject) -> None:
    whole = _run(seed).events
    at = data.draw(st.integers(3, len(whole)))
    tape = Tape(list(whole[:at]), fold(whole[:at]))
    tape.add(ev.DriverTookOver(tape.state.epoch + 1))
    driver = DiceDriver(tape, Random(seed + 1))
    driver.calls = driver.sent = 10_000
    assert driver.drive(STEPS)


@settings(deadline=None, max_examples=150)
@given(schedules)
def test_every_call_has_exactly_one_result_when_a_run_is_over(seed: int) -> None:
    session = project(_run(seed).events)
    blocks = [block for message in session.body for block in message.content]
    asked = [block.id for block in blocks if isinstance(block, ToolUse)]
    answered = [block.tool_use_id for block in blocks if isinstance(block, ToolResult)]
    assert sorted(asked) == sorted(answered)
    assert len(session.tool_pairs()) == len(asked)


@settings(deadline=None, max_examples=150)
@given(schedules)
def test_every_input_is_delivered_or_returned_exactly_once_and_steers_keep_their_order(seed: int) -> None:
    events = _run(seed).events
    ends = [name for event in events for name in _ended_inputs(event.body)]
    received = [event.body.input for event in events if isinstance(event.body, ev.InputReceived)]
    assert sorted(ends) == sorted(received)
    assert all(receipt.status != "queued" for receipt in receipts(events).values())
    for via in ("steer", "follow_up"):
        of_kind = [e.body.input for e in events if isinstance(e.body, ev.InputReceived) and e.body.via == via]
        assert [name for name in ends if name in of_kind] == of_kind


def _ended_inputs(body: ev.Body) -> tuple[str, ...]:
    if isinstance(body, ev.InputDelivered):
        return body.inputs
    return (body.input,) if isinstance(body, ev.InputReturned) else ()


@settings(deadline=None, max_examples=60)
@given(schedules)
def test_taint_never_shrinks_along_a_transcript(seed: int) -> None:
    body = project(_run(seed).events).body
    for earlier, later in pairwise(body):
        assert earlier.taint is not None
        assert later.taint is not None
        assert earlier.taint | later.taint == later.taint
