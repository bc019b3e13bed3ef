"""The people of a story, in a process of their own: they see what is asked and answer it through the journal's inbox.

They remember nothing. One that was killed begins again at the beginning, reads what was asked so far, and sends
everything once more under the same keys; what was sent twice must arrive once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from handrail.errors import JournalError
from handrail.journal.events import AskClosed, AskOpened, Event, RunEnded, RunStarted
from handrail.journal.port import Journal, Posted
from handrail.journal.vocabulary import Actor, ActorKind, AskKind
from handrail.testing.drill.notes import Notes, Refused
from handrail.testing.drill.stories import LOOKS_EVERY_S, SESSION, Story

PERSON = Actor(ActorKind.PERSON, "Ada")


class Deed(Struct, frozen=True):
    """Something to be sent to ``session`` once, under ``key``."""

    session: str
    body: Posted
    key: str


def asked_in(opened: AskOpened) -> str:
    """What a question is about, which is how a story knows it, whatever id it was given."""
    if opened.kind is AskKind.APPROVAL:
        return opened.shown or ""
    # Of a point, the key without the run: the stage, the visit, the point, which presentation of it, what is asked.
    return opened.prompt if opened.point is None else opened.key.partition("/")[2]


def deeds(story: Story, sessions: Mapping[str, Iterable[Event]]) -> Iterator[Deed]:
    """All that was to be done so far, in order; of answers those that nobody else made superfluous."""
    for session, events in sessions.items():
        opened: dict[str, AskOpened] = {}
        closed: dict[str, Actor] = {}
        for event in events:
            if isinstance(event.body, AskOpened):
                opened[event.body.ask] = event.body
            elif isinstance(event.body, AskClosed):
                closed[event.body.ask] = event.by
        for ask, question in opened.items():
            reaction = story.reactions.get(asked_in(question))
            if reaction is None:
                continue
            for number, body in enumerate(reaction.sends, 1):
                yield Deed(SESSION, body, f"{asked_in(question)}/{number}")
            if reaction.closes is not None and closed.get(ask, PERSON) == PERSON:
                yield Deed(session, replace(reaction.closes, ask=ask), f"answer/{ask}")
            for number, body in enumerate(reaction.then, 1):
                yield Deed(SESSION, body, f"{asked_in(question)}/then/{number}")


async def attend(story: Story, journal: Journal, notes: Notes) -> None:
    """Do what ``story`` says its people do, until its run is over."""
    done: set[str] = set()
    while True:
        sessions = {session: await journal.read(session) for session in await journal.sessions()}
        for deed in deeds(story, sessions):
            if deed.key not in done:
                await _do(deed, journal, notes)
                done.add(deed.key)
        if is_over(sessions.get(SESSION, ())):
            return
        await asyncio.sleep(LOOKS_EVERY_S)


async def _do(deed: Deed, journal: Journal, notes: Notes) -> None:
    try:
        await journal.post(deed.session, deed.body, PERSON, deed.key)
    except JournalError as problem:
        notes.add(Refused(deed.session, deed.key, str(problem)))


def is_over(events: Iterable[Event]) -> bool:
    """Whether a session had a run, and has none that is open."""
    brackets = [event.body for event in events if isinstance(event.body, RunStarted | RunEnded)]
    return bool(brackets) and isinstance(brackets[-1], RunEnded)
