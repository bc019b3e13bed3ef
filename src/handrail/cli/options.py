"""Options that every command takes, and values that several of them read."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, TypeVar

import click

from handrail import registry
from handrail.cli.surface import Surface

Function = TypeVar("Function", bound=Callable[..., Any])
HARNESSES = "handrail.harnesses"
_OWN_HARNESS = "handrail"


def shared_options(function: Function) -> Function:
    """``--json``, ``--tz``, ``--no-color`` and ``--root``, read into the command's ``Surface``."""
    for option in (
        _option("--root", metavar="HARNESS=PATH", multiple=True, callback=_take_roots, help=_ROOT_HELP),
        _option("--no-color", is_flag=True, callback=_take_plain, help="No colours (NO_COLOR does the same)."),
        _option(
            "--tz", metavar="ZONE", callback=_take_zone, help="Show and read times in this zone: UTC, Asia/Tokyo, …"
        ),
        _option("--json", is_flag=True, callback=_take_json, help="Print one JSON object."),
    ):
        function = option(function)
    return function


def harness_option(*names: str, help: str) -> Callable[[Function], Function]:
    """An option that takes the name of a harness; names are completed, aliases are understood."""
    return click.option(*names, metavar="HARNESS", shell_complete=_complete_harness, help=help)


def _option(name: str, **settings: Any) -> Callable[[Function], Function]:
    return click.option(name, expose_value=False, **settings)


_ROOT_HELP = "Find a harness's sessions under PATH; may be given several times."


def _take_json(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        context.obj = replace(_surface(context), as_json=True)


def _take_plain(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        context.obj = replace(_surface(context), is_plain=True)


def _take_zone(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.obj = replace(_surface(context), zone=_parse_zone(value))


def _parse_zone(name: str) -> tzinfo | None:
    if name == "local":
        return None
    if name.upper() in {"UTC", "Z"}:
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise click.BadParameter(f"no time zone is called {name!r}") from None


def _take_roots(context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> None:
    surface = _surface(context)
    roots = dict(surface.roots)
    for item in value:
        name, mark, path = item.partition("=")
        if not mark or not name or not path:
            raise click.BadParameter(f"{item!r} is not HARNESS=PATH")
        roots[name] = _folder(path, may_be_new=name == _OWN_HARNESS)
    context.obj = replace(surface, roots=roots)


def _folder(path: str, *, may_be_new: bool) -> Path:
    """The folder that ``path`` names; a mistyped one would look like a machine without sessions."""
    try:
        folder = Path(path).expanduser()
        is_there = folder.is_dir()
    except (OSError, ValueError, RuntimeError) as problem:
        raise click.BadParameter(f"cannot look at {path!r}: {problem}") from None
    if not (is_there or may_be_new):
        raise click.BadParameter(f"there is no folder {path!r}")
    return folder


def _surface(context: click.Context) -> Surface:
    surface = context.find_object(Surface)
    if surface is None:
        raise RuntimeError("the program was started without a Surface")
    return surface


def _complete_harness(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in registry.names(HARNESSES) if name.startswith(incomplete)]


def take_sessions(context: click.Context, _parameter: click.Parameter, value: Any) -> Any:
    """The names of sessions that were given: anything but an option, ``-`` and ``-#RANGE`` included."""
    for name in (value,) if isinstance(value, str) else value:
        if name.startswith("-") and name != "-" and not name.startswith("-#"):
            raise click.NoSuchOption(name, ctx=context)
    return value


NAMES_SESSIONS = {"ignore_unknown_options": True}
"""Settings of a command whose argument has ``take_sessions``, so that ``-#5-12`` reaches it."""


def project_option(function: Function) -> Function:
    """``--project``: a name, a glob of names, or a folder, which is made absolute."""
    return click.option(
        "--project",
        metavar="NAME",
        callback=_take_project,
        help="Only this project: a folder's name, a glob of names, or a path.",
    )(function)


def _take_project(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value is None or not (value in {".", "..", "~"} or os.sep in value):
        return value
    try:
        return str(Path(value).expanduser().resolve())
    except (OSError, ValueError, RuntimeError) as problem:
        raise click.BadParameter(f"cannot look at {value!r}: {problem}") from None


def since_option(function: Function) -> Function:
    """``--since``: ``7d``, ``12h``, ``2w``, a day or a time; an instant or None for the command."""
    return click.option(
        "--since", metavar="WHEN", callback=_take_since, help="Only since then: 7d, 12h, 2w, 2026-05-01, a time."
    )(function)


def _take_since(context: click.Context, _parameter: click.Parameter, value: str | None) -> datetime | None:
    if value is None:
        return None
    from handrail.cli.formats import parse_since
    from handrail.clock import SystemClock

    return parse_since(value, SystemClock().now(), _surface(context).zone)


from_option = harness_option(
    "--from", "harness", help="Look only among this harness's sessions; read a file as this harness's."
)
out_option = click.option("--out", metavar="PATH", help="Write to this file instead of standard output.")
force_option = click.option("--force", is_flag=True, help="Replace --out if it exists.")
database_option = click.option(
    "--database",
    metavar="URL",
    help="Where runs are kept: postgresql://…, or sqlite:PATH; else HANDRAIL_DATABASE, else a file of Handrail's own.",
)


def webhook_options(function: Function) -> Function:
    """``--webhook`` and ``--webhooks``."""
    one = click.option(
        "--webhook",
        metavar="URL",
        help="Send signed notices there; HANDRAIL_WEBHOOK_SECRET holds the secret they are signed with.",
    )
    more = click.option(
        "--webhooks",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Send signed notices where this TOML file says.",
    )
    return one(more(function))


def take_run(function: Function) -> Function:
    """The argument RUN: the id of a session, or the unique start of one; running ones are completed."""
    return click.argument("run", metavar="RUN", shell_complete=_complete_run)(function)


def _complete_run(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    from handrail import app

    surface = _surface(context)
    found = app.list_runs(surface.machine(), surface.environment, with_ended=True, limit=100).runs
    wanted = [row.run for row in found if row.run.session.startswith(incomplete)]
    return [CompletionItem(run.session, help=run.title or run.status) for run in wanted]


def complete_ask(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[Any]:
    """The questions that wait, by their ids."""
    from click.shell_completion import CompletionItem

    from handrail import app

    surface = _surface(context)
    found = app.list_asks(surface.machine(), surface.environment, app.AskFilter(limit=100)).asks
    wanted = [row.ask for row in found if row.ask.ask.startswith(incomplete)]
    return [CompletionItem(ask.ask, help=ask.opened.prompt.split("\n")[0]) for ask in wanted]
