"""From rows to messages: one pass over a rollout, row by row.

Items are gathered into drafts. A draft ends where the next one begins: a response ends with its results (or with
its token count), a delivery ends with the next response, a turn's bookkeeping ends both. The event log adds what the
item log does not say: that a text was typed, which turn it fell into, how a command ended, what it cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from handrail.harnesses.codex import speakers
from handrail.harnesses.codex.answers import read_answers
from handrail.harnesses.codex.calls import read_call
from handrail.harnesses.codex.drafts import COMPACTION, NOTES, PROMPT, RESPONSE, RESULTS, Draft, read_time
from handrail.harnesses.codex.elements import elements_of, summary_of, texts_of
from handrail.harnesses.codex.ends import Ends, denial
from handrail.harnesses.codex.outputs import read_output
from handrail.harnesses.codex.rowids import RowIds
from handrail.harnesses.codex.searches import Searches
from handrail.harnesses.codex.sources import BURST_S, driver
from handrail.harnesses.codex.tokens import Tokens
from handrail.harnesses.codex.turns import Turns
from handrail.harnesses.codex.wire import EVENT, ITEM, Element, Payload, Row
from handrail.transcripts.calls import call_name
from handrail.transcripts.model import (
    Author,
    Block,
    Compaction,
    Interrupt,
    Json,
    Raw,
    RefusalKind,
    Text,
    Thinking,
    ToolResult,
    Via,
)

Handler = Callable[["Reading", Payload], None]
Table = dict[str, Handler]

BOOKKEEPING = -1
"""The owner of a row that belongs to no message."""


class Cut(NamedTuple):
    """Turns that were rolled back: the drafts from ``start`` to ``end``, and the row that said so."""

    start: int
    end: int
    row: int


class Reading:
    """The state of one pass. ``drafts`` are the messages in file order, rolled-back ones among them (``cuts``).

    ``owners`` has one entry a row: the index of the draft the row belongs to, or ``BOOKKEEPING``.
    """

    def __init__(self, rows: list[Row], raw: Callable[[int], bytes]) -> None:
        self.rows = rows
        self.drafts: list[Draft] = []
        self.owners: list[int] = [BOOKKEEPING] * len(rows)
        self.cuts: list[Cut] = []
        self.calls: dict[str, str] = {}
        self._inputs: dict[str, Json] = {}
        self._ids = RowIds(raw)
        self._ends = Ends(rows)
        self._tokens = Tokens()
        self._at = 0
        self._row = Row()
        self._open: Draft | None = None
        self._response: Draft | None = None
        self._last_response: int | None = None
        self._model: str | None = None
        self._turns = Turns()
        self._reviewer: str | None = None
        self._mirrors: list[tuple[int, str]] = []
        self._answered: dict[str, int] = {}
        self._searches = Searches()
        self._echoes: list[tuple[int, Payload]] = []
        self._own_id: str | None = None
        self._driver = Author.PERSON
        self._own_driver = Author.PERSON
        self._origin: str | None = None

    def run(self) -> Reading:
        """Read every row."""
        items, events, others = self.tables()
        for index, row in enumerate(self.rows):
            payload = row.payload
            if payload is None:
                continue
            kind = row.type
            handle = (items if kind == ITEM else events).get(payload.type) if kind in _LOGS else others.get(kind)
            if handle is None:
                continue
            self._at = index
            self._row = row
            if self._origin is not None:
                self._end_burst(index)
            handle(self, payload)
        if self._searches.found:
            self._deliver_searches()
        self._ends.apply()
        for index, call_id in self._mirrors:
            self.owners[index] = self._answered.get(call_id, BOOKKEEPING)
        return self

    def tables(self) -> tuple[Table, Table, Table]:
        """What reads an item, an event and another line of each kind; the rest is bookkeeping or not known."""
        return _ITEMS, _EVENTS, _OTHERS

    # Drafts

    def _draft(self, kind: int) -> Draft:
        draft = Draft(kind, self._row.timestamp, self._model, self._origin)
        self.drafts.append(draft)
        self._open = draft
        return draft

    def into(self, draft: Draft, payload: Payload) -> Draft:
        """Note that the present row belongs to ``draft``."""
        draft.uids.append(self._ids.uid(payload, self._at))
        self.owners[self._at] = len(self.drafts) - 1
        return draft

    def close(self) -> None:
        self._open = None
        self._response = None

    def respond(self, payload: Payload, block: Block) -> Draft:
        """Add what the model said to the open response, or begin one."""
        draft = self._open
        if draft is None or draft.kind != RESPONSE:
            draft = self._begin_response()
        self._response = draft
        if self._echoes:
            self._own_echoes()
        self.into(draft, payload).content.append(block)
        return draft

    def _begin_response(self) -> Draft:
        """The open response, or a new one with what was counted for it before it came."""
        if self._open is not None and self._open.kind == RESPONSE:
            return self._open
        if self._searches.found:
            self._deliver_searches()
        draft = self._draft(RESPONSE)
        self._last_response = len(self.drafts) - 1
        self._tokens.has_response = True
        counted = self._tokens.take()
        if counted is not None:
            draft.usage = counted[0]
            self.owners[counted[1]] = self._last_response
        return draft

    def echo(self, payload: Payload) -> None:
        """The screen's copy of what the model said; the item follows, unless the turn is aborted before it."""
        self._echoes.append((self._at, payload))

    def _own_echoes(self) -> None:
        for row, _ in self._echoes:
            self.owners[row] = BOOKKEEPING if self._last_response is None else self._last_response
        self._echoes.clear()

    def _save_echoes(self) -> None:
        """What was said on the screen only, because the turn was aborted before the items were written."""
        echoes, self._echoes = self._echoes, []
        at = self._at
        for self._at, payload in echoes:
            text = payload.message or payload.text or ""
            is_said = payload.type == "agent_message"
            if text and not self._is_last_word(text):
                self.respond(payload, Text(text, Author.MODEL) if is_said else Thinking(text))
        self._at = at

    def _is_last_word(self, text: str) -> bool:
        """Whether the last response has said ``text`` already."""
        last = None if self._last_response is None else self.drafts[self._last_response]
        return last is not None and Text(text, Author.MODEL) in last.content

    def deliver(self, kind: int) -> Draft:
        """The open delivery, or a new one."""
        draft = self._open
        if draft is None or draft.kind in (RESPONSE, COMPACTION):
            return self._draft(kind)
        if kind == RESULTS:
            draft.kind = RESULTS
        return draft

    # What the model said

    def reasoning(self, payload: Payload) -> None:
        text = "\n\n".join(texts_of(payload.summary)) or "\n\n".join(texts_of(payload.content))
        self.respond(payload, Thinking(text, encrypted=payload.encrypted_content))

    def message(self, payload: Payload) -> None:
        if payload.role == "assistant":
            texts = texts_of(payload.content)
            for text in texts[:1]:
                self.respond(payload, Text(text, Author.MODEL))
            if self._response is not None:
                self._response.content += [Text(text, Author.MODEL) for text in texts[1:]]
        elif payload.role == "user":
            self._user(payload, elements_of(payload.content))

    def call(self, payload: Payload) -> None:
        is_search = payload.type == "web_search_call"
        if is_search:
            self._begin_response()
        call_id = self._searches.call(payload, self._at) if is_search else payload.call_id
        if call_id is None:
            call_id = payload.id or self._ids.unique(payload.type)
        block = read_call(payload, call_id)
        self.calls[call_id] = call_name(block.call)
        if type(block.call) is Raw and block.call.tool_name == "request_user_input":
            self._inputs[call_id] = block.call.input
        draft = self.respond(payload, block)
        if is_search:
            self._searches.wait(payload, draft)

    def search_end(self, payload: Payload) -> None:
        self._own_by_response()
        self._searches.event(payload, self._at)

    def _deliver_searches(self) -> None:
        """The results of the searches a provider made inside a response are delivered after it."""
        for call_id, content, row in self._searches.take():
            draft = self.deliver(RESULTS)
            if not draft.content:
                draft.timestamp = self.rows[row].timestamp
            draft.uids.append(self._ids.unique(f"{call_id}:output"))
            draft.content.append(ToolResult(call_id, content))
            self.owners[row] = len(self.drafts) - 1

    # What was delivered to it

    def result(self, payload: Payload) -> None:
        call_id = payload.call_id
        if call_id is None:
            return
        output = payload.tools if payload.type == "tool_search_output" else payload.output
        name = self.calls.get(call_id, "")
        content, is_error, refusal = read_output(output, name)
        if refusal is not None and refusal.kind == RefusalKind.DENIED:
            refusal = denial(self._reviewer)
        if self._searches.found:
            self._deliver_searches()
        draft = self.into(self.deliver(RESULTS), payload)
        self._response = None
        self._ends.note(call_id, draft, len(draft.content))
        draft.content.append(ToolResult(call_id, content, is_error, refusal))
        self._answered[call_id] = len(self.drafts) - 1
        if call_id in self._inputs:
            draft.content += read_answers(self._inputs[call_id], content, self._driver)

    def command_end(self, payload: Payload) -> None:
        """A result that only the event log has; where the item log has it too, the two are joined at the end."""
        call_id = payload.call_id
        self._ends.event(payload, self._reviewer)
        if call_id is None or call_id not in self.calls:
            self._own_by_response()
            return
        if self._ends.has_item(call_id):
            self._mirrors.append((self._at, call_id))
            return
        draft = self.deliver(RESULTS)
        self._response = None
        self._ends.note(call_id, draft, len(draft.content))
        self.into(draft, payload).content.append(ToolResult(call_id))

    def _own_by_response(self) -> None:
        """What a program of the model's called leaves events of its own; they go where the response goes."""
        if self._last_response is not None:
            self.owners[self._at] = self._last_response

    def _user(self, payload: Payload, elements: list[Element]) -> None:
        if speakers.is_interrupt(elements):
            self._interrupt_mark(payload)
        elif self._is_typed(elements):
            self.typed(payload, elements)
        else:
            self._note(payload, speakers.read_untyped(elements))

    def _is_typed(self, elements: list[Element]) -> bool:
        if self._at + 1 >= len(self.rows):
            return False
        following = self.rows[self._at + 1]
        event = following.payload
        if following.type != EVENT or event is None or event.type != "user_message" or not event.message:
            return False
        return event.message == speakers.typed_text(elements)

    def typed(self, payload: Payload, elements: list[Element]) -> None:
        is_steer = self._turns.is_running
        blocks = speakers.read_typed(elements, self._driver, Via.STEER if is_steer else Via.PROMPT)
        draft = self._open
        if draft is None or draft.kind != RESULTS:
            if self._searches.found:
                self._deliver_searches()
            draft = self._open if self._open is not None and self._open.kind == RESULTS else None
            draft = draft if draft is not None and is_steer else self._draft(PROMPT)
        if not is_steer:
            self._turns.prompt(len(self.drafts) - 1)
        self._response = None
        self.into(draft, payload).content += blocks

    def _note(self, payload: Payload, blocks: list[Block]) -> None:
        if blocks:
            if self._searches.found:
                self._deliver_searches()
            self.into(self.deliver(NOTES), payload).content += blocks

    def peer(self, payload: Payload) -> None:
        blocks: list[Block] = [Text(text, Author.PEER, by=payload.author or None) for text in texts_of(payload.content)]
        self._note(payload, blocks)

    def new_id(self, name: str) -> str:
        """``name`` as an id that was not given out yet."""
        return self._ids.unique(name)

    def count_prompt(self) -> None:
        """One more prompt was submitted in this turn."""
        self._turns.count()

    def user_event(self, payload: Payload) -> None:
        self.count_prompt()
        previous = self.rows[self._at - 1] if self._at else None
        if previous is not None and previous.type == ITEM:
            self.owners[self._at] = self.owners[self._at - 1]

    # Interrupts and compactions

    def _interrupt_mark(self, payload: Payload) -> None:
        if self._searches.found:
            self._deliver_searches()
        self.into(self.deliver(NOTES), payload).content.append(Interrupt())

    def aborted(self, payload: Payload) -> None:
        if self._echoes:
            self._save_echoes()
        if self._response is not None and self._response.usage is None:
            self._response.stop_reason = "aborted"
        draft = self._open
        has_mark = draft is not None and draft.content and type(draft.content[-1]) is Interrupt
        if payload.reason in (None, "interrupted"):
            if not has_mark:
                if self._searches.found:
                    self._deliver_searches()
                self.into(self.deliver(NOTES), payload).content.append(Interrupt())
            else:
                self.owners[self._at] = len(self.drafts) - 1
        self.turn_end(payload)

    def compacted(self, payload: Payload) -> None:
        if self._searches.found:
            self._deliver_searches()
        draft = self.into(self._draft(COMPACTION), payload)
        draft.content.append(Compaction(summary_of(payload)))
        self.close()

    # Turns

    def turn_context(self, payload: Payload) -> None:
        if self._searches.found:
            self._deliver_searches()
        self.close()
        self._model = payload.model if isinstance(payload.model, str) else None
        self._reviewer = payload.approvals_reviewer

    def turn_start(self, payload: Payload) -> None:
        if self._searches.found:
            self._deliver_searches()
        self.close()
        self._turns.begin(len(self.drafts))

    def turn_end(self, payload: Payload) -> None:
        if self._echoes:
            self._own_echoes()
        if self._searches.found:
            self._deliver_searches()
        self.close()
        self._turns.end()
        self._searches.forget()

    def token_count(self, payload: Payload) -> None:
        found = self._tokens.read(payload.info)
        if found is None:
            return
        if self._tokens.comes_first:
            self._tokens.keep(found, self._at)
            return
        last = self._last_response
        if last is not None and self.drafts[last].usage is None:
            self.drafts[last].usage = found
            self.owners[self._at] = last
        self._response = None
        if self._open is not None and self._open.kind == RESPONSE:
            self._open = None

    def rolled_back(self, payload: Payload) -> None:
        if self._searches.found:
            self._deliver_searches()
        self.close()
        start = self._turns.roll_back(payload.num_turns or 0)
        if start is not None and start < len(self.drafts):
            self.cuts.append(Cut(start, len(self.drafts), self._at))

    # The session

    def session_meta(self, payload: Payload) -> None:
        if self._own_id is None:
            self._own_id = payload.id or ""
            self._driver = self._own_driver = driver(payload)
        elif payload.id and payload.id != self._own_id and self._at == 1:
            self._origin = payload.id
            self._driver = driver(payload)

    def _end_burst(self, index: int) -> None:
        before, now = read_time(self.rows[index - 1].timestamp), read_time(self._row.timestamp)
        if before is not None and now is not None and (now - before).total_seconds() > BURST_S:
            self._origin = None
            self._driver = self._own_driver
            self.close()


_LOGS = frozenset({ITEM, EVENT})

_ITEMS: Table = {
    "message": Reading.message,
    "reasoning": Reading.reasoning,
    "function_call": Reading.call,
    "custom_tool_call": Reading.call,
    "local_shell_call": Reading.call,
    "web_search_call": Reading.call,
    "tool_search_call": Reading.call,
    "function_call_output": Reading.result,
    "custom_tool_call_output": Reading.result,
    "tool_search_output": Reading.result,
    "agent_message": Reading.peer,
}

_EVENTS: Table = {
    "user_message": Reading.user_event,
    "token_count": Reading.token_count,
    "agent_message": Reading.echo,
    "agent_reasoning": Reading.echo,
    "agent_reasoning_raw_content": Reading.echo,
    "task_started": Reading.turn_start,
    "turn_started": Reading.turn_start,
    "task_complete": Reading.turn_end,
    "turn_complete": Reading.turn_end,
    "turn_aborted": Reading.aborted,
    "exec_command_end": Reading.command_end,
    "patch_apply_end": Reading.command_end,
    "mcp_tool_call_end": Reading.command_end,
    "web_search_end": Reading.search_end,
    "thread_rolled_back": Reading.rolled_back,
}

_OTHERS: Table = {
    "turn_context": Reading.turn_context,
    "compacted": Reading.compacted,
    "session_meta": Reading.session_meta,
}
