"""Whether a rule says already what a lesson says, and whether it was in the prompt at that moment.

A correction of something there is a rule for is no reason for a second rule. What it is a reason for depends on
whether the rule was there to be followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from handrail.learning.proposals.model import Covered, Handling
from handrail.learning.reflecting.lesson import Lesson
from handrail.learning.rules.model import Life, Rule
from handrail.learning.rules.scope import matches
from handrail.learning.rules.sentence import normalised

OWN_FILE = "own-rules.md"


def same_words(lesson: Lesson, rules: Iterable[Rule]) -> Rule | None:
    """The rule that says it in the same words, retired ones too."""
    wanted = normalised(lesson.text)
    return next((rule for rule in rules if normalised(rule.text) == wanted), None)


def owners_words(lesson: Lesson, own: Iterable[str]) -> str | None:
    """The sentence of the owner's own file that says it in the same words."""
    wanted = normalised(lesson.text)
    return next((text for text in own if normalised(text) == wanted), None)


def covered_by_owner(lesson: Lesson, text: str) -> Covered:
    """The owner wrote it down themselves, and had to say it again."""
    advice = f"you say so in {OWN_FILE} already: a check would enforce it"
    return Covered(lesson=lesson.id, rule=text, handling=Handling.OWNERS, advice=advice)


def covered_by(lesson: Lesson, rule: Rule) -> Covered:
    """How ``lesson`` stands to ``rule``, which says the same."""
    handling = _handling(lesson, rule)
    return Covered(lesson=lesson.id, rule=rule.id, handling=handling, advice=_advice(handling, lesson, rule))


def _handling(lesson: Lesson, rule: Rule) -> Handling:
    if rule.life is Life.RETIRED:
        return Handling.RETIRED
    riding = lesson.reflected.riding
    if riding is None:
        return Handling.AGAIN
    if rule.id in riding:
        return Handling.IGNORED
    return Handling.AGAIN if _is_older(lesson.reflected.source.at, rule.created_at) else Handling.ABSENT


def _is_older(moment: datetime | None, rule: datetime | None) -> bool:
    """Whether the moment was before there was such a rule; where a time is unknown nothing is said against the rule."""
    return moment is None or rule is None or moment < rule


def _advice(handling: Handling, lesson: Lesson, rule: Rule) -> str:
    match handling:
        case Handling.IGNORED:
            return "it was in the prompt and was not followed: enforce it with a check, or reword it"
        case Handling.ABSENT if not rule.rides:
            return f"it was not in the prompt: it is a {rule.life}, and those do not ride"
        case Handling.ABSENT if not matches(rule.scope, lesson.reflected.place):
            return "it was not in the prompt: it does not count there yet"
        case Handling.ABSENT:
            return "it counts there and was not in the prompt: it had no room, or rules were left out"
        case Handling.RETIRED:
            return f"it was retired and is not said again: {rule.reason}"
        case _:
            return "one more moment that speaks for it"
