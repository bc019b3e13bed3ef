"""``handrail sync``: what changes in whose file, and what the owner's hand there came to."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from handrail.app.learning.delivering import SyncedFile, SyncReport
from handrail.cli.cells import one_line, scrub
from handrail.cli.exit_codes import ExitCode
from handrail.cli.formats import count
from handrail.cli.surface import Surface
from handrail.learning.delivery.managed import Hand

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_DID = {
    False: {"new": "would be made", "changed": "would change", "removed": "would be taken away"},
    True: {"new": "made", "changed": "changed", "removed": "taken away"},
}


def render_synced(found: SyncReport, surface: Surface) -> Iterator[str]:
    """File by file: the hand, then the difference."""
    for file in found.files:
        yield from _file(file, surface, is_applied=found.is_applied)
    if not found.files:
        yield "There is no file with a block in this repository."


def finish_synced(found: SyncReport, surface: Surface) -> None:
    """Say how to write; ends with 3 where a file was left as it is."""
    if found.changes and not found.is_applied:
        surface.note("Nothing is written; --apply writes it.")
    if any(file.problem is not None for file in found.files):
        raise click.exceptions.Exit(ExitCode.PROBLEMS)


def ask_to_write(surface: Surface) -> bool:
    """Whether the person says yes; without a terminal nobody is asked, and that is a no."""
    if surface.as_json or not (sys.stdin.isatty() and surface.is_terminal):
        return False
    return click.confirm("Write this?", default=False, err=True)


def _file(file: SyncedFile, surface: Surface, *, is_applied: bool) -> Iterator[str]:
    yield surface.style(f"{one_line(file.path)}: {_said(file, is_applied=is_applied)}", bold=True)
    yield from _hand(file.hand)
    if file.note is not None:
        yield f"  {file.note}"
    if file.left_out:
        yield f"  no room for {', '.join(file.left_out)}"
    for line in file.diff.splitlines():
        text = scrub(line)
        yield surface.style(text, fg=_COLOURS[line[0]]) if line[:1] in _COLOURS else text


def _said(file: SyncedFile, *, is_applied: bool) -> str:
    if file.problem is not None:
        return f"left as it is: {file.problem}"
    if file.change == "none":
        return f"{count(len(file.rules), 'rule')}, nothing to change" if file.rules else "no rules for it"
    return f"{_DID[is_applied][file.change]}, {count(len(file.rules), 'rule')}"


def _hand(hand: Hand) -> Iterator[str]:
    for line in hand.changed:
        yield f"  you put {line.id} otherwise, so it is yours: {one_line(line.text)}"
    for id in hand.removed:
        yield f"  you took {id} out, so it no longer counts here"
    for text in hand.added:
        yield f"  you added: {one_line(text)}"
