"""``handrail doctor``."""

from __future__ import annotations

from functools import partial

import click

from handrail import app
from handrail.cli.options import from_option, shared_options
from handrail.cli.surface import Surface


@click.command("doctor")
@click.argument("reference", metavar="[SESSION]", required=False)
@click.option("--all", "everything", is_flag=True, help="Every session of this machine (as without a SESSION).")
@click.option("--loop", "is_loop", is_flag=True, help="Look at the loop of learning instead of at sessions.")
@click.option("--notes", is_flag=True, help="Notes too, where all sessions are looked at.")
@from_option
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface, reference: str | None, everything: bool, is_loop: bool, notes: bool, harness: str | None
) -> None:
    """Say what is wrong with a session, or with all of them.

    SESSION is an id, the unique start of one, an exact title, a file, or - for standard input. Each finding has a
    stable code, a place in the file, what it costs and the command that helps. Nothing is changed. Ends with 0 when
    there is nothing but notes, 3 when something is damaged, 4 when something could not be read.

    With --loop: rules that no run can load, proposals that nobody looked at, hooks that no host loaded, files that
    cannot be read. Ends with 3 when there is more than notes.
    """
    if is_loop:
        _look_at_loop(surface, reference, everything or harness is not None)
        return
    from handrail.cli.views.doctor import finish_doctor, render_doctor

    if reference is not None and everything:
        raise click.UsageError("--all looks at every session: name one or give --all, not both")
    found = app.doctor(
        surface.machine(),
        reference,
        harness=harness,
        stdin=surface.open_stdin,
        on_progress=surface.progress("session"),
    )
    surface.emit(found, partial(render_doctor, with_notes=notes or reference is not None))
    finish_doctor(found, surface)


def _look_at_loop(surface: Surface, reference: str | None, chooses: bool) -> None:
    from handrail.app.learning.checkup import loop_checkup
    from handrail.cli.views.loop import finish_checkup, render_checkup

    if reference is not None or chooses:
        raise click.UsageError("--loop looks at what is learned, not at sessions: give it alone")
    found = loop_checkup(surface.environment, project=surface.folder())
    surface.emit(found, render_checkup)
    finish_checkup(found)
