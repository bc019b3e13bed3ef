"""``handrail help``."""

from __future__ import annotations

import click

from handrail.cli.options import shared_options
from handrail.cli.surface import Surface
from handrail.cli.verbs import CommandWithVerbs


@click.command("help")
@click.argument("topic", metavar="[COMMAND]...", nargs=-1)
@shared_options
@click.pass_context
def COMMAND(context: click.Context, topic: tuple[str, ...]) -> None:
    """Say what a command does and takes, as its --help does.

    Without one: which commands there are. Of a command that has commands of its own name both: `help blueprint check`.
    """
    place = context.find_root()
    for name in topic:
        place = _below(place, name)
    surface: Surface = context.obj
    text = place.get_help()
    if surface.as_json:
        surface.emit({"schema_version": 1, "text": text}, lambda _result, _surface: ())
    else:
        surface.write_text(f"{text}\n")


def _below(place: click.Context, name: str) -> click.Context:
    """Where help is given on ``name``, a command or verb of the command at ``place``."""
    command = place.command
    if isinstance(command, click.Group) and (found := command.get_command(place, name)) is not None:
        return click.Context(found, parent=place, info_name=name)
    if isinstance(command, CommandWithVerbs) and name in command.verbs:
        return click.Context(command.verbs[name], parent=place.parent, info_name=f"{place.info_name} {name}")
    raise click.UsageError(f"{place.command_path} has no command {name!r}")
