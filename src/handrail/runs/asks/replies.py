"""A reply to a question, and the answer it comes to once everything about it fits.

Every problem is reported at once, with the options there are; the question stays open. Nothing is guessed: a reply
that says two things says none, words never choose an option, and an edit never empties a document.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from handrail import jsonio
from handrail.blueprints.labels import AnswerRefused
from handrail.journal.events import AskClosed, AskOpened
from handrail.journal.vocabulary import AskKind, AskOutcome
from handrail.runs.asks.offers import Offer, find_offer, is_confirmation, offer_of_number, offers_of, shown

MAX_CHARS = 1_000_000
"""How long any text of a reply may be."""

EDIT = "edit"
"""The effect of an option that opens the document."""


class Reply(Struct, frozen=True, kw_only=True):
    """What a person replies: one way to say it, and what goes with it.

    ``option`` is an option's word, number or label, ``number`` its number from 1, ``is_yes`` a yes or a no, ``words``
    an answer in their own words. ``edited`` is the whole text as they changed it (of an approval: the arguments, as
    JSON); ``comment`` goes with any of them. Nothing at all skips an optional question. ``digest`` is of what they
    were shown, where the surface knows it: a reply to something else is refused.
    """

    option: str | None = None
    number: int | None = None
    is_yes: bool | None = None
    words: str | None = None
    edited: str | None = None
    comment: str | None = None
    digest: str | None = None


def answer_to(opened: AskOpened, reply: Reply) -> AskClosed:
    """The answer that ``reply`` is to ``opened``; ``AnswerRefused`` with everything that does not fit."""
    problems = [*_sizes(reply), *_counts(reply)]
    if reply.digest not in (None, opened.digest):
        problems.append("what is asked has changed since it was shown to you: look at it again")
    closed = AskClosed(ask=opened.ask, outcome=AskOutcome.ANSWERED, comment=_filled(reply.comment))
    try:
        if opened.kind is AskKind.APPROVAL:
            closed = _approval(opened, reply, closed)
        elif opened.kind is AskKind.EDIT:
            closed = _edit(opened, reply, closed)
        else:
            closed = _choice(opened, reply, closed)
    except AnswerRefused as refused:
        problems += [problem for problem in refused.problems if problem not in problems]
    if problems:
        raise AnswerRefused(problems, shown(offers_of(opened)))
    return closed


def _sizes(reply: Reply) -> Iterator[str]:
    for field in ("option", "words", "edited", "comment"):
        text = getattr(reply, field)
        if text is not None and len(text) > MAX_CHARS:
            yield f"{field} is longer than {MAX_CHARS:,} characters"


def _counts(reply: Reply) -> Iterator[str]:
    said = [field for field in ("option", "number", "is_yes", "words") if getattr(reply, field) is not None]
    if len(said) > 1:
        yield f"{' and '.join(said)} are several answers: give one"


def _offer(opened: AskOpened, reply: Reply) -> Offer | None:
    """The option that was chosen, in whichever way; None where none was."""
    if reply.option is not None:
        return find_offer(reply.option, opened)
    if reply.number is not None:
        return offer_of_number(reply.number, opened)
    if reply.is_yes is None:
        return None
    if opened.kind is AskKind.APPROVAL:
        return find_offer("approve" if reply.is_yes else "deny", opened)
    if not is_confirmation(opened):
        raise AnswerRefused(("this question is not answered by yes or no",))
    return find_offer("yes" if reply.is_yes else "no", opened)


# One function a kind ------------------------------------------------------------------------------------------


def _approval(opened: AskOpened, reply: Reply, closed: AskClosed) -> AskClosed:
    if reply.words is not None:
        raise AnswerRefused(("words decide nothing about a call: choose an option, and say why as a comment",))
    offer = _offer(opened, reply)
    if reply.edited is None:
        if offer is None:
            raise AnswerRefused(("nothing was chosen",))
        outcome = AskOutcome.ANSWERED if offer.is_allowed else AskOutcome.DENIED
        return replace(closed, outcome=outcome, is_allowed=offer.is_allowed, grant=offer.grant)
    if offer is not None and not offer.is_allowed:
        raise AnswerRefused(("a call that is denied needs no changed arguments",))
    if offer is not None and offer.grant != "once":
        raise AnswerRefused(("changed arguments are approved once: what holds for longer is for the call as asked",))
    return replace(closed, is_allowed=True, before=opened.shown, after=_arguments(reply.edited))


def _arguments(edited: str) -> str:
    if jsonio.is_deep(edited.encode("utf-8", "surrogatepass")):
        raise AnswerRefused((f"the changed arguments are {jsonio.MAX_DEPTH_ERROR}",))
    try:
        value = jsonio.decode(edited)
    except jsonio.NotJson as problem:
        raise AnswerRefused((f"the changed arguments are no JSON: {problem}",)) from problem
    if not isinstance(value, dict):
        raise AnswerRefused(("the changed arguments are no JSON object",))
    return jsonio.encode(value).decode()


def _edit(opened: AskOpened, reply: Reply, closed: AskClosed) -> AskClosed:
    if (reply.option, reply.number, reply.is_yes, reply.words) != (None,) * 4:
        raise AnswerRefused(("an edit is answered by the changed text and nothing else",))
    if reply.edited is None:
        raise AnswerRefused(("the changed text is missing",))
    return replace(closed, before=opened.shown or "", after=_document(reply.edited))


def _document(edited: str) -> str:
    if not edited.strip():
        raise AnswerRefused(("the changed text is empty: an edit never empties a document",))
    return edited


def _choice(opened: AskOpened, reply: Reply, closed: AskClosed) -> AskClosed:
    """A point, a question, a review or a pause: an option, or words where words are an answer."""
    if not opened.options and (reply.option, reply.number, reply.is_yes) != (None,) * 3:
        raise AnswerRefused(("this question is answered in words",))
    offer = _offer(opened, reply)
    if offer is None and reply.edited is not None:
        edits = [one for one in offers_of(opened) if one.effect == EDIT]
        if len(edits) != 1 or reply.words is not None:
            raise AnswerRefused(("there is nothing to edit here",))
        offer = edits[0]
    if offer is not None:
        return _chosen(opened, offer, reply, closed)
    words = _filled(reply.words)
    if words is None:
        if opened.is_required:
            raise AnswerRefused(("nothing was answered, and the question needs an answer",))
        return closed
    if opened.options and not opened.may_type:
        raise AnswerRefused(("this question is answered by one of its options",))
    return replace(closed, words=words)


def _chosen(opened: AskOpened, offer: Offer, reply: Reply, closed: AskClosed) -> AskClosed:
    problems = []
    if offer.needs_comment and closed.comment is None:
        problems.append(f"{offer.word} needs a comment")
    closed = replace(closed, choice=offer.label)
    if reply.edited is not None:
        if offer.effect != EDIT:
            problems.append(f"{offer.word} edits nothing")
        elif not reply.edited.strip():
            problems.append("the changed text is empty: an edit never empties a document")
        closed = replace(closed, before=opened.shown or "", after=reply.edited)
    if problems:
        raise AnswerRefused(problems)
    return closed


def _filled(text: str | None) -> str | None:
    return text if text is not None and text.strip() else None
