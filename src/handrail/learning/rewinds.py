"""Going back: which line was left for which, and whether something was said again in other words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from handrail.learning.acts import is_response
from handrail.transcripts.codec import Branch, is_person
from handrail.transcripts.model import Common, Message

LIKENESS = 0.6
"""From this share of common letter pairs on, two prompts say the same thing (0 to 1)."""

_FIRST = datetime.min.replace(tzinfo=UTC)
_PAIRS_COMPARED = 4_000


class Fork(NamedTuple):
    """A person went back: the branch ``left`` was left at message ``left.at`` for the line ``taken``, which begins
    with new words of theirs (a branch id, None for the live line).
    """

    left: Branch
    taken: str | None


def find_forks(live: Common, branches: Iterable[Branch]) -> list[Fork]:
    """One fork for every branch that holds a person's words and was left for new ones.

    Branches that leave the live line at the same message are tries one after the other: each was left for the next
    one that begins with a person's words, the last one for the live line. Where the line taken begins with none,
    nothing shows that a person went back (a record on a stale line looks the same), and there is no fork.
    """
    tried: dict[int, list[Branch]] = {}
    for branch in branches:
        tried.setdefault(branch.at, []).append(branch)
    forks = []
    for at, tries in tried.items():
        taken: str | None = None
        has_words = _begins_with_words(live[at:])
        for branch in sorted(tries, key=_began_at, reverse=True):
            if has_words and any(map(_has_own_words, branch.body)):
                forks.append(Fork(branch, taken))
            if _begins_with_words(branch.body):
                taken, has_words = branch.id, True
    return forks


def _began_at(branch: Branch) -> datetime:
    return next((message.timestamp for message in branch.body if message.timestamp), _FIRST)


def _has_own_words(message: Message) -> bool:
    return message.role == "user" and message.origin is None and any(map(is_person, message.content))


def _begins_with_words(body: Common) -> bool:
    for message in body:
        if is_response(message):
            return False
        if _has_own_words(message):
            return True
    return False


def is_said_again(text: str, earlier: Sequence[str]) -> bool:
    """Whether ``text`` says one of ``earlier`` again in similar words, in any language.

    Similar means that the letter pairs common to both, counted twice, are at least ``LIKENESS`` of all of them.
    """
    return any(_is_like(text, other) for other in earlier)


def _is_like(one: str, other: str) -> bool:
    one, other = " ".join(one.casefold().split()), " ".join(other.casefold().split())
    if not one or not other:
        return False
    if one == other:
        return True
    first, second = _pairs(one), _pairs(other)
    total = first.total() + second.total()
    return total > 0 and 2 * (first & second).total() / total >= LIKENESS


def _pairs(text: str) -> Counter[str]:
    text = text[:_PAIRS_COMPARED]
    return Counter(text[place : place + 2] for place in range(len(text) - 1))
