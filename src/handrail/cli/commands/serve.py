"""``handrail serve``."""

from __future__ import annotations

from pathlib import Path

import click

from handrail.cli.options import database_option, shared_options, webhook_options
from handrail.cli.surface import Surface


@click.command("serve")
@click.option(
    "--most", metavar="N", type=click.IntRange(1), default=8, show_default=True, help="Carry at most N runs at a time."
)
@webhook_options
@database_option
@shared_options
@click.pass_obj
def COMMAND(surface: Surface, most: int, webhook: str | None, webhooks: Path | None, database: str | None) -> None:
    """Carry on every run that nobody drives, until told to end.

    Takes up what was answered, steered or resumed, and what a process left behind that died. A run that waits for a
    person is held by nobody. One process serves a database. SIGTERM and Ctrl-C let what is being done finish, then
    leave the runs as they are. Runs that Python programs began are left to them.

    Notices of questions and ends of runs go to --webhook and --webhooks, signed, and nowhere else.

    With --json one object a line: `event` is ready, taken, waits, ended, failed or notice.
    """
    from handrail.cli.serving import serve

    serve(surface, most=most, webhooks=(webhook, webhooks), database=database)
