"""Web searches the provider makes inside a response: the item has the action, the event the id.

The event stands before its item or after it, and tells what was looked for; what was found is not kept (but in the
newest versions). Code mode's own searches leave events without items, which are nobody's here.
"""

from __future__ import annotations

from typing import NamedTuple

from handrail.harnesses.codex.drafts import Draft
from handrail.harnesses.codex.event_kinds import WebSearchEnd
from handrail.harnesses.codex.item_kinds import WebSearchCall
from handrail.transcripts.model import Json, ToolUse


class Found(NamedTuple):
    """The outcome of a search; ``row`` is the event that told it."""

    call_id: str
    content: Json
    row: int


class _Open(NamedTuple):
    """A search whose event has not come yet: the block ``position`` of ``draft``; ``has_id`` when its id is its own."""

    action: Json
    draft: Draft
    position: int
    has_id: bool


class Searches:
    """The searches of one file. ``found`` are the outcomes to be delivered after the response, ``take`` takes them."""

    __slots__ = ("_events", "_open", "found")

    def __init__(self) -> None:
        self._events: list[tuple[WebSearchEnd, int]] = []
        self._open: list[_Open] = []
        self.found: list[Found] = []

    def call(self, payload: WebSearchCall, row: int) -> str | None:
        """The id of a search item: its own if it has one, else that of the event before it that tells the same."""
        for place, (event, at) in enumerate(self._events):
            if event.action == payload.action or (payload.action is None and at == row - 1):
                del self._events[place]
                return self._find(payload.call_id or payload.id or event.call_id, event, at)
        return payload.call_id or payload.id

    def wait(self, payload: WebSearchCall, draft: Draft) -> None:
        """The last block of ``draft`` is a search; its event may follow."""
        block = draft.content[-1]
        if type(block) is ToolUse and all(found.call_id != block.id for found in self.found):
            has_id = bool(payload.call_id or payload.id)
            self._open.append(_Open(payload.action, draft, len(draft.content) - 1, has_id))

    def event(self, payload: WebSearchEnd, row: int) -> None:
        """Join the event with the open search that did the same, or keep it for one that follows."""
        for place, waiting in enumerate(self._open):
            block = waiting.draft.content[waiting.position]
            if waiting.action == payload.action and type(block) is ToolUse:
                del self._open[place]
                call_id = block.id if waiting.has_id or not payload.call_id else payload.call_id
                waiting.draft.content[waiting.position] = ToolUse(call_id, block.call, block.provider)
                self._find(call_id, payload, row)
                return
        self._events.append((payload, row))

    def _find(self, call_id: str | None, event: WebSearchEnd, row: int) -> str | None:
        if call_id is not None:
            content = searched(event.action, event.query) if event.results is None else event.results
            self.found.append(Found(call_id, content, row))
        return call_id

    def take(self) -> list[Found]:
        """The outcomes so far, once."""
        found, self.found = self.found, []
        return found

    def forget(self) -> None:
        """The turn is over: what is open stays open, and what is untold belongs to nobody."""
        self._open.clear()
        self._events.clear()


def searched(action: Json, query: str | None) -> str:
    """What a web search looked for, in words."""
    if not isinstance(action, dict):
        return query or ""
    kind = action.get("type")
    if kind == "find_in_page" and isinstance(action.get("pattern"), str):
        url = action.get("url")
        return f"Find `{action['pattern']}` in {url}" if isinstance(url, str) else str(action["pattern"])
    queries = action.get("queries")
    if kind == "search" and isinstance(queries, list) and queries:
        return "\n".join(str(item) for item in queries)
    return str(action.get("url") or action.get("query") or query or "")
