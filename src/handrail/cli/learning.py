"""Options that the commands of learning share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from handrail.learning.rules.model import Axis, RuleScope

Function = TypeVar("Function", bound=Callable[..., Any])

ANYWHERE = "any"
"""What is said of an axis to have no bound on it."""

model_option = click.option(
    "--model", metavar="NAME", help="provider:name, local, or scripted:FILE; else HANDRAIL_MODEL names it."
)
reason_option = click.option("--reason", metavar="TEXT", help="Why; it is kept.")


def bounds_options(function: Function) -> Function:
    """``--max-requests``, ``--max-tokens`` and ``--max-cost``."""
    for option in (
        click.option("--max-cost", metavar="N", type=click.FloatRange(0), help="End after so many US dollars."),
        click.option("--max-tokens", metavar="N", type=click.IntRange(0), help="End after so many tokens, in and out."),
        click.option("--max-requests", metavar="N", type=click.IntRange(0), help="End after so many requests."),
    ):
        function = option(function)
    return function


def scope_options(function: Function) -> Function:
    """``--repository``, ``--path``, ``--tool`` and ``--on``, each of which may be given several times."""
    for option in (
        click.option(
            "--on", "harnesses", metavar="HARNESS", multiple=True, help="Count in this harness; 'any': in all."
        ),
        click.option("--tool", "tools", metavar="TOOL", multiple=True, help="Count where there is this tool; 'any'."),
        click.option("--path", "paths", metavar="GLOB", multiple=True, help="Count for these files, src/**; 'any'."),
        click.option(
            "--repository",
            "repositories",
            metavar="PATH",
            multiple=True,
            help="Count in this repository; 'any': in all.",
        ),
    ):
        function = option(function)
    return function


def scope_from(before: RuleScope, given: dict[str, tuple[str, ...]]) -> RuleScope:
    """``before`` with the axes that ``given`` says; ``any`` takes the bound off one.

    ``UnknownHarness`` for a name that is none: a rule that counts under it would be heard nowhere.
    """
    from msgspec.structs import replace

    from handrail.harnesses import harness
    from handrail.workspace.repository import repository_of

    axes: dict[str, Axis] = {}
    for name, values in given.items():
        if not values:
            continue
        if ANYWHERE in values:
            axes[name] = None
        elif name == "repositories":
            axes[name] = tuple(sorted({str(repository_of(Path(value))) for value in values}))
        elif name == "harnesses":
            axes[name] = tuple(sorted({harness(value).name for value in values}))
        elif not all(value.strip() for value in values):
            raise click.UsageError(f"an empty name is no name: {', '.join(map(repr, values))}")
        else:
            axes[name] = tuple(sorted(set(values)))
    return replace(before, **axes)
