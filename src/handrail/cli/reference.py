"""The page of reference for the command line, made from the commands: ``python -m handrail.cli.reference``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

import click

from handrail.cli.exit_codes import MEANINGS
from handrail.cli.program import NAME, program
from handrail.cli.verbs import CommandWithVerbs

_HEAD = """\
# Command line

Made from the commands by `python -m handrail.cli.reference > docs/cli.md`; a test holds it to them.

Data goes to standard output and everything else to standard error. No command prompts without a terminal, writes to
another harness's own files, or reaches a network; but for those that are given a model to ask (`run` and what carries
runs on: `resume`, `answer`, `serve`, `worker`, which run tools too; `reflect`, `learn`).
"""

_SESSIONS = """\
## Naming a session

| what | example |
|---|---|
| its id, or the unique start of one | `3f2a91c4` |
| its exact title | `"Fix the parser"` |
| a file | `./session.jsonl` |
| standard input | `-` |

After it a range of messages, counted from 1, both ends included: `#5`, `#5-12`, `#5-`, `#-12`, `#2-4,9`. The whole
text is looked up first, so a title or a file name may hold a `#`. Whose format a file has is told from its rows;
`--from HARNESS` says it instead.
"""

_JSON = """\
## JSON

With `--json` a command prints one object with a `schema_version`. It grows by new keys; the version is raised when a
key changes its meaning or goes. [cli.schema.json](cli.schema.json) holds the schemas. Times are RFC 3339 in UTC, null
when they are unknown. An error is one object on standard error:
`{"schema_version":1,"error":{"code":…,"message":…,"hint":…,"retryable":…}}`; `retryable` says that the same may succeed
in a while.
"""

_SHARED = frozenset({"json", "tz", "no_color", "root"})
_ENVIRONMENT = (
    ("`CLAUDE_CONFIG_DIR`, `CODEX_HOME`", "where those harnesses keep their files"),
    ("`HANDRAIL_HOME`, `XDG_STATE_HOME`", "where Handrail keeps its own"),
    ("`HANDRAIL_CONFIG_DIR`, `XDG_CONFIG_HOME`", "where it finds what holds for all your runs"),
    ("`HANDRAIL_MODEL`", "the model of `run`, `reflect` and `learn` where none is named"),
    ("`HANDRAIL_DATABASE`", "where runs are kept, as `--database` says it"),
    ("`VISUAL`, `EDITOR`", "the editor that documents are changed in"),
    ("`NO_COLOR`, `FORCE_COLOR`, `TERM=dumb`", "colours: never, always, never"),
    ("`CLAUDECODE`, `CURSOR_AGENT`, `CODEX_SANDBOX`", "an agent reads it: no colours, no progress"),
    ("`COLUMNS`", "how wide a terminal is"),
)


def render_reference() -> str:
    """The page as Markdown."""
    return "\n".join(_sections())


def _sections() -> Iterator[str]:
    yield _HEAD
    yield from _command(program, NAME)
    with click.Context(program, info_name=NAME) as context:
        for name in program.list_commands(context):
            command = program.get_command(context, name)
            if command is not None:
                yield from _command(command, f"{NAME} {name}")
        yield "## Options of every command\n"
        shared = [item for item in program.params if isinstance(item, click.Option) and item.name in _SHARED]
        yield from _options(shared, context)
    yield _SESSIONS
    yield _JSON
    yield "## Exit codes\n\n| code | meaning |\n|---|---|"
    yield from (f"| {code.value} | {meaning} |" for code, meaning in MEANINGS.items())
    yield "\nA reader that goes away (`| head`) ends a command quietly with 0.\n"
    yield "## Environment\n\n| variable | what it sets |\n|---|---|"
    yield from (f"| {name} | {what} |" for name, what in _ENVIRONMENT)
    yield ""


def _command(command: click.Command, path: str) -> Iterator[str]:
    context = click.Context(command, info_name=path)
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"## `{path}`\n\n    {path} {usage}\n\n{inspect.cleandoc(command.help or '')}\n"
    own = [option for option in command.params if isinstance(option, click.Option) and option.name not in _SHARED]
    yield from _options(own, context)
    if isinstance(command, CommandWithVerbs):
        for verb in command.verbs.values():
            yield from _command(verb, f"{path} {verb.name}")
    if isinstance(command, click.Group) and command is not program:
        for name in command.list_commands(context):
            if (inner := command.get_command(context, name)) is not None:
                yield from _command(inner, f"{path} {name}")


def _options(options: Sequence[click.Option], context: click.Context) -> Iterator[str]:
    records = [record for option in options if (record := option.get_help_record(context)) is not None]
    if records:
        yield "| option | what it does |\n|---|---|"
        yield from (f"| `{name}` | {help} |" for name, help in records)
        yield ""


if __name__ == "__main__":
    click.echo(render_reference(), nl=False)
