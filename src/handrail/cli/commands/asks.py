"""``handrail asks``."""

from __future__ import annotations

from functools import partial

import click

from handrail import app
from handrail.cli.options import database_option, shared_options
from handrail.cli.surface import Surface

DEFAULT_LIMIT = 50


@click.command("asks")
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--full", is_flag=True, help="What each is about, whole, and how to answer it.")
@click.option("--all", "with_closed", is_flag=True, help="Those that are answered, too.")
@click.option(
    "-n", "--limit", metavar="N", type=click.IntRange(0), help="At most N; 0 for all (default 50, with --json all)."
)
@database_option
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface, run: str | None, full: bool, with_closed: bool, limit: int | None, database: str | None
) -> None:
    """List the questions that wait for an answer, oldest first.

    Of all runs, or of RUN and the agents it started. Each has an id, and its options a number and a word, for
    `handrail answer`.
    """
    from handrail.cli.views.asks import finish_asks, render_asks

    limit = limit if limit is not None else None if surface.as_json else DEFAULT_LIMIT
    wanted = app.AskFilter(run=run, with_closed=with_closed, limit=limit or None)
    found = app.list_asks(surface.machine(), surface.environment, wanted, database=database)
    surface.emit(found, partial(render_asks, is_full=full))
    finish_asks(found, surface)
