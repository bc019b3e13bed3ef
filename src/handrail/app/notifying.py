"""Use case: telling other programs what waits for a person and what has finished, beside carrying runs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from handrail.runs.journals.journal import SqlJournal
from handrail.runs.webhooks.endpoints import Endpoint, endpoint, load_endpoints
from handrail.runs.webhooks.sending import Delivery, Sender


class Webhooks(Struct, frozen=True, kw_only=True):
    """Where notices go: to the address ``url``, and to those that ``file`` names. Nowhere unless it is said."""

    url: str | None = None
    file: Path | None = None

    def endpoints(self, environment: Mapping[str, str]) -> tuple[Endpoint, ...]:
        """The addresses, with their secrets; ``BadWebhooks`` where one makes no sense."""
        named = () if self.url is None else (endpoint(self.url, environment),)
        return (*named, *(() if self.file is None else load_endpoints(self.file, environment)))


@asynccontextmanager
async def notifying(
    journal: SqlJournal, endpoints: tuple[Endpoint, ...], tell: Callable[[Delivery], None]
) -> AsyncIterator[None]:
    """Send notices as long as the block lasts; what is not sent by then is sent by whoever comes next."""
    is_over = asyncio.Event()
    sending = asyncio.get_running_loop().create_task(Sender(journal, endpoints, tell).send_again_and_again(is_over))
    try:
        yield
    finally:
        is_over.set()
        with contextlib.suppress(asyncio.CancelledError):
            await sending
