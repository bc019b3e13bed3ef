"""``handrail proposals``."""

from __future__ import annotations

import click

from handrail.cli.learning import reason_option
from handrail.cli.options import shared_options
from handrail.cli.surface import Surface


def _list(surface: Surface, everything: bool) -> None:
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.proposals import list_proposals
    from handrail.cli.views.proposals import finish_proposals, render_proposals

    found = list_proposals(open_memory(surface.environment), everything=everything)
    surface.emit(found, render_proposals)
    finish_proposals(found, surface)


@click.command("list")
@click.option("--all", "everything", is_flag=True, help="Those that were decided, too.")
@shared_options
@click.pass_obj
def list_(surface: Surface, everything: bool) -> None:
    """List the proposals that wait for you."""
    _list(surface, everything)


@click.command("show")
@click.argument("proposal", metavar="ID")
@shared_options
@click.pass_obj
def show(surface: Surface, proposal: str) -> None:
    """Show what a proposal would change, and the moments it rests on. ID is its id, or the start of one."""
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.proposals import show_proposal
    from handrail.cli.views.proposals import render_proposal

    view = show_proposal(surface.machine(), open_memory(surface.environment), proposal)
    surface.emit(view, render_proposal)


@click.command("accept")
@click.argument("proposal", metavar="ID")
@click.option("--force", is_flag=True, help="Also where the rules are not what they were when it was made.")
@reason_option
@shared_options
@click.pass_obj
def accept(surface: Surface, proposal: str, force: bool, reason: str | None) -> None:
    """Put a proposal into force.

    Its new rules go on trial: they ride, and are taken out sooner than others when probes speak against them. The
    sentences stay a model's. Ends with 2 where the rules have moved since, or do not take it.
    """
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.proposals import accept_proposal
    from handrail.cli.views.proposals import render_decided

    memory = open_memory(surface.environment)
    surface.emit(accept_proposal(memory, proposal, force=force, reason=reason), render_decided)


@click.command("reject")
@click.argument("proposal", metavar="ID")
@reason_option
@shared_options
@click.pass_obj
def reject(surface: Surface, proposal: str, reason: str | None) -> None:
    """Say no to a proposal. Its lessons are used up; `handrail lessons restore` takes one back."""
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.proposals import reject_proposal
    from handrail.cli.views.proposals import render_decided

    surface.emit(reject_proposal(open_memory(surface.environment), proposal, reason), render_decided)


@click.group("proposals", commands=[list_, show, accept, reject], invoke_without_command=True)
@shared_options
@click.pass_context
def COMMAND(context: click.Context) -> None:
    """What is to be done with the rules: list, show, accept and reject proposals.

    Without a command: those that wait for you.
    """
    if context.invoked_subcommand is None:
        _list(context.obj, False)
