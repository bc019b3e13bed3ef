"""``handrail completion``."""

from __future__ import annotations

import click

from handrail.cli.options import shared_options
from handrail.cli.surface import Surface


@click.command("completion")
@click.argument("shell", metavar="{bash,zsh,fish}", type=click.Choice(("bash", "zsh", "fish")))
@shared_options
@click.pass_context
def COMMAND(context: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    For bash, add to ~/.bashrc: eval "$(handrail completion bash)"
    """
    from click.shell_completion import get_completion_class

    from handrail.cli.program import COMPLETE_VARIABLE, NAME

    surface: Surface = context.obj
    build = get_completion_class(shell)
    if build is None:
        raise click.UsageError(f"no completion for {shell}")
    script = build(context.find_root().command, {}, NAME, COMPLETE_VARIABLE).source()
    if surface.as_json:
        surface.emit({"schema_version": 1, "shell": shell, "script": script}, lambda _result, _surface: ())
    else:
        surface.write_text(script + "\n")
