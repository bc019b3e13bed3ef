"""``handrail pause``."""

from __future__ import annotations

import click

from handrail.cli.options import database_option, shared_options, take_run
from handrail.cli.surface import Surface


@click.command("pause")
@take_run
@click.argument("why", metavar="[WHY]", required=False)
@database_option
@shared_options
@click.pass_obj
def COMMAND(surface: Surface, run: str, why: str | None, database: str | None) -> None:
    """Let a run start nothing new until `handrail resume`.

    What it is doing is finished and recorded. Its questions stay open; answers are kept for then.
    """
    from handrail.cli.sending import send

    send(surface, run, "pause", why, database)
