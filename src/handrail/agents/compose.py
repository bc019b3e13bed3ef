"""One decision out of what several strategies said: fixed precedence, everything recorded, nothing silent.

Fail, Stop, Finish and Pause (in this order) beat Retry and Inject, which beat Continue. What is injected is
concatenated in the order of the list, of adjustments the later wins. A decision to go on where no round can follow,
without content, or past the cap is refused, and the run goes on as if nobody had said anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from handrail import jsonio
from handrail.agents.charging import Charge, total
from handrail.agents.containment import told, words_of
from handrail.agents.content import blocks_of
from handrail.agents.strategy import (
    Continue,
    Fail,
    Finish,
    Inject,
    Pause,
    Retry,
    RoundAdjustment,
    RoundDecision,
    Stop,
)
from handrail.errors import HandrailError
from handrail.journal import events as ev
from handrail.journal.effects import Decide
from handrail.journal.vocabulary import Adjustment, Boundary, Choice, Contribution, Scope
from handrail.transcripts.model import Author, Json

_CHOICES: dict[type[RoundDecision], Choice] = {
    Continue: Choice.CONTINUE,
    Inject: Choice.INJECT,
    Retry: Choice.RETRY,
    Stop: Choice.STOP,
    Finish: Choice.FINISH,
    Fail: Choice.FAIL,
    Pause: Choice.PAUSE,
}

_PRECEDENCE = (
    Choice.FAIL,
    Choice.STOP,
    Choice.FINISH,
    Choice.PAUSE,
    Choice.RETRY,
    Choice.INJECT,
    Choice.CONTINUE,
)

_GOES_ON = frozenset({Choice.INJECT, Choice.RETRY})


class BadDecision(HandrailError):
    """A strategy answered with something that cannot be done; nothing of it was."""

    code = "bad_decision"


class Opinion(Struct, frozen=True, kw_only=True):
    """What one strategy said, checked: its contribution to the record and, for ``Finish``, its value as JSON.

    ``error`` is the exception it failed with, or asked the run to fail with. ``charges`` are the replies of models that
    it asked.
    """

    contribution: Contribution
    output: Json = None
    error: BaseException | None = None
    charges: tuple[Charge, ...] = ()

    def charged(self, charges: tuple[Charge, ...]) -> Opinion:
        """The same, with what making up its mind cost."""
        if not charges:
            return self
        tokens, cost = total(charges)
        is_unpriced = any(one.cost is None for one in charges)
        contribution = replace(self.contribution, tokens=tokens, cost=cost, is_unpriced=is_unpriced)
        return replace(self, contribution=contribution, charges=charges)


def opinion_of(
    strategy: str,
    decision: object,
    elapsed_s: float,
    check: Callable[[RoundAdjustment], Adjustment],
    finish: Callable[[object], Json],
) -> Opinion:
    """``decision`` checked whole. ``check`` and ``finish`` raise ``BadDecision``, as this does, for what cannot be."""
    if decision is None:
        decision = Continue()
    if type(decision) not in _CHOICES:
        raise BadDecision(f"{strategy} returned {type(decision).__name__}, which is no round decision")
    kind = _CHOICES[cast("type[RoundDecision]", type(decision))]

    def said(**more: object) -> Contribution:
        return Contribution(strategy=strategy, choice=kind, elapsed_s=elapsed_s, **more)  # type: ignore[arg-type]

    match decision:
        case Continue(adjust=adjust, note=note):
            scope: Scope = adjust.scope or "run"
            return Opinion(contribution=said(adjust=_adjustment(adjust, check), scope=scope, note=note))
        case Inject(content=content, adjust=adjust) | Retry(note=content, adjust=adjust):
            try:
                blocks = blocks_of(content, Author.HOST, by=strategy)
            except TypeError as problem:
                raise BadDecision(f"{strategy}: {problem}") from problem
            scope = adjust.scope or "round"
            return Opinion(contribution=said(content=blocks, adjust=_adjustment(adjust, check), scope=scope))
        case Stop(reason=reason):
            return Opinion(contribution=said(note=reason))
        case Finish(value=value):
            return Opinion(contribution=said(), output=finish(value))
        case Fail(error=error):
            if isinstance(error, BaseException):
                return Opinion(contribution=said(note=words_of(error) or told(error)), error=error)
            return Opinion(contribution=said(note=error))
        case Pause(question=question):
            return Opinion(contribution=said(note=question))
    raise BadDecision(f"{strategy} returned {type(decision).__name__}, which is no round decision")


def _adjustment(adjust: RoundAdjustment, check: Callable[[RoundAdjustment], Adjustment]) -> Adjustment | None:
    return None if adjust.is_empty else check(adjust)


def failed_opinion(strategy: str, problem: BaseException, elapsed_s: float, choice: Choice) -> Opinion:
    """The opinion of a strategy that raised or timed out; ``choice`` is what becomes of the run (its error policy)."""
    error = told(problem)
    note = None if choice is Choice.CONTINUE else f"the strategy {strategy} failed: {error}"
    contribution = Contribution(strategy=strategy, choice=choice, error=error, note=note, elapsed_s=elapsed_s)
    return Opinion(contribution=contribution, error=problem)


def composed(opinions: Sequence[Opinion], effect: Decide, injections: int, max_injections: int) -> ev.BoundaryDecided:
    """The one decision of ``opinions`` at the boundary of ``effect``, accepted or refused."""
    said = [one.contribution for one in opinions]
    choice = min((one.choice for one in said), key=_PRECEDENCE.index, default=Choice.CONTINUE)
    winners = [one for one in opinions if one.contribution.choice is choice]
    why = _why_refused(effect, said, injections, max_injections) if choice in _GOES_ON else None
    notes = (one.contribution.note for one in winners)
    return ev.BoundaryDecided(
        boundary=effect.boundary,
        round=effect.round,
        choice=choice,
        by=tuple(one.contribution.strategy for one in winners),
        contributions=tuple(said),
        is_accepted=why is None,
        why=why,
        bound=effect.bound,
        note=next((note for note in notes if note is not None), None),
        output=winners[0].output if choice is Choice.FINISH else None,
        elapsed_s=sum(one.elapsed_s for one in said),
    )


def _why_refused(effect: Decide, said: Sequence[Contribution], injections: int, max_injections: int) -> str | None:
    """Why another round is not granted. At a reached limit one is, without tools: that is what it is asked for."""
    if not any(one.content for one in said if one.choice in _GOES_ON):
        return "there is nothing in it to put in"
    if injections >= max_injections:
        return f"the cap of {max_injections} injections is reached"
    return None if effect.boundary is Boundary.LIMIT_REACHED else effect.why_not


def consequences(decided: ev.BoundaryDecided) -> tuple[ev.Known, ...]:
    """What follows a decision in the same append: what is put in and what changes, strategy by strategy.

    An adjustment that came with a refused injection is refused with it; with a decision that ends the run only one
    that outlives the run is of any use.
    """
    followed: list[ev.Known] = []
    for one in decided.contributions:
        if one.choice in _GOES_ON:
            if decided.is_accepted and decided.choice in _GOES_ON:
                if one.content:
                    followed.append(ev.Injected(one.strategy, one.content))
                followed += _adjusted(one)
        elif one.choice is Choice.CONTINUE and (decided.choice in _PRECEDENCE[4:] or one.scope == "session"):
            followed += _adjusted(one)
    return tuple(followed)


def _adjusted(one: Contribution) -> tuple[ev.Adjusted, ...]:
    if one.adjust is None:
        return ()
    return (ev.Adjusted(adjustment=one.adjust, scope=one.scope, by=one.strategy),)


def as_json(value: object) -> Json:
    """``value`` as plain JSON; ``BadDecision`` for what has no spelling."""
    try:
        return jsonio.decode(jsonio.encode(value))
    except (TypeError, ValueError, OverflowError, RecursionError) as problem:
        raise BadDecision(f"{type(value).__name__} cannot be an output: {problem}") from problem
