"""A driver without a model: it carries out effects by throwing dice, as fast as a property test needs.

It is what the run loop will be, minus everything that takes time: append events, fold, ask for the next effects.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Literal

from handrail.journal import events as ev
from handrail.journal.effects import (
    Advance,
    CallModel,
    Compact,
    Decide,
    Effect,
    End,
    OpenAsk,
    RunHook,
    RunTool,
    Spawn,
    Step,
    WaitUntil,
)
from handrail.journal.ends import closing_events
from handrail.journal.fold import apply
from handrail.journal.port import number
from handrail.journal.rounds import next_effects
from handrail.journal.state import State
from handrail.journal.vocabulary import (
    DRIVER,
    Actor,
    ActorKind,
    AskKind,
    AskOutcome,
    Boundary,
    CallTraits,
    Choice,
    HookVerdict,
    Limits,
    Route,
)
from handrail.transcripts.model import (
    Author,
    Bash,
    Block,
    Message,
    Meta,
    Refusal,
    RefusalKind,
    Taint,
    Text,
    ToolUse,
    Usage,
    Via,
)

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
PERSON = Actor(ActorKind.PERSON)


def reply(*calls: str, text: str = "done", stop_reason: str | None = None) -> ev.ModelReplied:
    """A response that asks for ``calls`` (ids), or answers."""
    uses = tuple(ToolUse(call, Bash("ls")) for call in calls)
    reason = stop_reason or ("tool_use" if calls else "end_turn")
    usage = Usage(input_tokens=10, output_tokens=5)
    content: tuple[Block, ...] = (Text(text, Author.MODEL), *uses)
    return ev.ModelReplied(
        message=Message(role="assistant", content=content, stop_reason=reason, usage=usage), elapsed_s=1.0
    )


def steer(name: str, via: Literal["steer", "follow_up"] = "steer") -> ev.InputReceived:
    """A steer (or follow-up) of a person."""
    return ev.InputReceived(input=name, via=via, content=(Text(f"words of {name}", Author.PERSON),))


@dataclass
class Tape:
    """Events and the state they fold to."""

    events: list[ev.Event] = field(default_factory=list)
    state: State = field(default_factory=State)

    def add(self, *bodies: ev.Known, by: Actor = DRIVER) -> Tape:
        for event in number(bodies, after=self.state.seq, by=by, at=NOW):
            self.state = apply(self.state, event)
            self.events.append(event)
        return self

    def next(self, now: datetime = NOW) -> tuple[Effect, ...]:
        return next_effects(self.state, now)


def begin(**options: object) -> Tape:
    """A session with a run that was given a prompt."""
    started = ev.RunStarted(run="r1", **options)  # type: ignore[arg-type]
    prompt = ev.PromptGiven((Text("go", Author.PERSON, via=Via.PROMPT),))
    return Tape().add(ev.SessionOpened(Meta(id="s1")), started, prompt)


class DiceDriver:
    """Carries a run to its end, deciding everything by ``dice``; people act between effects.

    A run of a blueprint goes through stages as they come, and ends after ``moves`` of them at the latest.
    """

    def __init__(self, tape: Tape, dice: Random, *, moves: int = 12) -> None:
        self.tape = tape
        self.dice = dice
        self.calls = 0
        self.sent = 0
        self.asked = 0
        self.moves = moves

    def drive(self, steps: int) -> bool:
        """Whether the run ended within ``steps`` steps."""
        for _ in range(steps):
            if self.tape.state.run is None:
                return True
            self._somebody_acts()
            effects = self.tape.next()
            assert effects, "nothing to do and nothing in flight: the run hangs"
            self._carry_out(effects[0] if self.dice.random() < 0.5 else self.dice.choice(effects))
        return self.tape.state.run is None

    def _somebody_acts(self) -> None:
        chance = self.dice.random()
        if chance < 0.1:
            self.sent += 1
            name = f"i{self.sent}"
            self.tape.add(steer(name) if self.dice.random() < 0.5 else steer(name, "follow_up"), by=PERSON)
        elif chance < 0.108:
            self.tape.add(ev.StopRequested(), by=PERSON)
        elif chance < 0.112:
            self.tape.add(ev.CancelRequested(), by=PERSON)
        elif chance < 0.122:
            self.tape.add(ev.Interrupted(), by=PERSON)
        elif chance < 0.15:
            self.tape.add(ev.DriverTookOver(self.tape.state.epoch + 1))
        elif chance < 0.16:
            is_paused = self.tape.state.run is not None and self.tape.state.run.is_paused
            self.tape.add(ev.ResumeRequested() if is_paused else ev.PauseRequested(), by=PERSON)

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case CallModel():
                self._call_model(effect)
            case RunTool():
                self._tool(effect)
            case Spawn():
                child = ev.ChildSpawned(child=f"c-{effect.call}", call=effect.call)
                self.tape.add(ev.ToolStarted(call=effect.call), child, ev.ToolFinished(call=effect.call))
            case Decide():
                self._decide(effect)
            case RunHook():
                verdict = self.dice.choice(list(HookVerdict))
                self.tape.add(ev.HookRan(hook=effect.hook, call=effect.call, verdict=verdict))
                if verdict in (HookVerdict.DENY, HookVerdict.ERROR):
                    self.tape.add(_refused(effect.call, RefusalKind.BLOCKED))
            case OpenAsk():
                ask = f"a-{effect.call}-{self.tape.state.seq}"
                late = NOW - timedelta(seconds=1) if self.dice.random() < 0.3 else None
                opened = ev.AskOpened(ask=ask, kind=AskKind.APPROVAL, prompt="run it?", call=effect.call, deadline=late)
                self.tape.add(opened)
            case Compact():
                is_good = self.dice.random() < 0.5
                self.tape.add(ev.Compacted(summary="so far") if is_good else ev.CompactionFailed(error="none"))
            case WaitUntil():
                self._wait(effect)
            case Advance():
                self._advance(effect)
            case End():
                self.tape.add(*closing_events(self.tape.state, effect))

    def _call_model(self, effect: CallModel) -> None:
        if effect.deliver:
            self.tape.add(ev.InputDelivered(effect.deliver, effect.round))
        self.tape.add(ev.ModelRequested(request=effect.request, round=effect.round))
        chance = self.dice.random()
        if chance < 0.05:
            return self._take_over()
        if chance < 0.1:
            retry_at = NOW if self.dice.random() < 0.7 else None
            self.tape.add(ev.ModelFailed(error="overloaded", retry_at=retry_at))
        elif chance < 0.8:
            names = [f"call{self.calls + index}" for index in range(self.dice.randint(1, 3))]
            self.calls += len(names)
            self.tape.add(reply(*names))
        else:
            self.tape.add(reply(stop_reason=self.dice.choice(["end_turn", "max_tokens", "refusal"])))
        return None

    def _take_over(self) -> None:
        self.tape.add(ev.DriverTookOver(self.tape.state.epoch + 1))

    def _tool(self, effect: RunTool) -> None:
        call = effect.call
        if effect.step is Step.ADMIT:
            self.tape.add(self._admitted(call) if self.dice.random() < 0.9 else _refused(call, RefusalKind.BLOCKED))
        elif effect.step is Step.SKIP:
            self._skip(call)
        elif effect.step is Step.RECOVER:
            self.tape.add(ev.ToolOutcomeUnknown(call=call, known="its driver died"))
        else:
            self.tape.add(ev.ToolStarted(call=call))
            if self.dice.random() < 0.1:
                self._take_over()
            else:
                taint = Taint(private=self.dice.random() < 0.2, untrusted=self.dice.random() < 0.2)
                self.tape.add(ev.ToolFinished(call=call, content="x", is_error=self.dice.random() < 0.2, taint=taint))

    def _admitted(self, call: str) -> ev.ToolRequested:
        flips = [self.dice.random() < 0.3 for _ in range(6)]
        traits = CallTraits(is_parallel=flips[0], twice_is_safe=flips[1], is_terminal=flips[2], spawns=flips[3])
        hooks = ("lint",) if flips[4] else ()
        return ev.ToolRequested(call=call, tool="Bash", traits=traits, hooks=hooks, needs_approval=flips[5])

    def _skip(self, call: str) -> None:
        asks = [ask for ask in self.tape.state.asks if ask.call == call]
        if asks:
            self.tape.add(ev.AskClosed(ask=asks[0].ask, outcome=AskOutcome.WITHDRAWN))
        else:
            self.tape.add(_refused(call, RefusalKind.NOT_RUN))

    def _decide(self, effect: Decide) -> None:
        choice = self.dice.choice([Choice.CONTINUE] * 16 + [Choice.INJECT] * 6 + list(Choice))
        wants_round = choice in (Choice.INJECT, Choice.RETRY)
        may = effect.why_not is None or effect.boundary is Boundary.LIMIT_REACHED
        decided = ev.BoundaryDecided(
            boundary=effect.boundary,
            round=effect.round,
            bound=effect.bound,
            choice=choice,
            by=("judge",),
            is_accepted=may or not wants_round,
            why=effect.why_not,
        )
        self.tape.add(decided)
        if choice is Choice.INJECT and may:
            self.tape.add(ev.Injected("judge", (Text("check again"),)))

    def _advance(self, effect: Advance) -> None:
        """What a blueprint may say of a stage whose work is over, and then some."""
        self.moves -= 1
        if effect.stage is None:
            self.tape.add(self._entered())
            return
        left = ev.StageLeft(stage=effect.stage, edge="always")
        what = self.dice.choice(["point", "again", "choose", "move", "end"]) if self.moves > 0 else "end"
        match what:
            case "point":
                self.asked += 1
                late = NOW if self.dice.random() < 0.3 else None
                name = f"p{self.asked}-{self.tape.state.seq}"
                self.tape.add(ev.AskOpened(ask=name, kind=AskKind.POINT, prompt="?", point="p", deadline=late))
            case "again":
                route = self.dice.choice(list(Route))
                self.tape.add(ev.PointRouted(point="p", ask="p", route=route))
            case "choose":
                self.tape.add(ev.EdgeAsked(stage=effect.stage, targets=("a", "b")))
            case "move":
                self.tape.add(left, self._entered())
            case _:
                end = End(reason=effect.reason, detail=effect.detail)
                self.tape.add(left, *closing_events(self.tape.state, end))

    def _entered(self) -> ev.StageEntered:
        limits = Limits(max_rounds=self.dice.choice([None, 1, 3]), max_tool_calls=self.dice.choice([None, 2]))
        strategies = self.dice.choice([(), ("judge",)])
        return ev.StageEntered(stage=self.dice.choice("abc"), visit=1, limits=limits, strategies=strategies)

    def _wait(self, effect: WaitUntil) -> None:
        if effect.is_paused:
            self.tape.add(ev.ResumeRequested(), by=PERSON)
            return
        for ask in effect.overdue:
            self.tape.add(ev.AskClosed(ask=ask, outcome=AskOutcome.TIMED_OUT))
        for ask in effect.asks:
            if ask not in effect.overdue:
                allowed = self.dice.random() < 0.6
                outcome = AskOutcome.ANSWERED if allowed else AskOutcome.DENIED
                self.tape.add(ev.AskClosed(ask=ask, outcome=outcome, is_allowed=allowed, comment="so"), by=PERSON)


def _refused(call: str, kind: RefusalKind) -> ev.ToolFinished:
    return ev.ToolFinished(call=call, content="refused", is_error=True, refusal=Refusal(kind, "policy"))
