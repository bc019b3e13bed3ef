"""What one run may do and spend, as a value."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from handrail.agents.admission import Gate
from handrail.agents.approval import PERSON, ApproverLike, Held
from handrail.agents.cancellation import CancellationToken
from handrail.agents.hooks import Hook
from handrail.agents.paging import MemoryShelf
from handrail.agents.pool import Pool
from handrail.agents.strategy import StrategyLike
from handrail.agents.tool import Answer, Question, ResultLimits, ResultShelf
from handrail.journal.port import Journal
from handrail.journal.vocabulary import Actor, Limits
from handrail.models.port import Effort, ReasoningOptions
from handrail.models.retry import RetryPolicy
from handrail.transcripts.model import Json

Answerer: TypeAlias = Callable[[Question], Answer | Awaitable[Answer]]
"""Puts a tool's question to a person."""


class OnError(StrEnum):
    """What becomes of a run whose strategy raises, times out, or answers with something that cannot be done."""

    FAIL = "fail"
    CONTINUE = "continue"
    STOP = "stop"


class RunOptions(Struct, frozen=True, kw_only=True):
    """The options of one run; a run without any has no bounds, asks nobody and keeps its journal in memory.

    Bounds: ``max_rounds``, ``max_requests`` (retries count), ``max_tool_calls``, ``max_tokens`` (input and output as
    reported), ``max_cost`` (US dollars), ``max_seconds`` (work, not a person's waiting time); ``pools`` are shared
    with other runs. ``near`` is the share of a bound from which ``LIMIT_NEAR`` is asked.

    Strategies: asked in list order; ``strategy_timeout_s`` and ``on_strategy_error`` hold for each of them,
    ``max_injections`` for all. ``inherits`` hands them to sub-agents too.

    People: ``approver`` is asked about calls that need a yes, ``answerer`` is put the questions of tools; where one
    is absent the call is refused; with ``HOLD`` nobody is asked here and the question waits, durable, for an answer
    through the journal's inbox. ``approval_timeout_s`` closes a question as timed out. ``by`` is who gives the
    prompt, a person unless said otherwise. ``steers`` and ``follow_ups`` say whether a queue gives one message at a
    boundary or all; ``max_queued`` is how many may wait.

    Stopping: ``stop`` ends the run at the next boundary when it is cancelled, ``cancellation`` ends it now.

    ``parks``: where all there is to do is to wait for a person, in another process or at another time, the result
    comes back at once as ``WAITING`` with ``waits_for``, and the run stays open; resume it when it was answered.
    ``is_unattended`` says that nobody watches the run, and is recorded. ``order`` is recorded as it is: what the host
    needs to know to fit the run out again in another process.

    ``environment`` is what commands get (None: this process's, but for the keys of models). ``shelf`` keeps the full
    text of results that are cut (in memory, unless another is given; None: it is lost).

    ``rules`` are the ids of learned rules that the agent's instructions hold, ``rules_digest`` the digest of their
    block; both are recorded.

    ``compact_at`` is the size of the model's context, in tokens, from which it is compacted. ``journal`` is where
    events are kept (None: in memory), ``meta`` what a new session is opened with.
    """

    max_rounds: int | None = None
    max_requests: int | None = None
    max_tool_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    max_seconds: float | None = None
    near: float = 0.8
    pools: tuple[Pool, ...] = ()
    strategies: tuple[StrategyLike, ...] | list[StrategyLike] = ()
    strategy_timeout_s: float | None = 60.0
    on_strategy_error: OnError | Literal["fail", "continue", "stop"] = OnError.FAIL
    max_injections: int = 25
    inherits: bool = False
    approver: ApproverLike | Held | None = None
    answerer: Answerer | Held | None = None
    approval_timeout_s: float | None = None
    gate: Gate = Gate()
    hooks: tuple[Hook, ...] = ()
    by: Actor = PERSON
    steers: Literal["one", "all"] = "one"
    follow_ups: Literal["one", "all"] = "one"
    max_queued: int = 100
    stop: CancellationToken | None = None
    cancellation: CancellationToken | None = None
    reasoning: ReasoningOptions | Effort | None = None
    tools: tuple[str, ...] | None = None
    tool_choice: str | None = None
    max_output_tokens: int | None = None
    retry: RetryPolicy = RetryPolicy()
    compact_at: int | None = None
    journal: Journal | None = None
    workspace: Path = field(default_factory=Path.cwd)
    environment: Mapping[str, str] | None = None
    shelf: ResultShelf | None = field(default_factory=MemoryShelf)
    result_limits: ResultLimits = ResultLimits()
    cli_version: str | None = None
    title: str | None = None
    parks: bool = False
    is_unattended: bool = False
    order: Json = None
    rules: tuple[str, ...] | None = None
    rules_digest: str | None = None

    def bounds(self) -> Limits:
        """The bounds as the journal keeps them; ``ValueError`` for one that is below zero."""
        limits = Limits(
            max_rounds=self.max_rounds,
            max_requests=self.max_requests,
            max_tool_calls=self.max_tool_calls,
            max_tokens=self.max_tokens,
            max_cost=self.max_cost,
            max_seconds=self.max_seconds,
            near=self.near,
            max_injections=self.max_injections,
        )
        for name in limits.__struct_fields__:
            value: Any = getattr(limits, name)
            if value is not None and value < 0:
                raise ValueError(f"{name} is {value}: a bound cannot be below zero")
        return limits
