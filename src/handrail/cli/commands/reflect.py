"""``handrail reflect``."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from handrail.cli.learning import bounds_options, model_option
from handrail.cli.options import harness_option, project_option, shared_options, since_option
from handrail.cli.surface import Surface


@click.command("reflect")
@click.option("--dry-run", is_flag=True, help="Show what would be sent, redacted, and send nothing.")
@click.option("-n", "--limit", metavar="N", type=click.IntRange(1), help="Ask about at most N moments.")
@click.option("--all", "candidates", is_flag=True, help="Candidates too: follow-ups that may be no step-ins.")
@since_option
@harness_option("--harness", help="Only this harness.")
@project_option
@model_option
@bounds_options
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface,
    /,
    dry_run: bool,
    limit: int | None,
    candidates: bool,
    since: datetime | None,
    harness: str | None,
    project: str | None,
    model: str | None,
    **bounds: Any,
) -> None:
    """Ask a model what each moment teaches.

    One request a moment, and nothing else of the session in it: the moment whole where nothing untrusted had entered
    the conversation, your own words where it had or nobody knows. What is sent is redacted. Each moment is asked about
    once, wherever its session was copied to. What comes of it are lessons, which change nothing yet: `handrail lessons`
    shows them, `handrail learn` makes proposals of them.

    A session is done whole or left for another time. Ends with 0, also when a bound ended it; with 1 when the model
    could not be asked, and nothing is lost then; with 4 when a session could not be read, or another process reflects.
    """
    from handrail.app.learning.asking import Bounds, model_named
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.reflecting import ReflectOrder, preview, reflect
    from handrail.app.listing import SessionFilter
    from handrail.cli.views.learning import finish_reflected, render_preview, render_reflected

    sessions = SessionFilter(harness=harness, project=project, since=since)
    order = ReflectOrder(sessions=sessions, candidates=candidates, limit=limit, bounds=Bounds(**bounds))
    machine, memory = surface.machine(), open_memory(surface.environment)
    progress = surface.progress("session")
    if dry_run:
        found = preview(machine, memory, order, on_progress=progress)
        surface.emit(found, render_preview)
    else:
        asked = model_named(model, surface.environment)
        found = reflect(machine, memory, order, asked, on_progress=progress)
        surface.emit(found, render_reflected)
    finish_reflected(found, surface)
