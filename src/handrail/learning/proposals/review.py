"""What a proposal would do, whether it still can, and doing it: pure, over the book of rules.

Doing it twice is doing it once: an operation whose effect stands already is passed over. So whoever is cut off between
the rules and the proposal can be gone on with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal

from msgspec import Struct

from handrail.learning.proposals.model import Before, Proposal
from handrail.learning.rules.model import By, Life, Rule, RuleBook, RuleScope
from handrail.learning.rules.operations import (
    Add,
    Advance,
    Amend,
    Merge,
    Operation,
    Rescope,
    Restore,
    Retire,
    SetCheck,
    apply,
)
from handrail.learning.rules.scope import overlap
from handrail.learning.rules.sentence import normalised

_WORDED = (Add, Amend, Merge)
"""Operations that hold a sentence: whose words they are does not change by being accepted."""


class DiffLine(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """One line of what would change: ``+`` added, ``-`` no longer said, ``~`` the same words, and otherwise."""

    mark: Literal["+", "-", "~"]
    rule: str
    text: str
    note: str | None = None


def standing_before(book: RuleBook, scope: RuleScope) -> tuple[Before, ...]:
    """The living rules that may count where ``scope`` does, as they are now."""
    near = (rule for rule in book if rule.life is not Life.RETIRED and overlap(rule.scope, scope))
    return tuple(Before(rule=rule.id, text=rule.text, life=rule.life, scope=rule.scope) for rule in near)


def moves(proposal: Proposal, book: RuleBook) -> tuple[str, ...]:
    """What became of the rules that the proposal was made for, in sentences; nothing where they are as they were.

    A rule that only gained evidence has not moved.
    """
    told: list[str] = []
    known = {before.rule for before in proposal.before}
    for before in proposal.before:
        rule = book.get(before.rule)
        if rule is None:
            told.append(f"{before.rule} is gone")
        elif rule.text != before.text:
            told.append(f"{before.rule} says something else now")
        elif rule.life is not before.life:
            told.append(f"{before.rule} is {rule.life} now, and was {before.life}")
    for operation in proposal.operations:
        scope = operation.scope if isinstance(operation, Add) else None
        if scope is not None:
            told += [f"{one.rule} came since" for one in standing_before(book, scope) if one.rule not in known]
    return tuple(dict.fromkeys(told))


def is_settled(book: RuleBook, operation: Operation) -> bool:
    """Whether what ``operation`` would do stands already."""
    if isinstance(operation, Add):
        same = _saying(book, operation.text)
        return same is not None and _has_sources(same, operation)
    if isinstance(operation, Merge):
        first, *others = (book.get(id) for id in operation.rules)
        is_said = first is not None and first.text == operation.text
        return is_said and all(one is not None and one.life is Life.RETIRED for one in others)
    rule = book.get(operation.rule)
    if rule is None:
        return False
    match operation:
        case Amend():
            return rule.text == operation.text
        case Advance():
            return rule.life is operation.life and rule.is_guarded == operation.is_guarded
        case Retire():
            return rule.life is Life.RETIRED
        case Restore():
            return rule.life is not Life.RETIRED
        case Rescope():
            return rule.scope == operation.scope
        case SetCheck():
            return (rule.check, rule.enforced) == (operation.check, operation.enforced)


def is_done(proposal: Proposal, book: RuleBook) -> bool:
    """Whether all of it stands already, as after an acceptance that was cut off."""
    return bool(proposal.operations) and all(is_settled(book, operation) for operation in proposal.operations)


def carried_out(proposal: Proposal, book: RuleBook, *, by: By, at: datetime, is_measured: bool = False) -> RuleBook:
    """The book with the proposal in force. Raises what ``apply`` raises.

    A model's words stay a model's, whoever accepts them. Rules that are new, or say something new, go on trial; on a
    shorter leash where nothing was measured of them.
    """
    after = proposed(proposal, book, by=by, at=at)
    for rule in after:
        if _is_to_be_tried(book.get(rule.id), rule, proposal):
            step = Advance(rule=rule.id, life=Life.TRIAL, is_guarded=not is_measured, reason=f"proposal {proposal.id}")
            after = apply(after, step, by="owner" if by == "owner" else "code", at=at)
    return after


def proposed(proposal: Proposal, book: RuleBook, *, by: By, at: datetime) -> RuleBook:
    """The book with the operations applied and nothing else."""
    for operation in proposal.operations:
        if is_settled(book, operation):
            continue
        is_worded = isinstance(operation, _WORDED)
        # The time of the proposal, so that a rule has the id that was shown.
        book = apply(book, operation, by="model" if is_worded else by, at=proposal.created_at if is_worded else at)
    return book


def touched(proposal: Proposal, book: RuleBook) -> tuple[Rule, ...]:
    """The rules of ``book`` that the operations name or say."""
    ids: dict[str, Rule] = {}
    for operation in proposal.operations:
        for rule in _touched(operation, book):
            ids[rule.id] = rule
    return tuple(ids.values())


def diff(before: RuleBook, after: RuleBook) -> tuple[DiffLine, ...]:
    """What changes for those who read the rules: words, lives and where they count; order and evidence are none."""
    lines: list[DiffLine] = []
    for rule in after:
        lines += _diff_of(before.get(rule.id), rule)
    return tuple(lines)


def _diff_of(old: Rule | None, new: Rule) -> Iterator[DiffLine]:
    if old is None:
        yield DiffLine(mark="+", rule=new.id, text=new.text)
        return
    is_out, was_out = new.life is Life.RETIRED, old.life is Life.RETIRED
    if is_out and not was_out:
        yield DiffLine(mark="-", rule=new.id, text=old.text, note=f"retired: {new.reason}")
    elif was_out and not is_out:
        yield DiffLine(mark="+", rule=new.id, text=new.text, note="restored")
    elif old.text != new.text:
        yield DiffLine(mark="-", rule=new.id, text=old.text)
        yield DiffLine(mark="+", rule=new.id, text=new.text)
    else:
        notes = _notes(old, new)
        if notes:
            yield DiffLine(mark="~", rule=new.id, text=new.text, note="; ".join(notes))


def _notes(old: Rule, new: Rule) -> list[str]:
    notes = []
    if old.life is not new.life:
        notes.append(f"{old.life} → {new.life}")
    if old.scope != new.scope:
        notes.append("counts elsewhere")
    if (old.check, old.enforced) != (new.check, new.enforced):
        notes.append(f"check {new.enforced}")
    return notes


def _is_to_be_tried(old: Rule | None, new: Rule, proposal: Proposal) -> bool:
    is_new = old is None or old.text != new.text
    return proposal.kind == "learn" and is_new and new.by != "owner" and new.life is not Life.RETIRED


def _touched(operation: Operation, book: RuleBook) -> Iterable[Rule]:
    if isinstance(operation, Add):
        found = _saying(book, operation.text)
        return () if found is None else (found,)
    ids = operation.rules if isinstance(operation, Merge) else (operation.rule,)
    return [rule for rule in map(book.get, ids) if rule is not None]


def _saying(book: RuleBook, text: str) -> Rule | None:
    wanted = normalised(text)
    return next((rule for rule in book if normalised(rule.text) == wanted), None)


def _has_sources(rule: Rule, operation: Add) -> bool:
    known = {(one.harness, one.session, one.moment) for one in rule.sources}
    return all((one.harness, one.session, one.moment) in known for one in operation.sources)
