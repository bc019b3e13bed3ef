"""``handrail show``: one session to be read."""

from __future__ import annotations

from collections.abc import Iterator

from handrail.app import BranchNote, Shown
from handrail.cli.cells import one_line, scrub
from handrail.cli.formats import count
from handrail.cli.surface import Surface
from handrail.cli.views.notes import note_faults, note_source
from handrail.transcripts.model import ToolUse
from handrail.transcripts.text import Numbers, Piece, iter_pieces, render_header, render_piece

CUT_CHARS = 2000
"""Results, reasoning and tool input are cut here unless ``--full``."""


def render_session(shown: Shown, surface: Surface, limit: int | None = CUT_CHARS) -> Iterator[str]:
    """The text projection, the person's words in colour, marks where another line leaves and a sub-agent starts."""
    safe = surface.is_terminal
    header = render_header(shown.meta, shown.length, shown.spans)
    yield scrub(header, keep_lines=True).rstrip("\n") if safe else header.rstrip("\n")
    numbers = Numbers()
    started = {child.call: child.id for child in shown.subagents if child.call is not None}
    forks = {branch.leaves_before: branch for branch in shown.branches}
    for item in shown.messages:
        if fork := forks.get(item.number):
            yield surface.style(_fork_mark(fork), dim=True)
        yield surface.style(f"\n── #{item.number} ──", dim=True)
        for piece in iter_pieces(item.message, numbers, limit):
            yield "\n" + _render(piece, surface, safe)
        for block in item.message.content:
            if isinstance(block, ToolUse) and block.id in started:
                yield surface.style(f"\n── sub-agent {one_line(started[block.id])} ──", dim=True)


def _fork_mark(fork: BranchNote) -> str:
    size = f"{count(fork.messages, 'message')}, {count(fork.human_turns, 'turn')} of a person"
    return f"\n── another line ({size}): --branch {one_line(fork.id)} ──"


def _render(piece: Piece, surface: Surface, safe: bool) -> str:
    text = render_piece(piece).rstrip("\n")
    if safe:
        text = scrub(text, keep_lines=True)
    return surface.style(text, fg="cyan", bold=True) if piece.is_person else text


def finish_session(shown: Shown, surface: Surface) -> None:
    """Say what could not be read, and whose file it was taken for."""
    note_source(shown.source, surface)
    note_faults(shown.faults, surface, shown.see)
    if not shown.length:
        surface.note("The session holds no messages.")
