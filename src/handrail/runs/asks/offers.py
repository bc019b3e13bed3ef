"""What a question offers to choose from: a stable word and a number for every option, and which one a reply means.

Labels are for people and may be long; words are made of them (``revise`` for "Revise - I'll describe changes"), and
numbers count from 1. An approval or a confirmation is answered by the whole word; a choice by an unambiguous beginning
too. What means several options, or none, means nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from handrail.blueprints.labels import AnswerRefused, find_label, normalised, shortened
from handrail.journal.answers import APPROVE
from handrail.journal.events import AskOpened
from handrail.journal.vocabulary import AskKind

Grants = Literal["once", "stage", "run"]

_CONFIRMATION = ("Yes", "No")
_WORD_CHARS = 40
_DENY = "deny"
_SYNONYMS = {"allow": "approve", "allow-stage": "approve-stage", "allow-run": "approve-run"}


class Offer(Struct, frozen=True, omit_defaults=True):
    """One option: the ``label`` shown, its ``word`` and ``number``, and what it does.

    ``effect`` is ``""`` where nobody said.
    ``is_allowed`` and ``grant`` are what it means for an approval. ``needs_comment`` says that it takes one.
    """

    number: int
    word: str
    label: str
    effect: str = ""
    needs_comment: bool = False
    is_allowed: bool = False
    grant: Grants = "once"


def offers_of(opened: AskOpened) -> tuple[Offer, ...]:
    """The options of a question, in the order they are shown; none where it is answered in words or by an edit."""
    if opened.kind is AskKind.APPROVAL:
        return _approvals(opened)
    if opened.kind is AskKind.EDIT:
        return ()
    commented = {normalised(label) for label in opened.comments}
    return tuple(
        Offer(
            number=number,
            word=word,
            label=label,
            effect=opened.effects.get(label, ""),
            needs_comment=normalised(label) in commented,
        )
        for number, (label, word) in enumerate(zip(opened.options, _words(opened.options), strict=True), 1)
    )


def _approvals(opened: AskOpened) -> tuple[Offer, ...]:
    """Once, for the stage (where there is one), for the run, and no; for longer means for this very call."""
    offers = [Offer(1, "approve", "Run it once", APPROVE, is_allowed=True)]
    if opened.stage is not None:
        label = f"Run it, now and whenever it is asked for in stage {opened.stage}"
        offers.append(Offer(2, "approve-stage", label, APPROVE, is_allowed=True, grant="stage"))
    label = "Run it, now and whenever it is asked for in this run"
    offers.append(Offer(len(offers) + 1, "approve-run", label, APPROVE, is_allowed=True, grant="run"))
    offers.append(Offer(len(offers) + 1, _DENY, "Do not run it", _DENY))
    return tuple(offers)


def _words(labels: Sequence[str]) -> list[str]:
    """A word for each label: its own beginning, up to the first dash, and as much more as tells it from the others."""
    whole = [_slug(label) for label in labels]
    short = [_slug(re.split(r"\s-\s|[:(,;]", normalised(label), maxsplit=1)[0]) for label in labels]
    words = [brief if brief and short.count(brief) == 1 else long for brief, long in zip(short, whole, strict=True)]
    return [word if word and words.count(word) == 1 else f"option-{number}" for number, word in enumerate(words, 1)]


def _slug(label: str) -> str:
    plain = unicodedata.normalize("NFKC", label).lower()
    return "-".join(re.findall(r"[^\W_]+", plain.replace("'", "")))[:_WORD_CHARS].strip("-")


def find_offer(given: str, opened: AskOpened) -> Offer:
    """The option that ``given`` means; ``AnswerRefused``, which lists the options, for what means none or several."""
    offers = offers_of(opened)
    labels = tuple(offer.label for offer in offers)
    if (label := find_label(given, labels)) is not None:
        return next(offer for offer in offers if offer.label == label)
    typed = normalised(given).casefold()
    typed = _SYNONYMS.get(typed, typed) if opened.kind is AskKind.APPROVAL else typed
    exact = [offer for offer in offers if typed in (offer.word.casefold(), str(offer.number))]
    if len(exact) == 1:
        return exact[0]
    near = [] if takes_whole_words(opened) or not typed else [offer for offer in offers if _begins(offer, typed)]
    if len(near) == 1:
        return near[0]
    listed = ", ".join(repr(offer.word) for offer in near)
    told = f"{shortened(given)!r} could be {listed}" if near else f"{shortened(given)!r} is no option of this question"
    raise AnswerRefused((told,), shown(offers))


def _begins(offer: Offer, typed: str) -> bool:
    return offer.word.casefold().startswith(typed) or normalised(offer.label).casefold().startswith(typed)


def offer_of_number(number: int, opened: AskOpened) -> Offer:
    """The option of that number, from 1; ``AnswerRefused`` where there is none."""
    offers = offers_of(opened)
    if not 1 <= number <= len(offers):
        raise AnswerRefused((f"there is no option {number}",), shown(offers))
    return offers[number - 1]


def takes_whole_words(opened: AskOpened) -> bool:
    """Whether a beginning of a word is not enough: what is approved or confirmed is said in full."""
    return opened.kind is AskKind.APPROVAL or is_confirmation(opened)


def is_confirmation(opened: AskOpened) -> bool:
    """Whether the question is answered by yes or no."""
    return tuple(opened.options) == _CONFIRMATION


def shown(offers: Iterable[Offer]) -> tuple[str, ...]:
    """``offers`` as an error lists them: the word, and a person's own label where it says more."""
    return tuple(_shown(offer) for offer in offers)


def _shown(offer: Offer) -> str:
    # What an approval offers is worded here, and its words say it all.
    is_ours = offer.is_allowed or offer.effect == _DENY
    return offer.word if is_ours or _slug(offer.label) == offer.word else f"{offer.word} ({offer.label})"
