"""Two workers on one queue: whichever is killed in the middle of a round, the other one finishes it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from handrail.testing.drill.drilling import Bench
from handrail.testing.drill.faults import Fate
from handrail.testing.drill.findings import findings
from handrail.testing.drill.journals import postgres_at
from handrail.testing.drill.lives import Evidence, Schedule
from handrail.testing.drill.schedules import places_of
from handrail.testing.drill.stories import whole_story
from handrail.testing.drill.workers import WORKERS
from handrail.testing.postgres import PostgresServer


@pytest.fixture(scope="module")
def bench(postgres: PostgresServer) -> Iterator[Bench]:
    pytest.importorskip("procrastinate")
    with postgres_at(postgres.url) as kind:
        yield Bench(kind, WORKERS)


@pytest.fixture(scope="module")
def unbroken(bench: Bench) -> Evidence:
    return Bench(bench.kind).live(Schedule(story=whole_story()))


def test_two_workers_come_to_what_one_driver_comes_to(bench: Bench, unbroken: Evidence) -> None:
    shared = bench.live(Schedule(story=whole_story()))
    assert findings(shared, unbroken) == ()
    assert {life.end for life in shared.lives} == {"finished"}


@pytest.mark.parametrize("place", ["after request", "in tool write", "after append ask_opened"])
def test_a_worker_that_is_killed_is_taken_over_by_another(bench: Bench, unbroken: Evidence, place: str) -> None:
    # Either may have the run: whoever first comes as far as that is killed, and then whoever has it next.
    fate = Fate(places_of(unbroken).driver.index(place) + 1)
    broken = bench.live(Schedule(story=whole_story(), drivers=(fate, fate)))
    assert broken.kills > 0
    assert findings(broken, unbroken) == ()
