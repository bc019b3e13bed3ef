"""``handrail follow``."""

from __future__ import annotations

import click

from handrail import app
from handrail.cli.options import from_option, shared_options, take_sessions
from handrail.cli.surface import Surface

DEFAULT_LAST = 10
_SHORTEST_S = 0.05
_LONGEST_S = 3600


def _take_interval(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    # Written so that what is no number at all is out of range too.
    if not _SHORTEST_S <= value <= _LONGEST_S:
        raise click.BadParameter(f"{value} is not between {_SHORTEST_S} and {_LONGEST_S} seconds")
    return value


@click.command("follow")
@click.argument("reference", callback=take_sessions, metavar="SESSION")
@from_option
@click.option(
    "-n",
    "--last",
    metavar="N",
    type=click.IntRange(0),
    help="Begin with the last N messages (default 10; with --once or --json all).",
)
@click.option("--all", "candidates", is_flag=True, help="Candidates too: follow-ups and other weak evidence.")
@click.option("--once", is_flag=True, help="Show what is there and end.")
@click.option(
    "--every",
    metavar="SECONDS",
    type=float,
    callback=_take_interval,
    default=1.0,
    show_default=True,
    help="How often to look at the file; a long session is looked at less often.",
)
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface,
    reference: str,
    harness: str | None,
    last: int | None,
    candidates: bool,
    once: bool,
    every: float,
) -> None:
    """Follow a session while it is written.

    Shows new messages, a line a block, and step-ins as they happen, until Ctrl-C. SESSION is an id, the unique start
    of one, an exact title or a file. Only whole records are read: one that is still being written is waited for. A
    file that is cut short, written anew or replaced is read from its beginning again, which is said; nothing is shown
    twice for it. With --json one object a line: `event` is session, message, moment or notice.
    """
    from handrail.cli.exit_codes import ExitCode
    from handrail.cli.views.follow import Following

    if reference == "-":
        raise click.UsageError("standard input cannot be followed: name a session or a file")
    if last is None and not (once or surface.as_json):
        last = DEFAULT_LAST
    options = app.FollowOptions(last=last, candidates=candidates, once=once, interval_s=every)
    following = Following()
    is_damaged = False
    for event in app.follow(surface.machine(), reference, options, harness=harness):
        if isinstance(event, app.FollowNotice):
            is_damaged |= event.code == "damaged"
            if not surface.as_json:
                surface.note(event.message)
                continue
        surface.emit(event, following.render)
    if is_damaged:
        raise click.exceptions.Exit(ExitCode.PROBLEMS)
