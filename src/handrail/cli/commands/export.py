"""``handrail export``."""

from __future__ import annotations

import click

from handrail import app
from handrail.cli.options import NAMES_SESSIONS, force_option, from_option, out_option, shared_options, take_sessions
from handrail.cli.surface import Surface


@click.command("export", context_settings=NAMES_SESSIONS)
@click.argument("reference", callback=take_sessions, metavar="SESSION[#RANGE]")
@out_option
@force_option
@from_option
@shared_options
@click.pass_obj
def COMMAND(surface: Surface, reference: str, out: str | None, force: bool, harness: str | None) -> None:
    """Write a session as neutral JSON.

    Every field of a session has a place in that document, so it reads back as it was.
    """
    from handrail.cli.writing import deliver

    draft = app.export(surface.machine(), reference, harness=harness, stdin=surface.read_stdin)
    deliver(draft, out, force, surface)
