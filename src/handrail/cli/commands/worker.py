"""``handrail worker``."""

from __future__ import annotations

from pathlib import Path

import click

from handrail.cli.options import database_option, shared_options, webhook_options
from handrail.cli.surface import Surface


@click.command("worker")
@click.option(
    "--most", metavar="N", type=click.IntRange(1), default=8, show_default=True, help="Carry at most N runs at a time."
)
@click.option(
    "--stalled-after",
    metavar="SECONDS",
    type=click.FloatRange(1),
    default=12.0,
    show_default=True,
    help="Another worker without a sign of life for so long counts as gone.",
)
@webhook_options
@database_option
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface, most: int, stalled_after: float, webhook: str | None, webhooks: Path | None, database: str | None
) -> None:
    """Carry runs of a PostgreSQL database, together with any number of other workers.

    Start one on every machine that is to do work, all with the same --database postgresql://… A run is carried until it
    waits for a person or ends; an answer, a steer or a resume puts it into the queue again. One worker at a time has a
    run; when one dies, or stands still, another goes on with what it had within some seconds. SIGTERM and Ctrl-C let
    what is being done finish, then leave the runs to others.

    Notices of questions and ends of runs go to --webhook and --webhooks, signed, and nowhere else.

    With --json one object a line, as of `handrail serve`. Needs the extra `postgres`.
    """
    from handrail.cli.serving import work

    work(surface, most=most, stalled_after_s=stalled_after, webhooks=(webhook, webhooks), database=database)
