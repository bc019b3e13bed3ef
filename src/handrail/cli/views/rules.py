"""``handrail rules``: the rules, one beside its moments, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from handrail.app.learning.rules import LintReport, RuleList, RuleView
from handrail.cli.cells import one_line
from handrail.cli.exit_codes import ExitCode
from handrail.cli.formats import count, day, when
from handrail.cli.surface import Surface
from handrail.cli.table import Column, render_table
from handrail.cli.views.lessons import render_about
from handrail.cli.views.moments import render_moment
from handrail.learning.probes.ledger import ProbeRow
from handrail.learning.rules.model import Axis, Life, Rule, RuleScope
from handrail.library import project_name

_COLUMNS = (
    Column("ID"),
    Column("LIFE"),
    Column("BY"),
    Column("MOMENTS", right=True),
    Column("LAST"),
    Column("WHERE", flexible=True),
    Column("RULE", flexible=True),
)
_COLOURS = {Life.ACTIVE: "green", Life.TRIAL: "yellow", Life.CANDIDATE: "cyan", Life.RETIRED: "red"}


def render_rules(found: RuleList, surface: Surface) -> Iterator[str]:
    """The owner's own sentences, then a table."""
    for text in found.own:
        yield f"yours: {one_line(text)}"
    rows = [
        [
            line.rule.id,
            _life(line.rule),
            "you" if line.rule.by == "owner" else line.rule.by,
            str(len(line.rule.sources) or ""),
            day(line.last_evidence, surface.zone) if line.last_evidence else "",
            _where(line.rule.scope),
            line.rule.text,
        ]
        for line in found.rules
    ]
    if rows:
        lines = render_table(_COLUMNS, rows, surface.terminal_width)
        yield surface.style(lines[0], bold=True)
        yield from lines[1:]
    elif not found.own:
        yield "No rules."
    if found.others:
        yield f"{count(found.others, 'rule')} beside them; --all shows retired ones"


def finish_rules(found: RuleList, surface: Surface) -> None:
    """Say where the owner's own file is, and which lines could not be read."""
    for bad in found.bad:
        surface.note(f"line {bad.line} of the rules could not be read: {bad.reason}")
    if not found.own:
        surface.note(f"rules of your own, one a line, are read from {found.own_file}")


def render_rule(found: RuleView, surface: Surface) -> Iterator[str]:
    """The rule, where it counts, what happened to it, and the moments it came of."""
    rule = found.rule
    life = surface.style(_life(rule), fg=_COLOURS[rule.life])
    yield f"{surface.style(f'{rule.id}  {one_line(rule.text)}', bold=True)}"
    whose = "your own words" if rule.by == "owner" else "a model's words"
    yield f"  {life}, {whose}, counts {_where(rule.scope)}"
    if rule.reason:
        yield f"  because: {one_line(rule.reason)}"
    yield f"  check: {'none' if rule.check is None else rule.enforced}"
    for change in rule.history:
        was = f" (was: {one_line(change.text)})" if change.text else ""
        why = f": {one_line(change.reason)}" if change.reason else ""
        yield f"  {when(change.at, surface.zone)}  {change.did} by {change.by}{why}{was}"
    for pair in found.pairs:
        other = pair.other if pair.one == rule.id else pair.one
        yield f"  {pair.kind}: {one_line(other)}"
    yield from render_rows(found.rows, surface)
    for lesson in found.lessons:
        yield ""
        yield f"lesson {lesson.id}  {one_line(lesson.text)}"
        yield from render_about(lesson, surface)
    for moment in found.moments:
        yield ""
        yield from render_moment(moment, surface)


def render_rows(rows: Sequence[ProbeRow], surface: Surface) -> Iterator[str]:
    """What became of each measurement, and what each arm did: without the rule, and with it."""
    for row in rows:
        notes = [note for note, holds in (("judged", row.judged), ("approximate", row.approximate)) if holds]
        flags = f" ({', '.join(notes)})" if notes else ""
        arms = f"without {row.control}, with {row.treatment}"
        yield surface.style(f"  probe at {row.moment}, repeat {row.repeat}{flags}: {arms}", bold=True)
        if row.reason:
            yield f"    {one_line(row.reason)}"
        for label, trace in zip(("without", "with"), row.traces, strict=True):
            if trace:
                yield f"    {label:<7} {one_line(trace)}"


def render_lint(found: LintReport, surface: Surface) -> Iterator[str]:
    """Every finding, then how many there are."""
    for finding in found.findings:
        mark = surface.style("problem", fg="red") if finding.is_problem else surface.style("note   ", fg="cyan")
        about = f"{finding.rule} " if finding.rule else ""
        yield f"{mark}  {finding.code}: {about}{one_line(finding.message)}"
    notes = len(found.findings) - found.problems
    yield f"{count(found.rules, 'rule')}: {count(found.problems, 'problem')}, {count(notes, 'note')}"


def finish_lint(found: LintReport) -> None:
    """End with the code for problems where there are some."""
    if found.problems:
        raise click.exceptions.Exit(ExitCode.PROBLEMS)


def _life(rule: Rule) -> str:
    return f"{rule.life} (guarded)" if rule.is_guarded and rule.life is Life.TRIAL else rule.life.value


def _where(scope: RuleScope) -> str:
    if scope.is_dark:
        return "nowhere"
    places = None if scope.repositories is None else tuple(project_name(one) or one for one in scope.repositories)
    parts = [
        _axis("in", places),
        _axis("for", scope.paths),
        _axis("with", scope.tools),
        _axis("under", scope.harnesses),
        _axis("about", scope.surfaces),
    ]
    return one_line(" ".join(part for part in parts if part)) or "everywhere"


def _axis(word: str, axis: Axis) -> str:
    return "" if axis is None else f"{word} {', '.join(axis)}"
