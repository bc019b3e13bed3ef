"""Paired repeats at one moment: the arms differ in the candidate and in nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256

from msgspec import Struct

from handrail import jsonio
from handrail.learning.probes.arms import ArmEnd, Judging, Setting, gone_through
from handrail.learning.probes.bisection import charged
from handrail.learning.probes.branching import Branch
from handrail.learning.probes.ledger import Arm, ProbeRow
from handrail.learning.probes.verdicts import Performed, work_of
from handrail.learning.rules.block import Budget, block_of
from handrail.learning.rules.model import Rule
from handrail.models.port import Model

_STEP_CHARS = 200
_TRACE_CHARS = 1_000
"""How much of what an arm did is kept with its measurement, in characters: enough to see where the arms part."""


class Probe(Struct, frozen=True, kw_only=True):
    """One candidate at one moment. ``others`` are the learned rules that ride anyway, ``own`` the owner's sentences:
    both are in both arms. ``held_out`` says that the candidate was not made from this moment."""

    moment: str
    trigger: str
    branch: Branch
    setting: Setting
    candidate: Rule
    others: tuple[Rule, ...] = ()
    own: tuple[str, ...] = ()
    held_out: bool = False


def words_digest(rule: Rule) -> str:
    """What the measurements of a rule belong to: its words, not its id."""
    return sha256(rule.text.encode()).hexdigest()[:16]


async def probed(
    model: Model, probe: Probe, judge: Judging | None, *, repeats: int, at: datetime, first: int = 0
) -> tuple[ProbeRow, ...]:
    """``repeats`` rows, each of an arm without the candidate and one with it. A moment at which a model cannot be
    reached raises its ``ModelError`` and gives none."""
    rows = []
    for number in range(first, first + repeats):
        control = await _arm(model, probe, probe.others, judge, f"{number}/control")
        treatment = await _arm(model, probe, (*probe.others, probe.candidate), judge, f"{number}/treatment")
        rows.append(_row(model, probe, number, control, treatment, at))
    return tuple(rows)


async def conviction(model: Model, probe: Probe, judge: Judging | None) -> Rule | None:
    """The rule that a regression at this moment is charged to, as it was probed; None where none can be.

    What the owner wrote is in every arm, and only learned rules and the candidate are suspects. A judged moment
    charges nobody: bisection multiplies a judge's doubts.
    """
    owners = tuple(rule for rule in probe.others if rule.by == "owner")
    rules = {rule.id: rule for rule in (*probe.others, probe.candidate) if rule not in owners}
    is_judged = False

    async def attempt(part: tuple[str, ...]) -> Arm:
        nonlocal is_judged
        ended = await _arm(model, probe, (*owners, *(rules[id] for id in part)), judge, f"bisect/{'+'.join(part)}")
        is_judged = is_judged or ended.judged
        return ended.arm

    found = await charged(tuple(rules), attempt)
    return None if is_judged or found.rule is None else rules[found.rule]


async def _arm(model: Model, probe: Probe, rules: Sequence[Rule], judge: Judging | None, name: str) -> ArmEnd:
    # Every rule that an arm names is in it: a budget that left one out would make the arms differ in more.
    block = block_of(probe.own, rules, Budget(max_rules=len(rules), max_chars=1_000_000)).text
    return await gone_through(model, probe.branch, probe.setting, block, judge, run=f"probe/{probe.moment}/{name}")


def _row(model: Model, probe: Probe, repeat: int, control: ArmEnd, treatment: ArmEnd, at: datetime) -> ProbeRow:
    without, with_rule = control.performed, treatment.performed
    return ProbeRow(
        moment=probe.moment,
        rule=probe.candidate.id,
        words=words_digest(probe.candidate),
        repeat=repeat,
        control=control.arm,
        treatment=treatment.arm,
        trigger=probe.trigger,
        model=model.info.name,
        riding=tuple(rule.id for rule in probe.others),
        reason=f"without: {control.reason}; with: {treatment.reason}",
        judged=control.judged or treatment.judged,
        approximate=probe.setting.approximate,
        held_out=probe.held_out,
        calls=(work_of(probe.branch, without), work_of(probe.branch, with_rule)),
        tokens=(without.tokens, with_rule.tokens),
        at=at,
        traces=(_trace(without), _trace(with_rule)),
    )


def _trace(performed: Performed) -> str:
    """What an arm did, for a person to read: its calls in order, then what it said; cut where it is long."""
    steps = [f"{call.name} {jsonio.encode(call.input).decode()}" for call in performed.calls]
    told = (step[:_STEP_CHARS] for step in (*steps, " ".join(performed.answer.split())) if step)
    return " → ".join(told)[:_TRACE_CHARS]
