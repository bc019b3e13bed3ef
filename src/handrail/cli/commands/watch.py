"""``handrail watch``."""

from __future__ import annotations

import click

from handrail.cli.options import database_option, shared_options, take_run
from handrail.cli.surface import Surface


@click.command("watch")
@take_run
@click.option("--all", "is_whole", is_flag=True, help="From the beginning of the session, not of its last run.")
@click.option("--once", is_flag=True, help="Show what there is and end.")
@database_option
@shared_options
@click.pass_obj
def COMMAND(surface: Surface, run: str, is_whole: bool, once: bool, database: str | None) -> None:
    """Watch a run that is driven elsewhere, and the agents it started, until it is over.

    Shows what is recorded, as it is recorded; a run that waits for an answer is waited with. With --json one object a
    line: `event` is run, happened, end.

    Ends with 0 when there is an answer, 6 when the run ended without one, 1 when it failed, 7 (with --once) when it is
    not over, 130 when it was cancelled.
    """
    from handrail.cli.watching import watch

    code = watch(surface, run, is_whole=is_whole, once=once, database=database)
    if code:
        raise click.exceptions.Exit(code)
