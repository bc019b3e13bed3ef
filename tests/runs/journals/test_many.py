"""Many questions, clocks that are put back, journals that are closed."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from handrail.journal import events as ev
from handrail.journal.vocabulary import AskKind
from handrail.testing.tape import ADA, Tape, answer

from .conftest import Open


def test_row_88_ten_thousand_open_questions_are_listed_in_order_page_by_page(open_journal: Open) -> None:
    async def story() -> None:
        journal = open_journal()
        tape = Tape(journal)
        await tape.begin()
        names = [f"q{index:05}" for index in range(10_000)]
        for first in range(0, len(names), 2_500):
            await tape.add(
                *(ev.AskOpened(ask=name, kind=AskKind.REVIEW, prompt="?") for name in names[first : first + 2_500])
            )
        pages: list[str] = []
        while page := await journal.asks(after=pages[-1] if pages else None, limit=3_000):
            pages += [row.ask for row in page]
            # What is answered behind the place moves nothing before it.
            if len(pages) == 3_000:
                await journal.post("s1", answer(pages[0]), ADA, "k")
        assert pages == names
        assert (await journal.asks(limit=1))[0].ask == "q00001"

    asyncio.run(story())


def test_questions_stay_in_the_order_they_were_opened_when_the_clock_goes_back(open_journal: Open) -> None:
    async def story() -> list[str]:
        journal = open_journal()
        tapes = [Tape(journal, f"s{index}") for index in range(3)]
        for index, tape in enumerate(tapes):
            await tape.begin()
            tape.now -= timedelta(days=index)
            await tape.ask(f"q{index}")
        await journal.rebuild_board()
        return [row.ask for row in await journal.asks()]

    assert asyncio.run(story()) == ["q0", "q1", "q2"]


def test_a_journal_that_was_closed_opens_again_when_it_is_used(open_journal: Open) -> None:
    async def story() -> int:
        journal = open_journal()
        tape = Tape(journal)
        await tape.begin()
        journal.close()
        await tape.ask("q1")
        return len(await journal.asks())

    assert asyncio.run(story()) == 1
