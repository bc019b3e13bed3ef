"""The report: weeks that stay put, dashes where there is nothing, intervals around figures, a chart that is one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.learning.chart import chart_of
from handrail.learning.checks.replaying import Tested
from handrail.learning.report import Repeat, SessionFigures, report_of, week_of

AT = datetime(2026, 3, 4, 12, tzinfo=UTC)


def _session(rounds: int = 50, step_ins: int = 2, *, weeks: int | None = 0, **more: object) -> SessionFigures:
    at = None if weeks is None else AT + timedelta(weeks=weeks)
    return SessionFigures(at=at, project="shop", rounds=rounds, step_ins=step_ins, **more)  # type: ignore[arg-type]


_sessions = st.builds(
    SessionFigures,
    at=st.none() | st.integers(-60, 60).map(lambda days: AT + timedelta(days=days)),
    project=st.sampled_from(("shop", "bank")),
    rounds=st.integers(0, 90),
    step_ins=st.integers(0, 9),
    checks=st.dictionaries(st.sampled_from(("r1", "r2")), st.just(Tested(occasions=4, fired=1, sessions=1))),
)


def test_weeks_begin_on_mondays_whatever_is_asked_for() -> None:  # J 80
    assert week_of(AT) == "2026-03-02"
    assert week_of(datetime(2026, 3, 2, tzinfo=UTC)) == "2026-03-02"
    assert week_of(datetime(2026, 3, 1, 23, 59, tzinfo=UTC)) == "2026-02-23"


def test_a_week_without_sessions_is_there_and_has_no_rate() -> None:  # J 80
    report = report_of([_session(), _session(weeks=2)])

    assert [(week.name, week.rate) for week in report.weeks] == [
        ("2026-03-02", 4.0),
        ("2026-03-09", None),
        ("2026-03-16", 4.0),
    ]


def test_a_session_nobody_can_date_counts_and_is_in_no_week() -> None:
    report = report_of([_session(weeks=None)])

    assert (report.total.step_ins, report.weeks, report.undated) == (2, (), 1)


@given(st.lists(_sessions, max_size=12), st.integers())
def test_the_order_does_not_matter_and_every_interval_holds_its_figure(
    sessions: list[SessionFigures], seed: int
) -> None:
    report = report_of(sessions)
    shuffled = list(sessions)
    Random(seed).shuffle(shuffled)

    assert report_of(shuffled) == report
    assert report.total.rounds == sum(one.rounds for one in report.projects)
    for figure in (report.total, *report.weeks, *report.projects):
        assert (figure.rate is None) == (figure.interval is None) == (figure.rounds == 0)
        if figure.rate is not None and figure.interval is not None:
            assert figure.interval.low <= figure.rate <= figure.interval.high + 1e-9


def test_violations_are_counted_where_a_check_applied_and_nowhere_else() -> None:
    checks = {"r1": Tested(occasions=10, fired=3, rightly=1, sessions=1), "r2": Tested()}

    report = report_of([_session(checks=checks)])

    rates = {figure.name: figure.violation_rate for figure in report.rules}
    assert rates == {"r1": 0.3, "r2": None}
    assert report.total.violation_rate == 0.3


def test_repeats_stand_with_their_rule_and_week() -> None:
    report = report_of([_session()], [Repeat(rule="r1", at=AT, project="shop")] * 2)

    assert (report.weeks[0].repeats, report.rules[0].repeats, report.total.repeats) == (2, 2, 2)


@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_the_chart_is_one_picture_with_a_dot_a_week(count: int) -> None:
    svg = chart_of(report_of([_session(weeks=number) for number in range(count)]))

    root = ElementTree.fromstring(svg)
    assert len(root.findall("{http://www.w3.org/2000/svg}circle")) == count
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")


def test_what_the_figures_cannot_show_is_said() -> None:
    assert report_of([]).caveats
