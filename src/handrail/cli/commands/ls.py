"""``handrail ls``."""

from __future__ import annotations

from datetime import datetime

import click

from handrail import app
from handrail.cli.options import harness_option, project_option, shared_options, since_option
from handrail.cli.surface import Surface

DEFAULT_LIMIT = 50


@click.command("ls")
@harness_option("--harness", help="Only this harness.")
@project_option
@since_option
@click.option(
    "-n", "--limit", metavar="N", type=click.IntRange(0), help="At most N; 0 for all (default 50, with --json all)."
)
@click.option("--all", "with_subagents", is_flag=True, help="Sub-agent sessions too, each under its parent.")
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface,
    harness: str | None,
    project: str | None,
    since: datetime | None,
    limit: int | None,
    with_subagents: bool,
) -> None:
    """List sessions, newest first."""
    from handrail.cli.views.notes import finish_unread
    from handrail.cli.views.sessions import render_sessions

    limit = limit if limit is not None else None if surface.as_json else DEFAULT_LIMIT
    wanted = app.SessionFilter(
        harness=harness, project=project, since=since, with_subagents=with_subagents, limit=limit or None
    )
    found = app.list_sessions(surface.machine(), wanted)
    surface.emit(found, render_sessions)
    if len(found.sessions) < found.total:
        surface.note(f"{len(found.sessions):,} of {found.total:,} sessions; --limit 0 lists all")
    finish_unread(found.unread, surface)
