"""``handrail``: what is here."""

from __future__ import annotations

from handrail.app import HarnessRow, Overview
from handrail.cli.formats import count, day, size
from handrail.cli.surface import Surface
from handrail.cli.table import Column, render_table
from handrail.cli.views.notes import finish_unread

_COLUMNS = (
    Column("HARNESS", flexible=True),
    Column("SESSIONS", right=True),
    Column("SUB-AGENTS", right=True),
    Column("SIZE", right=True),
    Column("OLDEST"),
    Column("NEWEST"),
    Column("DAMAGED", right=True),
    Column("STEP-INS", right=True),
)


def render_overview(found: Overview, surface: Surface) -> list[str]:
    """A table of the harnesses that have sessions, and the figure that counts."""
    if not found.harnesses:
        return ["No sessions of any coding agent were found here.", "Looked for: " + ", ".join(found.without_sessions)]
    lines = render_table(_COLUMNS, [_cells(row, surface) for row in found.harnesses], surface.terminal_width)
    rate = "" if found.per_100_rounds is None else f": {found.per_100_rounds} per 100 rounds"
    figure = f"You stepped in {count(found.stepins, 'time')} in {count(found.rounds, 'round')}{rate}."
    return [surface.style(lines[0], bold=True), *lines[1:], "", figure]


def finish_overview(found: Overview, surface: Surface) -> None:
    """Say what the figures leave out, what waits for an answer, and where to go from here."""
    if found.waits and not surface.as_json:
        waits = "waits" if len(found.waits) == 1 else "wait"
        surface.note(f"{count(len(found.waits), 'question')} {waits} for your answer: `handrail asks`")
    left = found.sessions - found.read
    if left > len(found.unread):
        surface.note(
            f"Step-ins are counted in {found.read:,} of {found.sessions:,} sessions, newest first; --full reads all."
        )
    if not surface.as_json and surface.is_terminal:
        more = "`handrail moments` shows them, `handrail ls` lists the sessions."
        surface.note(more if found.sessions else "`handrail demo` shows what it would look like.")
    finish_unread(found.unread, surface)


def _cells(row: HarnessRow, surface: Surface) -> list[str]:
    return [
        row.title,
        f"{row.sessions:,}",
        f"{row.subagents:,}" if row.subagents else "",
        size(row.size_bytes),
        day(row.oldest_at, surface.zone),
        day(row.newest_at, surface.zone),
        f"{row.damaged:,}",
        f"{row.stepins:,}{'' if row.read >= row.sessions else '+'}",
    ]
