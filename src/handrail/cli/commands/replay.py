"""``handrail replay``."""

from __future__ import annotations

import click

from handrail import app
from handrail.cli.options import NAMES_SESSIONS, from_option, shared_options, take_sessions
from handrail.cli.surface import Surface


@click.command("replay", context_settings=NAMES_SESSIONS)
@click.argument("reference", callback=take_sessions, metavar="SESSION[#RANGE]")
@click.option(
    "--allow",
    metavar="TOOL",
    multiple=True,
    help="Run calls of this tool although it changes things or sends them out.",
)
@click.option("--trust", is_flag=True, help="Vouch for this repository: its tools, hooks, servers and rules count.")
@from_option
@shared_options
@click.pass_obj
def COMMAND(surface: Surface, reference: str, allow: tuple[str, ...], trust: bool, harness: str | None) -> None:
    """Drive a recorded session against today's code and tools, and say where it goes another way.

    The model's replies and what people put in come from the recording. Tools run anew, in this folder; a call that
    changes things or sends them out, or that was refused then, gets its recorded result instead. No model is asked
    and no session is written. Ends with 0 when everything went as recorded, else with 8.
    """
    app.require_extra()
    import asyncio

    from handrail.cli.exit_codes import ExitCode
    from handrail.cli.views.replay import render_replayed

    order = app.ReplayOrder(
        reference=reference, harness=harness, workspace=surface.folder(), allow=allow, is_trusted=trust
    )
    done = asyncio.run(app.replay(surface.machine(), order, surface.environment))
    surface.emit(done, render_replayed)
    if done.divergences:
        raise click.exceptions.Exit(ExitCode.DIVERGED)
