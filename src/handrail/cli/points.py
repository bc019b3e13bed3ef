"""A durable question in front of a person: how it is shown, and what a line that they type says to it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct

from handrail.blueprints.labels import AnswerRefused
from handrail.cli import typed
from handrail.cli.cells import one_line, scrub
from handrail.journal.events import AskOpened
from handrail.journal.vocabulary import AskKind
from handrail.runs.asks.offers import Offer, find_offer, offers_of, shown
from handrail.runs.asks.replies import EDIT, Reply

EDIT_COMMAND = "/edit"
SKIP_COMMAND = "/skip"


class OpenEditor(Struct, frozen=True):
    """The person wants to change the document; what they make of it is the answer, with ``comment``."""

    comment: str | None = None


Said: TypeAlias = Reply | OpenEditor | typed.Command


def render_opened(opened: AskOpened) -> list[str]:
    """The question with the document it is about and its options, each with its number and word."""
    return [*_document(opened), *_question(opened), *_options(opened), *_hints(opened)]


def _document(opened: AskOpened) -> Iterator[str]:
    if opened.shown is not None:
        yield from (f"  | {scrub(line)}" for line in opened.shown.split("\n"))


def _question(opened: AskOpened) -> Iterator[str]:
    lines = scrub(opened.prompt, keep_lines=True).split("\n")
    place = f" ({one_line(opened.stage)})" if opened.stage else ""
    for number, line in enumerate(lines):
        yield f"? {line}{place if number == len(lines) - 1 else ''}"


def _options(opened: AskOpened) -> Iterator[str]:
    for offer in offers_of(opened):
        needed = "  (with a comment)" if offer.needs_comment else ""
        word, label = one_line(offer.word), one_line(offer.label)
        yield f"    {offer.number} {word}{'' if word == label.lower() else f'  {label}'}{needed}"


def _hints(opened: AskOpened) -> Iterator[str]:
    if may_edit(opened):
        yield f"    {EDIT_COMMAND} opens the document in your editor"
    if not opened.is_required:
        yield f"    {SKIP_COMMAND} goes on without an answer"


def may_edit(opened: AskOpened) -> bool:
    """Whether a changed document is an answer to it."""
    return opened.kind is AskKind.EDIT or _edit_option(opened) is not None


def _edit_option(opened: AskOpened) -> Offer | None:
    found = [offer for offer in offers_of(opened) if offer.effect == EDIT]
    return found[0] if len(found) == 1 else None


def parse_answer(line: str, opened: AskOpened) -> Said:
    """What ``line`` says to ``opened``: an option with what is said along with it, words, or a command.

    An option is its number, its word or its label; after a number or a whole word what follows is a comment.
    """
    text = line.strip()
    word, _, rest = text.partition(" ")
    if word == EDIT_COMMAND and may_edit(opened):
        return OpenEditor(rest.strip() or None)
    if text == SKIP_COMMAND and not opened.is_required:
        return Reply(digest=opened.digest)
    if text.startswith("/"):
        return typed.parse_command(line)
    if not text:
        return typed.Unclear(tuple(render_opened(opened)))
    if opened.kind is AskKind.EDIT:
        return typed.Unclear((f"{EDIT_COMMAND} opens the document; a line that is typed here is none",))
    return _chosen(text, opened)


def _chosen(text: str, opened: AskOpened) -> Said:
    offers = offers_of(opened)
    if not offers:
        return Reply(words=text, digest=opened.digest)
    try:
        return _reply(find_offer(text, opened), None, opened)
    except AnswerRefused as refused:
        word, _, rest = text.partition(" ")
        named = word.rstrip(":,").casefold()
        for offer in offers:
            if rest.strip() and named in (str(offer.number), offer.word.casefold()):
                return _reply(offer, rest.strip(), opened)
        if opened.may_type:
            return Reply(words=text, digest=opened.digest)
        return typed.Unclear((*refused.problems, f"choose {', '.join(shown(offers))}"))


def _reply(offer: Offer, comment: str | None, opened: AskOpened) -> Said:
    if offer.effect == EDIT:
        return OpenEditor(comment)
    return Reply(number=offer.number, comment=comment, digest=opened.digest)
