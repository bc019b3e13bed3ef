"""``handrail blueprint``: problems with their places, and the list of what can be run by name."""

from __future__ import annotations

from collections.abc import Iterator

import click

from handrail.app import BlueprintDrawing, BlueprintList, BlueprintReport, BlueprintRow
from handrail.blueprints.problems import Problem
from handrail.cli.cells import one_line
from handrail.cli.exit_codes import ExitCode
from handrail.cli.formats import count
from handrail.cli.surface import Surface

_LOOKS = {"error": "red", "warning": "yellow", "note": "cyan"}


def render_check(report: BlueprintReport, surface: Surface, *, with_notes: bool) -> Iterator[str]:
    """Blueprint by blueprint, problem by problem in the order of the file; then how many there are."""
    for checked in report.checked:
        shown = [one for one in checked.problems if with_notes or one.level != "note"]
        yield surface.style(one_line(checked.path or checked.name), bold=True)
        for problem in shown:
            yield from _problem(problem, surface)
        if checked.digest is not None and not checked.count("error"):
            of = f"{count(checked.stages, 'stage')}, {count(checked.points, 'point')}"
            yield f"  {of}: can be run, digest {checked.digest[:12]}"
        yield ""
    figures = [count(report.errors, "error"), count(report.warnings, "warning")]
    figures += [count(report.notes, "note")] if with_notes else []
    yield f"{count(len(report.checked), 'blueprint')}: {', '.join(figures)}."


def _problem(problem: Problem, surface: Surface) -> Iterator[str]:
    place = " ".join(part for part in (f"line {problem.line}" if problem.line else "", one_line(problem.path)) if part)
    level = surface.style(problem.level, fg=_LOOKS[problem.level], bold=problem.level == "error")
    yield f"  {level} {problem.code}{f'  {place}' if place else ''}"
    yield f"      {one_line(problem.message)}"
    if problem.suggestion is not None:
        yield surface.style(f"      try: {one_line(problem.suggestion)}", fg="green")


def finish_check(report: BlueprintReport, *, denies_warnings: bool) -> None:
    """End with 3 when there are errors, or warnings that are denied."""
    if report.errors or (denies_warnings and report.warnings):
        raise click.exceptions.Exit(ExitCode.PROBLEMS)


def render_list(found: BlueprintList, surface: Surface) -> Iterator[str]:
    """Each blueprint with where it comes from, what it is for, its stages and its points."""
    for row in found.blueprints:
        where = f"  {one_line(row.path)}" if row.path else ""
        yield f"{surface.style(one_line(row.name), bold=True)}  {row.origin}{where}"
        yield from (f"    {line}" for line in _about(row))


def _about(row: BlueprintRow) -> Iterator[str]:
    if row.problem is not None:
        yield f"cannot be read: {one_line(row.problem)}"
        return
    if row.description:
        yield one_line(row.description)
    points = f"; asks at {', '.join(map(one_line, row.points))}" if row.points else ""
    yield f"{' → '.join(row.stages)}{points}"


def render_drawing(drawn: BlueprintDrawing, _surface: Surface) -> Iterator[str]:
    """The text of the drawing."""
    yield drawn.text.removesuffix("\n")
