"""``handrail reflect`` and ``handrail learn``: what would be sent, what came of it, what was left out and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

from handrail.app.learning.asking import Spent
from handrail.app.learning.learning import LearnReport
from handrail.app.learning.reflecting import LessonRow, ReflectReport
from handrail.cli.cells import one_line, scrub
from handrail.cli.exit_codes import ExitCode
from handrail.cli.formats import amount, count
from handrail.cli.surface import Surface
from handrail.cli.views.notes import finish_unread
from handrail.learning.proposals.model import Proposal, Status
from handrail.library import project_name


def render_preview(found: ReflectReport, surface: Surface) -> Iterator[str]:
    """Each request as it would be sent, then what nobody would be asked about."""
    if found.instructions:
        yield surface.style("with every request:", bold=True)
        yield from _quoted(found.instructions)
        yield ""
    for sent in found.would_send:
        shown = f"{sent.moment}  {sent.trigger}  {sent.harness}  {one_line(sent.session)}  ({sent.evidence})"
        yield surface.style(shown, bold=True)
        yield from _quoted(sent.prompt)
        yield ""
    yield f"{count(found.moments, 'request')} would be sent, of {count(found.sessions, 'session')}; nothing was."
    yield from _counts("left out", found.excluded)


def render_reflected(found: ReflectReport, surface: Surface) -> Iterator[str]:
    """What each moment came to, then the figures."""
    for row in found.rows:
        yield _row(row, surface)
    if found.rows:
        yield ""
    lessons = sum(row.lesson is not None for row in found.rows)
    yield (
        f"{count(found.moments, 'moment')} of {count(found.sessions, 'session')} reflected on: "
        f"{count(lessons, 'lesson')}, {len(found.rows) - lessons:,} without one"
    )
    yield from _counts("no lesson", found.skipped)
    yield from _counts("lessons that become no rule", found.unlearnable)
    yield from _counts("nobody was asked about", found.excluded)
    yield from _spent(found.spent, found.model)


def finish_reflected(found: ReflectReport, surface: Surface) -> None:
    """Say what was left and what failed; ends with 1 when the model could not be asked."""
    if found.left:
        why = f": {found.ended}" if found.ended else ""
        surface.note(f"{count(found.left, 'moment')} left for another time{why}")
    if found.bad_lines:
        surface.note(f"{count(found.bad_lines, 'line')} of the lessons could not be read")
    if found.failure is not None:
        surface.note(f"the model could not be asked: {found.failure}")
        raise click.exceptions.Exit(ExitCode.ERROR)
    finish_unread(found.unread, surface)


def render_learn_preview(found: LearnReport, surface: Surface) -> Iterator[str]:
    """Each request as it would be sent, then what would not be asked."""
    if found.instructions:
        yield surface.style("with every request:", bold=True)
        yield from _quoted(found.instructions)
        yield ""
    for ask in found.would_ask:
        yield surface.style(f"{_topic(ask.topic)}: {count(len(ask.lessons), 'lesson')}", bold=True)
        yield from _quoted(ask.prompt or "(no request: rules say all of it already)")
        yield ""
    sent = sum(ask.prompt is not None for ask in found.would_ask)
    yield f"{count(sent, 'request')} would be sent; nothing was."
    yield from _left_out(found)


def render_learned(found: LearnReport, surface: Surface) -> Iterator[str]:
    """Each proposal that was made, then what was left out and why."""
    for proposal in found.proposals:
        yield _proposal(proposal, surface)
    if found.superseded:
        yield f"in the place of {', '.join(found.superseded)}"
    if not found.proposals:
        yield "No proposals."
    yield from _left_out(found)
    yield from _spent(found.spent, found.model)


def finish_learned(found: LearnReport, surface: Surface) -> None:
    """Say what to do next; ends with 1 when the model could not be asked."""
    if any(one.is_pending for one in found.proposals):
        surface.note("`handrail proposals` shows them; nothing is in force before you accept it.")
    if found.failure is not None:
        surface.note(f"the model could not be asked: {found.failure}")
        raise click.exceptions.Exit(ExitCode.ERROR)


def _row(row: LessonRow, surface: Surface) -> str:
    if row.lesson is None:
        return f"·            {row.trigger:<10} {one_line(row.why or 'no lesson')}"
    return f"{row.id}  {surface.style(f'{row.trigger:<10}', bold=True)} {one_line(row.lesson)}  ({row.cause})"


def _proposal(proposal: Proposal, surface: Surface) -> str:
    what = f"{count(len(proposal.operations), 'change')} from {count(len(proposal.lessons), 'lesson')}"
    if proposal.status is Status.EMPTY:
        what = f"nothing to change by {count(len(proposal.lessons), 'lesson')}"
    return f"{surface.style(proposal.id, bold=True)}  {_topic(proposal.topic)}: {what}  [{proposal.status}]"


def _topic(topic: str) -> str:
    return one_line(project_name(topic) or "repository unknown")


def _left_out(found: LearnReport) -> Iterator[str]:
    for topic, why in found.waiting.items():
        yield f"passed over {_topic(topic)}: {why}"
    if found.left:
        yield f"{count(found.left, 'lesson')} left for another time: so many are not argued at once"
    yield from _counts("lessons left out", found.excluded)


def _counts(label: str, counted: Mapping[str, int]) -> Iterator[str]:
    if counted:
        yield f"{label}: " + ", ".join(f"{one_line(why)} {times:,}" for why, times in counted.items())


def _spent(spent: Spent, model: str | None) -> Iterator[str]:
    if spent.requests:
        cost = f", ${spent.cost:.4f}" if spent.cost else ""
        yield f"{count(spent.requests, 'request')} to {one_line(model or '')}, {amount(spent.tokens)} tokens{cost}"


def _quoted(text: str) -> Iterator[str]:
    for line in scrub(text, keep_lines=True).split("\n"):
        yield f"  {line}".rstrip()
