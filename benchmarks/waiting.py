"""Runs that wait for a person: what so many cost, and how long it takes to list their questions and answer one.

Each is a session with an open question, written by the journal's own transactions. The figures are wall time, as a
person at a terminal has it: a fresh process opens the journal, then everything is asked ``trials`` times, each time of
another run.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.timing import fresh_process
from handrail.journal import events as ev
from handrail.journal.port import number
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind, AskKind, AskOutcome
from handrail.journal.wire import encode_event
from handrail.runs.journals import transactions
from handrail.runs.journals.database import Transaction
from handrail.runs.journals.journal import SqlJournal
from handrail.testing.postgres import postgres_server
from handrail.transcripts.model import Author, Meta, Text

COUNT = 100_000
AIM_MS = 50.0
TRIALS = 30
_AT_ONCE = 1_000
_ADA = Actor(ActorKind.PERSON, "Ada")


def all_figures(count: int = COUNT, trials: int = TRIALS) -> Iterator[dict[str, object]]:
    """The figures of SQLite, and of PostgreSQL where a server is installed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.sqlite"
        yield from _figures("sqlite", str(path), count, trials)
        yield {"what": f"sqlite, {count:,} waiting runs on disk", "bytes_a_run": round(path.stat().st_size / count)}
    with postgres_server(is_durable=True) as server:
        if server is None:
            yield {"what": "postgresql is not installed"}
            return
        with server.database() as url:
            yield from _figures("postgresql", url, count, trials)


def _figures(kind: str, place: str, count: int, trials: int) -> Iterator[dict[str, object]]:
    fresh_process(f"from benchmarks.waiting import fill\nRESULT = fill({kind!r}, {place!r}, {count})")
    code = f"from benchmarks.waiting import questions\nRESULT = questions({kind!r}, {place!r}, {count}, {trials})"
    found = fresh_process(code)
    for what, times_ms in found["ms"].items():
        yield {
            "what": f"{kind}, {count:,} waiting: {what}",
            "median_ms": round(median(times_ms), 2),
            "longest_ms": round(max(times_ms), 2),
            "aim_ms": AIM_MS,
        }
    yield {"what": f"{kind}, the process that asked", "peak_mib": round(found["peak_mib"])}


# In a process of their own -----------------------------------------------------------------------------------


def _open(kind: str, place: str) -> SqlJournal:
    if kind == "sqlite":
        from handrail.runs.journals.sqlite import SqliteJournal

        return SqliteJournal(place)
    from handrail.runs.journals.postgres import PostgresJournal

    return PostgresJournal(place)


def _name(index: int) -> str:
    return f"{index * 7919 % 1_000_003:08x}-waits"


def _opening(index: int) -> tuple[ev.Event, ...]:
    """A session whose run has just asked whether its plan is approved."""
    plan = "\n".join(f"{step}. change module {step} of {index}" for step in range(1, 21))
    bodies: tuple[ev.Known, ...] = (
        ev.SessionOpened(Meta(id=_name(index), cwd=f"/srv/{index % 50}", title=f"task {index}")),
        ev.RunStarted(run=f"run-{index}", model="scripted"),
        ev.PromptGiven((Text("do it", Author.PERSON),)),
        ev.AskOpened(
            ask=f"{_name(index)}-ask", kind=AskKind.POINT, prompt="Approve?", options=("Approve", "Abort"), shown=plan
        ),
    )
    return number(bodies, after=0, by=DRIVER)


def fill(kind: str, place: str, count: int) -> dict[str, object]:
    """Write ``count`` waiting runs, many in each transaction."""
    journal = _open(kind, place)

    def write(first: int) -> Callable[[Transaction], None]:
        def work(transaction: Transaction) -> None:
            for index in range(first, min(first + _AT_ONCE, count)):
                events = _opening(index)
                epoch = transactions.take_over(transaction, _name(index))
                cells = [encode_event(event) for event in events]
                transactions.append(transaction, _name(index), 0, epoch, events, cells)

        return work

    for first in range(0, count, _AT_ONCE):
        journal.database.write(write(first), is_durable=True)
    journal.close()
    return {}


def questions(kind: str, place: str, count: int, trials: int) -> dict[str, Any]:
    """Milliseconds of each thing a person asks of the board, ``trials`` times each."""
    journal = _open(kind, place)

    async def answer(index: int) -> None:
        closed = ev.AskClosed(ask=f"{_name(index)}-ask", outcome=AskOutcome.ANSWERED, choice="Approve")
        await journal.post(_name(index), closed, _ADA, f"key-{index}")

    works: dict[str, Callable[[int], Awaitable[object]]] = {
        "the first hundred questions": lambda index: journal.asks(),
        "a hundred from the middle": lambda index: journal.asks(after=f"{_name(index)}-ask"),
        "the questions of one run": lambda index: journal.asks(root=_name(index)),
        "a question by the beginning of its id": lambda index: journal.ask(_name(index)),
        "a hundred runs": lambda index: journal.runs(),
        "a hundred waiting runs": lambda index: journal.runs(status="waiting"),
        "answering one": answer,
    }

    async def story() -> dict[str, list[float]]:
        began = time.perf_counter()
        await journal.asks(limit=1)
        found = {"opening the journal": [(time.perf_counter() - began) * 1000]}
        for what, work in works.items():
            found[what] = []
            for trial in range(trials):
                index = (trial + 1) * count // (trials + 2)
                began = time.perf_counter()
                await work(index)
                found[what].append((time.perf_counter() - began) * 1000)
        return found

    found = asyncio.run(story())
    journal.close()
    return {"ms": found}
