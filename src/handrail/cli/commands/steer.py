"""``handrail steer``."""

from __future__ import annotations

import click

from handrail.cli.options import database_option, shared_options, take_run
from handrail.cli.surface import Surface


@click.command("steer")
@take_run
@click.argument("words")
@click.option("--later", is_flag=True, help="A follow-up: it goes to the model when the run would otherwise end.")
@click.option("--interrupt", is_flag=True, help="Stop what the run does now; it goes on with WORDS.")
@database_option
@shared_options
@click.pass_obj
def COMMAND(surface: Surface, run: str, words: str, later: bool, interrupt: bool, database: str | None) -> None:
    """Say something to a run, whoever drives it.

    WORDS go to the model with its next request, as those of a person. They never answer a question.
    """
    from handrail.cli.sending import send

    if later and interrupt:
        raise click.UsageError("--later waits for the end and --interrupt does not: give one of them")
    sent = send(surface, run, "follow_up" if later else "steer", words, database)
    if interrupt:
        # Sent after the words: what is queued when it is heard is what the run goes on with.
        send(surface, sent.session, "interrupt", None, database)
