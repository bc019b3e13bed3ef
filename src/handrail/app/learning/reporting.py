"""Use case: the figures that count, by week, project and rule: step-ins per 100 rounds, repeats, violations.

Needs no model. A session is held at a time; a moment that several files hold counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from handrail.app.learning.memory import Memory
from handrail.app.learning.tenure import findings
from handrail.app.learning.violations import RuleCheck, checks_of, tested_in
from handrail.app.listing import SessionFilter
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.mining import Progress, has_people, mine
from handrail.app.opening import Opened, open_ref
from handrail.errors import HandrailError
from handrail.learning.checks.force import BadCheck
from handrail.learning.probes.ledger import Outcome
from handrail.learning.probes.tenure import Finding
from handrail.learning.proposals.model import Handling
from handrail.learning.reflecting.lesson import Lesson
from handrail.learning.report import Figure, Repeat, Report, SessionFigures, report_of
from handrail.learning.rules.model import Life, Rule, Source
from handrail.library import Unread, project_name
from handrail.transcripts.codec import SessionRef

UNKNOWN_PROJECT = "unknown"


class RuleReport(Struct, frozen=True, kw_only=True):
    """One rule: whether it has a check, what its check and its repeats came to, and what probes allow to be said."""

    rule: str
    text: str
    life: Life
    is_checkable: bool
    figure: Figure
    outcome: Outcome
    reason: str


class LoopReport(Struct, frozen=True, kw_only=True):
    """The figures. ``weeks`` are told by their Monday (UTC), from the first to the last; ``undated`` ones are in none.

    ``rules`` are those that are not retired, and retired ones with a figure. ``bad_checks`` cannot be read.
    """

    schema_version: int = SCHEMA_VERSION
    since: datetime | None
    total: Figure
    weeks: tuple[Figure, ...]
    projects: tuple[Figure, ...]
    rules: tuple[RuleReport, ...]
    undated: int
    caveats: tuple[str, ...]
    bad_checks: tuple[BadCheck, ...] = ()
    unread: tuple[Unread, ...] = ()


class Reported(Struct, frozen=True, kw_only=True):
    """The report as it is printed, and the figures a chart is drawn of."""

    told: LoopReport
    drawn: Report


def report(
    machine: Machine, memory: Memory, wanted: SessionFilter | None = None, *, on_progress: Progress | None = None
) -> Reported:
    """The figures over the sessions that ``wanted`` admits, all lines of each counted once.

    A session that cannot be read is reported in ``unread``. Looking creates nothing.
    """
    sessions = (wanted or SessionFilter()).on(machine)
    book = memory.rules.load().book
    checks, bad = checks_of(book)
    unread: list[Unread] = []
    figures = list(_figures(machine, sessions, checks, unread, on_progress))
    repeats = repeats_of(memory, _admitting(machine, sessions))
    drawn = report_of(figures, repeats)
    told = LoopReport(
        since=sessions.since,
        total=drawn.total,
        weeks=drawn.weeks,
        projects=drawn.projects,
        rules=tuple(_rules(book, {rule.id: finding for rule, finding in findings(memory)}, drawn, checks)),
        undated=drawn.undated,
        caveats=drawn.caveats,
        bad_checks=bad,
        unread=tuple(unread),
    )
    return Reported(told=told, drawn=drawn)


def repeats_of(memory: Memory, admits: Callable[[Source], bool] = lambda _: True) -> tuple[Repeat, ...]:
    """The corrections that a rule was there for already: moments after it came, of which it has more evidence, or that
    a proposal found it to cover. Each moment that ``admits`` lets in counts once a rule."""
    rules = {rule.id: rule for rule in memory.rules.load().book}
    lessons = {lesson.id: lesson for lesson in memory.lessons.load().lessons()}
    found: dict[tuple[str, str], Repeat] = {}
    for rule in rules.values():
        for source in rule.sources:
            if admits(source):
                _note(found, rule, lessons.get(source.lesson or ""), source.at, source.moment)
    for proposal in memory.proposals.load():
        for one in proposal.covered:
            covered, lesson = rules.get(one.rule), lessons.get(one.lesson)
            if covered is None or lesson is None or one.handling is Handling.RETIRED:
                continue
            source = lesson.reflected.source
            if admits(source):
                _note(found, covered, lesson, source.at, source.moment)
    return tuple(found.values())


def _note(
    found: dict[tuple[str, str], Repeat], rule: Rule, lesson: Lesson | None, at: datetime | None, moment: str
) -> None:
    if at is None or rule.created_at is None or at <= rule.created_at:
        return
    place = None if lesson is None else lesson.reflected.place.repository
    project = project_name(place) or UNKNOWN_PROJECT
    found.setdefault((rule.id, moment), Repeat(rule=rule.id, at=at, project=project))


def _admitting(machine: Machine, sessions: SessionFilter) -> Callable[[Source], bool]:
    """Whether a moment is one of those asked for: by its own time, and by the session it is in."""
    known: set[tuple[str, str]] | None = None
    if sessions.harness is not None or sessions.project is not None:
        at_any_time = replace(sessions, since=None)
        known = {(ref.harness, ref.id) for ref in machine.catalog().sessions if at_any_time.admits(ref)}

    def admits(source: Source) -> bool:
        is_late = sessions.since is None or (source.at is not None and source.at >= sessions.since)
        return is_late and (known is None or (source.harness, source.session) in known)

    return admits


def _figures(
    machine: Machine,
    sessions: SessionFilter,
    checks: tuple[RuleCheck, ...],
    unread: list[Unread],
    on_progress: Progress | None,
) -> Iterator[SessionFigures]:
    catalog = machine.catalog()
    unread.extend(catalog.unread)
    # The oldest first, so that a copy is met after what it was copied from.
    refs = [ref for ref in reversed(catalog.sessions) if has_people(ref) and sessions.admits(ref)]
    seen: set[str] = set()
    for done, ref in enumerate(refs):
        if on_progress is not None:
            on_progress(done, len(refs))
        try:
            opened = open_ref(machine, ref)
        except HandrailError as problem:
            unread.append(Unread(harness=ref.harness, where=ref.locator, message=problem.message))
            continue
        yield _session(machine, ref, opened, checks, seen)
    if on_progress is not None:
        on_progress(len(refs), len(refs))


def _session(
    machine: Machine, ref: SessionRef, opened: Opened, checks: tuple[RuleCheck, ...], seen: set[str]
) -> SessionFigures:
    mined = mine(opened, ref.id, machine.judging)
    fresh = [row for row in mined.rows if row.is_stepin and row.id not in seen]
    seen.update(row.id for row in fresh)
    times = (message.timestamp for message in reversed(opened.session.body) if message.timestamp is not None)
    return SessionFigures(
        at=next(times, ref.meta.timestamp),
        project=mined.project or UNKNOWN_PROJECT,
        rounds=mined.rounds,
        step_ins=len(fresh),
        checks=tested_in(checks, opened, mined.rows),
    )


def _rules(
    book: Iterable[Rule], found: dict[str, Finding], drawn: Report, checks: Iterable[RuleCheck]
) -> Iterator[RuleReport]:
    figures = {figure.name: figure for figure in drawn.rules}
    checkable = {one.rule.id for one in checks}
    for rule in book:
        finding = found.get(rule.id)
        if finding is None and rule.id not in figures:
            continue
        yield RuleReport(
            rule=rule.id,
            text=rule.text,
            life=rule.life,
            is_checkable=rule.id in checkable,
            figure=figures.get(rule.id, Figure(name=rule.id)),
            outcome="not_measured" if finding is None else finding.outcome,
            reason=f"retired: {rule.reason}" if finding is None else finding.reason,
        )
