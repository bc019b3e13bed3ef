"""Use case: what measurements say is to be done with rules, as proposals; and the leash, taken off where they allow it.

Nothing is put into force here but the end of a leash, which lets a rule stay as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from handrail.app.learning.memory import Memory
from handrail.clock import Clock, SystemClock
from handrail.ids import short_hash
from handrail.learning.probes.ledger import ProbeRow, is_charged, standings
from handrail.learning.probes.pairing import words_digest
from handrail.learning.probes.store import LedgerStore
from handrail.learning.probes.tenure import Finding, Move, Policy, finding_of, is_off_the_leash
from handrail.learning.proposals.model import Before, Kind, Proposal, Status
from handrail.learning.proposals.store import Shelf
from handrail.learning.rules.model import Life, Rule, RuleBook
from handrail.learning.rules.operations import Advance, Operation, Retire, apply_all


def findings(memory: Memory, policy: Policy | None = None) -> tuple[tuple[Rule, Finding], ...]:
    """What the measurements say of every rule that is not retired."""
    living = [rule for rule in memory.rules.load().book if rule.life is not Life.RETIRED]
    found = standings(LedgerStore(memory.folder).load().rows, {rule.id: words_digest(rule) for rule in living})
    return tuple((rule, finding_of(rule, found[rule.id], policy)) for rule in living)


def propose_moves(memory: Memory, *, clock: Clock | None = None) -> tuple[Proposal, ...]:
    """A proposal for each rule that is to be credited or retired; none for one that is proposed, or refused, already.

    A newer finding on the same rule takes the place of an older one that still waits.
    """
    at = (clock or SystemClock()).now()
    rows = LedgerStore(memory.folder).load().rows
    wanted = [one for rule, finding in findings(memory) if (one := _proposal(rule, finding, rows, at)) is not None]
    if not wanted:
        return ()
    made: list[Proposal] = []
    with memory.proposals.writing() as shelf:
        for proposal in wanted:
            if _is_known(proposal, shelf):
                continue
            older = (_superseded(one, at) for one in shelf.pending(proposal.topic))
            memory.proposals.put(proposal, *older)
            made.append(proposal)
    return tuple(made)


def take_off_leashes(memory: Memory, *, clock: Clock | None = None) -> tuple[str, ...]:
    """Rules that went on trial without a measurement and have one now are on trial like any other; their ids."""
    at = (clock or SystemClock()).now()
    rows = LedgerStore(memory.folder).load().rows
    loose: list[str] = []

    def change(book: RuleBook) -> RuleBook:
        guarded = [rule for rule in book if rule.is_guarded and rule.life is Life.TRIAL]
        found = standings(rows, {rule.id: words_digest(rule) for rule in guarded})
        free = [
            rule
            for rule in guarded
            if finding_of(rule, found[rule.id]).move is not Move.RETIRE and is_off_the_leash(rule, found[rule.id])
        ]
        loose.extend(rule.id for rule in free)
        steps = (Advance(rule=rule.id, life=Life.TRIAL, reason="measured since") for rule in free)
        return apply_all(book, steps, by="code", at=at)

    if any(rule.is_guarded for rule in memory.rules.load().book):
        memory.rules.update(change)
    return tuple(loose)


def _proposal(rule: Rule, finding: Finding, rows: Sequence[ProbeRow], at: datetime) -> Proposal | None:
    move = _move(rule, finding)
    if move is None:
        return None
    kind, operation = move
    words = words_digest(rule)
    probes = tuple(
        row.id for row in rows if (row.rule, row.words) == (rule.id, words) or is_charged(row, rule.id, words)
    )
    return Proposal(
        id=f"p{short_hash(kind, rule.id, words, *probes)[:10]}",
        kind=kind,
        topic=f"rule {rule.id}",
        operations=(operation,),
        before=(Before(rule=rule.id, text=rule.text, life=rule.life, scope=rule.scope),),
        evidence=(finding.reason, _share(finding)),
        probes=probes,
        created_at=at,
    )


def _move(rule: Rule, finding: Finding) -> tuple[Kind, Operation] | None:
    if finding.move is Move.RETIRE:
        return "retire", Retire(rule=rule.id, reason=finding.reason)
    if finding.move is Move.CREDIT and rule.life is not Life.ACTIVE:
        return "credit", Advance(rule=rule.id, life=Life.ACTIVE, reason=finding.reason)
    return None


def _share(finding: Finding) -> str:
    share = finding.share
    return (
        f"of the moments in which it makes a difference, {share.low:.0%} to {share.high:.0%} go better with it "
        f"({share.level:.0%} confidence, at every look)"
    )


def _is_known(proposal: Proposal, shelf: Shelf) -> bool:
    """Whether the same is proposed already, or was refused on the same measurements."""
    return any(
        one.id == proposal.id or (one.is_pending and (one.kind, one.operations) == (proposal.kind, proposal.operations))
        for one in shelf
    )


def _superseded(proposal: Proposal, at: datetime) -> Proposal:
    return replace(proposal, status=Status.SUPERSEDED, resolved_at=at, by="code", reason="measured again")
