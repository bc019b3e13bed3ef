"""``handrail repair``."""

from __future__ import annotations

from typing import Literal

import click

from handrail import app
from handrail.cli.options import force_option, from_option, shared_options
from handrail.cli.surface import Surface

_OUT_HELP = (
    "Write the repaired copy to this file; it may be left out for a session from standard input, whose copy then goes "
    "to standard output."
)


@click.command("repair")
@click.argument("reference", metavar="SESSION")
@click.option("--out", metavar="PATH", help=_OUT_HELP)
@force_option
@click.option("--branch", metavar="ID", help="Make this line the live one, by the id that `doctor` prints.")
@click.option("--images", type=click.Choice(["placeholder"]), help="Leave a note with size and hash for every image.")
@from_option
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface,
    reference: str,
    out: str | None,
    force: bool,
    branch: str | None,
    images: Literal["placeholder"] | None,
    harness: str | None,
) -> None:
    """Write a copy of a session that its own tool opens whole.

    SESSION is an id, the unique start of one, an exact title, a file, or - for standard input. Every change is named
    with its place in the original; all other bytes are the original's, and that is checked before the copy gets its
    name, as is that no damage is left. The original is never touched. A session that is being written is refused. Ends
    with 0 when the copy is written and proved, whatever had to be given up for it.
    """
    from handrail.app.opening import STDIN
    from handrail.cli.views.doctor import finish_repair, render_repair
    from handrail.cli.writing import refuse_stdout

    if out is None and reference != STDIN:
        raise click.UsageError("Missing option '--out'.")
    if out is None:
        refuse_stdout(force, surface, what="copy")
    done = app.repair(
        surface.machine(),
        reference,
        surface.write if out is None else out,
        harness=harness,
        stdin=surface.open_stdin,
        branch=branch,
        images=images,
        force=force,
    )
    if out is None:
        surface.note("\n".join(render_repair(done, surface)))
    else:
        surface.emit(done, render_repair)
    finish_repair(done, surface)
