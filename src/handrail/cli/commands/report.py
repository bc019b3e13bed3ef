"""``handrail report``."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from handrail.cli.options import harness_option, project_option, shared_options, since_option
from handrail.cli.surface import Surface


@click.command("report")
@since_option
@harness_option("--harness", help="Only this harness.")
@project_option
@click.option("--svg", metavar="FILE", type=click.Path(path_type=Path), help="Write the weeks as a picture, too.")
@click.option("--force", is_flag=True, help="Replace the file of --svg.")
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface,
    /,
    since: datetime | None,
    harness: str | None,
    project: str | None,
    svg: Path | None,
    force: bool,
) -> None:
    """Say whether you have to step in less.

    Step-ins per 100 rounds, repeats of a correction that a rule was there for, and how often the checks of rules were
    violated, by week, project and rule, each with an interval; and what these figures cannot show. Weeks begin on
    Monday (UTC). No model is asked. Ends with 0; with 4 when a session could not be read, and the figures are without
    it.
    """
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.reporting import report
    from handrail.app.listing import SessionFilter
    from handrail.cli.views.notes import finish_unread
    from handrail.cli.views.report import render_report

    if force and svg is None:
        raise click.UsageError("--force replaces the file of --svg, and there is no --svg")
    found = report(
        surface.machine(),
        open_memory(surface.environment),
        SessionFilter(harness=harness, project=project, since=since),
        on_progress=surface.progress("session"),
    )
    if svg is not None:
        from handrail.files import write_atomically
        from handrail.learning.chart import chart_of

        write_atomically(svg, chart_of(found.drawn).encode(), replace=force)
        surface.note(f"drawn: {svg}")
    surface.emit(found.told, render_report)
    finish_unread(found.told.unread, surface)
