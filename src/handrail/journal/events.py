"""What can happen in a session, as data: one struct a kind, and the envelope that gives it place and cause.

A session's journal is its events in the order of ``seq``; a run is a bracket (``RunStarted`` … ``RunEnded``) in it.
Time in an event is recorded data and never orders anything. The union ``Body`` is closed inside the house;
``Unknown`` is what a reader makes of a kind, or a version of one, that it does not know: readable, not drivable.
Why each kind exists stands in ``docs/adr/0004-journal-events.md``.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from handrail.journal.ask_events import AskClosed as AskClosed
from handrail.journal.ask_events import AskOpened as AskOpened
from handrail.journal.ask_events import AskReminded as AskReminded
from handrail.journal.ask_events import AskVoted as AskVoted
from handrail.journal.ask_events import DocumentEdited as DocumentEdited
from handrail.journal.stage_events import BlueprintFrozen as BlueprintFrozen
from handrail.journal.stage_events import EdgeAsked as EdgeAsked
from handrail.journal.stage_events import FanOutPlanned as FanOutPlanned
from handrail.journal.stage_events import PointRouted as PointRouted
from handrail.journal.stage_events import RegionSummed as RegionSummed
from handrail.journal.stage_events import RegionWritten as RegionWritten
from handrail.journal.stage_events import StageEntered as StageEntered
from handrail.journal.stage_events import StageLeft as StageLeft
from handrail.journal.stage_events import StageRepeated as StageRepeated
from handrail.journal.vocabulary import (
    Actor,
    Adjustment,
    Bound,
    Boundary,
    CallTraits,
    Choice,
    Contribution,
    EndReason,
    HookVerdict,
    Limits,
    Scope,
    settle_floats,
)
from handrail.transcripts.model import Block, Json, Message, Meta, Refusal, Taint, ToolCall

VERSION = 1
"""The version that this release writes into every event. A kind whose meaning changes gets a higher one."""

# The session ------------------------------------------------------------------------------------------------


class SessionOpened(Struct, frozen=True, omit_defaults=True):
    """The first event: what is known of the session; ``meta.parent`` says what it was forked or resumed from."""

    meta: Meta


class SessionTitled(Struct, frozen=True, omit_defaults=True, gc=False):
    """The session has a (new) title."""

    title: str


class MessageImported(Struct, frozen=True, omit_defaults=True):
    """A whole message of the canonical model, from another harness or inherited by a fork; nothing of it is lost."""

    message: Message


class Rewound(Struct, frozen=True, omit_defaults=True, gc=False):
    """The conversation went back to just after event ``to``; what came later became a branch."""

    to: int


class DriverTookOver(Struct, frozen=True, omit_defaults=True, gc=False):
    """A driver took the session under ``epoch``; what its predecessor had in flight is lost, not finished."""

    epoch: int
    driver: str | None = None


# A run ------------------------------------------------------------------------------------------------------


class RunStarted(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A run begins. ``strategies`` are asked in this order; ``continues`` is the waiting run this one goes on with.

    ``steers`` and ``follow_ups`` say whether a queue gives one entry at a boundary or all. ``compact_at`` is the
    size of the model's context, in tokens, from which it is compacted before the next request. ``blueprint`` is the
    digest of the blueprint it runs; ``is_unattended`` says that nobody watches it. ``order`` is what the host was
    asked for, in its own form, so that whoever goes on with the run can fit it out again. ``instructions`` and the
    names of ``tools`` are what the agent had, so that a moment of the run can be gone through again. ``rules`` are the
    ids of learned rules in the instructions (None: nobody recorded which) and ``rules_digest`` that of their block.
    """

    run: str
    model: str | None = None
    agent: str | None = None
    limits: Limits = Limits()
    strategies: tuple[str, ...] = ()
    steers: Literal["one", "all"] = "one"
    follow_ups: Literal["one", "all"] = "one"
    compact_at: int | None = None
    continues: str | None = None
    blueprint: str | None = None
    is_unattended: bool = False
    order: Json = None
    instructions: str | None = None
    tools: tuple[str, ...] = ()
    rules: tuple[str, ...] | None = None
    rules_digest: str | None = None


class RunEnded(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A run ended; ``detail`` is the reason given or the error, ``output`` a value a tool or strategy finished with."""

    run: str
    reason: EndReason
    detail: str | None = None
    output: Json = None


class PromptGiven(Struct, frozen=True, omit_defaults=True):
    """What a run was started with."""

    content: tuple[Block, ...]


class StopRequested(Struct, frozen=True, omit_defaults=True, gc=False):
    """The run is to end at the next boundary."""

    reason: str | None = None


class CancelRequested(Struct, frozen=True, omit_defaults=True, gc=False):
    """The run is to end now."""

    reason: str | None = None


class Interrupted(Struct, frozen=True, omit_defaults=True, gc=False):
    """What the agent is doing, model or tool, is to stop now; the conversation goes on with what was sent along."""

    reason: str | None = None


class PauseRequested(Struct, frozen=True, omit_defaults=True, gc=False):
    """Nothing new is to start until the run is resumed; what runs lands, what is answered is kept for then."""

    reason: str | None = None


class ResumeRequested(Struct, frozen=True, omit_defaults=True, gc=False):
    """The pause is over."""

    reason: str | None = None


# What others send -------------------------------------------------------------------------------------------


class InputReceived(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A steer or follow-up was taken from the inbox into the queue; ``input`` names it in its receipt."""

    input: str
    via: Literal["steer", "follow_up"]
    content: tuple[Block, ...]


class InputDelivered(Struct, frozen=True, omit_defaults=True):
    """Queued inputs went to the model, in this order, with the round that follows."""

    inputs: tuple[str, ...]
    round: int


class InputReturned(Struct, frozen=True, omit_defaults=True, gc=False):
    """A queued input will not be delivered; its words go back to who sent it."""

    input: str
    why: str


class EntryRefused(Struct, frozen=True, omit_defaults=True, gc=False):
    """An inbox entry was taken and had no effect: a second answer to a question, a stop where no run was open."""

    why: str


class Injected(Struct, frozen=True, omit_defaults=True):
    """A strategy put words in. Their author is the host, ``strategy`` is who; never a person.

    ``stage`` is set where the stage's own rules put them in: they do not count as a strategy's.
    """

    strategy: str
    content: tuple[Block, ...]
    stage: str | None = None


# The model --------------------------------------------------------------------------------------------------


class ModelRequested(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """A request is about to be sent, the ``request``-th of the run (retries count); ``digest`` is of what is sent."""

    request: int
    round: int
    model: str | None = None
    effort: str | None = None
    is_without_tools: bool = False
    digest: str | None = None


class ModelReplied(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A response: one assistant message with usage, stop reason and provider state. ``cost`` as the host counts it.

    ``is_unpriced`` says that nobody knows what it cost.
    """

    message: Message
    elapsed_s: float = 0.0
    cost: float = 0.0
    is_unpriced: bool = False

    def __post_init__(self) -> None:
        settle_floats(self, "elapsed_s", "cost")


class ModelFailed(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """A request gave no response. ``retry_at`` (aware UTC) is when the next is due; None means the run has failed.

    ``is_interrupted`` is set where an interrupt cut the request off, which is no failure.
    """

    error: str
    code: str | None = None
    retry_at: datetime | None = None
    is_interrupted: bool = False
    elapsed_s: float = 0.0

    def __post_init__(self) -> None:
        settle_floats(self, "elapsed_s")


class Compacted(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """From here on the model sees ``summary`` for what came before event ``keeps_from`` (None: for all of it).

    ``tokens`` (input and output) and ``cost`` are what making it took, ``is_unpriced`` where nobody knows the cost.
    """

    summary: str | None
    trigger: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    keeps_from: int | None = None
    elapsed_s: float = 0.0
    tokens: int = 0
    cost: float = 0.0
    is_unpriced: bool = False

    def __post_init__(self) -> None:
        settle_floats(self, "elapsed_s", "cost")


class CompactionFailed(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """No summary came; the run goes on with the context it has and tries again after the next response."""

    error: str
    elapsed_s: float = 0.0

    def __post_init__(self) -> None:
        settle_floats(self, "elapsed_s")


# Tools ------------------------------------------------------------------------------------------------------


class ToolRequested(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A call of the last response was judged and may go on: its traits, the hooks it passes, whether it needs a yes.

    A call that may not is journalled as ``ToolFinished`` with a refusal instead.
    """

    call: str
    tool: str
    traits: CallTraits = CallTraits()
    hooks: tuple[str, ...] = ()
    needs_approval: bool = False


class ToolRewritten(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The call will run with ``becomes`` instead. It is judged again: whether it needs a yes is said anew."""

    call: str
    becomes: ToolCall
    needs_approval: bool = False


class HookRan(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """A hook looked at a call; a ``deny`` is followed by the call's ``ToolFinished``."""

    hook: str
    call: str
    verdict: HookVerdict
    reason: str | None = None
    elapsed_s: float = 0.0

    def __post_init__(self) -> None:
        settle_floats(self, "elapsed_s")


class ToolStarted(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """The tool is about to run; ``digest`` is of the arguments it runs with."""

    call: str
    attempt: int = 1
    digest: str | None = None


class ToolFinished(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The call has its one result: what came back, or why there is none (``refusal``, with who refused).

    ``taint`` is what the result brought into the conversation. ``output`` is the value a terminal tool ended the
    run with. ``details`` is for readers and never goes to a model. ``beside`` are blocks that ride next to the
    result in the same delivery.
    """

    call: str
    content: Json = ""
    is_error: bool = False
    refusal: Refusal | None = None
    taint: Taint = Taint()
    output: Json = None
    details: Json = None
    beside: tuple[Block, ...] = ()
    elapsed_s: float = 0.0

    def __post_init__(self) -> None:
        settle_floats(self, "elapsed_s")


class ToolOutcomeUnknown(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """The call was started and nobody knows how it ended: the model and the person are told so. It is its result."""

    call: str
    known: str


# Boundaries -------------------------------------------------------------------------------------------------


class BoundaryDecided(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What the strategies said at a boundary and what came of it.

    ``choice`` is the composed decision, ``by`` the strategies it came from. ``is_accepted`` False means it was
    refused for the reason ``why`` and the run goes on as if nobody had said anything. ``bound`` is set at the two
    limit boundaries. What was put in or changed follows as ``Injected`` and ``Adjusted`` in the same append.
    """

    boundary: Boundary
    round: int
    choice: Choice = Choice.CONTINUE
    by: tuple[str, ...] = ()
    contributions: tuple[Contribution, ...] = ()
    is_accepted: bool = True
    why: str | None = None
    bound: Bound | None = None
    note: str | None = None
    output: Json = None
    elapsed_s: float = 0.0

    def __post_init__(self) -> None:
        settle_floats(self, "elapsed_s")


class Adjusted(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """An adjustment is in force until its scope ends."""

    adjustment: Adjustment
    scope: Scope
    by: str | None = None


class BoundReached(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """A bound that is counted outside this journal (a pool shared by runs) is spent.

    ``stage`` is set where it is the stage's own and not the run's.
    """

    bound: Bound
    detail: str | None = None
    stage: str | None = None


class TaintRaised(Struct, frozen=True, omit_defaults=True, gc=False):
    """Something other than a tool's result tainted the conversation: an attachment, a peer's message."""

    taint: Taint
    why: str


# Children ---------------------------------------------------------------------------------------------------


class ChildSpawned(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """A call started an agent of its own, whose journal is the session ``child``.

    ``item`` is the piece of work it was started for, where the call splits its work.
    """

    child: str
    call: str
    agent: str | None = None
    item: str | None = None


class ChildEnded(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """An agent started by this session ended. What it spent counts here too (tokens in all, cost, effect time).

    ``is_unpriced`` says that not all of its cost is known.
    """

    child: str
    reason: EndReason
    tokens: int = 0
    cost: float = 0.0
    elapsed_s: float = 0.0
    is_unpriced: bool = False

    def __post_init__(self) -> None:
        settle_floats(self, "cost", "elapsed_s")


# The envelope -----------------------------------------------------------------------------------------------


class Unknown(Struct, frozen=True, kw_only=True):
    """A kind, or a version of one, that this release does not know; its ``fields`` as they were."""

    type: str
    v: int
    fields: Json


Known: TypeAlias = (
    SessionOpened
    | SessionTitled
    | MessageImported
    | Rewound
    | DriverTookOver
    | RunStarted
    | BlueprintFrozen
    | RunEnded
    | PromptGiven
    | StopRequested
    | CancelRequested
    | Interrupted
    | PauseRequested
    | ResumeRequested
    | InputReceived
    | InputDelivered
    | InputReturned
    | EntryRefused
    | Injected
    | ModelRequested
    | ModelReplied
    | ModelFailed
    | Compacted
    | CompactionFailed
    | ToolRequested
    | ToolRewritten
    | HookRan
    | ToolStarted
    | ToolFinished
    | ToolOutcomeUnknown
    | BoundaryDecided
    | Adjusted
    | BoundReached
    | TaintRaised
    | AskOpened
    | AskReminded
    | AskVoted
    | AskClosed
    | DocumentEdited
    | ChildSpawned
    | ChildEnded
    | FanOutPlanned
    | StageEntered
    | StageLeft
    | EdgeAsked
    | StageRepeated
    | PointRouted
    | RegionWritten
    | RegionSummed
)
"""Every kind this release writes."""

KINDS: tuple[type[Known], ...] = get_args(Known)

Body: TypeAlias = Known | Unknown


class Event(Struct, frozen=True, kw_only=True):
    """One thing that happened: ``seq`` counts from 1 without gaps, ``by`` is who caused it, ``body`` is what it was.

    ``at`` is when it was recorded (aware UTC), or None. ``inbox`` is the number of the inbox entry it was taken
    from, for what others sent.
    """

    seq: int
    by: Actor
    body: Body
    at: datetime | None = None
    inbox: int | None = None
