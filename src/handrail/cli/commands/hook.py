"""``handrail hook``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.hook_run import run as run_hook
from handrail.cli.options import shared_options
from handrail.cli.surface import Surface

if TYPE_CHECKING:
    from handrail.app.learning.hooks import HookChange

_HOST = click.argument("host", metavar="HOST", type=click.Choice(("claude_code", "codex")))
_PROJECT = click.option(
    "--project/--user", "is_project", help="The settings of this folder alone, or yours for all folders (the default)."
)
_APPLY = click.option("--apply", "is_applied", is_flag=True, help="Write it without asking.")


def _project(surface: Surface, is_project: bool) -> Path | None:
    return surface.folder() if is_project else None


def _is_approved(surface: Surface, changes: tuple[HookChange, ...]) -> bool:
    """Whether the person wants the changes they were shown; only a terminal is asked."""
    if (
        surface.as_json
        or not any(change.diff for change in changes)
        or not (sys.stdin.isatty() and surface.is_terminal)
    ):
        return False
    return click.confirm("Write this?", default=False)


@click.command("install")
@_HOST
@_PROJECT
@_APPLY
@shared_options
@click.pass_obj
def install(surface: Surface, host: Any, is_project: bool, is_applied: bool) -> None:
    """Put the hook into the settings of HOST: `claude_code` or `codex`.

    Shows the difference first, and writes only with --apply or after your yes on a terminal. From then on HOST asks
    Handrail before every call and at the end of every turn, and the checks of your rules that are in shadow or on
    count there too. Nothing else in the settings is touched. `handrail hook doctor` says whether HOST really calls it.
    """
    from handrail.app.learning.hooks import install_hook
    from handrail.cli.views.hook import finish_change, render_changes

    project = _project(surface, is_project)
    change = install_hook(surface.environment, host, project, apply=is_applied)
    surface.emit(change, lambda found, _surface: render_changes((found,), surface))
    if not is_applied and _is_approved(surface, (change,)):
        change = install_hook(surface.environment, host, project, apply=True)
    finish_change((change,), surface)


@click.command("remove")
@_HOST
@_PROJECT
@_APPLY
@shared_options
@click.pass_obj
def remove(surface: Surface, host: Any, is_project: bool, is_applied: bool) -> None:
    """Take the hook out of the settings of HOST again; shown first, like putting it in."""
    from handrail.app.learning.hooks import HookRemoval, remove_hook
    from handrail.cli.views.hook import finish_change, render_changes

    project = _project(surface, is_project)
    changes = remove_hook(surface.environment, host, project, apply=is_applied)
    surface.emit(HookRemoval(changes=changes), lambda found, _surface: render_changes(found.changes, surface))
    if not is_applied and _is_approved(surface, changes):
        changes = remove_hook(surface.environment, host, project, apply=True)
    finish_change(changes, surface)


@click.command("doctor")
@shared_options
@click.pass_obj
def doctor(surface: Surface) -> None:
    """Say whether the hook is installed, and whether the hosts really call it.

    That it stands in the settings proves nothing: a host may not have read them, or not trust it. So the hook itself
    keeps record of when it was last called. Ends with 3 where it is installed and not called, or failed.
    """
    from handrail.app.learning.hooks import hook_report
    from handrail.cli.views.hook import finish_report, render_report

    found = hook_report(surface.environment, surface.folder())
    surface.emit(found, render_report)
    finish_report(found)


@click.command("run")
@_HOST
@click.pass_obj
def run(surface: Surface, host: str) -> None:
    """Answer HOST; for the host to call, with its JSON on standard input. Whatever goes wrong, it goes on."""
    run_hook([host], surface.environment)


@click.group("hook", commands=[install, remove, doctor, run])
def COMMAND() -> None:
    """The hook by which checks of your rules count in Claude Code and Codex too."""
