"""The answers that hold on beyond the call they were given for, as the events of a run leave them.

What was said for a stage holds while the run stays in it, re-entered or not; what was said for the run holds to its
end. A person's plain no is final too: the very same call is refused again without asking anybody, until a person says
something new; then it may be asked about again. All of it comes from events, so it survives any restart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from handrail.agents.permissions import Grant, Rule, Verdict, after_stage
from handrail.journal import events as ev
from handrail.journal.refusals import refusal_of
from handrail.journal.vocabulary import Actor, ActorKind, AskKind, AskOutcome
from handrail.transcripts.model import RefusalKind


class StandingAnswers:
    """Takes in the events of a session one by one."""

    def __init__(self) -> None:
        self._held: tuple[Grant, ...] = ()
        self._denied: tuple[Grant, ...] = ()
        self._asks: dict[str, ev.AskOpened] = {}
        self._from_people: set[str] = set()

    @property
    def grants(self) -> tuple[Grant, ...]:
        """Every answer that holds now."""
        return (*self._held, *self._denied)

    def add(self, event: ev.Event) -> None:
        """Take in the next event."""
        handle = _HANDLERS.get(type(event.body))
        if handle is not None:
            handle(self, event.body, event.by)

    def run_started(self, body: ev.RunStarted, by: Actor) -> None:
        self._held = self._denied = ()

    def stage_left(self, body: ev.StageLeft, by: Actor) -> None:
        if body.to != body.stage:
            self._held = after_stage(self._held)

    def received(self, body: ev.InputReceived, by: Actor) -> None:
        if by.kind is ActorKind.PERSON:
            self._from_people.add(body.input)

    def delivered(self, body: ev.InputDelivered, by: Actor) -> None:
        if not self._from_people.isdisjoint(body.inputs):
            self._denied = ()
        self._from_people.difference_update(body.inputs)

    def asked(self, body: ev.AskOpened, by: Actor) -> None:
        self._asks[body.ask] = body

    def answered(self, body: ev.AskClosed, by: Actor) -> None:
        opened = self._asks.pop(body.ask, None)
        if opened is None:
            return
        if opened.kind is not AskKind.APPROVAL or opened.call is None:
            if body.outcome is AskOutcome.ANSWERED and by.kind is ActorKind.PERSON:
                self._denied = ()
            return
        refusal = refusal_of(body, by)
        if body.grant != "once" and body.outcome in (AskOutcome.ANSWERED, AskOutcome.DENIED):
            rule = None if body.rule is None else msgspec.convert(body.rule, Rule)
            grant = Grant(
                verdict=Verdict.DENY if refusal is not None else Verdict.ALLOW,
                scope=body.grant,
                digest=opened.digest if rule is None else None,
                rule=rule,
                reason=body.comment,
            )
            self._held = (*self._held, grant)
        elif refusal is not None and refusal.kind is RefusalKind.DENIED:
            because = f": {refusal.reason.rstrip('.')}" if refusal.reason else ""
            told = f"a person refused this very call{because}. Do not repeat it."
            self._denied = (*self._denied, Grant(verdict=Verdict.DENY, scope="run", digest=opened.digest, reason=told))


_HANDLERS: dict[type, Callable[[StandingAnswers, Any, Actor], None]] = {
    ev.RunStarted: StandingAnswers.run_started,
    ev.StageLeft: StandingAnswers.stage_left,
    ev.InputReceived: StandingAnswers.received,
    ev.InputDelivered: StandingAnswers.delivered,
    ev.AskOpened: StandingAnswers.asked,
    ev.AskClosed: StandingAnswers.answered,
}
