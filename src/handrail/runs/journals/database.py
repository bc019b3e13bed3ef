"""What a journal needs of a database: transactions that are whole or not there, from any thread.

SQL is written once, with ``:name`` for values, in what SQLite and PostgreSQL both understand. Work is a function of an
open transaction and may be run again where the database lost its connection, so it changes nothing but the database.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from handrail.errors import StoreError

Value = TypeVar("Value")
Found: TypeAlias = list[tuple[Any, ...]]


class NewerSchema(StoreError):
    """The tables were made by a later release of Handrail; this one leaves them alone."""

    code = "newer_schema"


class Done(NamedTuple, Generic[Value]):
    """That something was done, and what it gave."""

    value: Value


class Transaction(Protocol):
    """An open transaction.

    ``is_again`` says that the same work was run before on a connection that was lost, and nobody knows whether that
    was committed.
    """

    @property
    def is_again(self) -> bool: ...

    def run(self, sql: str, **values: Any) -> Found:
        """What the statement gives, all of it."""
        ...

    def run_locked(self, sql: str, **values: Any) -> Found:
        """``run`` for a SELECT whose rows nobody else may change before this transaction ends."""
        ...

    def run_many(self, sql: str, values: Sequence[Mapping[str, Any]]) -> None:
        """Run the statement once for each of ``values``."""
        ...

    def announce(self, session: str) -> None:
        """Wake whoever waits for news of ``session``, once this is committed, where the database can."""
        ...


class Database(Protocol):
    """One database with the tables of a journal in it. Every failure of it is a ``StoreError`` that names it."""

    def write(self, work: Callable[[Transaction], Value], *, is_durable: bool) -> Value:
        """What ``work`` returns, once it is committed; what it raises, with nothing changed.

        With ``is_durable`` it outlives a power cut when this returns; without, it outlives the process, and what is
        durable later takes it along.
        """
        ...

    def read(self, work: Callable[[Transaction], Value]) -> Value:
        """What ``work`` returns, given one unchanging sight of the database."""
        ...

    def at_once(self, work: Callable[[Transaction], Value], *, writes: bool) -> Done[Value] | None:
        """``work`` done without waiting for anybody or for the disk; None, with nothing changed, where that cannot be.

        What it ``writes`` is not durable.
        """
        ...

    def mark(self) -> int | None:
        """A number that is another one once somebody else has committed anything; None where that is not known."""
        ...

    def close(self) -> None:
        """Let go of the database; it is opened again when it is used."""
        ...
