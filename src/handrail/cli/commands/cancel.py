"""``handrail cancel``."""

from __future__ import annotations

import click

from handrail.cli.options import database_option, shared_options, take_run
from handrail.cli.surface import Surface


@click.command("cancel")
@take_run
@click.argument("why", metavar="[WHY]", required=False)
@click.option("--stop", is_flag=True, help="At the next boundary: what is being done is finished, an answer stands.")
@database_option
@shared_options
@click.pass_obj
def COMMAND(surface: Surface, run: str, why: str | None, stop: bool, database: str | None) -> None:
    """End a run now, whoever drives it.

    What it did is kept, its questions are withdrawn, its agents end with it. A run that nobody drives ends at once.
    """
    from handrail.cli.sending import send

    send(surface, run, "stop" if stop else "cancel", why, database)
