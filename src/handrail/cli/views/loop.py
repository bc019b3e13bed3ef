"""``handrail learn --auto`` and ``handrail doctor --loop``: what a night did and left out, and whether it all works."""

from __future__ import annotations

from collections.abc import Iterator

import click

from handrail.app.learning.checkup import Grade, LoopCheckup, LoopFinding
from handrail.app.learning.looping import AutoReport
from handrail.cli.cells import one_line
from handrail.cli.exit_codes import ExitCode
from handrail.cli.formats import amount, count
from handrail.cli.surface import Surface
from handrail.cli.views.learning import render_learned, render_reflected
from handrail.cli.views.probe import render_probed

_GATED = {
    "rejected_by_gate": "rejected by its probes",
    "trial": "on trial",
    "trial_on_leash": "on trial, on a shorter leash",
    "waits": "waits for you",
}
_LOOKS = {Grade.NOTE: "cyan", Grade.PROBLEM: "yellow"}


def render_auto(found: AutoReport, surface: Surface) -> Iterator[str]:
    """Step by step, what was done and what was left out."""
    yield surface.style("Reflecting", bold=True)
    yield from render_reflected(found.reflected, surface)
    if found.learned is not None:
        yield ""
        yield surface.style("Learning", bold=True)
        yield from render_learned(found.learned, surface)
    if found.gated:
        yield ""
        yield surface.style("At the gate", bold=True)
        for one in found.gated:
            yield f"{one.proposal}  {_GATED[one.did]}: {one_line(one.why)}"
    if found.probed is not None and found.probed.rules:
        yield ""
        yield surface.style("Probing", bold=True)
        yield from render_probed(found.probed, surface)
    yield from _moved(found, surface)
    yield ""
    yield f"spent: {count(found.spent.requests, 'request')}, {amount(found.spent.tokens)} tokens"


def finish_auto(found: AutoReport, surface: Surface) -> None:
    """Say what ended it; ends with 1 when the model could not be asked."""
    if found.stopped is None:
        return
    surface.note(f"ended early: {found.stopped}; what was done stands")
    if not found.is_bound:
        raise click.exceptions.Exit(ExitCode.ERROR)


def _moved(found: AutoReport, surface: Surface) -> Iterator[str]:
    if not found.moved and not found.off_the_leash:
        return
    yield ""
    yield surface.style("By what was measured", bold=True)
    for one in found.moved:
        did = {"credit": "in force", "retire": "retired"}.get(one.kind, one.kind)
        yield f"{one.rule}  {did if one.did == 'applied' else f'to be {did}, waits for you'}: {one_line(one.why)}"
    for rule in found.off_the_leash:
        yield f"{rule}  off the shorter leash: it was measured"


def render_checkup(found: LoopCheckup, surface: Surface) -> Iterator[str]:
    """Each finding, then what there is."""
    for one in found.findings:
        yield _finding(one, surface)
        if one.fix is not None:
            yield f"    {one.fix}"
    if found.findings:
        yield ""
    if found.folder is None:
        yield "There is no home folder, so there is no loop."
        return
    yield (
        f"{count(found.rules, 'rule')}, {found.riding:,} of them riding; {count(found.lessons, 'lesson')}; "
        f"{count(found.pending, 'proposal')} waiting; {count(found.rows, 'measurement')}"
    )
    problems = sum(one.grade is Grade.PROBLEM for one in found.findings)
    yield f"{count(problems, 'problem')}." if problems else "Nothing is wrong."


def finish_checkup(found: LoopCheckup) -> None:
    """Ends with 3 when there is more than notes."""
    if found.has_problems:
        raise click.exceptions.Exit(ExitCode.PROBLEMS)


def _finding(one: LoopFinding, surface: Surface) -> str:
    grade = surface.style(one.grade.value, fg=_LOOKS[one.grade])
    return f"{grade} {one.code}: {one_line(one.about)}: {one_line(one.message)}"
