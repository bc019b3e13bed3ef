"""The contract of a journal's board: what it lists is what its events and inboxes say, in order, page by page."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from handrail.journal import events as ev
from handrail.journal.board import (
    AmbiguousAsk,
    AmbiguousRun,
    AskNotFound,
    AskRow,
    RunNotFound,
)
from handrail.journal.board_rows import rows_of
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind, AskKind, AskOutcome, EndReason
from handrail.testing.contracts.journal import JournalCase
from handrail.testing.contracts.rules import Rule
from handrail.testing.tape import ADA, Tape, answer
from handrail.transcripts.model import Meta


def _do(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(story)


def _shows_a_question_from_its_opening_to_its_end(case: JournalCase) -> None:
    async def story() -> None:
        journal = case.open()
        tape = Tape(journal, "s1")
        await tape.begin()
        await tape.ask("q1", key="k")
        (opened,) = await case.open().asks()
        assert (opened.ask, opened.session, opened.root, opened.key) == ("q1", "s1", "s1", "k")
        assert (opened.status, opened.seq, opened.opened_at, opened.closed) == ("open", 3, tape.now, None)
        entry = await case.open().post("s1", answer("q1"), ADA, "mine")
        taken = await case.open().ask("q1")
        assert (taken.status, taken.closed, taken.closed_by) == ("taken", answer("q1"), ADA)
        assert (taken.entry, taken.closed_at) == (entry.number, entry.at)
        await tape.take_inbox()
        closed = await case.open().ask("q1")
        assert (closed.status, closed.closed, closed.closed_by) == ("closed", answer("q1"), ADA)
        assert await journal.asks() == ()
        assert await journal.asks(is_open=False) == await journal.asks(is_open=None) == (closed,)

    _do(story())


def _shows_what_a_driver_closed_and_what_it_refused(case: JournalCase) -> None:
    async def story() -> None:
        tape = Tape(case.open(), "s1")
        await tape.begin()
        await tape.ask("q1")
        await tape.ask("q2")
        await tape.add(ev.AskClosed(ask="q1", outcome=AskOutcome.TIMED_OUT))
        row = await tape.journal.ask("q1")
        assert (row.status, row.closed_by, row.entry) == ("closed", DRIVER, None)
        entry = await tape.journal.post("s1", answer("q2"), ADA, "k")
        await tape.add(ev.EntryRefused("not so"), by=ADA, inbox=entry.number)
        row = await case.open().ask("q2")
        assert (row.status, row.closed, row.closed_by, row.entry) == ("open", None, None, None)

    _do(story())


def _shows_each_vote_once(case: JournalCase) -> None:
    async def story() -> None:
        tape = Tape(case.open(), "s1")
        await tape.begin()
        await tape.ask("q1", quorum=2)
        for name in ("Ada", "Bo"):
            voter = Actor(ActorKind.PERSON, name)
            await tape.journal.post("s1", ev.AskVoted(ask="q1", choice="yes"), voter, name)
            await tape.take_inbox()
            row = await case.open().ask("q1")
            assert row.status == "open"
        assert [(vote.by.name, vote.choice, vote.entry) for vote in row.votes] == [("Ada", "yes", 1), ("Bo", "yes", 2)]
        await tape.journal.post("s1", ev.AskVoted(ask="q1", choice="no"), ADA, "again")
        assert len((await case.open().ask("q1")).votes) == 3
        await tape.add(ev.EntryRefused("voted already"), by=ADA, inbox=3)
        assert len((await case.open().ask("q1")).votes) == 2

    _do(story())


def _lists_in_order_page_by_page(case: JournalCase) -> None:
    async def story() -> None:
        journal = case.open()
        tapes = [Tape(journal, name) for name in ("s1", "s2", "s3")]
        for tape in tapes:
            await tape.begin()
        names = [f"q{index:02}" for index in range(30)]
        for index, name in enumerate(names):
            tape = tapes[index % 3]
            tape.now = max(one.now for one in tapes)
            await tape.ask(name, AskKind.REVIEW if index % 2 else AskKind.QUESTION)
        assert _names(await journal.asks(limit=100)) == names
        pages: list[str] = []
        while page := await case.open().asks(after=pages[-1] if pages else None, limit=7):
            pages += _names(page)
        assert pages == names
        # A page goes on from its place, whatever was answered or opened in between.
        await tapes[0].add(answer("q09"))
        assert _names(await journal.asks(after="q09", limit=2)) == ["q10", "q11"]
        assert _names(await journal.asks(session="s2", limit=2)) == ["q01", "q04"]
        assert _names(await journal.asks(kind=AskKind.REVIEW, limit=2)) == ["q01", "q03"]
        assert _names(await journal.asks(is_open=False)) == ["q09"]
        await _raises(AskNotFound, journal.asks(after="nothing"))

    _do(story())


def _shows_the_questions_of_a_tree_at_its_root(case: JournalCase) -> None:
    async def story() -> None:
        journal = case.open()
        await Tape(journal, "top").begin()
        child, grandchild, stranger = (Tape(journal, name) for name in ("child", "grandchild", "stranger"))
        await child.begin("top")
        await grandchild.begin("child")
        await stranger.begin()
        for tape in (stranger, grandchild, child):
            await tape.ask(f"of {tape.session}")
        assert set(_names(await journal.asks(root="top"))) == {"of grandchild", "of child"}
        assert (await grandchild.row()).root == "top"
        assert (await grandchild.row()).parent == "child"

    _do(story())


def _finds_by_the_beginning_of_an_id(case: JournalCase) -> None:
    async def story() -> None:
        journal = case.open()
        for session in ("abc", "abd", "xyz", "x"):
            tape = Tape(journal, session)
            await tape.begin()
            await tape.ask(f"{session}-ask")
        assert (await journal.ask("xyz-")).ask == "xyz-ask"
        assert (await journal.run("xy")).session == "xyz"
        assert (await journal.run("x")).session == "x"
        await _raises(AmbiguousAsk, journal.ask("ab"))
        await _raises(AmbiguousRun, journal.run("ab"))
        for name in ("q", "", "%", "ABC", "a\0", "\ud800"):
            await _raises(AskNotFound, journal.ask(name))
            await _raises(AskNotFound, journal.asks(after=name))
            await _raises(RunNotFound, journal.run(name))
            await _raises(RunNotFound, journal.runs(after=name))

    _do(story())


def _says_how_a_run_stands(case: JournalCase) -> None:
    async def story() -> None:
        tape = Tape(case.open(), "s1")
        statuses: list[str] = []

        async def add(*bodies: ev.Known) -> None:
            await tape.add(*bodies)
            statuses.append((await tape.row()).status)

        await tape.begin(model="m")
        row = await tape.row()
        assert (row.status, row.title, row.cwd, row.model, row.started_at) == ("running", "Tidy", "/srv", "m", tape.now)
        await add(ev.AskOpened(ask="q1", kind=AskKind.QUESTION, prompt="?"))
        assert (await tape.row()).waits_for == ("q1",)
        await add(ev.PauseRequested("lunch"))
        await add(answer("q1"))
        await add(ev.ResumeRequested())
        await add(ev.StageEntered(stage="plan"))
        assert (await tape.row()).stage == "plan"
        await add(ev.RunEnded(run="run of s1", reason=EndReason.ANSWERED))
        assert statuses == ["waiting", "paused", "paused", "running", "running", "ended"]
        row = await tape.row()
        assert (row.reason, row.ended_at, row.progress_at) == (EndReason.ANSWERED, tape.now, tape.now)

    _do(story())


def _an_answer_after_the_end_leaves_the_run_ended(case: JournalCase) -> None:
    async def story() -> None:
        tape = Tape(case.open(), "s1")
        await tape.begin()
        await tape.ask("q1", AskKind.PAUSE)
        await tape.end(EndReason.WAITING)
        assert (await tape.row()).status == "waiting"
        await tape.add(answer("q1"))
        assert (await tape.row()).status == "ended"

    _do(story())


def _lists_runs_newest_first(case: JournalCase) -> None:
    async def story() -> None:
        journal = case.open()
        names = [f"s{index}" for index in range(9)]
        for index, name in enumerate(names):
            tape = Tape(journal, name)
            await tape.begin()
            if index % 3 == 0:
                await tape.ask(f"q{index}")
        await Tape(journal, "idle").add(ev.SessionOpened(Meta(id="idle")))
        pages: list[str] = []
        while page := await journal.runs(after=pages[-1] if pages else None, limit=4):
            pages += [row.session for row in page]
        assert pages == names[::-1]
        assert [row.session for row in await journal.runs(status="waiting")] == ["s6", "s3", "s0"]
        await _raises(RunNotFound, journal.runs(after="nothing"))
        await _raises(RunNotFound, journal.run("idle"))

    _do(story())


def _shows_what_its_events_say(case: JournalCase) -> None:
    """Rows that are kept and rows that are folded anew are the same."""

    async def story() -> None:
        journal = case.open()
        tape = Tape(journal, "s1")
        await tape.begin()
        await tape.ask("q1", quorum=2)
        await tape.ask("q2", effects={"yes \ud83d": "approve"}, shown="\u0000\u2028")
        await tape.add(ev.AskClosed(ask="q2", outcome=AskOutcome.WITHDRAWN))
        await journal.post("s1", ev.AskVoted(ask="q1", choice="yes"), ADA, "v")
        await journal.post("s1", answer("q1"), ADA, "a")
        events, entries = await journal.read("s1"), await journal.inbox("s1")
        rows = rows_of("s1", events, entries, lambda session: None)
        assert await case.open().asks(is_open=None) == rows.asks
        assert await case.open().run("s1") == rows.run

    _do(story())


def _names(rows: Sequence[AskRow]) -> list[str]:
    return [row.ask for row in rows]


async def _raises(kind: type[Exception], work: Coroutine[Any, Any, Any]) -> None:
    try:
        found = await work
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was not raised, but there was {found!r}")


BOARD_RULES: tuple[Rule[JournalCase], ...] = (
    # H 85, 127
    Rule(1, "a question is shown from its opening to its end", _shows_a_question_from_its_opening_to_its_end),
    Rule(2, "what a driver closed is closed, what it refused is open", _shows_what_a_driver_closed_and_what_it_refused),
    Rule(3, "each vote is shown once", _shows_each_vote_once),
    # H 88
    Rule(4, "questions are listed in the order they were opened, page by page", _lists_in_order_page_by_page),
    Rule(5, "the questions of a tree are found at its root", _shows_the_questions_of_a_tree_at_its_root),
    Rule(6, "a question and a run are found by the beginning of an id", _finds_by_the_beginning_of_an_id),
    # H 89, 90, 92, 96
    Rule(7, "a run is shown as it stands", _says_how_a_run_stands),
    # H 91
    Rule(8, "an answer after the end leaves the run ended", _an_answer_after_the_end_leaves_the_run_ended),
    Rule(9, "runs are listed newest first, page by page", _lists_runs_newest_first),
    Rule(10, "what is shown is what the events say", _shows_what_its_events_say),
)
