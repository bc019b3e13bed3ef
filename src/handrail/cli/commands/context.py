"""``handrail context``."""

from __future__ import annotations

import click

from handrail import app
from handrail.cli.options import database_option, shared_options, take_run
from handrail.cli.surface import Surface


@click.command("context")
@take_run
@click.option("--text", "with_text", is_flag=True, help="What the regions hold, too.")
@database_option
@shared_options
@click.pass_obj
def COMMAND(surface: Surface, run: str, with_text: bool, database: str | None) -> None:
    """Show what the model of a run sees, by region, and how much room that takes.

    Tokens are estimated from bytes; the budget of a region is what it may hold, the share is of what the model can be
    given, where that is known. Regions that the present stage does not see are hidden, and cost nothing.
    """
    from handrail.cli.views.context import render_context

    found = app.context_of(surface.machine(), surface.environment, run, with_text=with_text, database=database)
    surface.emit(found, render_context)
