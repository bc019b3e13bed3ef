"""``handrail crop``."""

from __future__ import annotations

import click

from handrail import app
from handrail.cli.options import NAMES_SESSIONS, force_option, from_option, out_option, shared_options, take_sessions
from handrail.cli.surface import Surface


@click.command("crop", context_settings=NAMES_SESSIONS)
@click.argument("reference", callback=take_sessions, metavar="SESSION#RANGE")
@out_option
@force_option
@from_option
@shared_options
@click.pass_obj
def COMMAND(surface: Surface, reference: str, out: str | None, force: bool, harness: str | None) -> None:
    """Keep some messages of a session.

    The result is in the session's own format, its native records as they are. RANGE is #5-12, #5-, #-12, #5, or a
    list such as #2-4,9. A tool call and its result stay together; where a range would part them, the error names
    the smallest range that does not. The source is never touched.
    """
    from handrail.cli.writing import deliver

    deliver(app.crop(surface.machine(), reference, harness=harness, stdin=surface.read_stdin), out, force, surface)
