"""A whole drill: many schedules over one journal, on all processors, and what they came to."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from msgspec import Struct

from handrail.testing.drill.carriers import CARRIERS, OWN, PARKING, Carrier
from handrail.testing.drill.findings import Finding, findings
from handrail.testing.drill.journals import POSTGRES, JournalKind
from handrail.testing.drill.lives import Evidence, Schedule, live
from handrail.testing.drill.schedules import Places, drawn, places_of, single_kills
from handrail.testing.drill.stories import ENDS, Story, drawn_story, ended_story, staged_story, whole_story
from handrail.testing.drill.workers import WORKERS

_SINGLES_AT_ONCE = 12
_KILLS_AT_ONCE = 12
_WORKER_KILLS_AT_ONCE = 5
_WORKERS_FROM = 100


class Broken(Struct, frozen=True):
    """A schedule that something is wrong with, and what."""

    schedule: str
    findings: tuple[Finding, ...]


class Tally(Struct, frozen=True):
    """How many processes were killed or frozen, and what was found."""

    kills: int = 0
    broken: tuple[Broken, ...] = ()

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.kills + other.kills, self.broken + other.broken)

    def count(self, *kinds: str) -> int:
        """How many findings are of one of ``kinds``."""
        return sum(1 for one in self.broken for finding in one.findings if finding.kind in kinds)


class Bench(Struct, frozen=True):
    """What is drilled: a journal, and who carries runs over it."""

    kind: JournalKind
    carrier: Carrier = OWN

    def live(self, schedule: Schedule) -> Evidence:
        """Play ``schedule`` in a folder of its own, which is gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="handrail-drill-", ignore_cleanup_errors=True) as folder:
            return live(schedule, self.kind, self.carrier, Path(folder))

    def judge(self, schedules: Iterable[Schedule], unbroken: Evidence) -> Iterator[Tally]:
        """The tally of each schedule, held against ``unbroken``."""
        for schedule in schedules:
            evidence = self.live(schedule)
            found = findings(evidence, unbroken)
            yield Tally(evidence.kills, (Broken(_told(schedule), found),) if found else ())


class Batch(Struct, frozen=True, kw_only=True):
    """Work for one process: single kills at the places ``first`` to ``last``, or ``kills`` drawn by ``seed``."""

    bench: Bench
    story: Story
    first: int = 0
    last: int = 0
    seed: int = 0
    kills: int = 0


def play(batch: Batch) -> Tally:
    """Carry ``batch`` out: the unbroken run first, which must be without a finding itself."""
    bench = batch.bench
    unbroken = bench.live(Schedule(story=batch.story))
    found = findings(unbroken, unbroken)
    if found:
        return Tally(0, (Broken(f"{batch.story.name}, unbroken", found),))
    places = places_of(unbroken)
    total = Tally()
    for tally in bench.judge(_schedules(batch, places), unbroken):
        total += tally
        if batch.kills and total.kills >= batch.kills:
            break
    return total


def _schedules(batch: Batch, places: Places) -> Iterator[Schedule]:
    if batch.kills:
        return drawn(batch.story, places, batch.seed)
    return islice(single_kills(batch.story, places), batch.first, batch.last)


def batches(kind: JournalKind, kills: int, seed: int) -> Iterator[Batch]:
    """Work for about ``kills`` kills: each place of the fixed stories once if they suffice, then drawn ones.

    Over PostgreSQL one in twenty is of workers on many machines: a dead one takes seconds to be missed.
    """
    if kind.name == POSTGRES and kills >= _WORKERS_FROM:
        for number in range(kills // (20 * _WORKER_KILLS_AT_ONCE)):
            own = seed * 1_000_003 + number
            yield Batch(bench=Bench(kind, WORKERS), story=drawn_story(own), seed=own, kills=_WORKER_KILLS_AT_ONCE)
            kills -= _WORKER_KILLS_AT_ONCE
    for bench, story in ((Bench(kind, OWN), whole_story()), (Bench(kind, PARKING), staged_story())):
        places = places_of(bench.live(Schedule(story=story)))
        singles = len(places.driver) + len(places.people)
        if kills >= singles:
            for first in range(0, singles, _SINGLES_AT_ONCE):
                yield Batch(bench=bench, story=story, first=first, last=min(first + _SINGLES_AT_ONCE, singles))
            kills -= singles
    for number, first in enumerate(range(0, kills, _KILLS_AT_ONCE)):
        own = seed * 1_000_003 + number
        story = _story_of(number, own)
        bench = Bench(kind, CARRIERS[number % len(CARRIERS)])
        yield Batch(bench=bench, story=story, seed=own, kills=min(_KILLS_AT_ONCE, kills - first))


def _story_of(number: int, seed: int) -> Story:
    """A third of all in stages, one in six an end that somebody wished, by turns with each carrier."""
    if number % 12 in (3, 10):
        return ended_story(ENDS[number // 12 % len(ENDS)])
    return staged_story() if number % 3 == 2 else drawn_story(seed)


def drill(work: Iterable[Batch], jobs: int, watch: Callable[[Tally, Tally], None]) -> Tally:
    """Play all of ``work`` in ``jobs`` processes; ``watch`` is shown the sum, and what was added, after each batch.

    They are started anew, not forked, so that what they fork in turn has no threads of this process to miss.
    """
    total = Tally()
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    try:
        for done in as_completed([pool.submit(play, batch) for batch in work]):
            latest = done.result()
            total += latest
            watch(total, latest)
    finally:
        # Told to end, it ends with what is being played; nothing more is begun.
        pool.shutdown(cancel_futures=True)
    return total


def _told(schedule: Schedule) -> str:
    fates = (*(("driver", fate) for fate in schedule.drivers), *(("people", fate) for fate in schedule.people))
    told = ", ".join(
        f"{role} {fate.does} at place {fate.nth}{f' + {fate.delay_s * 1000:.1f} ms' if fate.delay_s else ''}"
        for role, fate in fates
    )
    return f"{schedule.story.name}: {told}{', woken early' if schedule.wakes_early else ''}"
