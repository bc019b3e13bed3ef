"""What is wrong with the rules as a whole: too many, saying one thing twice or against each other, or never heard.

Everything is shown and nothing is changed: which of two rules is right a person says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from handrail.learning.rules.block import Budget, block_of, rules_for
from handrail.learning.rules.model import Life, Rule, RuleBook
from handrail.learning.rules.pairs import Line, Pair, PairKind, kind_between, pairs_of, pairs_with
from handrail.learning.rules.scope import Place

STALE_DAYS = 120
"""After how many days without another moment a rule is put up for review. As others do; not measured here."""


class Code(StrEnum):
    """What was found.

    ``over_budget``: rules that have no room in prompts. ``contradiction``, ``duplicate``, ``subsumed``: pairs.
    ``dark``: no run can match it. ``gone``: its repository is not there any more. ``no_evidence``: no moment stands
    behind it. ``stale``: the last one is long ago. ``bad_line``: a line of the file is no rule.
    """

    OVER_BUDGET = "over_budget"
    CONTRADICTION = "contradiction"
    DUPLICATE = "duplicate"
    SUBSUMED = "subsumed"
    DARK = "dark"
    GONE = "gone"
    NO_EVIDENCE = "no_evidence"
    STALE = "stale"
    BAD_LINE = "bad_line"


NOTES = frozenset({Code.STALE, Code.NO_EVIDENCE, Code.SUBSUMED})
"""What is worth knowing; the rest is a problem."""

_OF_PAIR = {
    PairKind.CONTRADICTION: Code.CONTRADICTION,
    PairKind.DUPLICATE: Code.DUPLICATE,
    PairKind.SUBSUMED: Code.SUBSUMED,
}
_PHRASE = {
    PairKind.CONTRADICTION: "says the opposite of",
    PairKind.DUPLICATE: "says the same as",
    PairKind.SUBSUMED: "is covered by",
}


class RuleFinding(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One thing. ``rule`` is the id it is about; ``other`` the second of a pair: an id, or what a line says."""

    code: Code
    message: str
    rule: str | None = None
    other: str | None = None
    place: str | None = None

    @property
    def is_problem(self) -> bool:
        return self.code not in NOTES


class Surroundings(Struct, frozen=True, kw_only=True):
    """What rules are held against: the owner's own sentences, lines of instruction files, the repositories that are
    there still, and the present instant. A repository that is not in ``present`` is taken for gone."""

    own: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()
    present: frozenset[str] = frozenset()
    now: datetime


def lint(book: RuleBook, around: Surroundings, budget: Budget | None = None) -> tuple[RuleFinding, ...]:
    """Everything that was found, problems first."""
    living = [rule for rule in book if rule.life is not Life.RETIRED]
    found = [
        *_over_budget(book, around.own, budget or Budget()),
        *(_of_pair(pair) for pair in pairs_of(living)),
        *(_of_pair(pair) for pair in pairs_with(living, around.lines)),
        *_against_owner(living, around.own),
        *(finding for rule in living for finding in _of_rule(rule, around)),
    ]
    return tuple(sorted(found, key=lambda finding: not finding.is_problem))


def last_evidence(rule: Rule) -> datetime | None:
    """When the newest of its moments was; where that is unknown, when it was last seen or written."""
    moments = [source.at for source in rule.sources if source.at is not None]
    acts = [change.at for change in rule.history if change.did in ("add", "seen_again") and change.at is not None]
    return max(moments or acts, default=rule.created_at)


def _over_budget(book: RuleBook, own: Sequence[str], budget: Budget) -> Iterator[RuleFinding]:
    """Rules that have no room in some prompt, in the repositories that rules name or in any other."""
    named = {place for rule in book for place in rule.scope.repositories or ()}
    harnesses = sorted({name for rule in book for name in rule.scope.harnesses or ()} or {"handrail"})
    left: dict[str, None] = {}
    for repository in (None, *sorted(named)):
        for harness in harnesses:
            run = Place(repository=repository, harness=harness, tools=_all_tools(book))
            left |= dict.fromkeys(block_of(own, rules_for(book, run), budget).left_out)
    for id in left:
        message = f"it has no room: {budget.max_rules} rules, {budget.max_chars} characters at most"
        yield RuleFinding(code=Code.OVER_BUDGET, rule=id, message=message)


def _all_tools(book: RuleBook) -> tuple[str, ...]:
    return tuple(sorted({tool for rule in book for tool in rule.scope.tools or ()}))


def _of_pair(pair: Pair) -> RuleFinding:
    other = pair.other if pair.place is None else f"{pair.place} ({pair.other})"
    return RuleFinding(
        code=_OF_PAIR[pair.kind],
        rule=pair.one,
        other=pair.other,
        place=pair.place,
        message=f"{_PHRASE[pair.kind]} {other}",
    )


def _against_owner(living: Iterable[Rule], own: Sequence[str]) -> Iterator[RuleFinding]:
    for rule in living:
        for text in own:
            kind = kind_between(rule.text, text)
            if kind is not None:
                message = f"{_PHRASE[kind]} your own rule ({text})"
                yield RuleFinding(code=_OF_PAIR[kind], rule=rule.id, other=text, message=message)


def _of_rule(rule: Rule, around: Surroundings) -> Iterator[RuleFinding]:
    if rule.scope.is_dark:
        yield RuleFinding(code=Code.DARK, rule=rule.id, message="no run can match it: nobody knows where it counts")
    repositories = rule.scope.repositories
    if repositories and not around.present.intersection(repositories):
        yield RuleFinding(code=Code.GONE, rule=rule.id, message=f"not there any more: {', '.join(repositories)}")
    if rule.by == "owner":
        return
    if not rule.sources:
        yield RuleFinding(code=Code.NO_EVIDENCE, rule=rule.id, message="no moment stands behind it")
    last = last_evidence(rule)
    if last is not None and around.now - last > timedelta(days=STALE_DAYS):
        days = (around.now - last).days
        yield RuleFinding(code=Code.STALE, rule=rule.id, message=f"its last moment was {days} days ago")
