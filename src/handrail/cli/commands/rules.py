"""``handrail rules``."""

from __future__ import annotations

import click

from handrail.cli.learning import reason_option, scope_from, scope_options
from handrail.cli.options import shared_options
from handrail.cli.surface import Surface

_REASON = click.option("--reason", metavar="TEXT", required=True, help="Why; it is kept.")


def _list(surface: Surface, everything: bool, here: bool) -> None:
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.rules import list_rules
    from handrail.cli.views.rules import finish_rules, render_rules
    from handrail.workspace.repository import repository_of

    repository = str(repository_of(surface.folder())) if here else None
    found = list_rules(open_memory(surface.environment), everything=everything, repository=repository)
    surface.emit(found, render_rules)
    finish_rules(found, surface)


@click.command("list")
@click.option("--all", "everything", is_flag=True, help="Retired ones too.")
@click.option("--here", is_flag=True, help="Only those that may count in this repository.")
@shared_options
@click.pass_obj
def list_(surface: Surface, everything: bool, here: bool) -> None:
    """List the rules: yours first, then those in force, on trial, and candidates."""
    _list(surface, everything, here)


@click.command("show")
@click.argument("rule", metavar="ID")
@shared_options
@click.pass_obj
def show(surface: Surface, rule: str) -> None:
    """Show a rule beside the moments it came of, and what happened to it. ID is its id, or the start of one."""
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.rules import show_rule
    from handrail.cli.views.rules import render_rule

    surface.emit(show_rule(surface.machine(), open_memory(surface.environment), rule), render_rule)


@click.command("add")
@click.argument("text")
@scope_options
@shared_options
@click.pass_obj
def add(
    surface: Surface,
    text: str,
    repositories: tuple[str, ...],
    paths: tuple[str, ...],
    tools: tuple[str, ...],
    harnesses: tuple[str, ...],
) -> None:
    """Add a rule in your own words. It is in force at once, in this repository unless you say where.

    The file `own-rules.md`, which `handrail rules` names, holds rules of yours too, one a line; no program writes it.
    """
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.rules import add_rule
    from handrail.cli.views.rules import render_rule
    from handrail.learning.rules.model import RuleScope

    given = {"repositories": repositories or (str(surface.folder()),), "paths": paths, "tools": tools}
    scope = scope_from(RuleScope(), {**given, "harnesses": harnesses})
    surface.emit(add_rule(open_memory(surface.environment), text, scope), render_rule)


@click.command("edit")
@click.argument("rule", metavar="ID")
@click.argument("text")
@shared_options
@click.pass_obj
def edit(surface: Surface, rule: str, text: str) -> None:
    """Put a rule into your own words, which are yours from then on. The same words again are refused.

    What was measured of the old words does not count for the new ones, and its check is taken off.
    """
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.rules import edit_rule
    from handrail.cli.views.rules import render_rule

    surface.emit(edit_rule(open_memory(surface.environment), rule, text), render_rule)


@click.command("accept")
@click.argument("rule", metavar="ID")
@reason_option
@shared_options
@click.pass_obj
def accept(surface: Surface, rule: str, reason: str | None) -> None:
    """One step further: a candidate goes on trial, a rule on trial into force."""
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.rules import accept_rule
    from handrail.cli.views.rules import render_rule

    surface.emit(accept_rule(open_memory(surface.environment), rule, reason), render_rule)


@click.command("reject")
@click.argument("rule", metavar="ID")
@_REASON
@shared_options
@click.pass_obj
def reject(surface: Surface, rule: str, reason: str) -> None:
    """Say no to a rule that is a candidate or on trial. It is kept, retired, and not proposed again."""
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.rules import reject_rule
    from handrail.cli.views.rules import render_rule

    surface.emit(reject_rule(open_memory(surface.environment), rule, reason), render_rule)


@click.command("scope")
@click.argument("rule", metavar="ID")
@scope_options
@shared_options
@click.pass_obj
def scope(
    surface: Surface,
    rule: str,
    repositories: tuple[str, ...],
    paths: tuple[str, ...],
    tools: tuple[str, ...],
    harnesses: tuple[str, ...],
) -> None:
    """Say where a rule counts. What is not named stays as it is; `any` takes a bound off.

    Code works out where a rule counts from where its moments were, and never makes it wider; you may.
    """
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.rules import rescope_rule
    from handrail.cli.views.rules import render_rule

    given = {"repositories": repositories, "paths": paths, "tools": tools, "harnesses": harnesses}
    if not any(given.values()):
        raise click.UsageError("say where it counts: --repository, --path, --tool or --on")
    memory = open_memory(surface.environment)
    surface.emit(rescope_rule(memory, rule, lambda before: scope_from(before, given)), render_rule)


@click.command("retire")
@click.argument("rule", metavar="ID")
@_REASON
@shared_options
@click.pass_obj
def retire(surface: Surface, rule: str, reason: str) -> None:
    """Take a rule out of force. It is kept with its history, and is not proposed again."""
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.rules import retire_rule
    from handrail.cli.views.rules import render_rule

    surface.emit(retire_rule(open_memory(surface.environment), rule, reason), render_rule)


@click.command("restore")
@click.argument("rule", metavar="ID")
@reason_option
@shared_options
@click.pass_obj
def restore(surface: Surface, rule: str, reason: str | None) -> None:
    """Make a retired rule a candidate again."""
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.rules import restore_rule
    from handrail.cli.views.rules import render_rule

    surface.emit(restore_rule(open_memory(surface.environment), rule, reason), render_rule)


@click.command("lint")
@shared_options
@click.pass_obj
def lint(surface: Surface) -> None:
    """Say what is wrong with the rules as a whole.

    Rules without room in prompts, pairs that say the same or the opposite (of each other, of your own file, of lines in
    AGENTS.md, CLAUDE.md and their kin), rules that no run can match, rules that nothing speaks for any more. Nothing is
    changed. Ends with 0, or with 3 where there is a problem and not a note only.
    """
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.rules import lint_rules
    from handrail.cli.views.rules import finish_lint, render_lint

    found = lint_rules(open_memory(surface.environment))
    surface.emit(found, render_lint)
    finish_lint(found)


_VERBS = [list_, show, add, edit, accept, reject, scope, retire, restore, lint]


@click.group("rules", commands=_VERBS, invoke_without_command=True)
@shared_options
@click.pass_context
def COMMAND(context: click.Context) -> None:
    """Rules from your corrections: list, show, add, edit, accept, reject, scope, retire, restore and lint them.

    Without a command: the rules that are not retired.
    """
    if context.invoked_subcommand is None:
        _list(context.obj, False, False)
