"""``handrail demo``."""

from __future__ import annotations

import click

from handrail import app
from handrail.cli.options import shared_options
from handrail.cli.surface import Surface


@click.command("demo")
@click.option("--sample", is_flag=True, help="The bundled sample, even where there are own sessions.")
@shared_options
@click.pass_obj
def COMMAND(surface: Surface, sample: bool) -> None:
    """Show what Handrail does.

    The moments in which you stepped in, on your own sessions, or on a bundled sample of made-up ones where there are
    none; then the loop, played in a folder that is gone afterwards: a correction in one run, the rule that comes of it,
    a paired probe, a second run without the correction. No model is asked and nothing is sent.
    """
    from handrail.cli.views.demo import render_demo
    from handrail.cli.views.notes import finish_unread

    shown = app.demo(surface.machine(), only_sample=sample, on_progress=surface.progress("session"))
    surface.emit(shown, render_demo)
    found = shown.moments
    if found.summary.sessions < found.sessions:
        surface.note(f"This shows the newest {found.summary.sessions:,} of {found.sessions:,} sessions.")
    surface.note("`handrail moments` shows them all, `handrail show` opens one, `handrail --help` tells the rest.")
    finish_unread(shown.moments.unread, surface)
