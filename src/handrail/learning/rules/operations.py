"""What may be done to the book of rules, as data, and the pure code that does it.

A model proposes operations and writes none of the book: a rule that no operation names comes out equal to what went
in. Ids and sources are never lost, and what was retired stays so until somebody restores it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from handrail.errors import HandrailError
from handrail.ids import short_hash
from handrail.learning.rules.model import (
    By,
    Change,
    Life,
    Polarity,
    Rule,
    RuleBook,
    RuleScope,
    Source,
    changed,
)
from handrail.learning.rules.scope import is_within, merged
from handrail.learning.rules.sentence import is_negated, normalised, sentence
from handrail.transcripts.model import Json


class Refused(HandrailError, ValueError):
    """An operation that the book does not take, and why."""

    code = "operation_refused"
    exit_code = 2


class Add(Struct, frozen=True, kw_only=True, tag="add"):
    """A new candidate. Said before, it adds its sources to the rule that says it already."""

    text: str
    sources: tuple[Source, ...] = ()
    scope: RuleScope = RuleScope()
    reason: str | None = None


class Amend(Struct, frozen=True, kw_only=True, tag="amend"):
    """The rule says it another way."""

    rule: str
    text: str
    sources: tuple[Source, ...] = ()
    reason: str | None = None


class Merge(Struct, frozen=True, kw_only=True, tag="merge"):
    """The first of ``rules`` takes over what the others say; they are retired."""

    rules: tuple[str, ...]
    text: str
    reason: str | None = None


class Advance(Struct, frozen=True, kw_only=True, tag="advance"):
    """The rule goes to ``life``; ``is_guarded`` puts it on a shorter leash."""

    rule: str
    life: Life
    is_guarded: bool = False
    reason: str | None = None


class Retire(Struct, frozen=True, kw_only=True, tag="retire"):
    """The rule no longer counts."""

    rule: str
    reason: str


class Restore(Struct, frozen=True, kw_only=True, tag="restore"):
    """A retired rule is a candidate again."""

    rule: str
    reason: str | None = None


class Rescope(Struct, frozen=True, kw_only=True, tag="rescope"):
    """The rule counts elsewhere. Only the owner widens."""

    rule: str
    scope: RuleScope
    reason: str | None = None


class SetCheck(Struct, frozen=True, kw_only=True, tag="set_check"):
    """The rule has this compiled check (None: none), enforced as ``enforced`` says."""

    rule: str
    check: Json = None
    enforced: Literal["off", "shadow", "on"] = "off"
    reason: str | None = None


Operation: TypeAlias = Add | Amend | Merge | Advance | Retire | Restore | Rescope | SetCheck


def apply(book: RuleBook, operation: Operation, *, by: By, at: datetime) -> RuleBook:
    """The book after ``operation``. Raises ``Refused``, ``NotASentence`` or ``NoSuchRule``, and nothing has changed."""
    return _HANDLERS[type(operation)](book, operation, by, at)


def apply_all(book: RuleBook, operations: Iterable[Operation], *, by: By, at: datetime) -> RuleBook:
    """The book after all of them, or the first refusal."""
    for operation in operations:
        book = apply(book, operation, by=by, at=at)
    return book


def _add(book: RuleBook, given: Add, by: By, at: datetime) -> RuleBook:
    text = sentence(given.text)
    same = next((rule for rule in book if normalised(rule.text) == normalised(text)), None)
    if same is not None:
        return book.with_rule(_seen_again(same, given, by, at))
    if by == "model" and not given.sources:
        raise Refused("a rule that no moment stands behind is not taken from a model")
    rule = Rule(
        id=_new_id(book, text, given.sources, at),
        text=text,
        polarity=_polarity(text),
        scope=given.scope,
        sources=_distinct(given.sources),
        by=by,
        created_at=at,
        history=(Change(did="add", by=by, at=at, reason=given.reason),),
    )
    return book.with_rule(rule)


def _seen_again(rule: Rule, given: Add, by: By, at: datetime) -> Rule:
    """More evidence for a rule there is: it counts there too, unless it is retired or the owner said where."""
    more = _with_sources(rule, given.sources, Change(did="seen_again", by=by, at=at, reason=given.reason))
    is_placed = rule.by == "owner" or any(one.did == "rescope" and one.by == "owner" for one in rule.history)
    if more is rule or is_placed or rule.life is Life.RETIRED:
        return more
    return replace(more, scope=merged([rule.scope, given.scope]))


def _amend(book: RuleBook, given: Amend, by: By, at: datetime) -> RuleBook:
    rule = _living(book, given.rule)
    text = sentence(given.text)
    if text == rule.text:
        raise Refused(f"rule {rule.id} says that already", hint="saving a sentence unchanged does not make it yours")
    if by != "owner" and rule.by == "owner":
        raise Refused(f"rule {rule.id} holds the owner's own words; only they change them")
    twin = next((one for one in book if one.id != rule.id and normalised(one.text) == normalised(text)), None)
    if twin is not None:
        raise Refused(f"rule {twin.id} says that already", hint="merge the two")
    change = Change(did="amend", by=by, at=at, reason=given.reason, text=rule.text)
    # What was measured was measured of the old words: the check and the trust in it go with them.
    amended = changed(rule, change, text=text, polarity=_polarity(text), by=by, check=None, enforced="off")
    return book.with_rule(_with_sources(amended, given.sources, None))


def _merge(book: RuleBook, given: Merge, by: By, at: datetime) -> RuleBook:
    if len(set(given.rules)) < 2:
        raise Refused("merging takes two rules or more")
    parts = [_living(book, id) for id in dict.fromkeys(given.rules)]
    kept, gone = parts[0], parts[1:]
    if by != "owner" and any(rule.by == "owner" for rule in parts):
        raise Refused("the owner's own rules are merged by the owner only")
    text = sentence(given.text)
    change = Change(did="merge", by=by, at=at, reason=given.reason, text=kept.text)
    whole = changed(
        kept,
        change,
        text=text,
        polarity=_polarity(text),
        by=kept.by if text == kept.text else by,
        scope=merged([rule.scope for rule in parts]),
        sources=_distinct(source for rule in parts for source in rule.sources),
        check=kept.check if text == kept.text else None,
        enforced=kept.enforced if text == kept.text else "off",
    )
    book = book.with_rule(whole)
    for rule in gone:
        book = book.with_rule(_retired(rule, f"merged into {kept.id}", by, at))
    return book


def _advance(book: RuleBook, given: Advance, by: By, at: datetime) -> RuleBook:
    rule = _living(book, given.rule)
    if given.life is Life.RETIRED:
        raise Refused("retiring takes a reason", hint="use the operation that has one")
    if by == "model":
        raise Refused("a model proposes rules; it does not put them into force")
    change = Change(did=f"to_{given.life}", by=by, at=at, reason=given.reason)
    return book.with_rule(changed(rule, change, life=given.life, is_guarded=given.is_guarded))


def _retire(book: RuleBook, given: Retire, by: By, at: datetime) -> RuleBook:
    rule = book.find(given.rule)
    if rule.life is Life.RETIRED:
        raise Refused(f"rule {rule.id} is retired already: {rule.reason}")
    if by != "owner" and rule.by == "owner":
        raise Refused(f"rule {rule.id} is the owner's own; only they retire it")
    return book.with_rule(_retired(rule, given.reason, by, at))


def _restore(book: RuleBook, given: Restore, by: By, at: datetime) -> RuleBook:
    rule = book.find(given.rule)
    if rule.life is not Life.RETIRED:
        raise Refused(f"rule {rule.id} is not retired")
    if by != "owner":
        raise Refused("only the owner restores what was retired")
    change = Change(did="restore", by=by, at=at, reason=given.reason)
    return book.with_rule(changed(rule, change, life=Life.CANDIDATE, retired_at=None, reason=None))


def _rescope(book: RuleBook, given: Rescope, by: By, at: datetime) -> RuleBook:
    rule = _living(book, given.rule)
    if by != "owner" and not is_within(given.scope, rule.scope):
        raise Refused(f"rule {rule.id} would count in more places; only the owner widens it")
    change = Change(did="rescope", by=by, at=at, reason=given.reason)
    return book.with_rule(changed(rule, change, scope=given.scope))


def _set_check(book: RuleBook, given: SetCheck, by: By, at: datetime) -> RuleBook:
    rule = _living(book, given.rule)
    if given.check is None and given.enforced != "off":
        raise Refused(f"rule {rule.id} would have nothing to enforce")
    if given.enforced == "on" and by == "model":
        raise Refused("a model does not put checks into force")
    change = Change(did="set_check", by=by, at=at, reason=given.reason)
    return book.with_rule(changed(rule, change, check=given.check, enforced=given.enforced))


_HANDLERS: dict[type, Callable[[RuleBook, Any, By, datetime], RuleBook]] = {
    Add: _add,
    Amend: _amend,
    Merge: _merge,
    Advance: _advance,
    Retire: _retire,
    Restore: _restore,
    Rescope: _rescope,
    SetCheck: _set_check,
}


def _living(book: RuleBook, id: str) -> Rule:
    rule = book.find(id)
    if rule.life is Life.RETIRED:
        raise Refused(f"rule {rule.id} is retired: {rule.reason}", hint="restore it first")
    return rule


def _retired(rule: Rule, reason: str, by: By, at: datetime) -> Rule:
    change = Change(did="retire", by=by, at=at, reason=reason)
    return changed(rule, change, life=Life.RETIRED, retired_at=at, reason=reason, enforced="off")


def _with_sources(rule: Rule, sources: Iterable[Source], change: Change | None) -> Rule:
    """The rule with more evidence behind it; the same rule where there is nothing new."""
    joined = _distinct((*rule.sources, *sources))
    if joined == rule.sources:
        return rule
    return replace(rule, sources=joined) if change is None else changed(rule, change, sources=joined)


def _distinct(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Each moment once, in the order they came."""
    by_moment: dict[tuple[str, str, str], Source] = {}
    for source in sources:
        by_moment.setdefault((source.harness, source.session, source.moment), source)
    return tuple(by_moment.values())


def _polarity(text: str) -> Polarity:
    return Polarity.DONT if is_negated(text) else Polarity.DO


def _new_id(book: RuleBook, text: str, sources: tuple[Source, ...], at: datetime) -> str:
    """An id that the same proposal gets again, and that no other rule of the book has."""
    seed = (text, at.isoformat(), *(source.moment for source in sources))
    taken = {rule.id for rule in book}
    number = 0
    while (id := f"r{short_hash(*seed, number)[:10]}") in taken:
        number += 1
    return id
