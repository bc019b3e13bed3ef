"""The Journal port, on the journal in memory: one writer at a time, an inbox that is taken once and in order."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from handrail.journal import events as ev
from handrail.journal.fold import apply, fold
from handrail.journal.memory import MemoryJournal
from handrail.journal.port import Journal, SeqConflict, StaleEpoch, from_entry, number
from handrail.journal.vocabulary import DRIVER
from handrail.testing.clock import ManualClock
from handrail.transcripts.model import Meta

from .driver import PERSON, begin, steer

Value = TypeVar("Value")


def run(story: Coroutine[Any, Any, Value]) -> Value:
    return asyncio.run(story)


def test_what_was_appended_is_read_from_anywhere() -> None:
    async def story() -> None:
        journal: Journal = MemoryJournal()
        events = begin().events
        epoch = await journal.take_over("s1")
        await journal.append("s1", 0, epoch, events[:1])
        await journal.append("s1", 1, epoch, events[1:])
        assert await journal.read("s1") == tuple(events)
        assert await journal.read("s1", 2) == tuple(events[2:])
        assert await journal.read("nobody") == ()
        assert await journal.sessions() == ("s1",)

    run(story())


def test_an_append_at_the_wrong_place_adds_nothing() -> None:
    async def story() -> None:
        journal = MemoryJournal()
        epoch = await journal.take_over("s1")
        await journal.append("s1", 0, epoch, begin().events)
        with pytest.raises(SeqConflict):
            await journal.append("s1", 0, epoch, begin().events)
        with pytest.raises(ValueError, match="event 9 stands where event 4 belongs"):
            await journal.append("s1", 3, epoch, [ev.Event(seq=9, by=DRIVER, body=ev.SessionTitled("x"))])
        assert len(await journal.read("s1")) == 3

    run(story())


def test_a_driver_that_was_taken_over_cannot_write() -> None:
    async def story() -> None:
        journal = MemoryJournal()
        frozen = await journal.take_over("s1")
        await journal.append("s1", 0, frozen, begin().events)
        awake = await journal.take_over("s1")
        title = number([ev.SessionTitled("x")], after=3, by=DRIVER)
        with pytest.raises(StaleEpoch):
            await journal.append("s1", 3, frozen, title)
        await journal.append("s1", 3, awake, title)
        assert len(await journal.read("s1")) == 4

    run(story())


def test_the_same_key_is_posted_once() -> None:
    async def story() -> None:
        journal = MemoryJournal(ManualClock())
        first = await journal.post("s1", steer("i1"), PERSON, "k1")
        again = await journal.post("s1", steer("another"), PERSON, "k1")
        second = await journal.post("s1", steer("i2"), PERSON, "k2")
        assert (first, first.number, second.number) == (again, 1, 2)
        assert await journal.inbox("s1") == (first, second)
        assert await journal.inbox("s1", 1) == (second,)

    run(story())


def test_entries_are_journalled_once_and_in_order_whatever_crashes_in_between() -> None:
    async def story() -> None:
        journal = MemoryJournal(ManualClock())
        epoch = await journal.take_over("s1")
        tape = begin()
        await journal.append("s1", 0, epoch, tape.events)
        for name in ("i1", "i2", "i3"):
            await journal.post("s1", steer(name), PERSON, name)
        state = tape.state
        for _ in range(2):
            for entry in (await journal.inbox("s1", state.inbox))[:2]:
                event = from_entry(entry, after=state.seq)
                await journal.append("s1", state.seq, epoch, [event])
                state = apply(state, event)
            state = fold(await journal.read("s1"))
        assert state.run is not None
        assert [one.input for one in state.run.queue] == ["i1", "i2", "i3"]
        assert await journal.inbox("s1", state.inbox) == ()

    run(story())


def test_two_writers_at_once_leave_one_line_of_events() -> None:
    async def write(journal: MemoryJournal, epoch: int, name: str) -> bool:
        at = len(await journal.read("s1"))
        await asyncio.sleep(0)
        try:
            await journal.append("s1", at, epoch, number([ev.SessionTitled(name)], after=at, by=DRIVER))
        except SeqConflict:
            return False
        return True

    async def story() -> None:
        journal = MemoryJournal()
        epoch = await journal.take_over("s1")
        await journal.append("s1", 0, epoch, number([ev.SessionOpened(Meta(id="s1"))], after=0, by=DRIVER))
        won = await asyncio.gather(*(write(journal, epoch, str(index)) for index in range(5)))
        assert sum(won) == 1
        assert len(await journal.read("s1")) == 2

    run(story())
