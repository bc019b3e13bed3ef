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
from handrail.harnesses.codex.calls import WEB_SEARCH, read_call
from handrail.harnesses.codex.drafts import COMPACTION, NOTES, PROMPT, RESPONSE, RESULTS, Draft, read_time
from handrail.harnesses.codex.ends import Ends, denial
from handrail.harnesses.codex.outputs import read_output
from handrail.harnesses.codex.rowids import RowIds
from handrail.harnesses.codex.sources import BURST_S, driver
from handrail.harnesses.codex.tokens import Tokens
from handrail.harnesses.codex.wire import EVENT, ITEM, Element, Payload, Row, history_of
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
        self._raw = raw
        self._ids = RowIds()
        self._ends = Ends(rows)
        self._tokens = Tokens()
        self._at = 0
        self._row = Row()
        self._open: Draft | None = None
        self._response: Draft | None = None
        self._model: str | None = None
        self._prompts = 0
        self._is_turn = False
        self._turn_starts: list[int] = []
        self._turn_start: int | None = None
        self._reviewer: str | None = None
        self._mirrors: list[tuple[int, str]] = []
        self._answered: dict[str, int] = {}
        self._searches: list[Payload] = []
        self._found: list[tuple[str, Json, int]] = []
        self._own_id: str | None = None
        self._driver = Author.PERSON
        self._own_driver = Author.PERSON
        self._origin: str | None = None

    def run(self) -> Reading:
        """Read every row."""
        for index, row in enumerate(self.rows):
            payload = row.payload
            if payload is None:
                continue
            self._at = index
            self._row = row
            if self._origin is not None:
                self._end_burst(index)
            handle = self.handler(row, payload)
            if handle is not None:
                handle(self, payload)
        self._flush_searches()
        self._ends.apply()
        for index, call_id in self._mirrors:
            self.owners[index] = self._answered.get(call_id, BOOKKEEPING)
        return self

    def handler(self, row: Row, payload: Payload) -> Handler | None:
        """What reads a row of this kind; None for bookkeeping and for what is not known."""
        return _HANDLERS.get((row.type, payload.type)) or _ENVELOPES.get(row.type)

    # Drafts

    def _draft(self, kind: int) -> Draft:
        if kind == RESPONSE:
            self._flush_searches()
        draft = Draft(kind, self._row.timestamp, self._model, self._origin)
        self.drafts.append(draft)
        self._open = draft
        return draft

    def into(self, draft: Draft, payload: Payload) -> Draft:
        """Note that the present row belongs to ``draft``."""
        draft.uids.append(self._ids.uid(payload, self._raw(self._at)))
        self.owners[self._at] = len(self.drafts) - 1
        return draft

    def close(self) -> None:
        self._open = None
        self._response = None

    def respond(self, payload: Payload, block: Block) -> None:
        draft = self._open
        if draft is None or draft.kind != RESPONSE:
            draft = self._draft(RESPONSE)
            self._tokens.has_response = True
            counted = self._tokens.take()
            if counted is not None:
                draft.usage = counted[0]
                self.owners[counted[1]] = len(self.drafts) - 1
        self._response = draft
        self.into(draft, payload).content.append(block)

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
        text = "\n\n".join(_texts(payload.summary)) or "\n\n".join(_texts(payload.content))
        self.respond(payload, Thinking(text, encrypted=payload.encrypted_content))

    def message(self, payload: Payload) -> None:
        if payload.role == "assistant":
            texts = _texts(payload.content)
            for text in texts[:1]:
                self.respond(payload, Text(text, Author.MODEL))
            if self._response is not None:
                self._response.content += [Text(text, Author.MODEL) for text in texts[1:]]
        elif payload.role == "user":
            self._user(payload, _elements(payload.content))

    def call(self, payload: Payload) -> None:
        call_id = payload.call_id
        if payload.type == "web_search_call":
            call_id = self._search_id(payload)
        if call_id is None:
            call_id = payload.id or self._ids.unique(payload.type)
        block = read_call(payload, call_id)
        self.calls[call_id] = call_name(block.call)
        if type(block.call) is Raw and block.call.tool_name == "request_user_input":
            self._inputs[call_id] = block.call.input
        self.respond(payload, block)

    def _search_id(self, payload: Payload) -> str | None:
        """A search is joined with the event before it that tells the same action."""
        for place, event in enumerate(self._searches):
            if payload.action is None or event.action == payload.action:
                del self._searches[place]
                call_id = event.call_id or payload.id
                if call_id is not None:
                    content = event.results if event.results is not None else searched(event.action, event.query)
                    self._found.append((call_id, content, self._at))
                return call_id
        return payload.id

    def search_end(self, payload: Payload) -> None:
        self._searches.append(payload)

    def _flush_searches(self) -> None:
        """The results of the searches a provider made inside a response are delivered after it."""
        found, self._found = self._found, []
        for call_id, content, at in found:
            draft = self.deliver(RESULTS)
            draft.uids.append(self._ids.unique(f"{call_id}:output"))
            self._claim(at, call_id, draft)
            draft.content.append(ToolResult(call_id, content))

    def _claim(self, at: int, call_id: str, draft: Draft) -> None:
        """The event that told a search's outcome stands before its call and belongs to the delivery after it."""
        for index in range(at - 1, max(-1, at - 16), -1):
            payload = self.rows[index].payload
            if payload is not None and payload.type == "web_search_end" and payload.call_id == call_id:
                self.owners[index] = len(self.drafts) - 1
                return

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
        self._flush_searches()
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
            return
        if self._ends.has_item(call_id):
            self._mirrors.append((self._at, call_id))
            return
        draft = self.deliver(RESULTS)
        self._response = None
        self._ends.note(call_id, draft, len(draft.content))
        self.into(draft, payload).content.append(ToolResult(call_id))

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
        is_steer = self._is_turn and self._prompts > 0
        blocks = speakers.read_typed(elements, self._driver, Via.STEER if is_steer else Via.PROMPT)
        draft = self._open
        if draft is None or draft.kind != RESULTS:
            self._flush_searches()
            draft = self._open if self._open is not None and self._open.kind == RESULTS else None
            draft = draft if draft is not None and is_steer else self._draft(PROMPT)
        if not is_steer:
            self._turn_starts.append(len(self.drafts) - 1 if self._turn_start is None else self._turn_start)
            self._turn_start = None
        self._response = None
        self.into(draft, payload).content += blocks

    def _note(self, payload: Payload, blocks: list[Block]) -> None:
        if blocks:
            self.into(self.deliver(NOTES), payload).content += blocks

    def peer(self, payload: Payload) -> None:
        blocks: list[Block] = [Text(text, Author.PEER, by=payload.author or None) for text in _texts(payload.content)]
        self._note(payload, blocks)

    def new_id(self, name: str) -> str:
        """``name`` as an id that was not given out yet."""
        return self._ids.unique(name)

    def count_prompt(self) -> None:
        """One more prompt was submitted in this turn."""
        self._prompts += 1

    def user_event(self, payload: Payload) -> None:
        self.count_prompt()
        previous = self.rows[self._at - 1] if self._at else None
        if previous is not None and previous.type == ITEM:
            self.owners[self._at] = self.owners[self._at - 1]

    # Interrupts and compactions

    def _interrupt_mark(self, payload: Payload) -> None:
        self.into(self.deliver(NOTES), payload).content.append(Interrupt())

    def aborted(self, payload: Payload) -> None:
        if self._response is not None and self._response.usage is None:
            self._response.stop_reason = "aborted"
        draft = self._open
        has_mark = draft is not None and draft.content and type(draft.content[-1]) is Interrupt
        if payload.reason in (None, "interrupted"):
            if not has_mark:
                self._flush_searches()
                self.into(self.deliver(NOTES), payload).content.append(Interrupt())
            else:
                self.owners[self._at] = len(self.drafts) - 1
        self.turn_end(payload)

    def compacted(self, payload: Payload) -> None:
        self._flush_searches()
        draft = self.into(self._draft(COMPACTION), payload)
        draft.content.append(Compaction(payload.message or _summary(payload)))
        self.close()

    # Turns

    def turn_context(self, payload: Payload) -> None:
        self._flush_searches()
        self.close()
        self._model = payload.model if isinstance(payload.model, str) else None
        self._reviewer = payload.approvals_reviewer

    def turn_start(self, payload: Payload) -> None:
        self._flush_searches()
        self.close()
        self._is_turn = True
        self._prompts = 0
        self._turn_start = len(self.drafts)

    def turn_end(self, payload: Payload) -> None:
        self._flush_searches()
        self.close()
        self._is_turn = False
        self._prompts = 0

    def token_count(self, payload: Payload) -> None:
        found = self._tokens.read(payload.info)
        if found is None:
            return
        if self._tokens.comes_first:
            self._tokens.keep(found, self._at)
            return
        draft = next((draft for draft in self.drafts[:-9:-1] if draft.kind == RESPONSE), None)
        if draft is not None and draft.usage is None:
            draft.usage = found
            self.owners[self._at] = self.drafts.index(draft, len(self.drafts) - min(8, len(self.drafts)))
        self._response = None
        if self._open is not None and self._open.kind == RESPONSE:
            self._open = None

    def rolled_back(self, payload: Payload) -> None:
        self._flush_searches()
        count = payload.num_turns or 0
        starts = self._turn_starts
        self.close()
        if count < 1 or not starts:
            return
        start = starts[-count] if count <= len(starts) else starts[0]
        del starts[-count:]
        if start < len(self.drafts):
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


def _texts(content: list[Element] | str | None) -> list[str]:
    if isinstance(content, str):
        return [content] if content else []
    return [element.text for element in content or () if element.text]


def _elements(content: list[Element] | str | None) -> list[Element]:
    if isinstance(content, str):
        return [Element("input_text", content)]
    return content or []


_SUMMARY = "Another language model started to solve this problem and produced a summary"


def _summary(payload: Payload) -> str | None:
    """The readable summary in a replacement history: the last text of it that says it is one."""
    if not payload.replacement_history or len(payload.replacement_history) < 3:
        return None
    for item in reversed(history_of(payload.replacement_history)):
        for text in _texts(item.content):
            if text.startswith(_SUMMARY):
                return text
    return None


def searched(action: Json, query: str | None) -> str:
    """What a web search looked for, in words; Codex keeps nothing of what it found."""
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


_HANDLERS: dict[tuple[str, str], Handler] = {
    (ITEM, "message"): Reading.message,
    (ITEM, "reasoning"): Reading.reasoning,
    (ITEM, "function_call"): Reading.call,
    (ITEM, "custom_tool_call"): Reading.call,
    (ITEM, "local_shell_call"): Reading.call,
    (ITEM, "web_search_call"): Reading.call,
    (ITEM, "tool_search_call"): Reading.call,
    (ITEM, "function_call_output"): Reading.result,
    (ITEM, "custom_tool_call_output"): Reading.result,
    (ITEM, "tool_search_output"): Reading.result,
    (ITEM, "agent_message"): Reading.peer,
    (EVENT, "user_message"): Reading.user_event,
    (EVENT, "token_count"): Reading.token_count,
    (EVENT, "task_started"): Reading.turn_start,
    (EVENT, "turn_started"): Reading.turn_start,
    (EVENT, "task_complete"): Reading.turn_end,
    (EVENT, "turn_complete"): Reading.turn_end,
    (EVENT, "turn_aborted"): Reading.aborted,
    (EVENT, "exec_command_end"): Reading.command_end,
    (EVENT, "patch_apply_end"): Reading.command_end,
    (EVENT, "mcp_tool_call_end"): Reading.command_end,
    (EVENT, "web_search_end"): Reading.search_end,
    (EVENT, "thread_rolled_back"): Reading.rolled_back,
}

_ENVELOPES: dict[str, Handler] = {
    "turn_context": Reading.turn_context,
    "compacted": Reading.compacted,
    "session_meta": Reading.session_meta,
}

__all__ = ["BOOKKEEPING", "WEB_SEARCH", "Cut", "Reading"]
