"""``handrail proposals``: what would change, and the moments that speak for it."""

from __future__ import annotations

from collections.abc import Iterator

from handrail.app.learning.proposals import Decided, ProposalList, ProposalView
from handrail.cli.cells import one_line
from handrail.cli.formats import count, when
from handrail.cli.surface import Surface
from handrail.cli.table import Column, render_table
from handrail.cli.views.lessons import render_about
from handrail.cli.views.moments import render_moment
from handrail.cli.views.rules import render_rows
from handrail.learning.proposals.model import Proposal
from handrail.learning.proposals.review import DiffLine
from handrail.library import project_name

_COLUMNS = (
    Column("ID"),
    Column("STATUS"),
    Column("ABOUT"),
    Column("MADE"),
    Column("CHANGES", right=True),
    Column("LESSONS", right=True),
    Column("WHERE", flexible=True),
)
_COLOURS = {"+": "green", "-": "red", "~": "yellow"}


def render_proposals(found: ProposalList, surface: Surface) -> Iterator[str]:
    """A table of them."""
    rows = [
        [
            one.id,
            one.status.value,
            one.kind,
            when(one.created_at, surface.zone),
            str(len(one.operations)),
            str(len(one.lessons)),
            project_name(one.topic) or "unknown",
        ]
        for one in found.proposals
    ]
    if not rows:
        yield "No proposals."
        return
    lines = render_table(_COLUMNS, rows, surface.terminal_width)
    yield surface.style(lines[0], bold=True)
    yield from lines[1:]


def finish_proposals(found: ProposalList, surface: Surface) -> None:
    """Say which files could not be read."""
    for bad in found.bad:
        surface.note(f"{bad.file} is no proposal: {bad.reason}")


def render_proposal(found: ProposalView, surface: Surface) -> Iterator[str]:
    """What it would change, what it rests on, what stands against it."""
    proposal = found.proposal
    yield _head(proposal, surface)
    for line in found.diff:
        yield _diff(line, surface)
    if proposal.is_pending and not found.diff:
        yield "  no textual change"
    for covered in proposal.covered:
        yield f"  {covered.handling}: {one_line(covered.rule)} says it already; {one_line(covered.advice)}"
    for pair in proposal.pairs:
        where = f" ({pair.place})" if pair.place else ""
        yield f"  {pair.kind}: {one_line(pair.one)} and {one_line(pair.other)}{where}"
    for refused in proposal.refused:
        yield f"  not taken: {one_line(refused.what)}: {one_line(refused.why)}"
    for text in proposal.evidence:
        yield f"  {one_line(text)}"
    yield from render_rows(found.rows, surface)
    for text in found.moved:
        yield f"  moved since: {one_line(text)}"
    for lesson in found.lessons:
        yield ""
        yield f"lesson {lesson.id}  {one_line(lesson.text)}"
        yield from render_about(lesson, surface)
    for moment in found.moments:
        yield ""
        yield from render_moment(moment, surface)


def render_decided(found: Decided, surface: Surface) -> Iterator[str]:
    """The proposal as it is now, and its rules."""
    yield _head(found.proposal, surface)
    for rule in found.rules:
        yield f"  {rule.id}  {rule.life}  {one_line(rule.text)}"


def _head(proposal: Proposal, surface: Surface) -> str:
    where = one_line(project_name(proposal.topic) or "repository unknown")
    why = f": {one_line(proposal.reason)}" if proposal.reason else ""
    head = surface.style(f"{proposal.id}  {proposal.kind}  {where}", bold=True)
    return f"{head}  {proposal.status}{why}  {count(len(proposal.lessons), 'lesson')}"


def _diff(line: DiffLine, surface: Surface) -> str:
    note = f"  ({one_line(line.note)})" if line.note else ""
    return surface.style(f"  {line.mark} {line.rule} {one_line(line.text)}{note}", fg=_COLOURS[line.mark])
