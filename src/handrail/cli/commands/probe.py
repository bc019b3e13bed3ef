"""``handrail probe``."""

from __future__ import annotations

from typing import Any

import click

from handrail.cli.learning import bounds_options, model_option
from handrail.cli.options import shared_options
from handrail.cli.surface import Surface

_JUDGE = "Let this model tell what no code can; 'same' is the one that is probed. Without it that is not measured."


@click.command("probe")
@click.argument("rules", metavar="[RULE]...", nargs=-1)
@click.option("--moment", metavar="ID", help="Only at this moment; `handrail moments --all --why` shows the ids.")
@click.option("--repeats", metavar="K", type=click.IntRange(1), default=3, help="Pairs at each moment (3).")
@click.option("-n", "--limit", "moments", metavar="N", type=click.IntRange(1), default=12, help="Moments a rule (12).")
@click.option("--judge", metavar="NAME", help=_JUDGE)
@click.option("--dry-run", is_flag=True, help="Show what would be gone through, and ask no model.")
@model_option
@bounds_options
@shared_options
@click.pass_obj
def COMMAND(
    surface: Surface,
    /,
    rules: tuple[str, ...],
    moment: str | None,
    repeats: int,
    moments: int,
    judge: str | None,
    dry_run: bool,
    model: str | None,
    **bounds: Any,
) -> None:
    """Measure whether rules help: go through moments again, with the rule and without it.

    Both arms begin with the recorded conversation up to where you stepped in, without your words, and differ in the
    rule and in nothing else. No tool runs: the record answers. What it came to is told by code where the record allows
    it (a steer by what is done next, a refusal by whether that very call comes again). A session that did not record
    its prompt or tools is marked approximate.

    Without RULE every rule that is not retired is probed, at the moments it came from and at held-out ones where it
    counts. Measurements add up over nights; what they allow becomes a proposal (`handrail proposals`) and nothing more.
    "Not measured" is not "no effect": the second was looked for.

    What is sent is redacted, in both arms alike, and pictures and reasoning are left out. Ends with 0, also when a
    bound ended it; with 1 when the model could not be asked, and what was measured stands then; with 4 when another
    process probes.
    """
    from handrail.app.learning.asking import Bounds, model_named
    from handrail.app.learning.memory import open_memory
    from handrail.app.learning.probing import ProbeOrder, preview_probes, probe
    from handrail.app.learning.tenure import propose_moves
    from handrail.cli.views.probe import finish_probed, render_probed

    order = ProbeOrder(rules=rules, moment=moment, repeats=repeats, moments=moments, bounds=Bounds(**bounds))
    machine, memory = surface.machine(), open_memory(surface.environment)
    if dry_run:
        found = preview_probes(machine, memory, order, has_judge=judge is not None)
        surface.emit(found, render_probed)
        finish_probed(found, surface)
        return
    asked = model_named(model, surface.environment)
    judging = None if judge is None else asked if judge == "same" else model_named(judge, surface.environment)
    found = probe(machine, memory, order, asked, judge=judging)
    found = found.with_proposals(propose_moves(memory))
    surface.emit(found, render_probed)
    finish_probed(found, surface)
