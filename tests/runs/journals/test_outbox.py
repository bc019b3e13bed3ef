"""What has to be told outside: rows that stand and fall with their event, held under a lease, told at least once."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from handrail.journal import events as ev
from handrail.journal.port import SeqConflict, number
from handrail.journal.vocabulary import DRIVER
from handrail.runs.journals.journal import SqlJournal
from handrail.runs.journals.outbox import News
from handrail.testing.clock import ManualClock
from handrail.testing.tape import Tape, answer

from .conftest import Open


def _told(news: tuple[News, ...]) -> list[tuple[str, str | None]]:
    return [(one.topic, one.ask) for one in news]


def test_each_thing_to_tell_has_a_row_in_the_order_it_happened(open_journal: Open) -> None:
    async def story() -> tuple[News, ...]:
        tape = Tape(open_journal())
        await tape.begin()
        await tape.ask("q1")
        await tape.add(answer("q1"))
        await tape.end()
        return await open_journal().take_news()

    news = asyncio.run(story())
    assert _told(news) == [("ask.opened", "q1"), ("ask.closed", "q1"), ("run.finished", None)]
    assert [(one.session, one.run, one.seq) for one in news] == [("s1", "run of s1", seq) for seq in (3, 4, 5)]
    assert len({one.id for one in news}) == 3


def test_an_append_that_is_refused_tells_nothing(open_journal: Open) -> None:
    async def story() -> tuple[News, ...]:
        tape = Tape(open_journal())
        await tape.begin()
        with pytest.raises(SeqConflict):
            await tape.journal.append("s1", 0, tape.epoch, number([answer("q1")], after=0, by=DRIVER))
        return await open_journal().take_news()

    assert asyncio.run(story()) == ()


def test_what_one_holds_nobody_else_takes_until_the_lease_is_over(open_journal: Open) -> None:
    clock = ManualClock()

    async def story() -> None:
        tape = Tape(open_journal(clock))
        await tape.begin()
        await tape.ask("q1")
        (first,) = await open_journal(clock).take_news(lease=timedelta(seconds=30))
        assert await open_journal(clock).take_news() == ()
        clock.advance(31.0)
        # Who took it died; somebody else tells it, under the same id.
        (second,) = await open_journal(clock).take_news()
        assert (second.id, second.attempt) == (first.id, 2)
        assert not await open_journal(clock).told(first)
        assert await open_journal(clock).told(second)
        clock.advance(3600.0)
        assert await open_journal(clock).take_news() == ()

    asyncio.run(story())


def test_what_could_not_be_told_is_told_again_when_it_is_time(open_journal: Open) -> None:
    clock = ManualClock()

    async def story() -> None:
        journal = open_journal(clock)
        tape = Tape(journal)
        await tape.begin()
        await tape.ask("q1")
        (news,) = await journal.take_news()
        assert await journal.tell_again(news, clock.now() + timedelta(seconds=20))
        assert await journal.take_news() == ()
        clock.advance(20.0)
        (again,) = await journal.take_news()
        assert again.attempt == 2

    asyncio.run(story())


def test_a_clock_that_goes_back_holds_nothing_up(open_journal: Open) -> None:
    clock = ManualClock()

    async def story() -> None:
        journal = open_journal(clock)
        tape = Tape(journal)
        await tape.begin()
        await tape.ask("q1")
        await journal.take_news()
        clock.set(clock.now() - timedelta(days=1))
        assert _told(await journal.take_news()) == [("ask.opened", "q1")]

    asyncio.run(story())


def test_a_question_that_falls_due_is_told_at_its_time_and_not_once_it_is_closed(open_journal: Open) -> None:
    clock = ManualClock()

    async def take(journal: SqlJournal) -> list[tuple[str, str | None]]:
        news = await journal.take_news()
        for one in news:
            await journal.told(one)
        return _told(news)

    async def story() -> None:
        journal = open_journal(clock)
        tape = Tape(journal)
        await tape.begin()
        hour = timedelta(hours=1)
        for name in ("q1", "q2"):
            await tape.ask(name, remind_at=clock.now() + hour, deadline=clock.now() + 2 * hour)
        assert await take(journal) == [("ask.opened", "q1"), ("ask.opened", "q2")]
        await tape.add(answer("q2"))
        assert await take(journal) == [("ask.closed", "q2")]
        clock.advance(3600.0)
        assert await take(open_journal(clock)) == [("ask.due", "q1")]
        clock.advance(3600.0)
        assert await take(open_journal(clock)) == [("ask.due", "q1")]

    asyncio.run(story())


def test_several_who_tell_share_the_rows(open_journal: Open) -> None:
    async def story() -> None:
        tape = Tape(open_journal())
        await tape.begin()
        for index in range(40):
            await tape.ask(f"q{index}")
        taken = await asyncio.gather(*(open_journal().take_news(limit=10) for _ in range(6)))
        taken += [await open_journal().take_news(limit=40)]
        numbers = [news.number for one in taken for news in one]
        assert sorted(numbers) == sorted(set(numbers)), "a row was taken twice"
        assert len(numbers) == 40

    asyncio.run(story())


def test_what_was_told_can_be_forgotten(open_journal: Open) -> None:
    clock = ManualClock()

    async def story() -> tuple[int, int]:
        journal = open_journal(clock)
        tape = Tape(journal)
        await tape.begin()
        await tape.ask("q1")
        await tape.add(ev.AskClosed(ask="q1", outcome=answer("q1").outcome))
        (opened, _) = await journal.take_news()
        await journal.told(opened)
        clock.advance(60.0)
        return await journal.forget_told(clock.now()), await journal.forget_told(clock.now())

    assert asyncio.run(story()) == (1, 0)
