"""``handrail learn``."""

from __future__ import annotations

from typing import Any

import click

from handrail.cli.learning import bounds_options, model_option
from handrail.cli.options import shared_options
from handrail.cli.surface import Surface

_HOLDOUT = "Leave this share of the lessons out (0 to 1), by their ids, for probes to be made of."


@click.command("learn")
@click.option(
    "--propose",
    is_flag=True,
    expose_value=False,
    help="Make proposals and change no rule; so it is unless said otherwise.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be sent, redacted, and send nothing.")
@click.option("--min", "least", metavar="N", type=click.IntRange(1), default=1, help="Lessons a repository needs (1).")
@click.option("--holdout", metavar="SHARE", type=click.FloatRange(0, 1), default=0.0, help=_HOLDOUT)
@model_option
@bounds_options
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface,
    /,
    dry_run: bool,
    least: int,
    holdout: float,
    model: str | None,
    **bounds: Any,
) -> None:
    """Make proposals of lessons: which rules to add, reword, join or retire.

    One request a repository; code applies what the model says, decides where a rule counts, and leaves every rule alone
    that is not named. A lesson that a rule says already is no second rule: where the rule was in the prompt it is to
    be enforced or reworded, where it was not it is to count there. Nothing is in force before you accept it:
    `handrail proposals`.

    Ends with 0; with 1 when the model could not be asked, and nothing is lost then; with 4 when another process learns.
    """
    from handrail.app.learning.asking import Bounds, model_named
    from handrail.app.learning.learning import LearnOrder, learn, preview_learning
    from handrail.app.learning.memory import open_memory
    from handrail.cli.views.learning import finish_learned, render_learn_preview, render_learned

    order = LearnOrder(least=least, holdout=holdout, bounds=Bounds(**bounds))
    memory = open_memory(surface.environment)
    preview = preview_learning(memory, order)
    if dry_run:
        surface.emit(preview, render_learn_preview)
        return
    needs_model = any(ask.prompt is not None for ask in preview.would_ask)
    found = learn(memory, order, model_named(model, surface.environment) if needs_model else None)
    surface.emit(found, render_learned)
    finish_learned(found, surface)
