"""The closed words of a run and the small values events are made of.

Everything here is stored, so every name is for ever: enums grow by members, structs by optional fields.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from handrail.transcripts.model import Block, Json, Taint


class ActorKind(StrEnum):
    """What sort of thing caused an event."""

    PERSON = "person"
    HOST = "host"
    DRIVER = "driver"
    MODEL = "model"
    TOOL = "tool"
    STRATEGY = "strategy"
    HOOK = "hook"
    PEER = "peer"


class Actor(Struct, frozen=True, omit_defaults=True, gc=False):
    """Who caused an event: ``name`` is the tool, strategy, hook, model, peer or person, where that is known."""

    kind: ActorKind
    name: str | None = None


DRIVER = Actor(ActorKind.DRIVER)


class EndReason(StrEnum):
    """Why a run ended. ``failed`` is the only one that is an exception for the caller; one member a bound."""

    ANSWERED = "answered"
    TOOL_FINISHED = "tool_finished"
    STRATEGY_STOP = "strategy_stop"
    STRATEGY_FINISH = "strategy_finish"
    STOP_REQUESTED = "stop_requested"
    WAITING = "waiting"
    LENGTH = "length"
    REFUSAL = "refusal"
    CANCELLED = "cancelled"
    FAILED = "failed"
    MAX_ROUNDS = "max_rounds"
    MAX_REQUESTS = "max_requests"
    MAX_TOOL_CALLS = "max_tool_calls"
    MAX_TOKENS = "max_tokens"
    MAX_COST = "max_cost"
    MAX_SECONDS = "max_seconds"
    POOL = "pool"


class Bound(StrEnum):
    """What a run may spend; the value is also the ``EndReason`` of a run that spent it."""

    MAX_ROUNDS = "max_rounds"
    MAX_REQUESTS = "max_requests"
    MAX_TOOL_CALLS = "max_tool_calls"
    MAX_TOKENS = "max_tokens"
    MAX_COST = "max_cost"
    MAX_SECONDS = "max_seconds"
    POOL = "pool"


def settle_floats(value: Struct, *names: str) -> None:
    """Make whole numbers in fields that hold floats into floats, so that a value has one spelling."""
    for name in names:
        given = getattr(value, name)
        if type(given) is int:
            force_setattr(value, name, float(given))


class Limits(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """The bounds of one run; None is no bound.

    ``max_requests`` counts retries, ``max_tokens`` input and output as reported, ``max_cost`` is in the currency the
    host counts in, ``max_seconds`` is summed time of effects (a person's waiting time is none). ``near`` is the
    share of a bound from which it counts as near. ``max_injections`` caps what strategies may put in.
    """

    max_rounds: int | None = None
    max_requests: int | None = None
    max_tool_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    max_seconds: float | None = None
    near: float = 0.8
    max_injections: int = 25

    def __post_init__(self) -> None:
        settle_floats(self, "max_cost", "max_seconds", "near")


class Boundary(StrEnum):
    """The four places between rounds at which strategies are asked, and nothing else."""

    TOOL_RESULTS_COMMITTED = "tool_results_committed"
    ASSISTANT_MESSAGE_COMMITTED = "assistant_message_committed"
    LIMIT_NEAR = "limit_near"
    LIMIT_REACHED = "limit_reached"


class Choice(StrEnum):
    """What a strategy, or all of them together, chose at a boundary."""

    CONTINUE = "continue"
    INJECT = "inject"
    RETRY = "retry"
    STOP = "stop"
    FINISH = "finish"
    FAIL = "fail"
    PAUSE = "pause"


Scope: TypeAlias = Literal["round", "run", "session"]
"""How long an adjustment lasts; it is undone at the end of its scope."""


class Adjustment(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What changes for the rounds in scope; None leaves a thing as it is.

    ``clear_reasoning`` goes back to the provider's default. ``limits`` replaces the run's bounds. ``note`` is added to
    the instructions.
    """

    model: str | None = None
    effort: str | None = None
    reasoning_summary: str | None = None
    clear_reasoning: bool = False
    tools: tuple[str, ...] | None = None
    tool_choice: str | None = None
    limits: Limits | None = None
    max_output_tokens: int | None = None
    note: str | None = None


class Contribution(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What one strategy said at a boundary.

    ``note`` is its reason or question, ``error`` what it raised, ``elapsed_s`` how long it took. ``tokens`` (input and
    output) and ``cost`` are what models of its own took; ``is_unpriced`` says that one of them has no known price.
    """

    strategy: str
    choice: Choice = Choice.CONTINUE
    content: tuple[Block, ...] = ()
    adjust: Adjustment | None = None
    scope: Scope = "run"
    note: str | None = None
    error: str | None = None
    elapsed_s: float = 0.0
    tokens: int = 0
    cost: float = 0.0
    is_unpriced: bool = False

    def __post_init__(self) -> None:
        settle_floats(self, "elapsed_s", "cost")


class CallTraits(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """What a tool declared about itself when the call was admitted; recorded, so that no fold asks a registry."""

    private: bool = False
    untrusted: bool = False
    sends: bool = False
    destructive: bool = False
    twice_is_safe: bool = False
    is_parallel: bool = False
    is_terminal: bool = False
    spawns: bool = False


class AskKind(StrEnum):
    """What sort of question waits for a person."""

    POINT = "point"
    APPROVAL = "approval"
    QUESTION = "question"
    EDIT = "edit"
    REVIEW = "review"
    PAUSE = "pause"


class AskOutcome(StrEnum):
    """How a question was closed: five outcomes, never mixed. Silence is no answer, ``auto`` is no person."""

    ANSWERED = "answered"
    DENIED = "denied"
    TIMED_OUT = "timed_out"
    WITHDRAWN = "withdrawn"
    AUTO = "auto"


class Route(StrEnum):
    """Where an interaction point's answer sends the run."""

    APPROVED = "approved"
    DIRECTED = "directed"
    EDITED = "edited"
    ABORTED = "aborted"
    SKIPPED = "skipped"
    HELD = "held"


class HookVerdict(StrEnum):
    """What a hook said about a call; an error counts as ``deny`` unless the hook was declared otherwise."""

    ALLOW = "allow"
    DENY = "deny"
    REWRITE = "rewrite"
    ERROR = "error"


class RegionEntry(Struct, frozen=True, omit_defaults=True):
    """One piece of a context region.

    ``key`` names it in a keyed region. ``number`` numbers it in a checklist, where it is never used again, and
    ``is_done`` ticks it off. ``taint`` is what its text may have come from, ``by`` who wrote it.
    """

    text: str
    key: str | None = None
    number: int | None = None
    is_done: bool = False
    taint: Taint = Taint()
    by: Actor | None = None


class FanOutItem(Struct, frozen=True, omit_defaults=True):
    """One piece of work that is given to a worker: its id, unique in the fan-out, and what the worker is told."""

    id: str
    context: Json = None
