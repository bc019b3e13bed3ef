"""``handrail hook``: what changes in a host's settings, and whether the host calls the hook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from handrail.app.learning.hooks import HookChange, HookReport, HostState
from handrail.cli.cells import one_line, scrub
from handrail.cli.exit_codes import ExitCode
from handrail.cli.formats import instant
from handrail.cli.surface import Surface

_LOOKS = {"+": "green", "-": "red", "@": "cyan"}


def render_changes(changes: Sequence[HookChange], surface: Surface) -> Iterator[str]:
    """The differences, file by file."""
    for change in changes:
        yield surface.style(one_line(change.file), bold=True)
        for line in change.diff:
            yield surface.style(scrub(line), fg=_LOOKS.get(line[:1]))
        if not change.diff:
            yield "  nothing to change: it stands there already"
    if not changes:
        yield "The hook is not in these settings."


def finish_change(changes: Sequence[HookChange], surface: Surface) -> None:
    """Say whether it was written, and what comes next."""
    wanted = [change for change in changes if change.diff]
    if not wanted:
        return
    if not all(change.is_applied for change in wanted):
        surface.note("nothing was written; --apply writes it")
        return
    surface.note("written; a host reads its settings when a session begins, and Codex asks whether it may trust a hook")
    surface.note("handrail hook doctor says whether it is called")


def render_report(found: HookReport, surface: Surface) -> Iterator[str]:
    """Host by host: where it is installed, when it was last called, what is wrong."""
    for state in found.hosts:
        yield from _host(state, surface)


def _host(state: HostState, surface: Surface) -> Iterator[str]:
    what = "not installed" if state.is_loaded is None else "works" if state.is_loaded else "installed, not called"
    yield f"{surface.style(state.host, bold=True)}: {what}"
    for file in state.files:
        yield f"  in {one_line(file)}"
    for event in state.events:
        if event.last_at is not None:
            yield f"  last called for {event.event} {instant(event.last_at, surface.zone)}"
    for problem in state.problems:
        yield f"  {surface.style('problem', fg='yellow')}: {one_line(problem)}"


def finish_report(found: HookReport) -> None:
    """End with the code for a hook that is not called."""
    if found.has_problems:
        raise click.exceptions.Exit(ExitCode.PROBLEMS)
