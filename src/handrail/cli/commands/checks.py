"""``handrail checks``."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.learning import bounds_options, model_option
from handrail.cli.options import shared_options, since_option
from handrail.cli.surface import Surface

if TYPE_CHECKING:
    from handrail.learning.rules.store import RuleStore

_ANYWAY = click.option("--anyway", is_flag=True, help="Although it was not proved, or never in shadow.")


def _store(surface: Surface) -> RuleStore:
    from handrail.app.learning.places import learning_folder
    from handrail.learning.rules.store import RuleStore

    return RuleStore(learning_folder(surface.environment))


@click.command("list")
@shared_options
@click.pass_obj
def list_(surface: Surface) -> None:
    """List the rules: whether each can be checked, how, and what its check does."""
    from handrail.app.learning.checking import list_checks
    from handrail.cli.views.checks import render_list

    surface.emit(list_checks(_store(surface)), render_list)


@click.command("compile")
@click.argument("rules", metavar="[RULE]...", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Show what would be sent, redacted, and send nothing.")
@model_option
@bounds_options
@shared_options
@click.pass_obj
def compile_(surface: Surface, /, rules: tuple[str, ...], dry_run: bool, model: str | None, **bounds: Any) -> None:
    """Ask a model for checks: of the rules named, else of all that nobody has tried.

    One request a rule: its sentence and the names of tools, and nothing of a session. The model proposes a check or
    says that there can be none; what is proposed is then held to your own sessions: it must fire on the moments the
    rule came from, leave alone what your words led to, and not speak of everything. Only what passes is kept, and it
    does nothing yet: `handrail checks shadow` lets it note, `handrail checks on` lets it refuse.

    Ends with 0, with 1 when the model could not be asked, with 3 when a proposed check was not good enough.
    """
    from handrail.app.learning.asking import Bounds, asked, model_named
    from handrail.app.learning.checking import compile_checks, preview_compiling, rules_named, uncompiled
    from handrail.cli.views.checks import finish_compiled, render_compiled, render_preview

    store, machine = _store(surface), surface.machine()
    named = rules_named(store, rules)
    wanted = named if rules else uncompiled(named)
    if dry_run:
        surface.emit(preview_compiling(machine, wanted), render_preview)
        return
    chosen = model_named(model, surface.environment)
    found = asked(chosen, lambda: compile_checks(machine, store, wanted, chosen, Bounds(**bounds)))
    surface.emit(found, render_compiled)
    finish_compiled(found, surface)


@click.command("set")
@click.argument("rule", metavar="RULE")
@click.option("--spec", metavar="FILE", required=True, help="The check as JSON; `-` reads standard input.")
@_ANYWAY
@shared_options
@click.pass_obj
def set_(surface: Surface, rule: str, spec: str, anyway: bool) -> None:
    """Give a rule a check that you wrote.

    It is held to the moments the rule came from like a model's, where there are any. Ends with 3 when it was not good
    enough and was not kept.
    """
    from handrail.app.learning.checking import Compilation, set_check
    from handrail.cli.views.checks import finish_published, render_compiled
    from handrail.files import read_bytes

    store = _store(surface)
    data = surface.read_stdin() if spec == "-" else read_bytes(Path(spec))
    found = set_check(surface.machine(), store, store.load().book.find(rule), data, is_anyway=anyway)
    surface.emit(Compilation(rules=(found,)), render_compiled)
    finish_published((found,))


@click.command("remove")
@click.argument("rule", metavar="RULE")
@shared_options
@click.pass_obj
def remove(surface: Surface, rule: str) -> None:
    """Take the check away from a rule."""
    from handrail.app.learning.checking import remove_check
    from handrail.cli.views.checks import render_switched

    store = _store(surface)
    surface.emit(remove_check(store, store.load().book.find(rule)), render_switched)


def _switch(surface: Surface, rule: str, to: Any, is_anyway: bool = False) -> None:
    from handrail.app.learning.checking import switch_check
    from handrail.cli.views.checks import render_switched

    store = _store(surface)
    surface.emit(switch_check(store, store.load().book.find(rule), to, is_anyway=is_anyway), render_switched)


@click.command("shadow")
@click.argument("rule", metavar="RULE")
@shared_options
@click.pass_obj
def shadow(surface: Surface, rule: str) -> None:
    """Let the check of a rule look on: what it would refuse is recorded, and nothing is stopped."""
    _switch(surface, rule, "shadow")


@click.command("on")
@click.argument("rule", metavar="RULE")
@_ANYWAY
@shared_options
@click.pass_obj
def on(surface: Surface, rule: str, anyway: bool) -> None:
    """Let the check of a rule refuse, in Handrail's own runs and in hosts that have its hook.

    A call that goes against it is refused with the rule as the reason, a person is asked where the rule says so, an
    answer is sent back. After three times in a run it lets pass. The rule must ride already, and the check must have
    been in shadow.
    """
    _switch(surface, rule, "on", anyway)


@click.command("off")
@click.argument("rule", metavar="RULE")
@shared_options
@click.pass_obj
def off(surface: Surface, rule: str) -> None:
    """Let the check of a rule do nothing; it is kept, and `handrail checks run` still counts."""
    _switch(surface, rule, "off")


@click.command("run")
@click.argument("rules", metavar="[RULE]...", nargs=-1)
@since_option
@shared_options
@click.pass_obj
def run(surface: Surface, rules: tuple[str, ...], since: datetime | None) -> None:
    """Hold checks to all past sessions: how often there was occasion, how often the rule was violated.

    No model is asked. A rule is held to the sessions in which it counts. A violation was rightly called one where you
    stepped in next; at the others nobody minded, or nobody saw. Ends with 4 when a session could not be read.
    """
    from handrail.app.learning.checking import rules_named
    from handrail.app.learning.violations import replay_checks
    from handrail.cli.views.checks import finish_replay, render_replay

    found = replay_checks(surface.machine(), rules_named(_store(surface), rules), since, surface.progress("session"))
    surface.emit(found, render_replay)
    finish_replay(found, surface)


@click.command("fired")
@click.argument("rules", metavar="[RULE]...", nargs=-1)
@since_option
@shared_options
@click.pass_obj
def fired(surface: Surface, rules: tuple[str, ...], since: datetime | None) -> None:
    """Show what checks did: refused, let pass, or noted in shadow; in Handrail's own runs and in hosts.

    Look here whether a check is right before you let it refuse, and when a run complains of one.
    """
    from handrail.app.learning.checking import rules_named
    from handrail.app.learning.fired import fired_checks
    from handrail.cli.views.checks import finish_fired, render_fired

    wanted = tuple(rule.id for rule in rules_named(_store(surface), rules)) if rules else ()
    found = fired_checks(surface.machine(), surface.environment, wanted, since, surface.progress("session"))
    surface.emit(found, render_fired)
    finish_fired(found, surface)


@click.group("checks", commands=[list_, compile_, set_, remove, run, fired, shadow, on, off])
def COMMAND() -> None:
    """Checks of rules: make them, prove them on past sessions, let them look on or refuse."""
