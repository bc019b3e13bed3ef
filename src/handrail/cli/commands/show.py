"""``handrail show``."""

from __future__ import annotations

from functools import partial

import click

from handrail import app
from handrail.cli.options import NAMES_SESSIONS, from_option, shared_options, take_sessions
from handrail.cli.surface import Surface


@click.command("show", context_settings=NAMES_SESSIONS)
@click.argument("reference", callback=take_sessions, metavar="SESSION[#RANGE]")
@from_option
@click.option("--branch", metavar="ID", help="Another line of the session, by the id that `show` and `moments` print.")
@click.option("--full", is_flag=True, help="Whole results and reasoning, however long.")
@shared_options
@click.pass_obj
def COMMAND(surface: Surface, reference: str, harness: str | None, branch: str | None, full: bool) -> None:
    """Read a session, or the messages of a range.

    SESSION is an id, the unique start of one, an exact title, a file, or - for standard input. A RANGE counts
    messages from 1: #5, #5-12, #5-, #-12, #2-4,9.
    """
    from handrail.cli.views.session import CUT_CHARS, finish_session, render_session

    shown = app.show(surface.machine(), reference, harness=harness, branch=branch, stdin=surface.read_stdin)
    surface.emit(shown, partial(render_session, limit=None if full else CUT_CHARS))
    finish_session(shown, surface)
