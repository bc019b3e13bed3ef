"""``handrail resume``."""

from __future__ import annotations

import click

from handrail.cli.options import database_option, shared_options, take_run
from handrail.cli.surface import Surface


@click.command("resume")
@take_run
@click.option("--detach", "is_detached", is_flag=True, help="In the background.")
@database_option
@shared_options
@click.pass_obj
def COMMAND(surface: Surface, run: str, is_detached: bool, database: str | None) -> None:
    """Go on with a run: one that was paused, left, cut off by a crash, or answered while nobody drove it.

    Where a process drives it, or `handrail serve` does, it goes on there. Else it goes on here, as with `handrail run
    --session`, with the model and the permissions it began with; a run that was begun with --detach in the background.
    Ends as `handrail run` does.
    """
    from handrail import app
    from handrail.cli.sending import GoingOn, go_on

    app.require_extra()
    sent = app.send(surface.machine(), surface.environment, run, "resume", database=database)
    background = is_detached or sent.is_detached
    go_on(surface, sent.session, sent.driven, GoingOn(here=not background, background=background), database)
