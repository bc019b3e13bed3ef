"""A drill that cannot fail is worth nothing: each planted bug is found, as what it is."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from handrail.testing.drill.carriers import OWN, Carrier
from handrail.testing.drill.drilling import Bench
from handrail.testing.drill.faults import Fate
from handrail.testing.drill.findings import Finding, findings
from handrail.testing.drill.journals import FILE, JournalKind
from handrail.testing.drill.lives import Evidence, Schedule
from handrail.testing.drill.schedules import places_of
from handrail.testing.drill.stories import whole_story

from .planted import DEAF, DOUBLING, FORGETFUL, GIVES_UP, STARTS_LATE, TAKES_AGAIN


@pytest.fixture(scope="module")
def good() -> Evidence:
    return Bench(FILE).live(Schedule(story=whole_story()))


def fates(unbroken: Evidence, role: str, place: str) -> Schedule:
    """A kill of the ``role`` where it first comes to ``place``."""
    places = places_of(unbroken)
    fate = Fate((places.driver if role == "driver" else places.people).index(place) + 1)
    if role == "driver":
        return Schedule(story=whole_story(), drivers=(fate,))
    return Schedule(story=whole_story(), people=(fate,))


class Planted(NamedTuple):
    """A bug: in which journal or carrier, which process is killed where, and the finding (some of its words) due."""

    kind: JournalKind
    carrier: Carrier
    role: str
    place: str
    finding: Finding


PLANTED = {
    "drops the last append": Planted(
        FORGETFUL, OWN, "driver", "after append model_replied", Finding("loss", "is kept, and it is gone")
    ),
    "records a start late": Planted(
        FILE, STARTS_LATE, "driver", "in tool write", Finding("double", "may run once and ran 2 times")
    ),
    "delivers twice": Planted(
        DOUBLING, OWN, "people", "after post input_received", Finding("difference", "A word by steer")
    ),
    "takes an entry again": Planted(
        FILE, TAKES_AGAIN, "driver", "after append input_received", Finding("double", "taken from the inbox 2 times")
    ),
    "loses what was sent": Planted(DEAF, OWN, "driver", "in tool look", Finding("loss", "stands in the inbox 0 times")),
    "never goes on": Planted(FILE, GIVES_UP, "driver", "in tool write", Finding("halt", "the run is not over")),
}


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED.keys())
def test_a_planted_bug_is_found(good: Evidence, planted: Planted) -> None:
    bench = Bench(planted.kind, planted.carrier)
    broken = bench.live(fates(bench.live(Schedule(story=whole_story())), planted.role, planted.place))
    told = findings(broken, good)
    assert any(one.kind == planted.finding.kind and planted.finding.what in one.what for one in told), told
