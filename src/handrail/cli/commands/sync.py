"""``handrail sync``."""

from __future__ import annotations

from pathlib import Path

import click

from handrail.cli.options import shared_options
from handrail.cli.surface import Surface

_TARGETS = ("agents", "claude", "gemini", "copilot", "cursor", "skill")


@click.command("sync")
@click.option(
    "--target",
    "targets",
    metavar="NAME",
    multiple=True,
    type=click.Choice(_TARGETS),
    help=f"Which file: {', '.join(_TARGETS)}; several times for several. Else AGENTS.md and those that are there.",
)
@click.option(
    "--repo", metavar="PATH", type=click.Path(path_type=Path), help="The repository; else that of this folder."
)
@click.option("--apply", "is_applied", is_flag=True, help="Write what is shown, without asking.")
@click.option("--remove", "removes", is_flag=True, help="Take the block out of the files.")
@shared_options
@click.pass_obj
def COMMAND(surface: Surface, /, targets: tuple[str, ...], repo: Path | None, is_applied: bool, removes: bool) -> None:
    """Put rules into the instruction files of other tools: AGENTS.md, CLAUDE.md, GEMINI.md and kin.

    Shows what would change and writes nothing, unless --apply says so or you say yes on a terminal. The rules that
    count in the repository for the tools that read a file go into a marked block of it, each with its id; not one byte
    beside the block is touched, and --remove (with --apply) gives back the file as it was.

    Your own hand in a block is read first: a line put otherwise is your rule in your words from then on, a line taken
    out no longer counts in this repository, a line added is a rule of yours here.

    Ends with 0; with 3 when a file was left as it is (torn marks, too large for its tool, a line that can be no rule,
    a link out of the repository), and says why; with 4 when a file could not be written.
    """
    from handrail.app.learning.delivering import SyncOrder, preview_sync, sync
    from handrail.app.learning.memory import open_memory
    from handrail.cli.views.sync import ask_to_write, finish_synced, render_synced

    order = SyncOrder(folder=repo or surface.folder(), targets=targets, removes=removes)
    memory = open_memory(surface.environment)
    shown = preview_sync(memory, order)
    if is_applied:
        done = sync(memory, order, shown=shown)
        surface.emit(done, render_synced)
        finish_synced(done, surface)
        return
    surface.emit(shown, render_synced)
    if shown.changes and ask_to_write(surface):
        shown = sync(memory, order, shown=shown)
        surface.note("written")
    finish_synced(shown, surface)
