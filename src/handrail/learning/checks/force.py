"""Which checks hold where, and what one says of a call: the same for our own runs, for other hosts and for replays."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from handrail.learning.checks.judging import Done, Past, Verdict, changed_paths, judge_call
from handrail.learning.checks.spec import Check, NotACheck, Order, check_from
from handrail.learning.rules.model import Life, Rule, RuleScope
from handrail.learning.rules.scope import Place, covers, matches

MAX_REFUSALS = 3
"""How often one rule refuses in a run; from then on it lets pass, so that no run hangs on a check that is wrong."""

LET_PASS = f"let pass: refused {MAX_REFUSALS} times already"
"""What is recorded of a call that would be refused once more."""


class InForce(Struct, frozen=True, kw_only=True):
    """A rule's check where it holds. ``is_enforced`` says that it refuses; else it is only noted (in shadow)."""

    rule: str
    text: str
    check: Check
    scope: RuleScope = RuleScope()
    is_enforced: bool = False

    @property
    def refusal(self) -> str:
        """What the model is told."""
        return f"this goes against a rule of the person you work for: {self.text} (rule {self.rule})"

    @property
    def noted(self) -> str:
        """What is recorded in shadow."""
        return f"would have been refused: {self.text} (rule {self.rule})"


class BadCheck(Struct, frozen=True, gc=False):
    """A rule whose check cannot be read, and why."""

    rule: str
    reason: str


def in_force(rules: Iterable[Rule], place: Place) -> tuple[tuple[InForce, ...], tuple[BadCheck, ...]]:
    """The checks that hold at ``place``, and those that would and cannot be read.

    Only a rule that rides is enforced; the check of a candidate is noted at most. Which tools there are does not
    matter: the check says itself which calls it means.
    """
    found: list[InForce] = []
    bad: list[BadCheck] = []
    for rule in rules:
        if rule.enforced == "off" or rule.life is Life.RETIRED or not holds_at(rule.scope, place):
            continue
        try:
            check = check_from(rule.check)
        except NotACheck as problem:
            bad.append(BadCheck(rule.id, problem.message))
            continue
        is_enforced = rule.enforced == "on" and rule.rides
        found.append(InForce(rule=rule.id, text=rule.text, check=check, scope=rule.scope, is_enforced=is_enforced))
    return tuple(found), tuple(bad)


def holds_at(scope: RuleScope, place: Place) -> bool:
    """Whether a check of a rule with ``scope`` holds at ``place``, whatever tools there are."""
    return matches(replace(scope, tools=None), place) and scope.tools != ()


def verdict_on(
    check: Check,
    scope: RuleScope,
    call: Done,
    root: str | None,
    past: Callable[[], Past],
    *,
    was_asked: bool | None = None,
) -> Verdict:
    """What ``check`` says of ``call`` in the repository at ``root``; None where the rule does not count there.

    ``past`` is asked only where the check looks back.
    """
    if not is_within_paths(scope, call, root):
        return None
    return judge_call(check, call, past() if isinstance(check, Order) else Past(), was_asked=was_asked)


def is_within_paths(scope: RuleScope, call: Done, root: str | None) -> bool:
    """Whether a rule for some paths counts for ``call``: not where it changes files and none of them is in there."""
    if scope.paths is None:
        return True
    changed = tuple(changed_paths(call))
    return not changed or any(covers(scope, _below(path, root)) for path in changed)


def _below(path: str, root: str | None) -> str:
    """``path`` as seen from the root of the repository, where it lies below it."""
    plain = posixpath.normpath(path)
    return plain.removeprefix(f"{root.rstrip('/')}/") if root is not None else plain
