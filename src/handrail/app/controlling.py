"""Use cases: what a person says to a run that goes on elsewhere, or that nobody drives at the moment.

It goes into the journal's inbox, whoever drives the run; what comes of it is recorded there. A run that nobody drives
is ended right away when it is cancelled; everything else waits for whoever carries it on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from handrail.agents.content import Content
from handrail.agents.ending import cancel_left
from handrail.agents.remote import RemoteRun
from handrail.agents.result import Session
from handrail.app.driving import RunDriven, driving
from handrail.app.journals import opened_journal, sessions_folder
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.ordering import read_order
from handrail.app.standing import Driven, driven_by
from handrail.errors import JournalError
from handrail.journal.board import JournalWithBoard, RunRow
from handrail.journal.events import PauseRequested, ResumeRequested
from handrail.journal.fold import fold
from handrail.journal.vocabulary import Actor
from handrail.runs.asks.identity import this_person

Wish: TypeAlias = Literal["steer", "follow_up", "interrupt", "stop", "cancel", "pause", "resume"]


class RunOver(JournalError):
    """The run has ended; nothing that is sent to it can have an effect."""

    code = "run_over"


class Sent(Struct, frozen=True, kw_only=True):
    """What was sent to the run of ``session``, under the id ``sent``.

    ``status`` is how the run stood, ``driven`` who carries it on. ``is_done``: it has had its effect already.
    ``is_detached``: the run was begun in the background.
    """

    schema_version: int = SCHEMA_VERSION
    session: str
    wish: Wish
    sent: str | None
    status: str
    driven: Driven
    is_done: bool = False
    is_detached: bool = False


def send(
    machine: Machine,
    environment: Mapping[str, str],
    run: str,
    wish: Wish,
    words: str | None = None,
    *,
    by: Actor | None = None,
    database: str | None = None,
) -> Sent:
    """Send ``wish`` to the run that ``run`` names, with ``words``: what is to be said, or the reason.

    Raises ``RunNotFound``, ``AmbiguousRun``, ``RunOver``, and ``ValueError`` for a message without words.
    """

    folder = sessions_folder(machine)

    async def story() -> Sent:
        with opened_journal(machine, environment, database) as journal:
            row = await journal.run(run)
            if row.status == "ended":
                raise RunOver(f"the run of session {row.session} is over", hint=_hint(wish, row.session))
            driven = driven_by(machine, environment, row.root, database, journal)
            return await _sent(journal, row, driven, wish, words, by or this_person(), folder)

    return asyncio.run(story())


async def _sent(
    journal: JournalWithBoard, row: RunRow, driven: Driven, wish: Wish, words: str | None, by: Actor, folder: Path
) -> Sent:
    session = Session(row.session, journal)
    is_needless = wish == "resume" and not await _is_paused(session)
    run = fold(await session.journal.read(session.id)).run
    order = None if run is None else read_order(run.started.order)
    sent = None if is_needless else await _post(session, wish, words, by)
    return Sent(
        session=session.id,
        wish=wish,
        sent=sent,
        status=row.status,
        driven=driven,
        is_done=wish == "cancel" and driven == "nobody" and await _is_ended_here(journal, row, words, by, folder),
        is_detached=order is not None and order.is_detached,
    )


async def _is_paused(session: Session) -> bool:
    """Whether the run is paused, or will be once what stands in its inbox is taken."""
    state = fold(await session.journal.read(session.id))
    is_paused = state.run is not None and state.run.is_paused
    for entry in await session.journal.inbox(session.id, state.inbox):
        if isinstance(entry.body, PauseRequested | ResumeRequested):
            is_paused = isinstance(entry.body, PauseRequested)
    return is_paused


async def _post(session: Session, wish: Wish, words: str | None, by: Actor) -> str:
    remote = RemoteRun(session, by)
    if wish in ("steer", "follow_up"):
        content: Content = words or ""
        return await (remote.steer(content) if wish == "steer" else remote.follow_up(content))
    post = {
        "interrupt": remote.interrupt,
        "stop": remote.stop,
        "cancel": remote.cancel,
        "pause": remote.pause,
        "resume": remote.resume,
    }[wish]
    return await post(words)


async def _is_ended_here(journal: JournalWithBoard, row: RunRow, words: str | None, by: Actor, folder: Path) -> bool:
    """End a run that nobody drives, and those below it; False where somebody took it up meanwhile, who ends it then."""
    try:
        async with driving(folder, row.session):
            for child in row.children:
                await RemoteRun(Session(child, journal), by).cancel(words)
                await _is_ended_here(journal, await journal.run(child), words, by, folder)
            return await cancel_left(Session(row.session, journal))
    except RunDriven:
        return False


def _hint(wish: Wish, session: str) -> str | None:
    return f"handrail run 'TASK' --session {session} begins another there" if wish in ("steer", "follow_up") else None
