"""``handrail show``: one session to be read."""

from __future__ import annotations

from collections.abc import Iterator

from handrail.app import Shown
from handrail.cli.cells import scrub
from handrail.cli.formats import count
from handrail.cli.surface import Surface
from handrail.cli.views.notes import note_faults, note_source
from handrail.transcripts.text import Numbers, Piece, iter_pieces, render_header, render_piece

CUT_CHARS = 2000
"""Results, reasoning and tool input are cut here unless ``--full``."""


def render_session(shown: Shown, surface: Surface, limit: int | None = CUT_CHARS) -> Iterator[str]:
    """The text projection, the person's words highlighted where there is colour, forks marked where they leave."""
    safe = surface.is_terminal
    header = render_header(shown.meta, shown.length, shown.spans)
    yield scrub(header, keep_lines=True).rstrip("\n") if safe else header.rstrip("\n")
    numbers = Numbers()
    forks = {branch.leaves_before: branch for branch in shown.branches}
    for item in shown.messages:
        if fork := forks.get(item.number):
            turns = count(fork.human_turns, "turn")
            yield f"\n── another line of {count(fork.messages, 'message')} ({turns} of a person): --branch {fork.id} ──"
        yield surface.style(f"\n── #{item.number} ──", dim=True)
        for piece in iter_pieces(item.message, numbers, limit):
            yield "\n" + _render(piece, surface, safe)


def _render(piece: Piece, surface: Surface, safe: bool) -> str:
    text = render_piece(piece).rstrip("\n")
    if safe:
        text = scrub(text, keep_lines=True)
    return surface.style(text, fg="cyan", bold=True) if piece.is_person else text


def finish_session(shown: Shown, surface: Surface) -> None:
    """Say what could not be read, and whose file it was taken for."""
    note_source(shown.source, surface)
    note_faults(shown.faults, surface)
    if not shown.length:
        surface.note("The session holds no messages.")
