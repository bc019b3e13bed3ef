"""``handrail ps`` and what is sent to runs: how they stand, who drives them, and what happens next."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from handrail.app import Detached, Driven, Forked, RunList, Sent, StandingRun
from handrail.cli.cells import one_line
from handrail.cli.formats import ago, count
from handrail.cli.surface import Surface
from handrail.cli.table import Column, render_table
from handrail.clock import SystemClock

_COLUMNS = (
    Column("RUN"),
    Column("STATUS"),
    Column("DRIVEN"),
    Column("STAGE"),
    Column("IDLE", right=True),
    Column("WAITS FOR", right=True),
    Column("BLUEPRINT", flexible=True),
    Column("FOLDER", flexible=True),
    Column("TITLE", flexible=True),
)
_DRIVERS: dict[Driven | None, str] = {"here": "yes", "served": "served", "nobody": "no", None: ""}


def render_runs(found: RunList, surface: Surface) -> list[str]:
    """A table of the runs."""
    if not found.runs:
        return ["No runs."]
    cells = partial(_cells, now=SystemClock().now())
    lines = render_table(_COLUMNS, [cells(row) for row in found.runs], surface.terminal_width)
    return [surface.style(lines[0], bold=True), *lines[1:]]


def _cells(row: StandingRun, now: datetime) -> list[str]:
    run = row.run
    status = run.status if run.status != "ended" or run.reason is None else run.reason.value.replace("_", " ")
    return [
        row.name,
        status,
        _DRIVERS[row.driven],
        run.stage or "",
        ago(run.progress_at, now),
        str(len(run.waits_for)) if run.waits_for else "",
        run.blueprint or "",
        run.cwd or "",
        f"└ {run.title or run.parent[:13]}" if run.parent else run.title or "",
    ]


def finish_runs(found: RunList, surface: Surface) -> None:
    """Say what the table leaves out, and what to do about runs that nobody drives."""
    if found.is_cut:
        surface.note("there are more; --limit 0 lists all")
    if any(row.driven == "nobody" and row.run.status == "running" for row in found.runs):
        surface.note("a run that nobody drives goes on with `handrail resume RUN`, or under `handrail serve`")


_WISHES = {
    "steer": "queued: it goes to the model with its next request",
    "follow_up": "queued: it goes to the model when the run would otherwise end",
    "interrupt": "the run is interrupted",
    "stop": "the run ends at its next boundary",
    "cancel": "the run is cancelled",
    "pause": "the run pauses: what runs lands, nothing new is started",
    "resume": "the run goes on",
}


def render_sent(sent: Sent, surface: Surface) -> list[str]:
    """What was sent, and whether somebody is there to take it."""
    return [] if sent.sent is None else [_WISHES[sent.wish]]


def finish_sent(sent: Sent, surface: Surface) -> None:
    """Say when it has its effect, where nobody drives the run."""
    if sent.driven == "nobody" and not sent.is_done and sent.wish != "resume":
        surface.note(how_it_goes_on(sent.session, sent.driven))


def how_it_goes_on(session: str, driven: Driven) -> str:
    """Who carries the run on, or how somebody does."""
    if driven == "here":
        return "the process that drives the run takes it from here"
    if driven == "served":
        return "`handrail serve` carries the run on"
    return f"nobody drives the run: `handrail resume {session}` goes on with it (--detach: in the background)"


def render_detached(begun: Detached, surface: Surface) -> list[str]:
    """The id alone, so that a program can take it."""
    return [begun.session]


def finish_detached(begun: Detached, surface: Surface) -> None:
    """Say what was withheld, and where to look."""
    for notice in begun.notices:
        surface.note(one_line(notice))
    if not surface.as_json:
        surface.note(f"it runs in the background; `handrail watch {begun.session}` shows it")


def render_forked(made: Forked, surface: Surface) -> list[str]:
    """The id of the new session."""
    return [made.session]


def finish_forked(made: Forked, surface: Surface) -> None:
    """Say how it is gone on with."""
    if not surface.as_json:
        surface.note(
            f"it holds {count(made.messages, 'message')}; `handrail run TASK --session {made.session}` goes on"
        )
