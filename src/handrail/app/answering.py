"""Use cases: a question that waits, and what a person answers to it, whoever drives its run or nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from handrail.app.journals import opened_journal
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.ordering import read_order
from handrail.app.standing import Driven, StandingAsk, driven_by, standing
from handrail.journal.board import AskRow, JournalWithBoard
from handrail.journal.events import RunStarted
from handrail.journal.vocabulary import Actor
from handrail.runs.asks.replies import Reply
from handrail.runs.desk import Accepted, Desk


class Answered(Struct, frozen=True, kw_only=True):
    """What became of an answer to ``ask``: it closed the question, or it is one vote of the ``needed`` ones.

    ``run`` is the session of the run that goes on by it, at the top of its tree; ``driven`` says who carries it on.
    ``is_detached``: it was begun in the background. ``also`` are the questions that were answered with it.
    """

    schema_version: int = SCHEMA_VERSION
    ask: str
    session: str
    run: str
    status: Literal["closed", "voted"]
    cast: int
    needed: int
    driven: Driven
    is_detached: bool = False
    also: tuple[str, ...] = ()


def find_ask(
    machine: Machine, environment: Mapping[str, str], name: str, *, database: str | None = None
) -> StandingAsk:
    """The question of that id, or whose id starts so; ``AskNotFound``, ``AmbiguousAsk``."""

    async def read() -> StandingAsk:
        with opened_journal(machine, environment, database) as journal:
            return standing([await journal.ask(name)])[0]

    return asyncio.run(read())


def answer(
    machine: Machine,
    environment: Mapping[str, str],
    name: str,
    reply: Reply,
    *,
    alike: bool = False,
    by: Actor | None = None,
    database: str | None = None,
) -> Answered:
    """Answer the question that ``name`` means; raises as ``Desk.answer``."""

    async def story() -> Answered:
        with opened_journal(machine, environment, database) as journal:
            row = await journal.ask(name)
            accepted = await Desk(journal, by).answer(row.ask, reply, alike=alike)
            return await _answered(journal, row, accepted, driven_by(machine, environment, row.root, database, journal))

    return asyncio.run(story())


def decline(
    machine: Machine,
    environment: Mapping[str, str],
    name: str,
    reason: str | None,
    *,
    is_withdrawn: bool = False,
    by: Actor | None = None,
    database: str | None = None,
) -> Answered:
    """Refuse to answer the question that ``name`` means, or take it back (``is_withdrawn``); raises as ``Desk``."""

    async def story() -> Answered:
        with opened_journal(machine, environment, database) as journal:
            row, desk = await journal.ask(name), Desk(journal, by)
            if is_withdrawn:
                accepted = await desk.withdraw(row.ask, reason or "withdrawn")
            else:
                accepted = await desk.decline(row.ask, reason)
            return await _answered(journal, row, accepted, driven_by(machine, environment, row.root, database, journal))

    return asyncio.run(story())


async def _answered(journal: JournalWithBoard, row: AskRow, accepted: Accepted, driven: Driven) -> Answered:
    starts = [event.body for event in await journal.read(row.root) if isinstance(event.body, RunStarted)]
    order = read_order(starts[-1].order) if starts else None
    return Answered(
        ask=row.ask,
        session=row.session,
        run=row.root,
        status=accepted.status,
        cast=accepted.cast,
        needed=accepted.needed,
        driven=driven,
        is_detached=order is not None and order.is_detached,
        also=tuple(one.ask for one in accepted.also),
    )
