"""The program ``handrail``: its commands by name, and how errors become words and exit codes."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

import click

from handrail import __version__, registry
from handrail.cli.exit_codes import MEANINGS, ExitCode
from handrail.cli.options import shared_options
from handrail.cli.surface import Surface, give_up
from handrail.errors import HandrailError, HandrailWarning, UnknownName

COMMANDS = "handrail.cli.commands"
NAME = "handrail"
COMPLETE_VARIABLE = "_HANDRAIL_COMPLETE"
_EPILOG = "Exit codes: " + "; ".join(f"{code.value} {meaning}" for code, meaning in MEANINGS.items()) + "."


class CommandsByName(click.Group):
    """A group whose commands are the members of ``handrail.cli.commands``, imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name.replace("_", "-") for name in registry.names(COMMANDS)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; None where there is none, or where another distribution's is broken."""
        if cmd_name not in self.list_commands(ctx):
            return None
        try:
            command = registry.member(COMMANDS, cmd_name.replace("-", "_"), "COMMAND")
        except UnknownName as problem:
            _note_broken(ctx, problem.message)
            return None
        if isinstance(command, click.Command):
            return command
        _note_broken(ctx, f"what is called {cmd_name!r} is no command")
        return None


def _note_broken(context: click.Context, why: str) -> None:
    """Say that a command is left out; while the shell completes a line there is nobody to say it to."""
    if not context.resilient_parsing:
        Surface(os.environ).note(f"a command is left out: {why}")


@click.group(
    NAME,
    cls=CommandsByName,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EPILOG,
)
@shared_options
@click.option("--full", is_flag=True, help="Count step-ins in every session, however long it takes.")
@click.version_option(__version__, prog_name=NAME, message="%(prog)s %(version)s")
@click.pass_context
def program(context: click.Context, full: bool) -> None:
    """Read the sessions of coding agents and find the moments in which a person stepped in.

    Without a command: what is here.
    """
    if context.invoked_subcommand is not None:
        return
    from handrail import app
    from handrail.cli.views.overview import finish_overview, render_overview

    surface: Surface = context.obj
    bounds = {"budget_s": None, "largest_bytes": None} if full else {}
    machine = surface.machine()
    waits = app.waiting(machine, surface.environment)
    found = app.overview(machine, on_progress=surface.progress("session"), waits=waits, **bounds)
    surface.emit(found, render_overview)
    finish_overview(found, surface)


def run(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """Run ``arguments`` and return the exit code; data goes to stdout, everything else to stderr."""
    environment = os.environ if environment is None else environment
    surface = Surface(environment)
    try:
        if instruction := environment.get(COMPLETE_VARIABLE):
            return _complete(instruction)
        with _warnings_as_notes(surface), program.make_context(NAME, list(arguments), obj=surface) as context:
            program.invoke(context)
        sys.stdout.flush()
        return ExitCode.OK
    except click.exceptions.Exit as end:
        return end.exit_code
    except HandrailError as problem:
        return _fail(arguments, problem)
    except click.ClickException as problem:
        return _fail_usage(arguments, problem)
    except (KeyboardInterrupt, click.Abort):
        sys.stderr.write("\n")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        give_up(sys.stdout)
        return ExitCode.OK


@contextlib.contextmanager
def _warnings_as_notes(surface: Surface) -> Iterator[None]:
    """Inside the block what Handrail warns of is a line on stderr, each once."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, HandrailWarning):
            surface.note(f"warning: {message}")
        else:
            shown(message, category, filename, lineno, file, line)

    with warnings.catch_warnings():
        warnings.simplefilter("default", HandrailWarning)
        shown = warnings.showwarning
        warnings.showwarning = show
        yield


def _complete(instruction: str) -> int:
    from click.shell_completion import shell_complete

    return shell_complete(program, {}, NAME, COMPLETE_VARIABLE, instruction)


def _fail(arguments: Sequence[str], problem: HandrailError) -> int:
    if "--json" in arguments:
        _write_error(problem.code, problem.message, problem.hint, is_retryable=problem.is_retryable)
    else:
        notes = Surface(os.environ)
        notes.note(f"error: {problem.message}")
        if problem.hint:
            notes.note(f"hint: {problem.hint}")
    return problem.exit_code


def _fail_usage(arguments: Sequence[str], problem: click.ClickException) -> int:
    if "--json" in arguments:
        _write_error("usage", problem.format_message(), None, is_retryable=False)
    else:
        problem.show()
    return problem.exit_code


def _write_error(code: str, message: str, hint: str | None, *, is_retryable: bool) -> None:
    from handrail import jsonio

    error: dict[str, Any] = {"code": code, "message": message, "hint": hint, "retryable": is_retryable}
    sys.stderr.write(f"{jsonio.encode({'schema_version': 1, 'error': error}).decode()}\n")
