"""The gate before proposals that code may put into force by itself: the rules they would make are probed at the very
moments they come from, and only then are they on trial.

What a gate can decide is narrow on purpose. A rule that is reworded over another, retired by a model's opinion, at odds
with what is written elsewhere, or to count in more places waits for the owner.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from handrail.app.learning.asking import Bounds, Spent
from handrail.app.learning.memory import Memory
from handrail.app.learning.probed import ProbeReport
from handrail.app.learning.probing import ProbeOrder, probe
from handrail.app.learning.proposals import accept_proposal
from handrail.app.machine import Machine
from handrail.clock import Clock
from handrail.learning.proposals.model import Proposal, RulesMoved, Status
from handrail.learning.proposals.review import carried_out, moves, proposed, touched
from handrail.learning.rules.model import RuleBook
from handrail.learning.rules.operations import Add, Refused
from handrail.learning.rules.pairs import PairKind
from handrail.learning.rules.scope import is_within
from handrail.models.port import Model

Disposition: TypeAlias = Literal["rejected_by_gate", "trial", "trial_on_leash", "waits"]
"""What the gate did: against it; on trial; on trial without a measurement, on a shorter leash; left to the owner."""


class Gated(Struct, frozen=True, kw_only=True):
    """One proposal at the gate: what was done, why, and what its probes came to (``pairs`` that could be graded)."""

    proposal: str
    did: Disposition
    why: str
    graded: int = 0
    regressed: int = 0
    spent: Spent = Spent()


def disposed(*, regressed: int, graded: int) -> Disposition:
    """What becomes of a proposal whose rules were probed: any regression speaks against it; without one it is tried,
    and on a shorter leash where nothing could be measured."""
    if regressed:
        return "rejected_by_gate"
    return "trial" if graded else "trial_on_leash"


def gate(
    machine: Machine,
    memory: Memory,
    proposal: Proposal,
    model: Model,
    *,
    judge: Model | None,
    repeats: int,
    bounds: Bounds,
    clock: Clock,
) -> Gated:
    """Probe what ``proposal`` would make, and put it on trial, reject it, or leave it to the owner.

    A model that fails, and a bound that is reached before all of it was probed once, leave it as it is.
    """
    book = memory.rules.load().book
    waits = why_it_waits(proposal, book)
    if waits is not None:
        return Gated(proposal=proposal.id, did="waits", why=waits)
    after = carried_out(proposal, book, by="code", at=clock.now())
    rules = tuple(rule.id for rule in touched(proposal, after) if rule.rides)
    if not rules:
        return _settled(memory, proposal, Gated(proposal=proposal.id, did="waits", why=""), clock)
    order = ProbeOrder(rules=rules, repeats=repeats, holdout=0.0, bounds=bounds)
    report = probe(machine, memory, order, model, judge=judge, book=after, clock=clock)
    graded, regressed = _counted(report)
    told = Gated(proposal=proposal.id, did="waits", why="", graded=graded, regressed=regressed, spent=report.spent)
    if report.stopped is not None and not regressed:
        return replace(told, why=f"it was not probed to the end: {report.stopped}")
    return _settled(memory, proposal, told, clock)


def why_it_waits(proposal: Proposal, book: RuleBook) -> str | None:
    """Why only the owner may decide about it; None where the gate may."""
    if not all(isinstance(operation, Add) for operation in proposal.operations):
        return "it changes rules that there are, or where they count: that is the owner's to say"
    if not proposal.operations:
        return "there is nothing in it to try"
    if _widens(proposal, book):
        return "a rule that there is would count in more places: that is the owner's to say"
    if any(pair.kind is PairKind.CONTRADICTION for pair in proposal.pairs):
        return "it contradicts what is written elsewhere"
    moved = moves(proposal, book)
    return f"the rules have moved since: {moved[0]}" if moved else None


def _widens(proposal: Proposal, book: RuleBook) -> bool:
    """Whether a rule of ``book``, said again elsewhere, would count in more places."""
    after = proposed(proposal, book, by="code", at=proposal.created_at)
    return any(not is_within(after.find(rule.id).scope, rule.scope) for rule in book)


def _counted(report: ProbeReport) -> tuple[int, int]:
    """How many pairs could be graded, and at how many moments it went worse with the rule."""
    moments = [moment for rule in report.rules for moment in rule.moments]
    graded = sum(moment.better + moment.worse + moment.same for moment in moments)
    return graded, sum(moment.outcome == "regressed" for moment in moments)


def _settled(memory: Memory, proposal: Proposal, told: Gated, clock: Clock) -> Gated:
    did = disposed(regressed=told.regressed, graded=told.graded)
    if did == "rejected_by_gate":
        why = f"it went worse with it at {told.regressed} of the moments it comes from"
        with memory.proposals.writing() as shelf:
            current = shelf.find(proposal.id)
            if current.is_pending:
                closed = replace(
                    current, status=Status.REJECTED_BY_GATE, resolved_at=clock.now(), by="code", reason=why
                )
                memory.proposals.put(closed)
        return replace(told, did=did, why=why)
    measured = f"no regression in {told.graded} pairs" if told.graded else "nothing of it could be measured"
    try:
        accept_proposal(memory, proposal.id, by="code", is_measured=bool(told.graded), reason=measured, clock=clock)
    except (Refused, RulesMoved) as problem:
        return replace(told, did="waits", why=problem.message)
    return replace(told, did=did, why=measured)
