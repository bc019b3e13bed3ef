"""``handrail ls``: the sessions, one a line."""

from __future__ import annotations

from handrail.app import SessionList, SessionRow
from handrail.cli.formats import size, when
from handrail.cli.surface import Surface
from handrail.cli.table import Column, render_table

_COLUMNS = (
    Column("ID"),
    Column("HARNESS"),
    Column("STARTED"),
    Column("SIZE", right=True),
    Column("PROJECT", flexible=True),
    Column("AGENTS", right=True),
    Column("STATE"),
    Column("TITLE", flexible=True),
)


def render_sessions(found: SessionList, surface: Surface) -> list[str]:
    """A table of the sessions; a sub-agent is indented under its parent."""
    if not found.sessions:
        return ["No sessions."]
    lines = render_table(_COLUMNS, [_cells(row, surface) for row in found.sessions], surface.terminal_width)
    return [surface.style(lines[0], bold=True), *lines[1:]]


def _cells(row: SessionRow, surface: Surface) -> list[str]:
    return [
        row.short_id,
        row.harness,
        when(row.started_at, surface.zone),
        size(row.size_bytes),
        row.project or "",
        str(row.subagents) if row.subagents else "",
        "" if row.is_whole else "damaged",
        f"└ {_title(row) or 'sub-agent'}" if row.is_subagent else _title(row),
    ]


def _title(row: SessionRow) -> str:
    if row.title:
        return row.title
    return f"“{row.opening}”" if row.opening else ""
