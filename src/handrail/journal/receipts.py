"""What became of an input that somebody sent: queued, delivered with a round, or returned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from handrail.journal.events import Event, InputDelivered, InputReceived, InputReturned


class Receipt(Struct, frozen=True, kw_only=True, gc=False):
    """``status`` ends as delivered (with ``round``) or returned (with ``why``), once."""

    input: str
    status: Literal["queued", "delivered", "returned"] = "queued"
    round: int | None = None
    why: str | None = None


def receipts(events: Iterable[Event]) -> dict[str, Receipt]:
    """The receipt of every input that was journalled, in the order they were received."""
    found: dict[str, Receipt] = {}
    for event in events:
        body = event.body
        if isinstance(body, InputReceived):
            found[body.input] = Receipt(input=body.input)
        elif isinstance(body, InputDelivered):
            found |= {name: Receipt(input=name, status="delivered", round=body.round) for name in body.inputs}
        elif isinstance(body, InputReturned):
            found[body.input] = Receipt(input=body.input, status="returned", why=body.why)
    return found
