"""The owner's hand in a block, as operations on the rules: what they changed is theirs from then on.

Put otherwise: the rule says it in their words. Taken out: it no longer counts in that repository. Added: a rule of
their own there, or one there is comes to count there. A line that no rule can say is a problem, and so is one taken out
of a single repository whose rule counts everywhere; its file is left as it is until they mend it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from handrail.learning.delivery.managed import Hand, lines_of
from handrail.learning.rules.model import Life, Rule, RuleBook, RuleScope
from handrail.learning.rules.operations import Add, Advance, Amend, Operation, Rescope, Restore, Retire
from handrail.learning.rules.scope import merged, overlap
from handrail.learning.rules.sentence import NotASentence, normalised, sentence


class Taken(Struct, frozen=True, kw_only=True):
    """What the hand comes to: ``operations`` by the owner, and ``problems``, what no operation can do, in sentences."""

    operations: tuple[Operation, ...] = ()
    problems: tuple[str, ...] = ()


def taken_from(hand: Hand, book: RuleBook, *, repository: str, harnesses: tuple[str, ...], file: str) -> Taken:
    """The operations that ``hand`` means, done to ``file`` of ``repository``, which ``harnesses`` read.

    What the book says already is left out, so that a hand that was taken in is not taken in twice.
    """
    here = RuleScope(repositories=(repository,), harnesses=harnesses)
    operations: list[Operation] = []
    problems: list[str] = []
    for line in hand.changed:
        rule = book.get(line.id)
        try:
            if rule is None or rule.life is Life.RETIRED:
                # Words of the owner outlive the rule that they were written over.
                operations += _added(line.text, book, here, file)
            else:
                operations += _amended(rule, line.text, file)
        except NotASentence as problem:
            problems.append(_no_rule(line.text, problem))
    for rule in filter(None, map(book.get, hand.removed)):
        if rule.life is not Life.RETIRED and rule.scope.repositories is None:
            problems.append(_is_everywhere(rule))
        else:
            operations += _removed(rule, repository, file)
    for text in hand.added:
        try:
            operations += _added(text, book, here, file)
        except NotASentence as problem:
            problems.append(_no_rule(text, problem))
    return Taken(operations=tuple(operations), problems=tuple(problems))


def _amended(rule: Rule, text: str, file: str) -> Iterator[Operation]:
    words = sentence(_unsaid(rule, text))
    if words != rule.text:
        yield Amend(rule=rule.id, text=words, reason=f"put otherwise in {file}")


def _removed(rule: Rule, repository: str, file: str) -> Iterator[Operation]:
    places = rule.scope.repositories or ()
    if rule.life is Life.RETIRED or repository not in places:
        return
    elsewhere = tuple(one for one in places if one != repository)
    reason = f"taken out of {file}"
    if elsewhere:
        yield Rescope(rule=rule.id, scope=replace(rule.scope, repositories=elsewhere), reason=reason)
    else:
        yield Retire(rule=rule.id, reason=reason)


def _added(text: str, book: Iterable[Rule], scope: RuleScope, file: str) -> Iterator[Operation]:
    """A rule of the owner's own; one that says it already comes to count there, and is in force."""
    words = sentence(text)
    reason = f"written into {file}"
    same = next((rule for rule in book if normalised(rule.text) == normalised(words)), None)
    if same is None:
        yield Add(text=words, scope=scope, reason=reason)
        return
    if same.life is Life.RETIRED:
        yield Restore(rule=same.id, reason=reason)
    if not overlap(same.scope, scope):
        yield Rescope(rule=same.id, scope=merged([same.scope, scope]), reason=reason)
    if same.life is not Life.ACTIVE:
        yield Advance(rule=same.id, life=Life.ACTIVE, reason=reason)


def _no_rule(text: str, problem: NotASentence) -> str:
    return f"a line of the block can be no rule: {text!r}: {problem.message}"


def _is_everywhere(rule: Rule) -> str:
    return (
        f"{rule.id} counts in every repository and cannot be taken out of one: `handrail rules scope {rule.id}` says "
        f"where it counts, `handrail rules retire {rule.id}` puts it out of force"
    )


def _unsaid(rule: Rule, text: str) -> str:
    """``text`` without the note on folders that stands behind a rule, as long as the owner left that alone."""
    (said,) = lines_of([rule])
    note = said.text.removeprefix(rule.text)
    return text.removesuffix(note) if note else text
