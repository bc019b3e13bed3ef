"""``handrail learn``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from handrail.cli.learning import bounds_options, model_option
from handrail.cli.options import shared_options
from handrail.cli.surface import Surface

if TYPE_CHECKING:
    from handrail.app.learning.asking import Bounds

_HOLDOUT = "Leave this share of the lessons out (0 to 1), by their ids, for probes to be made of (0; 0.25 with --auto)."


@click.command("learn")
@click.option(
    "--propose",
    is_flag=True,
    expose_value=False,
    help="Make proposals and change no rule; so it is unless said otherwise.",
)
@click.option(
    "--auto",
    "is_auto",
    is_flag=True,
    help="Reflect, learn, probe, credit and retire, unattended; needs a bound on what may be spent.",
)
@click.option(
    "--judge", metavar="NAME", help="With --auto: this model tells what no code can; 'same' is the one asked."
)
@click.option(
    "--as-they-stand",
    is_flag=True,
    help="Ask no model: propose each lesson that no rule says yet as a rule of its own, in its own words.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be sent, redacted, and send nothing.")
@click.option("--min", "least", metavar="N", type=click.IntRange(1), default=1, help="Lessons a repository needs (1).")
@click.option("--holdout", metavar="SHARE", type=click.FloatRange(0, 1), help=_HOLDOUT)
@model_option
@bounds_options
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface,
    /,
    is_auto: bool,
    judge: str | None,
    as_they_stand: bool,
    dry_run: bool,
    least: int,
    holdout: float | None,
    model: str | None,
    **bounds: Any,
) -> None:
    """Make proposals of lessons: which rules to add, reword, join or retire.

    One request a repository; code applies what the model says, decides where a rule counts, and leaves every rule alone
    that is not named. A lesson that a rule says already is no second rule: where the rule was in the prompt it is to
    be enforced or reworded, where it was not it is to count there. Nothing is in force before you accept it:
    `handrail proposals`.

    With --auto the whole loop is gone round, and nothing is asked past the bounds that are given: moments are reflected
    on, proposals of lessons made, the rules in them probed at the moments they come from. One that makes anything worse
    is rejected, one that does not is on trial, and on a shorter leash where nothing could be measured; whatever changes
    rules there are waits for you. Rules in force are measured, credited and retired by what was measured, but yours.

    Ends with 0; with 1 when the model could not be asked, and nothing is lost then; with 4 when another process learns.
    """
    from handrail.app.learning.asking import Bounds, model_named
    from handrail.app.learning.learning import LearnOrder, learn, preview_learning
    from handrail.app.learning.memory import open_memory

    if as_they_stand and (is_auto or model is not None):
        raise click.UsageError("--as-they-stand asks no model: it goes with neither --auto nor --model")
    if is_auto:
        if dry_run:
            raise click.UsageError("--auto asks a model: see reflect, learn and probe with --dry-run for what of each")
        _by_itself(surface, model, judge, Bounds(**bounds), least=least, holdout=holdout)
        return
    if judge is not None:
        raise click.UsageError("--judge tells what probes came to: it goes with --auto")
    from handrail.cli.views.learning import finish_learned, render_learn_preview, render_learned

    order = LearnOrder(least=least, holdout=holdout or 0.0, bounds=Bounds(**bounds), as_they_stand=as_they_stand)
    memory = open_memory(surface.environment)
    preview = preview_learning(memory, order)
    if dry_run:
        surface.emit(preview, render_learn_preview)
        return
    needs_model = not as_they_stand and any(ask.prompt is not None for ask in preview.would_ask)
    found = learn(memory, order, model_named(model, surface.environment) if needs_model else None)
    surface.emit(found, render_learned)
    finish_learned(found, surface)


def _by_itself(
    surface: Surface, model: str | None, judge: str | None, bounds: Bounds, *, least: int, holdout: float | None
) -> None:
    from handrail.app.learning.asking import Bounds, model_named
    from handrail.app.learning.looping import AutoOrder, learn_by_itself
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.probing import HOLDOUT
    from handrail.cli.views.loop import finish_auto, render_auto

    if bounds == Bounds():
        raise click.UsageError(
            "--auto asks nothing past a bound that you set: give --max-requests, --max-tokens or --max-cost"
        )
    asked = model_named(model, surface.environment)
    judging = None if judge is None else asked if judge == "same" else model_named(judge, surface.environment)
    order = AutoOrder(bounds=bounds, least=least, holdout=HOLDOUT if holdout is None else holdout)
    found = learn_by_itself(
        surface.machine(),
        open_memory(surface.environment),
        order,
        asked,
        judge=judging,
        on_progress=surface.progress("session"),
    )
    surface.emit(found, render_auto)
    finish_auto(found, surface)
