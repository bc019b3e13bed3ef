"""Use case: the checks of rules over past sessions: how often there was occasion, how often one was violated.

Needs no model. A rule's check is held to the sessions in which the rule counts, and to no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from handrail import jsonio
from handrail.app.counting import MomentRow
from handrail.app.learning.cases import root_of
from handrail.app.listing import SessionFilter
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.mining import Progress, has_people, mine
from handrail.app.opening import Opened, open_ref
from handrail.errors import HandrailError
from handrail.learning.checks.force import BadCheck, holds_at
from handrail.learning.checks.history import done_of, words_of
from handrail.learning.checks.replaying import Occasion, Tested, occasions, summed
from handrail.learning.checks.spec import Check, NotACheck, check_from
from handrail.learning.rules.model import Life, Rule
from handrail.learning.rules.scope import Place
from handrail.learning.statistics import Interval, rate_interval
from handrail.learning.surroundings import excerpt
from handrail.library import Unread
from handrail.transcripts.codec import SessionRef
from handrail.transcripts.model import Message, ToolUse

SHOWN = 5
"""How many violations of a rule are shown one by one, the newest first."""

_EXCERPT_CHARS = 160


class RuleCheck(Struct, frozen=True):
    """A rule and its check, read."""

    rule: Rule
    check: Check


class Violation(Struct, frozen=True, kw_only=True, gc=False):
    """One: the session, the number (from 1) of the message, and what it was. ``is_rightly``: the person stepped in."""

    harness: str
    session: str
    short_id: str
    message: int
    at: datetime | None
    what: str
    is_rightly: bool


class RuleFigures(Struct, frozen=True, kw_only=True):
    """What the check of a rule came to. ``rate`` is violations among occasions, None where there was none.

    ``rightly`` of the ``violations`` are those at which the person stepped in; at the others nobody minded, or nobody
    saw. ``shown`` are the newest.
    """

    rule: str
    text: str
    enforced: str
    sessions: int
    occasions: int
    violations: int
    rightly: int
    rate: float | None
    interval: Interval | None
    shown: tuple[Violation, ...] = ()


class CheckReplay(Struct, frozen=True, kw_only=True):
    """The checks over the sessions that were read; ``bad`` are checks that cannot be read."""

    schema_version: int = SCHEMA_VERSION
    since: datetime | None
    sessions: int
    rules: tuple[RuleFigures, ...]
    bad: tuple[BadCheck, ...]
    unread: tuple[Unread, ...]


def checks_of(rules: Iterable[Rule]) -> tuple[tuple[RuleCheck, ...], tuple[BadCheck, ...]]:
    """The rules that have a check and are not retired, and those whose check cannot be read."""
    found: list[RuleCheck] = []
    bad: list[BadCheck] = []
    for rule in rules:
        if rule.check is None or rule.life is Life.RETIRED:
            continue
        try:
            found.append(RuleCheck(rule, check_from(rule.check)))
        except NotACheck as problem:
            bad.append(BadCheck(rule.id, problem.message))
    return tuple(found), tuple(bad)


def tested_in(checks: Iterable[RuleCheck], opened: Opened, rows: Iterable[MomentRow]) -> Mapping[str, Tested]:
    """What each check came to in one session, by the rule's id; ``rows`` are the moments that were mined there.

    A rule that does not count there, or had no occasion, is left out.
    """
    return {one.rule.id: summed(found) for one, found in found_in(checks, opened, rows) if found}


def found_in(
    checks: Iterable[RuleCheck], opened: Opened, rows: Iterable[MomentRow]
) -> Iterator[tuple[RuleCheck, tuple[Occasion, ...]]]:
    """Each check that holds where the session is, with its occasions there."""
    root = root_of(opened.session.meta.cwd)
    place = Place(repository=root, harness=opened.info.name)
    steps = [row.message - 1 for row in rows if row.is_stepin and row.branch is None]
    for one in checks:
        if holds_at(one.rule.scope, place):
            yield one, occasions(one.check, opened.session, steps, scope=one.rule.scope, root=root)


def replay_checks(
    machine: Machine, rules: Sequence[Rule], since: datetime | None = None, on_progress: Progress | None = None
) -> CheckReplay:
    """The checks of ``rules`` over all past sessions in which they count, one session at a time.

    A session that cannot be read is reported in ``unread``.
    """
    checks, bad = checks_of(rules)
    catalog = machine.catalog()
    unread = list(catalog.unread)
    wanted = SessionFilter(since=since)
    refs = [ref for ref in catalog.sessions if has_people(ref) and wanted.admits(ref) and _may_hold(checks, ref)]
    short = catalog.short_ids()
    sums = _Sums(checks)
    for done, ref in enumerate(refs):
        if on_progress is not None:
            on_progress(done, len(refs))
        try:
            opened = open_ref(machine, ref)
            sums.add(opened, short[ref.id], mine(opened, short[ref.id], machine.judging).rows)
        except HandrailError as problem:
            unread.append(Unread(harness=ref.harness, where=ref.locator, message=problem.message))
    if on_progress is not None:
        on_progress(len(refs), len(refs))
    return CheckReplay(since=since, sessions=sums.sessions, rules=sums.figures(), bad=bad, unread=tuple(unread))


def _may_hold(checks: Iterable[RuleCheck], ref: SessionRef) -> bool:
    """Whether some check may hold in the session; one whose folder the listing does not show is looked into."""
    if ref.meta.cwd is None:
        return True
    place = Place(repository=root_of(ref.meta.cwd), harness=ref.harness)
    return any(holds_at(one.rule.scope, place) for one in checks)


class _Sums:
    """The sums over sessions as they come, the newest first."""

    def __init__(self, checks: Sequence[RuleCheck]) -> None:
        self.sessions = 0
        self._checks = checks
        self._tested = {one.rule.id: Tested() for one in checks}
        self._shown: dict[str, list[Violation]] = {one.rule.id: [] for one in checks}

    def add(self, opened: Opened, short_id: str, rows: Iterable[MomentRow]) -> None:
        self.sessions += 1
        for one, found in found_in(self._checks, opened, rows):
            self._tested[one.rule.id] += summed(found)
            shown = self._shown[one.rule.id]
            fired = [occasion for occasion in reversed(found) if not occasion.is_obeyed]
            shown += [_violation(opened, short_id, occasion) for occasion in fired[: SHOWN - len(shown)]]

    def figures(self) -> tuple[RuleFigures, ...]:
        return tuple(
            replace(figures_of(one.rule, self._tested[one.rule.id]), shown=tuple(self._shown[one.rule.id]))
            for one in self._checks
        )


def figures_of(rule: Rule, tested: Tested) -> RuleFigures:
    """The figures of one rule, with the interval of its rate."""
    return RuleFigures(
        rule=rule.id,
        text=rule.text,
        enforced=rule.enforced,
        sessions=tested.sessions,
        occasions=tested.occasions,
        violations=tested.fired,
        rightly=tested.rightly,
        rate=tested.rate,
        interval=rate_interval(tested.fired, tested.occasions) if tested.occasions else None,
    )


def _violation(opened: Opened, short_id: str, occasion: Occasion) -> Violation:
    message = opened.session.body[occasion.at]
    return Violation(
        harness=opened.info.name,
        session=opened.source.id,
        short_id=short_id,
        message=occasion.at + 1,
        at=message.timestamp,
        what=excerpt(_what(message, occasion.call), _EXCERPT_CHARS),
        is_rightly=occasion.is_rightly,
    )


def _what(message: Message, call: str | None) -> str:
    """The call in one line, or the words of the answer."""
    use = next((block for block in message.content if type(block) is ToolUse and block.id == call), None)
    if use is None:
        return words_of(message)
    done = done_of(use)
    return f"{done.name} {jsonio.encode(done.input).decode('utf-8', 'replace')}"
