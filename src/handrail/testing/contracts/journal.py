"""The contract of a journal: appends that are whole or not there, one writer, an inbox that is taken once, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from handrail.journal import events as ev
from handrail.journal.port import Journal, SeqConflict, StaleEpoch, from_entry, number
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind
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

    open: Callable[[], Journal]


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


def _steer(name: str) -> ev.InputReceived:
    return ev.InputReceived(input=name, via="steer", content=(Text(f"words of {name}", Author.PERSON),))


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
)
