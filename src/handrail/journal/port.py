"""The Journal port: where events are kept, with one writer at a time and an inbox for everybody else.

* ``append`` is compare-and-set on the last sequence number and refused to a driver whose epoch is over, so a frozen
  driver that wakes cannot write.
* Others never append: what they send goes to the inbox, is numbered there, and the driver journals it with that
  number. ``State.inbox`` is the last number journalled, so every entry is taken once and in order, whatever crashes
  in between.

One contract suite runs over every journal: memory, file, SQL.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from handrail.errors import JournalError
from handrail.journal.broken import BrokenJournal
from handrail.journal.events import (
    AskClosed,
    AskReminded,
    AskVoted,
    CancelRequested,
    Event,
    InputReceived,
    Interrupted,
    Known,
    PauseRequested,
    ResumeRequested,
    StopRequested,
)
from handrail.journal.vocabulary import Actor
from handrail.journal.wire import type_of


class SeqConflict(JournalError):
    """Something else was appended in between; read again and decide anew."""

    code = "seq_conflict"


class StaleEpoch(JournalError):
    """Another driver took the session over; this one may not write any more."""

    code = "stale_epoch"


Posted: TypeAlias = (
    InputReceived
    | AskClosed
    | AskVoted
    | AskReminded
    | StopRequested
    | CancelRequested
    | Interrupted
    | PauseRequested
    | ResumeRequested
)
"""What others may send: the body of the event that the driver will journal."""


class Entry(Struct, frozen=True, kw_only=True):
    """One inbox entry; ``number`` counts from 1 in each session, ``key`` is the sender's own for sending once."""

    number: int
    body: Posted
    by: Actor
    key: str
    at: datetime | None = None


class NoSuchAsk(JournalError, LookupError):
    """An answer was posted to a session that never opened that question."""

    code = "no_such_ask"
    exit_code = 5


class AskTaken(JournalError):
    """Somebody else's answer to the question has won; ``winner`` is their entry."""

    code = "ask_taken"

    def __init__(self, winner: Entry, *, hint: str | None = None) -> None:
        super().__init__(f"the question was closed already, by {winner.by.name or winner.by.kind}", hint=hint)
        self.winner = winner


class Journal(Protocol):
    """The events of many sessions.

    ``poll_s`` is how often, in seconds, a driver has to look for what other processes posted; None where nobody but
    this process can post, whose drivers are woken.
    """

    @property
    def poll_s(self) -> float | None: ...

    async def append(self, session: str, expected_seq: int, epoch: int, events: Sequence[Event]) -> None:
        """Add ``events``, all or none, after the event ``expected_seq`` (0 for a new session).

        ``SeqConflict`` when that is not the last one, ``StaleEpoch`` when ``epoch`` is not the present one;
        ``ValueError`` when the events are not numbered on from there. ``AskTaken`` when they close a question to which
        an answer stands in the inbox: that one has won, and only withdrawing the question goes before it.
        """
        ...

    async def read(self, session: str, after: int = 0) -> tuple[Event, ...]:
        """The events after the sequence number ``after``; none for a session that is not there."""
        ...

    async def take_over(self, session: str) -> int:
        """Raise the epoch and return it: from now on only its holder appends. A new session begins at 1."""
        ...

    async def post(self, session: str, body: Posted, by: Actor, key: str) -> Entry:
        """Put something into the inbox. The same ``key`` again gives the first entry and adds nothing.

        An answer (or a vote) is compare-and-set: the first one to an open question wins, others raise ``AskTaken``, as
        does one to a question that is closed; ``NoSuchAsk`` for one that was never opened.
        """
        ...

    async def inbox(self, session: str, after: int = 0) -> tuple[Entry, ...]:
        """The entries after number ``after``, in order."""
        ...

    async def sessions(self) -> tuple[str, ...]:
        """The ids of all sessions that have events, in the order they began."""
        ...


@runtime_checkable
class Wakes(Protocol):
    """A journal that wakes those who wait for what other processes do to a session."""

    def listen(self, session: str) -> AbstractContextManager[Callable[[float], Awaitable[None]]]:
        """Inside the block: what waits for news of ``session``, so many seconds at most.

        What came since it was waited for last ends the next wait at once. It may end with no news at all.
        """
        ...


@runtime_checkable
class Tells(Protocol):
    """A journal that tells drivers in its own process of what is posted, as it is posted."""

    def tell(self, session: str, heard: Callable[[Entry], None]) -> Callable[[], None]:
        """Call ``heard``, in whatever thread posts, with every entry of ``session``; what is returned takes it back."""
        ...


def number(
    bodies: Sequence[Known], *, after: int, by: Actor, at: datetime | None = None, inbox: int | None = None
) -> tuple[Event, ...]:
    """``bodies`` as events numbered on from ``after``, with one cause and time."""
    return tuple(Event(seq=seq, by=by, body=body, at=at, inbox=inbox) for seq, body in enumerate(bodies, after + 1))


def from_entry(entry: Entry, *, after: int) -> Event:
    """The event that journals an inbox entry."""
    return Event(seq=after + 1, by=entry.by, body=entry.body, at=entry.at, inbox=entry.number)


def entry_of(event: Event, key: str) -> Entry:
    """The inbox entry that was stored as the event it will be; ``BrokenJournal`` for one nobody may send."""
    body = event.body
    if not isinstance(body, Posted):
        raise BrokenJournal(f"an inbox holds an entry that is {type_of(body)}")
    return Entry(number=event.seq, body=body, by=event.by, key=key, at=event.at)


def check_numbers(expected_seq: int, events: Sequence[Event]) -> None:
    """``ValueError`` unless ``events`` are numbered on from ``expected_seq``."""
    for seq, event in enumerate(events, expected_seq + 1):
        if event.seq != seq:
            raise ValueError(f"event {event.seq} stands where event {seq} belongs")
