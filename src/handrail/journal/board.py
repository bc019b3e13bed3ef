"""What waits for a person and how runs stand, over all sessions: the rows a surface lists.

Rows are made of events and of what was posted, and of nothing else, so that a journal that keeps them (SQL, in the
transaction of the append) and one that folds them anew (memory, files) give the same. How a row follows from an event
stands in ``board_rows``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from handrail.errors import JournalError
from handrail.journal.events import AskClosed, AskOpened
from handrail.journal.port import Journal
from handrail.journal.vocabulary import Actor, AskKind, EndReason

AskStatus: TypeAlias = Literal["open", "taken", "closed"]
"""``taken``: an answer stands in the inbox and no driver has journalled it yet; it has won all the same."""

RunStatus: TypeAlias = Literal["running", "waiting", "paused", "ended"]
"""``running`` says that the run is open and waits for nobody, not that a process drives it at this moment."""

PAGE = 100
"""How many rows a listing gives unless told otherwise."""


class AskNotFound(JournalError, LookupError):
    """No question answers to that id."""

    code = "ask_not_found"
    exit_code = 5


class AmbiguousAsk(JournalError, LookupError):
    """Several questions answer to that id."""

    code = "ask_ambiguous"
    exit_code = 5


class RunNotFound(JournalError, LookupError):
    """No run answers to that id."""

    code = "run_not_found"
    exit_code = 5


class AmbiguousRun(JournalError, LookupError):
    """Several runs answer to that id."""

    code = "run_ambiguous"
    exit_code = 5


class Vote(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One vote of a quorum; ``entry`` is the number of the inbox entry it came as, ``at`` when it was recorded."""

    by: Actor
    choice: str | None = None
    comment: str | None = None
    digest: str | None = None
    at: datetime | None = None
    entry: int | None = None


class AskRow(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One question: as it was ``opened``, how it stands, and the answer that has won (``closed``, with who and when).

    ``root`` is the session at the top of the run tree, ``seq`` the number of the event that opened it. ``entry`` is
    the number of the inbox entry that answers it, None where the driver itself closed it. Instants are as recorded.
    """

    ask: str
    session: str
    root: str
    kind: AskKind
    opened: AskOpened
    seq: int
    key: str = ""
    status: AskStatus = "open"
    opened_at: datetime | None = None
    closed: AskClosed | None = None
    closed_by: Actor | None = None
    closed_at: datetime | None = None
    entry: int | None = None
    votes: tuple[Vote, ...] = ()


class RunRow(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The last run of a session; ``run`` is ``""`` where there was none yet, and such a row is never listed.

    ``reason`` and ``detail`` say how it ended. ``blueprint`` is the name of its blueprint (its digest where the name
    is not recorded), ``stage`` where it is now. ``waits_for`` are its open questions in the order they were opened,
    ``children`` the agents it started that have not ended. ``parent`` is the session that started this one as its
    agent. ``progress_at`` is when its last event was recorded.
    """

    session: str
    root: str
    run: str = ""
    status: RunStatus = "ended"
    reason: EndReason | None = None
    detail: str | None = None
    stage: str | None = None
    blueprint: str | None = None
    title: str | None = None
    cwd: str | None = None
    model: str | None = None
    parent: str | None = None
    started_at: datetime | None = None
    progress_at: datetime | None = None
    ended_at: datetime | None = None
    waits_for: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


class Board(Protocol):
    """The rows of a journal. Listings are ordered and paged: ``after`` is the id of the last row of the page before."""

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
        """Questions in the order they were opened.

        ``is_open`` True gives those nobody has answered yet, False those that are taken or closed, None both.
        ``AskNotFound`` when ``after`` is no question.
        """
        ...

    async def ask(self, name: str) -> AskRow:
        """The question of that id, or whose id starts so; ``AskNotFound``, ``AmbiguousAsk``."""
        ...

    async def runs(
        self, *, status: RunStatus | None = None, after: str | None = None, limit: int = PAGE
    ) -> tuple[RunRow, ...]:
        """The last run of every session that has one, the newest session first.

        ``RunNotFound`` when ``after`` is no session.
        """
        ...

    async def run(self, name: str) -> RunRow:
        """The run of the session of that id, or whose id starts so; ``RunNotFound``, ``AmbiguousRun``."""
        ...


class JournalWithBoard(Journal, Board, Protocol):
    """A journal that lists what is in it."""


def pick(name: str, found: Iterable[str], *, missing: type[JournalError], several: type[JournalError]) -> str:
    """The one of ``found`` that ``name`` means: itself, or the only one that starts so.

    ``found`` need hold no others. Raises ``missing`` or ``several``, which name what was meant.
    """
    matches = sorted({one for one in found if one.startswith(name)}) if name else []
    if name in matches:
        return name
    what = "question" if issubclass(missing, AskNotFound) else "run"
    if not matches:
        raise missing(f"no {what} answers to {name!r}")
    if len(matches) > 1:
        shown = ", ".join(matches[:5]) + (", …" if len(matches) > 5 else "")
        raise several(f"several {what}s answer to {name!r}: {shown}", hint="say more of the id")
    return matches[0]
