"""The owner's hand in a block, as operations on the rules: what they changed is theirs from then on.

Put otherwise: the rule says it in their words. Taken out: it no longer counts in that repository. Added: a rule of
their own there. A line that no rule can say is a problem, and its file is left as it is until they mend it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from handrail.learning.delivery.managed import Hand, lines_of
from handrail.learning.rules.model import Life, Rule, RuleBook, RuleScope
from handrail.learning.rules.operations import Add, Amend, Operation, Rescope, Retire
from handrail.learning.rules.sentence import NotASentence, normalised, sentence


class Taken(Struct, frozen=True, kw_only=True):
    """What the hand comes to: ``operations`` by the owner, and ``problems``, the lines that no rule can say."""

    operations: tuple[Operation, ...] = ()
    problems: tuple[str, ...] = ()


def taken_from(hand: Hand, book: RuleBook, *, repository: str, harnesses: tuple[str, ...], file: str) -> Taken:
    """The operations that ``hand`` means, done to ``file`` of ``repository``, which ``harnesses`` read.

    What the book says already is left out, so that a hand that was taken in is not taken in twice.
    """
    operations: list[Operation] = []
    problems: list[str] = []
    for line in hand.changed:
        rule = book.get(line.id)
        try:
            operations += _amended(rule, line.text, file)
        except NotASentence as problem:
            problems.append(f"{line.text!r}: {problem.message}")
    for id in hand.removed:
        operations += _removed(book.get(id), repository, file)
    for text in hand.added:
        try:
            operations += _added(text, book, RuleScope(repositories=(repository,), harnesses=harnesses), file)
        except NotASentence as problem:
            problems.append(f"{text!r}: {problem.message}")
    return Taken(operations=tuple(operations), problems=tuple(problems))


def _amended(rule: Rule | None, text: str, file: str) -> Iterator[Operation]:
    if rule is None or rule.life is Life.RETIRED:
        return
    words = sentence(_unsaid(rule, text))
    if words != rule.text:
        yield Amend(rule=rule.id, text=words, reason=f"put otherwise in {file}")


def _removed(rule: Rule | None, repository: str, file: str) -> Iterator[Operation]:
    if rule is None or rule.life is Life.RETIRED:
        return
    elsewhere = [one for one in rule.scope.repositories or () if one != repository]
    if elsewhere:
        scope = replace(rule.scope, repositories=tuple(elsewhere))
        yield Rescope(rule=rule.id, scope=scope, reason=f"taken out of {file}")
    else:
        yield Retire(rule=rule.id, reason=f"taken out of {file}")


def _added(text: str, book: Iterable[Rule], scope: RuleScope, file: str) -> Iterator[Operation]:
    words = sentence(text)
    if not any(normalised(rule.text) == normalised(words) and rule.life is not Life.RETIRED for rule in book):
        yield Add(text=words, scope=scope, reason=f"written into {file}")


def _unsaid(rule: Rule, text: str) -> str:
    """``text`` without the note on folders that stands behind a rule, as long as the owner left that alone."""
    (said,) = lines_of([rule])
    note = said.text.removeprefix(rule.text)
    return text.removesuffix(note) if note else text
