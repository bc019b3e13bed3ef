"""Who said no: from the actor and outcome of an event to the typed author and refusal of the model."""

from __future__ import annotations

from handrail.journal.events import AskClosed
from handrail.journal.vocabulary import Actor, ActorKind, AskOutcome
from handrail.transcripts.model import Author, Refusal, RefusalKind

_AUTHORS = {
    ActorKind.PERSON: Author.PERSON,
    ActorKind.MODEL: Author.MODEL,
    ActorKind.PEER: Author.PEER,
}

_OUTCOMES = {
    AskOutcome.TIMED_OUT: RefusalKind.EXPIRED,
    AskOutcome.WITHDRAWN: RefusalKind.WITHDRAWN,
    AskOutcome.AUTO: RefusalKind.BLOCKED,
}


def author_of(actor: Actor) -> Author:
    """The author of what ``actor`` put into a conversation; strategies, hooks and drivers speak for the host."""
    return _AUTHORS.get(actor.kind, Author.HOST)


def refusal_of(closed: AskClosed, by: Actor) -> Refusal | None:
    """The refusal that an approval closed like that is; None when it was given.

    Only a person's own no is ``denied``: silence is ``expired``, a no by rule ``blocked``.
    """
    if closed.is_allowed and closed.outcome in (AskOutcome.ANSWERED, AskOutcome.AUTO):
        return None
    is_person = by.kind is ActorKind.PERSON
    kind = _OUTCOMES.get(closed.outcome, RefusalKind.DENIED if is_person else RefusalKind.BLOCKED)
    who = "person" if is_person else by.name or by.kind.value
    return Refusal(kind, who, closed.comment if closed.words is None else closed.words)


def wording_of(tool: str, refusal: Refusal) -> str:
    """What a model is told of a call that was refused, so that it can tell the ways of not running apart."""
    because = f": {refusal.reason}" if refusal.reason else "."
    match refusal.kind:
        case RefusalKind.DENIED:
            return f"A person refused this call of {tool}{because.rstrip('.')}. Do not repeat it."
        case RefusalKind.EXPIRED:
            return f"Nobody answered in time whether {tool} may run. Nobody refused it either; it was not run."
        case RefusalKind.WITHDRAWN:
            return f"The question whether {tool} may run was withdrawn, and it was not run{because}"
        case _:
            return f"{tool} was not run, blocked by {refusal.by or 'policy'}{because}"
