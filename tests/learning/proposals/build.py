"""Lessons, batches and plans for the tests of this folder."""

from __future__ import annotations

from datetime import UTC, datetime

from handrail.learning.moment import Trigger
from handrail.learning.proposals.drafting import Known, drafted, proposal_of, told_apart
from handrail.learning.proposals.learner import Batch, Drafted
from handrail.learning.proposals.model import Proposal
from handrail.learning.provenance import Origin
from handrail.learning.reflecting.lesson import Cause, Lesson, MomentKey, Reflected
from handrail.learning.rules.model import Life, RuleBook, Source
from handrail.learning.rules.operations import Advance, apply
from handrail.learning.rules.scope import Place
from tests.learning.rules.build import AT

LATER = datetime(2026, 4, 1, 9, 0, tzinfo=UTC)
MOMENT = datetime(2026, 3, 15, 9, 0, tzinfo=UTC)
SHOP = Place(repository="shop", harness="handrail")
BANK = Place(repository="bank", harness="handrail")


def lesson(
    text: str,
    number: int = 1,
    *,
    place: Place = SHOP,
    riding: tuple[str, ...] | None = None,
    at: datetime | None = MOMENT,
    words: str = "no, like this",
) -> Lesson:
    moment = f"n{number}"
    row = Reflected(
        key=MomentKey("handrail", f"s9/{moment}", 0, Trigger.STEER),
        source=Source(harness="handrail", session="s9", uid=f"s9/{moment}", moment=moment, at=at),
        place=place,
        trigger=Trigger.STEER,
        words=words,
        lesson=text,
        cause=Cause.BEHAVIOUR,
        origin=Origin.CLEAN,
        riding=riding,
        at=LATER,
    )
    return Lesson(id=row.id, text=text, reflected=row)


def proposed_from(
    known: Known, lessons: tuple[Lesson, ...], *changes: Drafted, topic: str = "shop", at: datetime = LATER
) -> Proposal:
    """The proposal that a model's ``changes`` make of ``lessons``."""
    batch = Batch(topic=topic, lessons=lessons)
    plan, rest = told_apart(batch, known, at)
    return proposal_of(drafted(plan, changes, rest, at), batch, known, at, "scripted")


def on_trial(book: RuleBook) -> RuleBook:
    for rule in book:
        book = apply(book, Advance(rule=rule.id, life=Life.TRIAL), by="owner", at=AT)
    return book
