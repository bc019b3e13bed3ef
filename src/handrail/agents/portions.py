"""What of a run's bounds and options is an agent's that it starts: no more than is left, and nobody else's wishes."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from handrail.agents.boundary import remaining
from handrail.agents.options import RunOptions
from handrail.agents.tool import ToolError
from handrail.agents.work import Work
from handrail.journal.port import Journal
from handrail.journal.state import RunState
from handrail.journal.vocabulary import Actor, ActorKind

MAX_DEPTH = 2
"""How many agents may stand below the root, one under the other."""


def portion(run: RunState, work: Work, options: RunOptions, own: RunOptions, journal: Journal) -> RunOptions:
    """The options of an agent that is started in ``run``, whose own are ``options``: the bounds of ``own`` within what
    is left there. What it spends is drawn from the purse of ``work``."""
    limits = run.limits
    work.purse.max_tokens, work.purse.max_cost = limits.max_tokens, limits.max_cost
    left = remaining(run)
    return replace(
        options,
        max_rounds=own.max_rounds,
        max_requests=own.max_requests,
        max_tool_calls=own.max_tool_calls,
        max_tokens=_tighter(own.max_tokens, left.tokens),
        max_cost=_tighter(own.max_cost, left.cost),
        max_seconds=_tighter(own.max_seconds, left.seconds),
        pools=(*options.pools, work.purse),
        strategies=options.strategies if options.inherits else own.strategies,
        by=Actor(ActorKind.MODEL, work.place.agent),
        journal=journal,
        stop=None,
        cancellation=None,
        tools=None,
        tool_choice=None,
        title=None,
        # It is left with the call that waits for it, and never by itself.
        parks=False,
    )


def check_room(run: RunState, work: Work) -> None:
    """``ToolError`` where no further sub-agent may be started."""
    if work.place.depth >= MAX_DEPTH:
        raise ToolError(f"no further agent can be started: {MAX_DEPTH} stand one under the other already")
    left = remaining(run)
    if left.tokens == 0 or left.cost == 0 or left.seconds == 0:
        raise ToolError("no further agent can be started: nothing is left of what this run may spend")


def _tighter(one: Any, other: Any) -> Any:
    given = [value for value in (one, other) if value is not None]
    return min(given) if given else None
