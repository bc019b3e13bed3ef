"""``handrail answer``: from what was given on a command line, in a file or in an editor to one reply."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click
from msgspec import Struct

from handrail import app, files
from handrail.blueprints.labels import AnswerRefused
from handrail.cli import typed
from handrail.cli.editing import Editor
from handrail.cli.points import OpenEditor, may_edit, parse_answer, render_opened
from handrail.cli.surface import Surface
from handrail.journal.events import AskOpened
from handrail.runs.asks.offers import find_offer, offers_of
from handrail.runs.asks.replies import EDIT, Reply


class Given(Struct, frozen=True, kw_only=True):
    """What was given: an ``answer`` (option or words), a ``comment``, a changed text (``file``, or by the editor)."""

    answer: str | None = None
    comment: str | None = None
    edits: bool = False
    file: str | None = None
    is_skipped: bool = False


def reply_of(given: Given, opened: AskOpened, surface: Surface) -> Reply:
    """The reply to ``opened``; where none was given the person at the terminal is asked, or it is a usage error."""
    editor = Editor(surface.environment, app.drafts_folder(surface.machine()))
    edited = _edited(given, opened, editor, surface)
    if given.answer is None and edited is None and not given.is_skipped:
        return _asked(opened, editor)
    reply = Reply(comment=given.comment, edited=edited, digest=opened.digest)
    if given.answer is None:
        return reply
    if not offers_of(opened):
        return _with(reply, words=given.answer)
    try:
        offer = find_offer(given.answer, opened)
    except AnswerRefused:
        # Words are an answer only where they may be typed; which option was meant is never guessed.
        return _with(reply, words=given.answer) if opened.may_type else _with(reply, option=given.answer)
    if offer.effect == EDIT and edited is None and sys.stdin.isatty():
        return _with(reply, number=offer.number, edited=editor.edit(opened))
    return _with(reply, number=offer.number)


def _with(reply: Reply, **more: str | int) -> Reply:
    return Reply(**{**{name: getattr(reply, name) for name in Reply.__struct_fields__}, **more})


def _edited(given: Given, opened: AskOpened, editor: Editor, surface: Surface) -> str | None:
    """The changed text, from a file, from standard input, or from the person's editor."""
    if given.file is not None:
        data = surface.read_stdin() if given.file == "-" else files.read_bytes(Path(given.file))
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as problem:
            raise click.UsageError(f"{given.file} is no text in UTF-8: {problem.reason}") from problem
    return editor.edit(opened) if given.edits else None


def _asked(opened: AskOpened, editor: Editor) -> Reply:
    """What the person at the terminal says to the question, asked again while it is nothing that fits."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        words = ", ".join(f"{offer.number} {offer.word}" for offer in offers_of(opened))
        wanted = f"one of {words}" if words else "--edit or --file" if may_edit(opened) else "your words"
        raise click.UsageError(f"no answer was given: {wanted}")
    _show(render_opened(opened))
    while True:
        said = parse_answer(_line(), opened)
        if isinstance(said, Reply):
            return said
        if isinstance(said, OpenEditor):
            return Reply(edited=editor.edit(opened), comment=said.comment, digest=opened.digest)
        _show(said.told if isinstance(said, typed.Unclear) else ("that is said to a run that is driven here",))


def _show(lines: tuple[str, ...] | list[str], write: Callable[[str], object] = sys.stderr.write) -> None:
    write("".join(f"{line}\n" for line in lines))


def _line() -> str:
    text: str = click.prompt("answer", prompt_suffix="> ", default="", show_default=False, err=True)
    return text


def forget_draft(opened: AskOpened, surface: Surface) -> None:
    """The answer is in: what was typed for it is not needed any more."""
    Editor(surface.environment, app.drafts_folder(surface.machine())).drafts.discard(opened)
