"""What the commands that send something to a run share: the sending, and going on with a run that nobody drives."""

from __future__ import annotations

from dataclasses import dataclass

import click

from handrail import app
from handrail.cli.surface import Surface
from handrail.cli.views.runs import finish_detached, finish_sent, how_it_goes_on, render_sent


def send(surface: Surface, run: str, wish: app.Wish, words: str | None, database: str | None) -> app.Sent:
    """Send ``wish`` to ``run`` and say so; an empty message is a usage error."""
    try:
        sent = app.send(surface.machine(), surface.environment, run, wish, words, database=database)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from problem
    surface.emit(sent, render_sent)
    if not surface.as_json:
        finish_sent(sent, surface)
    return sent


@dataclass(frozen=True)
class GoingOn:
    """How a run that nobody drives is gone on with: ``here``, in the foreground, in the ``background``, or not."""

    here: bool = False
    background: bool = False


def go_on(surface: Surface, session: str, driven: app.Driven, how: GoingOn, database: str | None) -> None:
    """Go on with the run of ``session`` where nobody else does, as ``how`` says; ends with the run's exit code."""
    if driven != "nobody" or not (how.here or how.background):
        if not surface.as_json:
            surface.note(how_it_goes_on(session, driven))
        return
    order = app.Order(workspace=surface.folder(), session=session, database=database)
    if how.background:
        begun = app.detach(order, surface.environment, surface.roots)
        finish_detached(begun, surface)
        return
    from handrail.cli.running import run

    code = run(surface, order)
    if code:
        raise click.exceptions.Exit(code)
