"""Use case: the whole loop unattended, within a stated budget: reflect, learn, gate, probe, credit and retire.

Nothing that it makes is in force without a gate, and what it left out, and why, is part of what it says.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from handrail.app.learning.asking import Bounds, Spent
from handrail.app.learning.gating import Gated, gate
from handrail.app.learning.learning import LearnOrder, LearnReport, learn
from handrail.app.learning.memory import Memory
from handrail.app.learning.probed import ProbeReport
from handrail.app.learning.probing import HOLDOUT, ProbeOrder, probe
from handrail.app.learning.proposals import accept_proposal
from handrail.app.learning.reflecting import ReflectOrder, ReflectReport, reflect
from handrail.app.learning.tenure import propose_moves, take_off_leashes
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.mining import Progress
from handrail.clock import Clock, SystemClock
from handrail.learning.proposals.model import Proposal, RulesMoved
from handrail.learning.rules.operations import Refused
from handrail.models.port import Model


class AutoOrder(Struct, frozen=True, kw_only=True):
    """How much: ``bounds`` hold for all steps together; ``repeats`` pairs at each moment, ``least`` lessons a
    repository, the share ``holdout`` of lessons that only probes are made of."""

    bounds: Bounds
    repeats: int = 3
    least: int = 1
    holdout: float = HOLDOUT


class Moved(Struct, frozen=True, kw_only=True):
    """What measurements did to a rule. ``did`` ``waits``: it is the owner's own, or the rules moved; ``why`` says."""

    rule: str
    kind: str
    proposal: str
    did: Literal["applied", "waits"]
    why: str


class AutoReport(Struct, frozen=True, kw_only=True):
    """What each step came to; None for one that was not begun. ``off_the_leash`` are rules that are on trial like any
    other now. ``stopped`` says what ended it before its time, ``is_bound`` that it was the budget and no failure."""

    schema_version: int = SCHEMA_VERSION
    reflected: ReflectReport
    learned: LearnReport | None = None
    gated: tuple[Gated, ...] = ()
    probed: ProbeReport | None = None
    moved: tuple[Moved, ...] = ()
    off_the_leash: tuple[str, ...] = ()
    spent: Spent = Spent()
    stopped: str | None = None
    is_bound: bool = False


def learn_by_itself(
    machine: Machine,
    memory: Memory,
    order: AutoOrder,
    model: Model,
    *,
    judge: Model | None = None,
    clock: Clock | None = None,
    on_progress: Progress | None = None,
) -> AutoReport:
    """Do all of it with ``model``; what only a judge can tell is told by ``judge``, or not measured.

    What stands when it ends stands, whatever ended it; another night goes on from there. ``Locked`` where another
    process does one of the steps.
    """
    return _Night(machine, memory, order, model, judge, clock or SystemClock()).through(on_progress)


class _Night:
    """One pass, and what is left of its budget."""

    def __init__(
        self, machine: Machine, memory: Memory, order: AutoOrder, model: Model, judge: Model | None, clock: Clock
    ) -> None:
        self._machine = machine
        self._memory = memory
        self._order = order
        self._model = model
        self._judge = judge
        self._clock = clock
        self._spent = Spent()
        self._failure: str | None = None

    def through(self, on_progress: Progress | None) -> AutoReport:
        reflected = self._reflect(on_progress)
        learned = None if self._is_over else self._learn()
        gated = () if self._is_over else self._gate()
        probed = None if self._is_over else self._probe()
        moved = tuple(map(self._apply, propose_moves(self._memory, clock=self._clock)))
        bound = self._spent.reached(self._order.bounds)
        return AutoReport(
            reflected=reflected,
            learned=learned,
            gated=gated,
            probed=probed,
            moved=moved,
            off_the_leash=take_off_leashes(self._memory, clock=self._clock),
            spent=self._spent,
            stopped=self._failure or bound,
            is_bound=self._failure is None and bound is not None,
        )

    @property
    def _is_over(self) -> bool:
        return self._failure is not None or self._spent.reached(self._order.bounds) is not None

    def _left(self) -> Bounds:
        return left_of(self._order.bounds, self._spent)

    def _pay(self, spent: Spent, failure: str | None) -> None:
        self._spent = both(self._spent, spent)
        self._failure = self._failure or failure

    def _reflect(self, on_progress: Progress | None) -> ReflectReport:
        order = ReflectOrder(bounds=self._left())
        done = reflect(self._machine, self._memory, order, self._model, clock=self._clock, on_progress=on_progress)
        self._pay(done.spent, done.failure)
        return done

    def _learn(self) -> LearnReport:
        order = LearnOrder(least=self._order.least, holdout=self._order.holdout, bounds=self._left())
        done = learn(self._memory, order, self._model, clock=self._clock)
        self._pay(done.spent, done.failure)
        return done

    def _gate(self) -> tuple[Gated, ...]:
        """Every proposal that waits for the owner; older ones too, which a budget may have left."""
        gated: list[Gated] = []
        for proposal in self._memory.proposals.load().pending(kind="learn"):
            if self._is_over:
                gated.append(Gated(proposal=proposal.id, did="waits", why="nothing is left to probe it with"))
                continue
            done = gate(
                self._machine,
                self._memory,
                proposal,
                self._model,
                judge=self._judge,
                repeats=self._order.repeats,
                bounds=self._left(),
                clock=self._clock,
            )
            self._pay(done.spent, None)
            gated.append(done)
        return tuple(gated)

    def _probe(self) -> ProbeReport:
        riding = tuple(rule.id for rule in self._memory.rules.load().book if rule.rides)
        if not riding:
            return ProbeReport(rules=())
        order = ProbeOrder(rules=riding, repeats=self._order.repeats, holdout=self._order.holdout, bounds=self._left())
        done = probe(self._machine, self._memory, order, self._model, judge=self._judge, clock=self._clock)
        self._pay(done.spent, None if done.is_bound else done.stopped)
        return done

    def _apply(self, proposal: Proposal) -> Moved:
        """Credit or retire what was measured. The owner's own rule is theirs to retire."""
        rule = proposal.before[0].rule
        told = Moved(rule=rule, kind=proposal.kind, proposal=proposal.id, did="applied", why=proposal.evidence[0])
        if self._memory.rules.load().book.find(rule).by == "owner":
            return Moved(
                rule=rule, kind=proposal.kind, proposal=proposal.id, did="waits", why="the rule is the owner's"
            )
        try:
            accept_proposal(
                self._memory, proposal.id, by="code", is_measured=True, reason="measured", clock=self._clock
            )
        except (Refused, RulesMoved) as problem:
            return Moved(rule=rule, kind=proposal.kind, proposal=proposal.id, did="waits", why=problem.message)
        return told


def both(one: Spent, other: Spent) -> Spent:
    """What two steps spent."""
    return Spent(
        requests=one.requests + other.requests,
        tokens=one.tokens + other.tokens,
        cost=one.cost + other.cost,
        unpriced=one.unpriced + other.unpriced,
    )


def left_of(bounds: Bounds, spent: Spent) -> Bounds:
    """What may still be spent."""
    return Bounds(
        max_requests=None if bounds.max_requests is None else max(0, bounds.max_requests - spent.requests),
        max_tokens=None if bounds.max_tokens is None else max(0, bounds.max_tokens - spent.tokens),
        max_cost=None if bounds.max_cost is None else max(0.0, bounds.max_cost - spent.cost),
    )
