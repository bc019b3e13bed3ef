"""``handrail stats``."""

from __future__ import annotations

from datetime import datetime
from functools import partial

import click

from handrail import app
from handrail.cli.options import (
    NAMES_SESSIONS,
    harness_option,
    project_option,
    shared_options,
    since_option,
    take_sessions,
)
from handrail.cli.surface import Surface

DEFAULT_LIMIT = 30
GROUPINGS = ("day", "harness", "project", "model")


@click.command("stats", context_settings=NAMES_SESSIONS)
@click.argument("references", callback=take_sessions, metavar="[SESSION]...", nargs=-1)
@click.option("--by", type=click.Choice(GROUPINGS), default="day", show_default=True, help="What the table lists.")
@since_option
@harness_option("--harness", help="Only this harness; a file is read as this harness's.")
@project_option
@click.option(
    "-n",
    "--limit",
    metavar="N",
    type=click.IntRange(0),
    default=DEFAULT_LIMIT,
    show_default=True,
    help="At most N lines of the table, of days the latest; 0 for all.",
)
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface,
    references: tuple[str, ...],
    by: str,
    since: datetime | None,
    harness: str | None,
    project: str | None,
    limit: int,
) -> None:
    """Count turns, rounds, tools, tokens and step-ins.

    Over all sessions, or those named, sub-agents included. A turn is a message in which a person speaks, a round one
    response of a model. Each is counted once, whatever number of rows or files it stands in: what a fork copied from
    another session counts there. Days are those of --tz, this machine's by default. Every line of a session counts,
    those that were left too. With --json all tables are printed.
    """
    from handrail.cli.views.notes import finish_unread
    from handrail.cli.views.stats import render_stats

    if references and project is not None:
        raise click.UsageError("--project chooses among all sessions: name sessions or a project, not both")
    found = app.stats(
        surface.machine(),
        app.SessionFilter(harness=harness, project=project, since=since),
        references=references,
        zone=surface.zone,
        stdin=surface.read_stdin,
        on_progress=surface.progress("session"),
    )
    surface.emit(found, partial(render_stats, by=by, limit=limit or None))
    finish_unread(found.unread, surface)
