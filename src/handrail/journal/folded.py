"""The board of a journal that keeps no rows: folded from its events and inboxes whenever somebody asks."""

from __future__ import annotations

from typing import Protocol

from handrail.journal.board import (
    PAGE,
    AmbiguousAsk,
    AmbiguousRun,
    AskNotFound,
    AskRow,
    RunNotFound,
    RunRow,
    RunStatus,
    pick,
)
from handrail.journal.board_rows import Rows, rows_of
from handrail.journal.events import Event
from handrail.journal.port import Entry
from handrail.journal.vocabulary import AskKind


class FoldedBoard(Protocol):
    """Gives a journal with the three methods below the rest of ``Board``. What a listing costs grows with all there is.

    Questions of different sessions are in the order of the instants at which they were opened.
    """

    async def read(self, session: str, after: int = 0) -> tuple[Event, ...]: ...

    async def inbox(self, session: str, after: int = 0) -> tuple[Entry, ...]: ...

    async def sessions(self) -> tuple[str, ...]: ...

    async def asks(
        self,
        *,
        is_open: bool | None = True,
        root: str | None = None,
        session: str | None = None,
        kind: AskKind | None = None,
        after: str | None = None,
        limit: int = PAGE,
    ) -> tuple[AskRow, ...]:
        rows = _in_order(await self._rows())
        if after is not None:
            place = max((index for index, row in enumerate(rows) if row.ask == after), default=None)
            if place is None:
                raise AskNotFound(f"no question answers to {after!r}")
            rows = rows[place + 1 :]
        found = (
            row
            for row in rows
            if is_open in (None, row.status == "open")
            and root in (None, row.root)
            and session in (None, row.session)
            and kind in (None, row.kind)
        )
        return tuple(row for row, _ in zip(found, range(limit), strict=False))

    async def ask(self, name: str) -> AskRow:
        rows = {row.ask: row for row in _in_order(await self._rows())}
        return rows[pick(name, rows, missing=AskNotFound, several=AmbiguousAsk)]

    async def runs(
        self, *, status: RunStatus | None = None, after: str | None = None, limit: int = PAGE
    ) -> tuple[RunRow, ...]:
        rows = [rows.run for rows in reversed(await self._rows())]
        if after is not None:
            names = [row.session for row in rows]
            if after not in names:
                raise RunNotFound(f"no run answers to {after!r}")
            rows = rows[names.index(after) + 1 :]
        return tuple([row for row in rows if row.run and status in (None, row.status)][:limit])

    async def run(self, name: str) -> RunRow:
        rows = {rows.run.session: rows.run for rows in await self._rows() if rows.run.run}
        return rows[pick(name, rows, missing=RunNotFound, several=AmbiguousRun)]

    async def _rows(self) -> list[Rows]:
        """The rows of every session, in the order they began."""
        roots: dict[str, str] = {}
        found: list[Rows] = []
        for session in await self.sessions():
            rows = rows_of(session, await self.read(session), await self.inbox(session), roots.get)
            roots[session] = rows.run.root
            found.append(rows)
        return found


def _in_order(found: list[Rows]) -> list[AskRow]:
    """All questions in the order they were opened; a session's own keep theirs whatever its clock said."""
    rows: list[tuple[str, int, int, AskRow]] = []
    for index, one in enumerate(found):
        latest = ""
        for row in one.asks:
            latest = max(latest, "" if row.opened_at is None else row.opened_at.isoformat())
            rows.append((latest, index, row.seq, row))
    return [row for *_, row in sorted(rows, key=lambda place: place[:3])]
