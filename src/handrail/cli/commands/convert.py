"""``handrail convert``."""

from __future__ import annotations

import click

from handrail import app, registry
from handrail.cli.options import (
    HARNESSES,
    NAMES_SESSIONS,
    force_option,
    from_option,
    harness_option,
    out_option,
    shared_options,
    take_sessions,
)
from handrail.cli.surface import Surface


@click.command("convert", context_settings=NAMES_SESSIONS)
@click.argument("reference", callback=take_sessions, metavar="SESSION[#RANGE]")
@harness_option("--to", "target", help="The harness to write for.")
@out_option
@force_option
@from_option
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface, reference: str, target: str | None, out: str | None, force: bool, harness: str | None
) -> None:
    """Write a session in another harness's format.

    The result is what that harness would have written; what it could not carry is said on stderr. Into its own
    harness it is a copy with nothing lost.
    """
    from handrail.cli.writing import deliver

    if target is None:
        raise click.UsageError(f"say which harness to write for: --to {'|'.join(registry.names(HARNESSES))}")
    draft = app.convert(surface.machine(), reference, target, harness=harness, stdin=surface.read_stdin)
    deliver(draft, out, force, surface)
