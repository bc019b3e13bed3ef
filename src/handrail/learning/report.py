"""The figures that count: step-ins per 100 rounds, repeats of the same correction, violations of what can be checked.

By week, project and rule, each with what can be said about it: an interval where there is a figure, a dash where there
is none. All of it is observed, nothing of it was assigned by chance: a rate that falls says that less was corrected,
not why.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta

from msgspec import Struct

from handrail.learning.checks.replaying import Tested
from handrail.learning.statistics import Interval, count_interval, rate_interval

CAVEATS = (
    "Observed, not assigned: other work, other models and other people in a week move these figures too.",
    "Intervals take step-ins for independent; those of one session are not quite, so they are too narrow.",
    "A check sees what its pattern says and nothing else; a rule without one has no violation rate.",
)
"""What the figures cannot show."""

_MONDAY = date(1970, 1, 5)


class SessionFigures(Struct, frozen=True, kw_only=True):
    """What one session adds. ``at`` is when it ended (None: unknown, in no week), ``checks`` by the rule's id."""

    at: datetime | None
    project: str
    rounds: int
    step_ins: int
    checks: Mapping[str, Tested] = {}


class Repeat(Struct, frozen=True, kw_only=True, gc=False):
    """The same correction once more: a moment that a rule there was already came of."""

    rule: str
    at: datetime | None
    project: str


class Figure(Struct, frozen=True, kw_only=True):
    """One row: per week, project or rule. ``rate`` is step-ins per 100 rounds, None without a round."""

    name: str
    sessions: int = 0
    rounds: int = 0
    step_ins: int = 0
    rate: float | None = None
    interval: Interval | None = None
    repeats: int = 0
    occasions: int = 0
    violations: int = 0
    violation_rate: float | None = None
    violation_interval: Interval | None = None


class Report(Struct, frozen=True, kw_only=True):
    """``weeks`` from the first to the last, empty ones too; ``undated`` sessions are in no week."""

    total: Figure
    weeks: tuple[Figure, ...]
    projects: tuple[Figure, ...]
    rules: tuple[Figure, ...]
    undated: int
    caveats: tuple[str, ...] = CAVEATS


def report_of(sessions: Iterable[SessionFigures], repeats: Iterable[Repeat] = ()) -> Report:
    """The report over ``sessions``; the order they come in does not matter."""
    given, again = list(sessions), list(repeats)
    dated = [one for one in given if one.at is not None]
    return Report(
        total=_figure("all", given, again),
        weeks=tuple(_weeks(dated, [one for one in again if one.at is not None])),
        projects=tuple(_grouped(given, again, lambda one: one.project)),
        rules=tuple(_by_rule(given, again)),
        undated=len(given) - len(dated),
    )


def week_of(at: datetime) -> str:
    """The Monday of the week of ``at`` (UTC), as a date: weeks are counted from one Monday, whatever is asked for."""
    day = at.astimezone(UTC).date()
    return (day - timedelta(days=(day - _MONDAY).days % 7)).isoformat()


def _figure(name: str, sessions: list[SessionFigures], repeats: list[Repeat]) -> Figure:
    rounds = sum(one.rounds for one in sessions)
    step_ins = sum(one.step_ins for one in sessions)
    tested = sum((one for session in sessions for one in session.checks.values()), Tested())
    return Figure(
        name=name,
        sessions=len(sessions),
        rounds=rounds,
        step_ins=step_ins,
        rate=100 * step_ins / rounds if rounds else None,
        interval=_per_hundred(step_ins, rounds),
        repeats=len(repeats),
        occasions=tested.occasions,
        violations=tested.fired,
        violation_rate=tested.rate,
        violation_interval=rate_interval(tested.fired, tested.occasions) if tested.occasions else None,
    )


def _per_hundred(step_ins: int, rounds: int) -> Interval | None:
    if not rounds:
        return None
    mean = count_interval(step_ins)
    return Interval(100 * mean.low / rounds, 100 * mean.high / rounds, mean.level)


def _weeks(sessions: list[SessionFigures], repeats: list[Repeat]) -> Iterable[Figure]:
    times = (*(session.at for session in sessions), *(repeat.at for repeat in repeats))
    found = {week_of(at) for at in times if at is not None}
    if not found:
        return
    first, last = date.fromisoformat(min(found)), date.fromisoformat(max(found))
    for number in range((last - first).days // 7 + 1):
        week = (first + timedelta(weeks=number)).isoformat()
        yield _figure(
            week,
            [one for one in sessions if one.at is not None and week_of(one.at) == week],
            [one for one in repeats if one.at is not None and week_of(one.at) == week],
        )


def _grouped(
    sessions: list[SessionFigures], repeats: list[Repeat], key: Callable[[SessionFigures | Repeat], str]
) -> Iterable[Figure]:
    groups: dict[str, tuple[list[SessionFigures], list[Repeat]]] = defaultdict(lambda: ([], []))
    for session in sessions:
        groups[key(session)][0].append(session)
    for repeat in repeats:
        groups[key(repeat)][1].append(repeat)
    figures = (_figure(name, *groups[name]) for name in groups)
    return sorted(figures, key=lambda figure: (-figure.rounds, figure.name))


def _by_rule(sessions: list[SessionFigures], repeats: list[Repeat]) -> Iterable[Figure]:
    """The rules with a check or a repeat; step-ins belong to no rule, so those columns are empty."""
    names = {rule for session in sessions for rule in session.checks} | {repeat.rule for repeat in repeats}
    for name in sorted(names):
        seen = [session for session in sessions if name in session.checks]
        tested = sum((session.checks[name] for session in seen), Tested())
        yield Figure(
            name=name,
            sessions=len(seen),
            repeats=sum(repeat.rule == name for repeat in repeats),
            occasions=tested.occasions,
            violations=tested.fired,
            violation_rate=tested.rate,
            violation_interval=rate_interval(tested.fired, tested.occasions) if tested.occasions else None,
        )
