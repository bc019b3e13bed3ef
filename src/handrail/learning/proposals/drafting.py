"""From what a model wants changed to operations that the book takes, with sources and scopes of code's own.

Everything a model says is tried on a copy of the book first. What the book does not take is told, and costs itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from handrail.errors import HandrailError
from handrail.ids import short_hash
from handrail.learning.proposals.coverage import covered_by, covered_by_owner, owners_words, same_words
from handrail.learning.proposals.learner import Batch, Drafted
from handrail.learning.proposals.model import Before, Covered, Handling, Proposal, RefusedDraft, Status
from handrail.learning.proposals.review import standing_before, touched
from handrail.learning.reflecting.lesson import Lesson
from handrail.learning.rules.block import MAX_RULES
from handrail.learning.rules.model import By, Life, NoSuchRule, Rule, RuleBook, Source
from handrail.learning.rules.operations import Add, Amend, Merge, Operation, Refused, Rescope, Retire, apply
from handrail.learning.rules.pairs import Line, Pair, pairs_of, pairs_with
from handrail.learning.rules.scope import matches, merged, overlap, scope_of
from handrail.learning.rules.sentence import NotASentence, sentence

_REASON_CHARS = 200


class Known(Struct, frozen=True, kw_only=True):
    """What a proposal is made against: the rules, the owner's own sentences, lines of instruction files."""

    book: RuleBook
    own: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()


class Plan(Struct, frozen=True, kw_only=True):
    """What came of a batch so far. ``book`` is the copy with ``operations`` applied."""

    book: RuleBook
    operations: tuple[Operation, ...] = ()
    covered: tuple[Covered, ...] = ()
    refused: tuple[RefusedDraft, ...] = ()

    def with_operation(self, operation: Operation, at: datetime) -> Plan:
        """The plan with ``operation`` in it; raises what ``apply`` raises."""
        by: By = "owner" if isinstance(operation, Rescope) else "model"
        book = apply(self.book, operation, by=by, at=at)
        return replace(self, book=book, operations=(*self.operations, operation))


def told_apart(batch: Batch, known: Known, at: datetime) -> tuple[Plan, Batch]:
    """What code can tell without a model: lessons in the words of a rule there is; and the lessons that are left."""
    plan = Plan(book=known.book)
    rest: list[Lesson] = []
    for lesson in batch.lessons:
        own = owners_words(lesson, known.own)
        rule = same_words(lesson, known.book)
        if rule is not None:
            plan = _said_already(plan, (lesson,), rule, at)
        elif own is not None:
            plan = replace(plan, covered=(*plan.covered, covered_by_owner(lesson, own)))
        else:
            rest.append(lesson)
    return plan, replace(batch, lessons=tuple(rest))


def drafted(plan: Plan, changes: Iterable[Drafted], batch: Batch, at: datetime) -> Plan:
    """The plan with the changes that a model wants, as far as the book takes them."""
    labels = batch.labelled()
    for change in changes:
        lessons = tuple(labels[label] for label in dict.fromkeys(change.lessons) if label in labels)
        try:
            plan = _with_change(plan, change, lessons, at)
        except (Refused, NotASentence, NoSuchRule) as problem:
            plan = replace(plan, refused=(*plan.refused, _refusal(change, lessons, problem)))
    return plan


def proposal_of(plan: Plan, batch: Batch, known: Known, at: datetime, model: str | None) -> Proposal:
    """The plan as a proposal of all lessons of ``batch``; an empty one where there is nothing to decide."""
    ids = tuple(lesson.id for lesson in batch.lessons)
    refused = {id for one in plan.refused for id in one.lessons}
    used = {source.lesson for operation in plan.operations for source in getattr(operation, "sources", ())}
    proposal = Proposal(
        id=f"p{short_hash(batch.topic, at.isoformat(), *ids)[:10]}",
        topic=batch.topic,
        operations=plan.operations,
        lessons=ids,
        free=tuple(id for id in ids if id in refused and id not in used),
        covered=plan.covered,
        refused=plan.refused,
        model=model,
        created_at=at,
    )
    if not plan.operations and not any(one.handling is Handling.OWNERS for one in plan.covered):
        return replace(proposal, status=Status.EMPTY)
    rules = touched(proposal, plan.book)
    return replace(proposal, before=_before(rules, known.book), pairs=_pairs(rules, plan.book, known))


def _with_change(plan: Plan, change: Drafted, lessons: Sequence[Lesson], at: datetime) -> Plan:
    why = " ".join(change.why.split())[:_REASON_CHARS] or None
    if change.do != "merge" and not lessons:
        raise Refused("no lesson of these stands behind it")
    match change.do:
        case "add":
            return _added(plan, change, lessons, why, at)
        case "again":
            return _said_already(plan, lessons, _one_rule(change, plan), at)
        case "amend":
            rule = _one_rule(change, plan)
            covered = tuple(covered_by(lesson, rule) for lesson in lessons)
            amended = plan.with_operation(Amend(rule=rule.id, text=sentence(change.text), reason=why), at)
            return _with_evidence(replace(amended, covered=(*plan.covered, *covered)), lessons, rule.id, covered, at)
        case "merge":
            rules = tuple(plan.book.find(id).id for id in change.rules)
            joined = plan.with_operation(Merge(rules=rules, text=sentence(change.text), reason=why), at)
            return _with_evidence(joined, lessons, rules[0], (), at) if lessons else joined
        case "retire":
            if why is None:
                raise Refused("retiring a rule takes a reason")
            return plan.with_operation(Retire(rule=_one_rule(change, plan).id, reason=why), at)


def _added(plan: Plan, change: Drafted, lessons: Sequence[Lesson], why: str | None, at: datetime) -> Plan:
    scope = scope_of([lesson.reflected.place for lesson in lessons])
    text = sentence(change.text)
    same = same_words(replace(lessons[0], text=text), plan.book)
    if same is not None:
        return _said_already(plan, lessons, same, at)
    after = plan.with_operation(Add(text=text, sources=_sources(lessons), scope=scope, reason=why), at)
    crowd = sum(_may_ride(rule, plan) and overlap(rule.scope, scope) for rule in plan.book)
    if crowd >= MAX_RULES:
        raise Refused(f"{crowd} rules count there already, and {MAX_RULES} ride at most: merge or retire one first")
    return after


def _said_already(plan: Plan, lessons: Sequence[Lesson], rule: Rule, at: datetime) -> Plan:
    """More evidence for ``rule``, unless it was retired: then it stays so."""
    covered = tuple(covered_by(lesson, rule) for lesson in lessons)
    plan = replace(plan, covered=(*plan.covered, *covered))
    return plan if rule.life is Life.RETIRED else _with_evidence(plan, lessons, rule.id, covered, at)


def _with_evidence(plan: Plan, lessons: Sequence[Lesson], rule: str, covered: Sequence[Covered], at: datetime) -> Plan:
    """The lessons stand behind the rule, and it comes to count where it was missed."""
    scope = scope_of([lesson.reflected.place for lesson in lessons])
    text = plan.book.find(rule).text
    plan = plan.with_operation(Add(text=text, sources=_sources(lessons), scope=scope), at)
    missed = {one.lesson for one in covered if one.handling is Handling.ABSENT}
    places = [lesson.reflected.place for lesson in lessons if lesson.id in missed]
    now = plan.book.find(rule).scope
    if all(matches(now, place) for place in places):
        return plan
    # The owner said where it counts, so evidence alone does not widen it; accepting the proposal does.
    wider = merged([now, scope_of(places)])
    return plan.with_operation(Rescope(rule=rule, scope=wider, reason="corrected where it did not count"), at)


def _may_ride(rule: Rule, plan: Plan) -> bool:
    """Whether the rule takes room in prompts: one that rides, or one that this plan adds."""
    is_added = any(isinstance(one, Add) and one.text == rule.text for one in plan.operations)
    return rule.by != "owner" and (rule.rides or (rule.life is Life.CANDIDATE and is_added))


def _one_rule(change: Drafted, plan: Plan) -> Rule:
    if len(change.rules) != 1:
        raise Refused(f"{change.do} takes one rule, and {len(change.rules)} are named")
    return plan.book.find(change.rules[0])


def _refusal(change: Drafted, lessons: Sequence[Lesson], problem: HandrailError) -> RefusedDraft:
    what = f"{change.do} {' '.join(change.rules)} {change.text}"
    return RefusedDraft(
        what=" ".join(what.split()), why=problem.message, lessons=tuple(lesson.id for lesson in lessons)
    )


def _sources(lessons: Iterable[Lesson]) -> tuple[Source, ...]:
    return tuple(replace(lesson.reflected.source, lesson=lesson.id) for lesson in lessons)


def _before(rules: Iterable[Rule], book: RuleBook) -> tuple[Before, ...]:
    """The rules of ``book`` that are changed, or that count where the new ones do."""
    found: dict[str, Before] = {}
    for rule in rules:
        found.update({one.rule: one for one in standing_before(book, rule.scope)})
        old = book.get(rule.id)
        if old is not None:
            found[old.id] = Before(rule=old.id, text=old.text, life=old.life, scope=old.scope)
    return tuple(found.values())


def _pairs(rules: Sequence[Rule], book: RuleBook, known: Known) -> tuple[Pair, ...]:
    """The pairs that the changed rules make: with rules, with the owner's sentences, with instruction files."""
    ids = {rule.id for rule in rules}
    among = [pair for pair in pairs_of(book) if pair.one in ids or pair.other in ids]
    return (*among, *pairs_with(rules, known.lines))
