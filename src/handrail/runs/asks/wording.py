"""How the end of a question is told to people: five outcomes in five wordings, and who it was."""

from __future__ import annotations

from typing import assert_never

from handrail.blueprints.labels import shortened
from handrail.journal.events import AskClosed
from handrail.journal.vocabulary import Actor, ActorKind, AskOutcome


def told(closed: AskClosed, by: Actor) -> str:
    """One line: what became of a question, in words that no two outcomes share."""
    who = by.name or ("somebody" if by.kind is ActorKind.PERSON else f"the {by.kind}")
    match closed.outcome:
        case AskOutcome.ANSWERED:
            text = f"answered by {who}: {answer_in_words(closed)}"
        case AskOutcome.DENIED:
            text = f"refused by {who}"
        case AskOutcome.TIMED_OUT:
            text = "nobody answered before the deadline"
        case AskOutcome.WITHDRAWN:
            text = "withdrawn before anybody answered"
        case AskOutcome.AUTO:
            text = f"decided without asking anybody: {'allowed' if closed.is_allowed else 'not allowed'}"
        case _:
            assert_never(closed.outcome)
    is_said = closed.outcome is AskOutcome.ANSWERED or not closed.comment
    return text if is_said else f"{text} ({shortened(closed.comment or '')})"


def answer_in_words(closed: AskClosed) -> str:
    """What was answered, short."""
    parts = []
    if closed.choice is not None:
        parts.append(repr(closed.choice))
    if closed.is_allowed:
        parts.append({"once": "allowed", "stage": "allowed in this stage", "run": "allowed in this run"}[closed.grant])
    if closed.words is not None:
        parts.append(repr(shortened(closed.words)))
    if closed.after is not None:
        parts.append("left as it was" if closed.after == closed.before else "with changes")
    if closed.comment is not None:
        parts.append(f"({shortened(closed.comment)})")
    return " ".join(parts) or "skipped"
