"""Use case: a new session that begins like another one of ours, up to one of its messages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from msgspec import Struct

from handrail.agents.result import Session
from handrail.agents.sessions import fork as fork_session
from handrail.app.journals import opened_journal
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.running import find_session


class Forked(Struct, frozen=True, kw_only=True):
    """The new ``session`` holds the first ``messages`` messages of ``source``."""

    schema_version: int = SCHEMA_VERSION
    session: str
    source: str
    messages: int


def fork(
    machine: Machine, environment: Mapping[str, str], name: str, at: int, *, database: str | None = None
) -> Forked:
    """A new session with the messages of the one that ``name`` means up to number ``at`` (from 1, included).

    The other one is not touched, whoever drives it. ``CropError`` where a call would lose its result, or there is no
    such message; raises as ``find_session`` too.
    """

    async def story() -> Forked:
        with opened_journal(machine, environment, database) as journal:
            session = await find_session(machine, journal, name)
            made = await fork_session(Session(session, journal), at - 1)
            return Forked(session=made.id, source=session, messages=at)

    return asyncio.run(story())
