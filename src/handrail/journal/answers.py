"""Whether an answer that was posted closes its question: the last look, whatever the door it came through checked.

Pure. A question is closed by whom it is for and by an answer it takes; for the rest it stays open.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from handrail.journal.events import AskClosed, AskOpened, AskVoted
from handrail.journal.vocabulary import Actor, ActorKind, AskKind, AskOutcome

Ballot: TypeAlias = tuple[AskVoted, Actor]
"""A vote and whose it is."""

APPROVE = "approve"
"""The effect of an option that lets the run go on."""

_FOR_PEOPLE_ONLY = frozenset({AskKind.POINT, AskKind.EDIT, AskKind.REVIEW})
_MAY_ANSWER = frozenset({ActorKind.PERSON, ActorKind.HOST})


def who_may_not(opened: AskOpened, by: Actor) -> str | None:
    """Why ``by`` may not answer the question; None when they may.

    Models, tools and strategies never answer; a host's own program may where nothing says that it takes a person.
    """
    is_for_people = opened.kind in _FOR_PEOPLE_ONLY or opened.approvers or opened.quorum > 1
    if by.kind not in _MAY_ANSWER or (is_for_people and by.kind is not ActorKind.PERSON):
        return f"only a person answers this, not a {by.kind}"
    if by.name is None:
        named = opened.approvers or opened.barred or opened.quorum > 1
        return "who answers must be known by name here" if named else None
    if by.name in opened.barred:
        return f"{by.name} may not answer this: it is not decided by who asked for it"
    if opened.approvers and by.name not in opened.approvers:
        return f"{by.name} may not answer this: it is for {', '.join(opened.approvers)}"
    return None


def is_approving(opened: AskOpened, choice: str | None) -> bool:
    """Whether that answer lets the run go on, so that it takes as many as the question's quorum."""
    return choice is not None and opened.effects.get(choice) == APPROVE


def voters(ballots: Iterable[Ballot], choice: str | None, digest: str | None) -> tuple[str, ...]:
    """The names of those who voted for ``choice`` of what has that digest, each once, in the order they voted."""
    names = (by.name for vote, by in ballots if vote.choice == choice and vote.digest in (None, digest))
    return tuple(dict.fromkeys(name for name in names if name is not None))


def why_refused(opened: AskOpened, closed: AskClosed, by: Actor, ballots: Iterable[Ballot] = ()) -> str | None:
    """Why an answer that was posted to an open question does not close it; None when it does.

    ``ballots`` are the votes that were cast on it. A withdrawal and an expired deadline need nobody in particular.
    """
    if closed.outcome is AskOutcome.WITHDRAWN:
        return "a withdrawn question approves nothing" if closed.is_allowed else None
    if closed.outcome is AskOutcome.TIMED_OUT:
        if closed.is_allowed or not opened.may_expire or opened.deadline is None:
            return "no deadline closes this question"
        return None
    if closed.outcome is AskOutcome.AUTO:
        return "only the run itself decides without anybody"
    if (problem := who_may_not(opened, by)) is not None:
        return problem
    if closed.choice is not None and opened.options and closed.choice not in opened.options:
        return f"{closed.choice!r} is no answer that was offered"
    if opened.kind is AskKind.APPROVAL:
        is_both = closed.is_allowed and closed.outcome is AskOutcome.DENIED
        return "a refusal does not allow anything" if is_both else None
    if closed.is_allowed:
        return "only an approval allows a call"
    return _why_no_answer(opened, closed) or _why_too_few(opened, closed, by, ballots)


def why_vote_refused(opened: AskOpened, vote: AskVoted, by: Actor, ballots: Iterable[Ballot]) -> str | None:
    """Why a vote does not count; None when it does. Only approvals are voted on: anything else closes at once."""
    if (problem := who_may_not(opened, by)) is not None:
        return problem
    if opened.quorum <= 1 or not is_approving(opened, vote.choice):
        return "there is nothing to vote on"
    if vote.digest not in (None, opened.digest):
        return "the vote was given to something else than what is asked"
    if any(voter.name == by.name for _, voter in ballots):
        return f"{by.name} has voted already"
    return None


def _why_no_answer(opened: AskOpened, closed: AskClosed) -> str | None:
    """Why ``closed`` answers nothing."""
    if closed.outcome is AskOutcome.DENIED:
        return "an interaction point is answered, not declined" if opened.kind is AskKind.POINT else None
    if opened.kind is AskKind.EDIT:
        return "an edit is answered by the changed text" if not (closed.after or "").strip() else None
    if closed.choice is None and not (closed.words or "").strip():
        return "a required question takes no empty answer" if opened.is_required else None
    # Questions without a key were opened before it was recorded whether other words are an answer.
    if closed.choice is None and opened.options and not opened.may_type and opened.key:
        return "the question is answered by one of its options"
    if closed.choice is not None and not opened.options:
        return "the question is answered in words"
    return None


def _why_too_few(opened: AskOpened, closed: AskClosed, by: Actor, ballots: Iterable[Ballot]) -> str | None:
    if opened.quorum <= 1 or not is_approving(opened, closed.choice):
        return None
    names = {*voters(ballots, closed.choice, opened.digest), by.name}
    if len(names) >= opened.quorum:
        return None
    return f"{opened.quorum} must approve, and {len(names)} did"
