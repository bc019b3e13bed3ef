"""``handrail moments``."""

from __future__ import annotations

from datetime import datetime
from functools import partial

import click

from handrail import app
from handrail.cli.options import (
    NAMES_SESSIONS,
    harness_option,
    project_option,
    shared_options,
    since_option,
    take_sessions,
)
from handrail.cli.surface import Surface
from handrail.cli.verbs import CommandWithVerbs

DEFAULT_LIMIT = 20
TRIGGERS = ("steer", "denial", "followup", "edit", "interrupt", "rewind", "revision")
_JUDGE_HELP = (
    "Let COMMAND decide about candidates: it reads a JSON object on standard input, secrets taken out, and prints "
    '{"stepin": true} or false.'
)
_TRIGGER_HELP = f"Only moments of this kind: {', '.join(TRIGGERS)}."


@click.command("mark")
@click.argument("moment", metavar="ID")
@click.argument("answer", type=click.Choice(("yes", "no")), metavar="yes|no")
@shared_options
@click.pass_obj
def mark(surface: Surface, moment: str, answer: str) -> None:
    """Say that a moment was a step-in, or was none.

    ID is the moment's own, as `handrail moments --all --why` shows it. The answer is kept in `corrections.jsonl` in
    Handrail's own folder, one JSON object a line, the last word on a moment counting; every count and list goes by it.
    """
    from handrail.cli.views.moments import render_marked

    marked = app.mark(
        surface.machine(),
        moment,
        is_stepin=answer == "yes",
        environment=surface.environment,
        on_progress=surface.progress("session"),
    )
    surface.emit(marked, render_marked)


@click.command("moments", cls=CommandWithVerbs, verbs=(mark,), context_settings=NAMES_SESSIONS)
@click.argument("references", callback=take_sessions, metavar="[SESSION]...", nargs=-1)
@since_option
@harness_option("--harness", help="Only this harness; a file is read as this harness's.")
@project_option
@click.option("--trigger", metavar="KIND", type=click.Choice(TRIGGERS), help=_TRIGGER_HELP)
@click.option("--all", "candidates", is_flag=True, help="Candidates too: follow-ups and other weak evidence.")
@click.option("--why", is_flag=True, help="The reasons for and against each, how likely it is, and its id.")
@click.option("--judge", metavar="COMMAND", help=_JUDGE_HELP)
@click.option(
    "-n", "--limit", metavar="N", type=click.IntRange(0), help="At most N; 0 for all (default 20, with --json all)."
)
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface,
    references: tuple[str, ...],
    since: datetime | None,
    harness: str | None,
    project: str | None,
    trigger: str | None,
    candidates: bool,
    why: bool,
    judge: str | None,
    limit: int | None,
) -> None:
    """Show where a person stepped in.

    In all sessions, or in those named. Each moment comes with when and where, what the agent was doing, what the
    person said, and how it went on; then the figures: step-ins per 100 rounds, by trigger and by project. The
    place it prints opens with `handrail show`. Of the follow-ups a scorer tells which push back; `--why` shows its
    reasons, and `handrail moments mark ID yes|no` overrules it.
    """
    from handrail.cli.views.moments import render_moments
    from handrail.cli.views.notes import finish_unread, note_damaged

    if references and project is not None:
        raise click.UsageError("--project chooses among all sessions: name sessions or a project, not both")
    limit = limit if limit is not None else None if surface.as_json else DEFAULT_LIMIT
    wanted = app.MomentFilter(
        sessions=app.SessionFilter(harness=harness, project=project, since=since),
        trigger=trigger,
        since=since,
        candidates=candidates or trigger == "followup",
        limit=limit or None,
    )
    machine = surface.machine()
    if judge is not None:
        machine = app.with_judge(machine, judge)
        surface.note("Each candidate is given to the judge, with secrets and personal marks taken out.")
    found = app.moments(
        machine,
        wanted,
        references=references,
        stdin=surface.read_stdin,
        on_progress=surface.progress("session"),
    )
    surface.emit(found, partial(render_moments, why=why))
    if len(found.moments) < found.total:
        surface.note(f"{len(found.moments):,} of {found.total:,} moments; --limit 0 shows all")
    note_damaged(found.damaged, surface, of_all=not references)
    finish_unread(found.unread, surface)
