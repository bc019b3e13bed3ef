"""The contract of a journal: appends that are whole or not there, one writer, an inbox that is taken once, in order.

What its board must show stands in ``board``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from handrail.journal import events as ev
from handrail.journal.board import JournalWithBoard
from handrail.journal.port import AskTaken, Journal, NoSuchAsk, SeqConflict, StaleEpoch, from_entry, number
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind, AskKind, AskOutcome
from handrail.journal.wire import encode_event
from handrail.testing.contracts.rules import Rule
from handrail.transcripts.model import Author, Meta, Raw, Text, ToolUse
from handrail.transcripts.model import Message as Said

Value = TypeVar("Value")

PERSON = Actor(ActorKind.PERSON, "Ada")
SESSION = "s1"

OPENING: tuple[ev.Event, ...] = number(
    (
        ev.SessionOpened(Meta(id=SESSION)),
        ev.RunStarted(run="r1"),
        ev.PromptGiven((Text("go \u2028 \ud83c", Author.PERSON),)),
    ),
    after=0,
    by=PERSON,
)
"""The beginning of a session, with characters that some stores trip over."""


@dataclass(frozen=True)
class JournalCase:
    """``open`` gives the journal under test, again and again on the same storage, which begins empty."""

    open: Callable[[], JournalWithBoard]


def _do(story: Coroutine[Any, Any, Value]) -> Value:
    return asyncio.run(story)


async def _begun(journal: Journal) -> int:
    epoch = await journal.take_over(SESSION)
    await journal.append(SESSION, 0, epoch, OPENING)
    return epoch


def _keeps_what_was_appended(case: JournalCase) -> None:
    async def story() -> None:
        journal = case.open()
        epoch = await journal.take_over(SESSION)
        await journal.append(SESSION, 0, epoch, OPENING[:1])
        await journal.append(SESSION, 1, epoch, OPENING[1:])
        await journal.append(SESSION, 3, epoch, ())
        kept = await case.open().read(SESSION)
        assert [encode_event(event) for event in kept] == [encode_event(event) for event in OPENING]
        assert await journal.read(SESSION, 2) == OPENING[2:]

    _do(story())


def _knows_only_its_sessions(case: JournalCase) -> None:
    async def story() -> None:
        journal = case.open()
        assert await journal.sessions() == ()
        await _begun(journal)
        assert await journal.read("nobody") == ()
        assert await journal.inbox("nobody") == ()
        assert await journal.sessions() == (SESSION,)

    _do(story())


def _refuses_the_wrong_place(case: JournalCase) -> None:
    async def story() -> None:
        journal = case.open()
        epoch = await _begun(journal)
        await _raises(SeqConflict, journal.append(SESSION, 0, epoch, OPENING))
        misnumbered = number([ev.SessionTitled("x")], after=8, by=DRIVER)
        await _raises(ValueError, journal.append(SESSION, 3, epoch, misnumbered))
        assert await journal.read(SESSION) == OPENING

    _do(story())


def _refuses_a_driver_that_was_taken_over(case: JournalCase) -> None:
    async def story() -> None:
        frozen_journal, journal = case.open(), case.open()
        frozen = await _begun(frozen_journal)
        awake = await journal.take_over(SESSION)
        assert awake > frozen
        title = number([ev.SessionTitled("x")], after=3, by=DRIVER)
        await _raises(StaleEpoch, frozen_journal.append(SESSION, 3, frozen, title))
        await journal.append(SESSION, 3, awake, title)
        assert len(await frozen_journal.read(SESSION)) == 4

    _do(story())


def _writes_from_two_sides_are_one_line(case: JournalCase) -> None:
    async def write(journal: Journal, epoch: int, name: str) -> bool:
        title = number([ev.SessionTitled(name)], after=3, by=DRIVER)
        try:
            await journal.append(SESSION, 3, epoch, title)
        except SeqConflict:
            return False
        return True

    async def story() -> None:
        epoch = await _begun(case.open())
        won = await asyncio.gather(*(write(case.open(), epoch, str(index)) for index in range(5)))
        assert sum(won) == 1, f"{sum(won)} of five writers at one place won"
        assert len(await case.open().read(SESSION)) == 4

    _do(story())


def _posts_a_key_once(case: JournalCase) -> None:
    async def story() -> None:
        journal = case.open()
        first = await journal.post(SESSION, _steer("one"), PERSON, "k1")
        again = await case.open().post(SESSION, _steer("other"), PERSON, "k1")
        second = await case.open().post(SESSION, _steer("two"), PERSON, "k2")
        assert again.body == first.body, "the second entry of one key took the place of the first"
        assert (first.number, again.number, second.number) == (1, 1, 2)
        assert [entry.body for entry in await journal.inbox(SESSION)] == [_steer("one"), _steer("two")]
        assert [entry.key for entry in await journal.inbox(SESSION, 1)] == ["k2"]
        assert {entry.by for entry in await journal.inbox(SESSION)} == {PERSON}

    _do(story())


def _takes_entries_once_and_in_order(case: JournalCase) -> None:
    async def story() -> None:
        epoch = await _begun(case.open())
        for name in ("one", "two", "three"):
            await case.open().post(SESSION, _steer(name), PERSON, name)
        for _ in range(3):
            journal = case.open()
            events = await journal.read(SESSION)
            taken = max((event.inbox or 0 for event in events), default=0)
            for entry in (await journal.inbox(SESSION, taken))[:1]:
                event = from_entry(entry, after=len(events))
                await journal.append(SESSION, len(events), epoch, [event])
        events = await case.open().read(SESSION)
        assert [event.inbox for event in events[3:]] == [1, 2, 3]
        assert [event.body for event in events[3:]] == [_steer(name) for name in ("one", "two", "three")]

    _do(story())


def _keeps_the_bytes_of_an_event(case: JournalCase) -> None:
    message = Said(role="assistant", content=(ToolUse("c1", Raw("t", {"b": [1, 2.5, None], "a": "\u0000\u0085"})),))
    odd = number([ev.MessageImported(message)], after=3, by=DRIVER)

    async def story() -> None:
        journal = case.open()
        await journal.append(SESSION, 3, await _begun(journal), odd)
        assert encode_event((await case.open().read(SESSION))[-1]) == encode_event(odd[0])

    _do(story())


def _a_cancelled_append_is_whole_and_known(case: JournalCase) -> None:
    """Whoever is cancelled while it appends goes on believing what is true, and begins no other append."""

    async def story() -> None:
        journal = case.open()
        epoch = await _begun(journal)
        returned: list[int] = []

        async def write() -> None:
            for seq in range(3, 200):
                await journal.append(SESSION, seq, epoch, number([ev.SessionTitled(str(seq))], after=seq, by=DRIVER))
                returned.append(seq + 1)

        task = asyncio.create_task(write())
        while len(returned) < 20 and not task.done():
            await asyncio.sleep(0)
        before = len(returned)
        task.cancel()
        await asyncio.wait({task})
        assert len(returned) <= before + 1, f"{len(returned) - before} appends returned after the cancellation"
        kept = await case.open().read(SESSION)
        assert kept[-1].seq == returned[-1], f"event {kept[-1].seq} is there, and the writer knows of {returned[-1]}"

    _do(story())


def _the_first_answer_wins(case: JournalCase) -> None:
    async def answer(name: str) -> str | None:
        try:
            entry = await case.open().post(SESSION, _answer("q1", name), Actor(ActorKind.PERSON, name), name)
        except AskTaken as lost:
            return lost.winner.key
        assert entry.key == name
        return None

    async def story() -> None:
        await _asked(case.open(), "q1")
        lost = await asyncio.gather(*(answer(str(index)) for index in range(5)))
        winners = [str(index) for index, winner in enumerate(lost) if winner is None]
        assert len(winners) == 1, f"{len(winners)} of five answers won"
        assert {winner for winner in lost if winner} == set(winners), "the others were not told who won"
        entries = await case.open().inbox(SESSION)
        assert [entry.key for entry in entries] == winners
        again = await case.open().post(SESSION, _answer("q1", "changed my mind"), PERSON, winners[0])
        assert again == entries[0], "the same key did not give the first entry back"

    _do(story())


def _takes_no_answer_to_what_is_not_open(case: JournalCase) -> None:
    async def story() -> None:
        journal = case.open()
        epoch = await _asked(journal, "q1")
        await _raises(NoSuchAsk, journal.post(SESSION, _answer("q2", "yes"), PERSON, "k0"))
        await _raises(NoSuchAsk, journal.post(SESSION, ev.AskVoted(ask="q2"), PERSON, "k0"))
        late = ev.AskClosed(ask="q1", outcome=AskOutcome.TIMED_OUT)
        await journal.append(SESSION, 4, epoch, number([late], after=4, by=DRIVER))
        for body in (_answer("q1", "yes"), ev.AskVoted(ask="q1", choice="yes")):
            try:
                await case.open().post(SESSION, body, PERSON, "k1")
            except AskTaken as lost:
                assert (lost.winner.body, lost.winner.by) == (late, DRIVER)
            else:
                _fail("an answer to a closed question was taken")
        assert await journal.inbox(SESSION) == ()

    _do(story())


def _a_refused_answer_opens_the_question_again(case: JournalCase) -> None:
    async def story() -> None:
        journal = case.open()
        epoch = await _asked(journal, "q1")
        first = await journal.post(SESSION, _answer("q1", "perhaps"), PERSON, "k1")
        refused = ev.Event(seq=5, by=first.by, body=ev.EntryRefused("no answer that was offered"), inbox=first.number)
        await journal.append(SESSION, 4, epoch, [refused])
        second = await case.open().post(SESSION, _answer("q1", "yes"), PERSON, "k2")
        assert second.number == 2
        await journal.append(SESSION, 5, epoch, [from_entry(second, after=5)])
        await _raises(AskTaken, case.open().post(SESSION, _answer("q1", "no"), PERSON, "k3"))

    _do(story())


def _the_driver_overtakes_no_answer(case: JournalCase) -> None:
    async def story() -> None:
        journal = case.open()
        epoch = await _asked(journal, "q1")
        answer = await case.open().post(SESSION, _answer("q1", "yes"), PERSON, "k1")
        for outcome in (AskOutcome.TIMED_OUT, AskOutcome.AUTO, AskOutcome.DENIED, AskOutcome.ANSWERED):
            late = number([ev.AskClosed(ask="q1", outcome=outcome)], after=4, by=DRIVER)
            try:
                await journal.append(SESSION, 4, epoch, late)
            except AskTaken as lost:
                assert lost.winner == answer
            else:
                _fail(f"a driver closed as {outcome} what a person had answered")
        assert len(await journal.read(SESSION)) == 4
        withdrawn = number([ev.AskClosed(ask="q1", outcome=AskOutcome.WITHDRAWN)], after=4, by=DRIVER)
        await journal.append(SESSION, 4, epoch, withdrawn)

    _do(story())


def _steer(name: str) -> ev.InputReceived:
    return ev.InputReceived(input=name, via="steer", content=(Text(f"words of {name}", Author.PERSON),))


def _answer(ask: str, words: str) -> ev.AskClosed:
    return ev.AskClosed(ask=ask, outcome=AskOutcome.ANSWERED, words=words)


async def _asked(journal: Journal, ask: str) -> int:
    """The beginning of a session, with an open question as its fourth event; the epoch."""
    epoch = await _begun(journal)
    opened = ev.AskOpened(ask=ask, kind=AskKind.QUESTION, prompt="Which?")
    await journal.append(SESSION, 3, epoch, number([opened], after=3, by=DRIVER))
    return epoch


async def _raises(kind: type[Exception], work: Coroutine[Any, Any, Any]) -> None:
    try:
        await work
    except kind:
        return
    _fail(f"{kind.__name__} was not raised")


def _fail(why: str) -> NoReturn:
    raise AssertionError(why)


JOURNAL_RULES: tuple[Rule[JournalCase], ...] = (
    Rule(1, "what was appended is read from anywhere", _keeps_what_was_appended),
    Rule(2, "it knows the sessions that have events, and nothing of others", _knows_only_its_sessions),
    Rule(3, "an append at the wrong place adds nothing", _refuses_the_wrong_place),
    Rule(4, "a driver that was taken over cannot write", _refuses_a_driver_that_was_taken_over),
    Rule(5, "of several writers at one place one wins", _writes_from_two_sides_are_one_line),
    Rule(6, "the same key is posted once", _posts_a_key_once),
    Rule(7, "entries are taken once and in order, whatever crashes in between", _takes_entries_once_and_in_order),
    Rule(8, "an event comes back with the bytes it had", _keeps_the_bytes_of_an_event),
    Rule(9, "an append whose caller is cancelled is whole and known", _a_cancelled_append_is_whole_and_known),
    # H 69, 83
    Rule(10, "the first answer wins, and the others are told which it is", _the_first_answer_wins),
    # H 70
    Rule(11, "a question that is not open takes no answer", _takes_no_answer_to_what_is_not_open),
    Rule(12, "an answer that the driver refuses leaves the question open", _a_refused_answer_opens_the_question_again),
    # H 77
    Rule(13, "a driver does not overtake an answer in the inbox", _the_driver_overtakes_no_answer),
)
