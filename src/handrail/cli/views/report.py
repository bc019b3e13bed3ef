"""``handrail report``: the sums, then weeks, projects and rules, then what none of it shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from handrail.app.learning.reporting import LoopReport, RuleReport
from handrail.cli.formats import count
from handrail.cli.surface import Surface
from handrail.cli.table import Column, render_table
from handrail.cli.views.probe import SAID
from handrail.learning.report import Figure
from handrail.learning.statistics import Interval

NONE = "-"
"""There is no figure; never a zero."""

_SHOWN = 12
_COLUMNS = ("SESSIONS", "ROUNDS", "STEP-INS", "PER 100 ROUNDS", "REPEATS", "VIOLATIONS")


def render_report(found: LoopReport, surface: Surface) -> Iterator[str]:
    """All tables that have rows."""
    yield from _sums(found)
    weeks = [week for week in found.weeks if week.sessions or week.repeats]
    yield from _table("WEEK OF", weeks[-_SHOWN:], len(weeks) - _SHOWN, surface)
    yield from _table("PROJECT", found.projects[:_SHOWN], len(found.projects) - _SHOWN, surface)
    yield from _rules(found.rules, surface)
    for bad in found.bad_checks:
        yield f"the check of {bad.rule} cannot be read: {bad.reason}"
    yield ""
    yield "What these figures cannot show:"
    yield from (f"  {caveat}" for caveat in found.caveats)


def _sums(found: LoopReport) -> Iterator[str]:
    total = found.total
    yield f"{count(total.sessions, 'session')}, {count(total.rounds, 'round')}, {count(total.step_ins, 'step-in')}"
    yield f"step-ins per 100 rounds: {_rate(total)}"
    yield f"repeats of a correction that there was a rule for: {total.repeats:,}"
    yield f"violations of what can be checked: {_violations(total)}"
    if found.undated:
        yield f"{count(found.undated, 'session')} of unknown time, in no week"


def _table(heading: str, figures: Sequence[Figure], left: int, surface: Surface) -> Iterator[str]:
    if not figures:
        return
    columns = (Column(heading, flexible=True), *(Column(name, right=True) for name in _COLUMNS))
    lines = render_table(columns, [_cells(figure) for figure in figures], surface.terminal_width)
    yield ""
    yield surface.style(lines[0], bold=True)
    yield from lines[1:]
    if left > 0:
        yield f"and {left:,} more; --json has all"


def _cells(figure: Figure) -> list[str]:
    return [
        figure.name,
        f"{figure.sessions:,}",
        f"{figure.rounds:,}",
        f"{figure.step_ins:,}",
        _rate(figure),
        f"{figure.repeats:,}",
        _violations(figure),
    ]


def _rules(rules: Sequence[RuleReport], surface: Surface) -> Iterator[str]:
    if not rules:
        return
    columns = (
        Column("RULE"),
        Column("LIFE"),
        Column("PROBES"),
        Column("REPEATS", right=True),
        Column("VIOLATIONS", right=True),
        Column("TEXT", flexible=True),
    )
    rows = [
        [
            one.rule,
            one.life.value,
            SAID[one.outcome],
            f"{one.figure.repeats:,}",
            _violations(one.figure) if one.is_checkable else "no check",
            one.text,
        ]
        for one in rules
    ]
    lines = render_table(columns, rows, surface.terminal_width)
    yield ""
    yield surface.style(lines[0], bold=True)
    yield from lines[1:]


def _rate(figure: Figure) -> str:
    return NONE if figure.rate is None else f"{figure.rate:.1f} {_between(figure.interval)}".rstrip()


def _violations(figure: Figure) -> str:
    if figure.violation_rate is None:
        return NONE
    share = figure.violation_interval
    between = "" if share is None else f" ({100 * share.low:.0f}-{100 * share.high:.0f}%)"
    return f"{figure.violations:,} of {figure.occasions:,}, {100 * figure.violation_rate:.0f}%{between}"


def _between(interval: Interval | None) -> str:
    return "" if interval is None else f"({interval.low:.1f}-{interval.high:.1f})"
