"""The drill in short: a place of each kind, freezes, schedules of several kills, over every journal there is.

``make drill`` is the long one. What is held here row by row: blueprints H.9 123 and 130 (what is open stays open),
132 (a finished call is not run again), 133 (one that was running is told of as unknown), 139 and 140 (nothing that
was answered or sent is lost or doubled, wherever a process is killed).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from handrail.journal.events import DriverTookOver
from handrail.testing.drill.carriers import OWN, PARKING, Carrier
from handrail.testing.drill.drilling import Bench, Tally
from handrail.testing.drill.faults import Fate
from handrail.testing.drill.findings import findings
from handrail.testing.drill.journals import FILE, SQLITE, postgres_at
from handrail.testing.drill.lives import Evidence, Schedule
from handrail.testing.drill.schedules import drawn, places_of, single_freezes, single_kills
from handrail.testing.drill.stories import ENDS, Beat, Story, drawn_story, ended_story, staged_story, whole_story


@pytest.fixture(scope="module", params=["file", "sqlite", "postgres"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    if request.param == "postgres":
        with postgres_at(request.getfixturevalue("postgres").url) as kind:
            yield Bench(kind)
    else:
        yield Bench({"file": FILE, "sqlite": SQLITE}[request.param])


@pytest.fixture(scope="module")
def unbroken(bench: Bench) -> Evidence:
    return bench.live(Schedule(story=whole_story()))


def test_the_unbroken_run_is_without_a_finding(unbroken: Evidence) -> None:
    assert findings(unbroken, unbroken) == ()
    assert unbroken.kills == 0


def test_a_kill_at_a_place_of_each_kind_leaves_no_trace(bench: Bench, unbroken: Evidence) -> None:
    places = places_of(unbroken)
    names = (*places.driver, *places.people)
    schedules = dict(reversed([*zip(names, single_kills(whole_story(), places), strict=True)]))
    assert total(bench, [*schedules.values()][:: 5 if bench.kind.name == "file" else 10], unbroken).broken == ()


def test_a_frozen_driver_that_wakes_writes_nothing(bench: Bench, unbroken: Evidence) -> None:
    places = places_of(unbroken)
    freezes = [*single_freezes(whole_story(), places)][::80] + [
        *single_freezes(whole_story(), places, wakes_early=True)
    ][40::80]
    tally = total(bench, freezes, unbroken)
    assert (tally.kills, tally.broken) == (len(freezes), ())


def test_several_kills_in_one_run_leave_no_trace(bench: Bench) -> None:
    story = drawn_story(7)
    whole = bench.live(Schedule(story=story))
    schedules = drawn(story, places_of(whole), seed=7)
    assert total(bench, [next(schedules) for _ in range(4)], whole).broken == ()


@pytest.mark.parametrize(
    "story",
    [whole_story(), staged_story(), drawn_story(1_000_110), *map(ended_story, ENDS)],
    ids=lambda story: story.name,
)
def test_a_run_that_is_left_at_every_question_is_the_one_that_waits(story: Story) -> None:
    waited, left = (Bench(FILE, carrier).live(Schedule(story=story)) for carrier in (OWN, PARKING))
    assert findings(left, waited) == ()
    assert sum(type(event.body) is DriverTookOver for event in left.histories["drill"]) > 0


@pytest.mark.parametrize("beat", ["helper_stopped", "helper_cancelled", "question_cancelled"])
@pytest.mark.parametrize("carrier", [OWN, PARKING], ids=lambda carrier: carrier.name)
def test_a_kill_leaves_no_trace_where_a_run_is_ended_that_waits(carrier: Carrier, beat: Beat) -> None:
    bench, story = Bench(FILE, carrier), ended_story(beat)
    whole = bench.live(Schedule(story=story))
    schedules = [*single_kills(story, places_of(whole))]
    # The end itself is what the last places are about.
    assert total(bench, [*schedules[10:-60:60], *schedules[-60::12]], whole).broken == ()


def test_what_was_being_done_when_a_driver_died_is_called_unknown(bench: Bench, unbroken: Evidence) -> None:
    places = places_of(unbroken).driver
    broken = bench.live(Schedule(story=whole_story(), drivers=(Fate(places.index("in tool write") + 1),)))
    told = [event.body for event in broken.histories["drill"] if type(event.body).__name__ == "ToolOutcomeUnknown"]
    assert len(told) == 1
    assert findings(broken, unbroken) == ()


def test_the_same_seed_draws_the_same_schedules(unbroken: Evidence) -> None:
    places = places_of(unbroken)
    first, again, other = (drawn(whole_story(), places, seed) for seed in (3, 3, 4))
    drawn_first = [next(first) for _ in range(5)]
    assert drawn_first == [next(again) for _ in range(5)]
    assert drawn_first != [next(other) for _ in range(5)]


def total(bench: Bench, schedules: list[Schedule], unbroken: Evidence) -> Tally:
    return sum(bench.judge(schedules, unbroken), Tally())
