"""Where the rows of a rollout are gathered: the drafts, which row went into which, and what is still open.

Items are gathered into drafts. A draft ends where the next one begins: a response ends with its results (or with
its token count), a delivery ends with the next response, a turn's bookkeeping ends both. What each kind of row adds
stands in ``responses``, ``deliveries`` and ``boundaries``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from handrail.harnesses.codex.drafts import COMPACTION, RESPONSE, RESULTS, Draft
from handrail.harnesses.codex.ends import Ends
from handrail.harnesses.codex.event_kinds import RawThought, Said, Thought
from handrail.harnesses.codex.rowids import RowIds
from handrail.harnesses.codex.searches import Searches
from handrail.harnesses.codex.tokens import Tokens
from handrail.harnesses.codex.turns import Turns
from handrail.harnesses.codex.wire import OtherRow, Row
from handrail.transcripts.model import Author, Block, Json, Text, Thinking, ToolResult

BOOKKEEPING = -1
"""The owner of a row that belongs to no message."""


class Cut(NamedTuple):
    """Turns that were rolled back: the drafts from ``start`` to ``end``, and the row that said so."""

    start: int
    end: int
    row: int


class Gathering:
    """The state of one pass over ``rows``; ``raw`` gives the bytes of a row.

    ``drafts`` are the messages in file order, rolled-back ones among them (``cuts``). ``owners`` has one entry a
    row: the index of the draft the row belongs to, or ``BOOKKEEPING``. ``at`` and ``row`` are the present row,
    ``newest`` is the index of the last draft.
    """

    __slots__ = (
        "answered",
        "at",
        "calls",
        "cuts",
        "drafts",
        "driver",
        "echoes",
        "ends",
        "ids",
        "inputs",
        "last_response",
        "mirrors",
        "model",
        "newest",
        "open",
        "origin",
        "own_driver",
        "own_id",
        "owners",
        "response",
        "reviewer",
        "row",
        "rows",
        "searches",
        "tokens",
        "turns",
    )

    def __init__(self, rows: list[Row], raw: Callable[[int], bytes]) -> None:
        self.rows = rows
        self.at = 0
        self.row: Row = OtherRow()
        self.drafts: list[Draft] = []
        self.newest = -1
        self.owners: list[int] = [BOOKKEEPING] * len(rows)
        self.cuts: list[Cut] = []
        self.ids = RowIds(raw)
        # The draft that rows are added to, the response that is still going on, the index of the last response.
        self.open: Draft | None = None
        self.response: Draft | None = None
        self.last_response: int | None = None
        # Calls by id: their names, what was asked of a person, which draft has their result, events that repeat it.
        self.calls: dict[str, str] = {}
        self.inputs: dict[str, Json] = {}
        self.answered: dict[str, int] = {}
        self.mirrors: list[tuple[int, str]] = []
        self.echoes: list[tuple[int, Said | Thought | RawThought]] = []
        self.ends = Ends(rows)
        self.searches = Searches()
        self.tokens = Tokens()
        self.turns = Turns()
        # Whose the rows are: who drives the session, what answers, where copied rows come from.
        self.own_id: str | None = None
        self.driver = Author.PERSON
        self.own_driver = Author.PERSON
        self.origin: str | None = None
        self.model: str | None = None
        self.reviewer: str | None = None

    # Drafts

    def draft(self, kind: int) -> Draft:
        """A new draft, which is now the open one."""
        draft = self.open = Draft(kind, self.row.timestamp, self.model, self.origin)
        self.drafts.append(draft)
        self.newest += 1
        return draft

    def into(self, draft: Draft, name: str | None = None) -> Draft:
        """Note that the present row, known by ``name`` if it has one, belongs to ``draft``, the newest there is."""
        draft.uids.append(self.ids.named(name, self.at))
        self.owners[self.at] = self.newest
        return draft

    def close(self) -> None:
        """What follows is a message of its own."""
        if self.searches.found:
            self.deliver_searches()
        self.open = None
        self.response = None

    def finish(self) -> None:
        """All rows are read: deliver what waits and join events with results."""
        if self.searches.found:
            self.deliver_searches()
        self.ends.apply(self.drafts, self.answered)
        for index, call_id in self.mirrors:
            self.owners[index] = self.answered.get(call_id, BOOKKEEPING)

    # Responses

    def respond(self, block: Block, name: str | None = None) -> Draft:
        """Add what the model said to the open response, or begin one; ``name`` is what the present row is known by."""
        draft = self.open
        if draft is None or draft.kind != RESPONSE:
            draft = self.begin_response()
        self.response = draft
        if self.echoes:
            self.own_echoes()
        draft.uids.append(self.ids.named(name, self.at))
        draft.content.append(block)
        self.owners[self.at] = self.newest
        return draft

    def begin_response(self) -> Draft:
        """The open response, or a new one with what was counted for it before it came."""
        if self.open is not None and self.open.kind == RESPONSE:
            return self.open
        if self.searches.found:
            self.deliver_searches()
        draft = self.draft(RESPONSE)
        self.last_response = self.newest
        self.tokens.has_response = True
        counted = self.tokens.take() if self.tokens.comes_first else None
        if counted is not None:
            draft.usage = counted[0]
            self.owners[counted[1]] = self.last_response
        return draft

    def own_by_response(self) -> None:
        """What a program of the model's called leaves events of its own; they go where the response goes."""
        if self.last_response is not None:
            self.owners[self.at] = self.last_response

    def own_echoes(self) -> None:
        """The item came: its copies on the screen belong to the response."""
        for row, _ in self.echoes:
            self.owners[row] = BOOKKEEPING if self.last_response is None else self.last_response
        self.echoes.clear()

    def save_echoes(self) -> None:
        """What was said on the screen only, because the turn was aborted before the items were written."""
        echoes, self.echoes = self.echoes, []
        at = self.at
        for self.at, echo in echoes:
            text = echo.message if isinstance(echo, Said) else echo.text
            if text and not self._is_last_word(text):
                self.respond(Text(text, Author.MODEL) if isinstance(echo, Said) else Thinking(text))
        self.at = at

    def _is_last_word(self, text: str) -> bool:
        """Whether the last response has said ``text`` already."""
        last = None if self.last_response is None else self.drafts[self.last_response]
        return last is not None and Text(text, Author.MODEL) in last.content

    # Deliveries

    def deliver(self, kind: int, name: str | None = None) -> Draft:
        """The delivery that the present row, known by ``name`` if it has one, belongs to."""
        draft = self.delivery(kind)
        draft.uids.append(self.ids.named(name, self.at))
        self.owners[self.at] = self.newest
        return draft

    def delivery(self, kind: int) -> Draft:
        """The open delivery, or a new one; searches of the response before it are delivered first."""
        if self.searches.found:
            self.deliver_searches()
        draft = self.open
        if draft is None or draft.kind == RESPONSE or draft.kind == COMPACTION:
            return self.draft(kind)
        if kind == RESULTS:
            draft.kind = RESULTS
        return draft

    def deliver_searches(self) -> None:
        """The results of the searches a provider made inside a response are delivered after it."""
        for call_id, content, row in self.searches.take():
            draft = self.delivery(RESULTS)
            if not draft.content:
                draft.timestamp = self.rows[row].timestamp
            draft.uids.append(self.ids.unique(f"{call_id}:output"))
            draft.content.append(ToolResult(call_id, content))
            self.owners[row] = self.newest
