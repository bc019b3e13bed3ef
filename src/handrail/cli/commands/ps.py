"""``handrail ps``."""

from __future__ import annotations

from typing import Literal

import click

from handrail import app
from handrail.cli.options import database_option, shared_options
from handrail.cli.surface import Surface

DEFAULT_LIMIT = 50


@click.command("ps")
@click.option("--all", "with_ended", is_flag=True, help="Those that are over, too.")
@click.option(
    "--status", metavar="STATUS", type=click.Choice(["running", "waiting", "paused", "ended"]), help="Only these."
)
@click.option(
    "-n", "--limit", metavar="N", type=click.IntRange(0), help="At most N; 0 for all (default 50, with --json all)."
)
@database_option
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface,
    with_ended: bool,
    status: Literal["running", "waiting", "paused", "ended"] | None,
    limit: int | None,
    database: str | None,
) -> None:
    """List the runs that are not over, newest first.

    IDLE is how long nothing was recorded, WAITS FOR how many questions wait for an answer. DRIVEN says who carries a
    run on: a process of this machine does (yes), `handrail serve` will (served), or nobody (no).
    """
    from handrail.cli.views.runs import finish_runs, render_runs

    limit = limit if limit is not None else None if surface.as_json else DEFAULT_LIMIT
    found = app.list_runs(
        surface.machine(),
        surface.environment,
        status=status,
        with_ended=with_ended,
        limit=limit or None,
        database=database,
    )
    surface.emit(found, render_runs)
    finish_runs(found, surface)
