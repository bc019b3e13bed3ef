"""Summaries asked of a run's own model beside its conversation: a request that no turn of it remembers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from handrail.agents.cancellation import CancellationToken, CancelledItself
from handrail.agents.charging import Charge, charge_of, take, uncounted
from handrail.agents.containment import Raised, contained
from handrail.agents.content import words_of
from handrail.agents.replies import recordable
from handrail.agents.requesting import model_of
from handrail.agents.work import Work
from handrail.agents.writer import Writer
from handrail.journal.events import BoundReached
from handrail.journal.state import adjustment_of
from handrail.models.port import ModelReply, ModelRequest, reply_to

NO_CHARGE = Charge(tokens=0, cost=0.0)


class Summary(Struct, frozen=True, kw_only=True):
    """What came of asking: ``words``, or ``error`` where there was no reply; what it cost, and the seconds it took.

    ``bounds`` are those of the run that cannot be counted any more, since what it cost is not known.
    """

    words: str = ""
    error: str | None = None
    charge: Charge = NO_CHARGE
    elapsed_s: float = 0.0
    bounds: tuple[BoundReached, ...] = ()


Ask: TypeAlias = Callable[[ModelRequest], Awaitable[Summary]]
"""Asks for a summary; ``Cancelled`` when it is cut off."""


async def summarise(work: Work, writer: Writer, cancellation: CancellationToken, request: ModelRequest) -> Summary:
    """The reply of the model in force to ``request``; what it costs is taken out of the run's purses.

    A model that fails is a summary with an ``error``. ``Cancelled`` when cut off; nothing is recorded here.
    """
    began = work.clock.monotonic_s()
    try:
        got = await cancellation.guard(contained(_reply(work, writer, cancellation, request)))
    except CancelledItself as problem:
        got = Raised(problem)
    elapsed_s = work.clock.monotonic_s() - began
    if isinstance(got, Raised):
        cancellation.raise_if_cancelled()
        return Summary(error=got.told, elapsed_s=elapsed_s)
    charge = charge_of(got.value.message.usage, got.value.cost)
    take(work.purses, (charge,))
    run = writer.state.run
    return Summary(
        words=words_of(got.value.message.content),
        charge=charge,
        elapsed_s=elapsed_s,
        bounds=() if run is None else tuple(uncounted(run, "the model that summed up", (charge,))),
    )


async def _reply(work: Work, writer: Writer, cancellation: CancellationToken, request: ModelRequest) -> ModelReply:
    placed = replace(
        request,
        session=work.place.session,
        run=work.place.run,
        replies=writer.conversation.replies,
    )
    model = model_of(work, adjustment_of(writer.state))
    return recordable(await reply_to(model, placed, cancellation))
