"""``handrail fork``."""

from __future__ import annotations

import click

from handrail import app
from handrail.cli.options import database_option, shared_options, take_run
from handrail.cli.surface import Surface


@click.command("fork")
@take_run
@click.option(
    "--at", "at", metavar="N", type=click.IntRange(1), required=True, help="The last message to keep, as `show` counts."
)
@database_option
@shared_options
@click.pass_obj
def COMMAND(surface: Surface, run: str, at: int, database: str | None) -> None:
    """Begin another session that holds the messages of a run up to number N.

    The run is not touched, whoever drives it. Prints the id of the new session; `handrail run TASK --session ID` goes
    on with it.
    """
    from handrail.cli.views.runs import finish_forked, render_forked

    made = app.fork(surface.machine(), surface.environment, run, at, database=database)
    surface.emit(made, render_forked)
    finish_forked(made, surface)
