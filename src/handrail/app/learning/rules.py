"""Use case: the owner looks at rules and has the last word on each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from handrail.app.counting import MomentRow
from handrail.app.learning.beside import moments_beside
from handrail.app.learning.instructions import lines_in
from handrail.app.learning.measured import rows_of
from handrail.app.learning.memory import Memory
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.clock import Clock, SystemClock
from handrail.learning.probes.ledger import ProbeRow
from handrail.learning.reflecting.lesson import Lesson
from handrail.learning.rules.lint import Code, RuleFinding, Surroundings, last_evidence, lint
from handrail.learning.rules.model import Life, Rule, RuleBook, RuleScope
from handrail.learning.rules.operations import (
    Add,
    Advance,
    Amend,
    Operation,
    Refused,
    Rescope,
    Restore,
    Retire,
    apply,
    apply_all,
)
from handrail.learning.rules.pairs import Pair, pairs_of
from handrail.learning.rules.scope import overlap
from handrail.learning.rules.sentence import normalised
from handrail.learning.rules.store import BadLine


class RuleLine(Struct, frozen=True, kw_only=True):
    """A rule and when the last of its moments was."""

    rule: Rule
    last_evidence: datetime | None


class RuleList(Struct, frozen=True, kw_only=True):
    """The rules: the owner's own first, then those in force, those on trial, candidates, retired ones.

    ``own`` are the sentences of the owner's own file, ``own_file`` where it is or would be; ``bad`` lines that are no
    rule; ``others`` were not chosen.
    """

    schema_version: int = SCHEMA_VERSION
    rules: tuple[RuleLine, ...]
    own: tuple[str, ...] = ()
    own_file: str = ""
    others: int = 0
    bad: tuple[BadLine, ...] = ()


class RuleView(Struct, frozen=True, kw_only=True):
    """One rule with the moments behind it, the lessons they taught, the pairs it makes with other rules, and what was
    measured of it."""

    schema_version: int = SCHEMA_VERSION
    rule: Rule
    last_evidence: datetime | None = None
    moments: tuple[MomentRow, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    pairs: tuple[Pair, ...] = ()
    rows: tuple[ProbeRow, ...] = ()


class LintReport(Struct, frozen=True, kw_only=True):
    """What is wrong with the rules; ``problems`` counts the findings that are more than notes."""

    schema_version: int = SCHEMA_VERSION
    rules: int
    findings: tuple[RuleFinding, ...]
    problems: int


_NEXT = {
    Life.CANDIDATE: "handrail rules accept puts it on trial",
    Life.TRIAL: "handrail rules accept puts it into force",
    Life.RETIRED: "handrail rules restore takes it back",
}
_ORDER = {Life.ACTIVE: 0, Life.TRIAL: 1, Life.CANDIDATE: 2, Life.RETIRED: 3}


def list_rules(memory: Memory, *, everything: bool = False, repository: str | None = None) -> RuleList:
    """The rules that are not retired (with ``everything`` all), of those that may count in ``repository`` if given."""
    loaded = memory.rules.load()
    here = None if repository is None else RuleScope(repositories=(repository,))
    chosen = [
        rule
        for rule in loaded.book
        if (everything or rule.life is not Life.RETIRED) and (here is None or overlap(rule.scope, here))
    ]
    chosen.sort(key=lambda rule: (rule.by != "owner", _ORDER[rule.life], -len(rule.sources)))
    return RuleList(
        rules=tuple(RuleLine(rule=rule, last_evidence=last_evidence(rule)) for rule in chosen),
        own=memory.rules.owners(),
        own_file=str(memory.rules.own),
        others=len(loaded.book) - len(chosen),
        bad=loaded.bad,
    )


def show_rule(machine: Machine, memory: Memory, prefix: str) -> RuleView:
    """The rule beside its moments; ``NoSuchRule``."""
    book = memory.rules.load().book
    rule = book.find(prefix)
    ids = {source.lesson for source in rule.sources}
    return RuleView(
        rule=rule,
        last_evidence=last_evidence(rule),
        moments=moments_beside(machine, rule.sources),
        lessons=tuple(lesson for lesson in memory.lessons.load().lessons() if lesson.id in ids),
        pairs=tuple(pair for pair in pairs_of(book) if rule.id in (pair.one, pair.other)),
        rows=rows_of(memory, (rule,)),
    )


def add_rule(memory: Memory, text: str, scope: RuleScope, *, clock: Clock | None = None) -> RuleView:
    """A rule in the owner's own words, in force at once.

    ``Refused`` where a rule says so already; ``NotASentence``.
    """
    at = (clock or SystemClock()).now()
    ids: list[str] = []

    def add(book: RuleBook) -> RuleBook:
        known = {rule.id for rule in book}
        after = apply(book, Add(text=text, scope=scope), by="owner", at=at)
        new = [rule for rule in after if rule.id not in known]
        if not new:
            same = next(rule for rule in book if normalised(rule.text) == normalised(text))
            raise Refused(f"rule {same.id} says that already, and is {same.life}", hint=_NEXT.get(same.life))
        ids.append(new[0].id)
        return apply(after, Advance(rule=new[0].id, life=Life.ACTIVE), by="owner", at=at)

    book = memory.rules.update(add)
    return _view(book, ids[0])


def edit_rule(memory: Memory, prefix: str, text: str, *, clock: Clock | None = None) -> RuleView:
    """Put the rule into the owner's own words. ``Refused`` for the words it has, or another has; ``NotASentence``."""
    return _changed(memory, prefix, lambda rule: (Amend(rule=rule.id, text=text),), clock)


def accept_rule(memory: Memory, prefix: str, reason: str | None = None, *, clock: Clock | None = None) -> RuleView:
    """One step further: a candidate goes on trial, one on trial into force. ``Refused`` for one that is in force."""

    def step(rule: Rule) -> tuple[Operation, ...]:
        if rule.life is Life.ACTIVE:
            raise Refused(f"rule {rule.id} is in force already")
        if rule.life is Life.TRIAL:
            return (Advance(rule=rule.id, life=Life.ACTIVE, reason=reason),)
        return (Advance(rule=rule.id, life=Life.TRIAL, is_guarded=rule.by != "owner", reason=reason),)

    return _changed(memory, prefix, step, clock)


def reject_rule(memory: Memory, prefix: str, reason: str, *, clock: Clock | None = None) -> RuleView:
    """Say no to a rule that is not in force yet. ``Refused`` for one that is: that is retired."""

    def no(rule: Rule) -> tuple[Operation, ...]:
        if rule.life is Life.ACTIVE:
            raise Refused(f"rule {rule.id} is in force", hint="handrail rules retire takes it out of force")
        return (Retire(rule=rule.id, reason=f"rejected: {reason}"),)

    return _changed(memory, prefix, no, clock)


def retire_rule(memory: Memory, prefix: str, reason: str, *, clock: Clock | None = None) -> RuleView:
    """Take the rule out of force, and keep it. ``Refused`` where it is out already."""
    return _changed(memory, prefix, lambda rule: (Retire(rule=rule.id, reason=reason),), clock)


def restore_rule(memory: Memory, prefix: str, reason: str | None = None, *, clock: Clock | None = None) -> RuleView:
    """Make a retired rule a candidate again. ``Refused`` where it is not retired."""
    return _changed(memory, prefix, lambda rule: (Restore(rule=rule.id, reason=reason),), clock)


def rescope_rule(
    memory: Memory, prefix: str, make: Callable[[RuleScope], RuleScope], *, clock: Clock | None = None
) -> RuleView:
    """Say where the rule counts: ``make`` gives the new scope for the one it has."""

    def rescope(rule: Rule) -> tuple[Operation, ...]:
        scope = make(rule.scope)
        if scope == rule.scope:
            raise Refused(f"rule {rule.id} counts there already")
        return (Rescope(rule=rule.id, scope=scope),)

    return _changed(memory, prefix, rescope, clock)


def lint_rules(memory: Memory, *, clock: Clock | None = None) -> LintReport:
    """Everything that is wrong with the rules, held against the instruction files of the repositories they name."""
    loaded = memory.rules.load()
    named = sorted({place for rule in loaded.book for place in rule.scope.repositories or ()})
    around = Surroundings(
        own=memory.rules.owners(),
        lines=lines_in(named),
        present=frozenset(place for place in named if Path(place).is_dir()),
        now=(clock or SystemClock()).now(),
    )
    torn = (
        RuleFinding(code=Code.BAD_LINE, message=f"line {bad.line} of {memory.rules.file} is no rule: {bad.reason}")
        for bad in loaded.bad
    )
    findings = (*torn, *lint(loaded.book, around))
    living = sum(rule.life is not Life.RETIRED for rule in loaded.book)
    return LintReport(rules=living, findings=findings, problems=sum(one.is_problem for one in findings))


def _changed(
    memory: Memory, prefix: str, make: Callable[[Rule], tuple[Operation, ...]], clock: Clock | None
) -> RuleView:
    """Look the rule up and change it as the only writer, in the owner's name."""
    at = (clock or SystemClock()).now()
    # Looked for first, so that a wrong id creates no folder.
    id = memory.rules.load().book.find(prefix).id
    book = memory.rules.update(lambda book: apply_all(book, make(book.find(id)), by="owner", at=at))
    return _view(book, id)


def _view(book: RuleBook, id: str) -> RuleView:
    rule = book.find(id)
    pairs = tuple(pair for pair in pairs_of(book) if id in (pair.one, pair.other))
    return RuleView(rule=rule, last_evidence=last_evidence(rule), pairs=pairs)
