"""What was delivered to the model as Codex's items and events.

A ``user_message`` event is written for a person's text and for no other, so that it reads back as one.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from handrail import jsonio
from handrail.harnesses.codex import speakers
from handrail.harnesses.codex.item_kinds import Element
from handrail.harnesses.codex.logs import Logs
from handrail.harnesses.codex.losses import Losses
from handrail.harnesses.codex.outputs import is_plain, write_output
from handrail.harnesses.codex.placing import kind_of_block
from handrail.harnesses.codex.searches import searched
from handrail.harnesses.codex.writing_responses import ResponseWriter
from handrail.harnesses.codex.writing_turns import TurnWriter
from handrail.transcripts.calls import call_name
from handrail.transcripts.model import Author, Block, Compaction, Image, Interrupt, Json, Text, ToolResult, Via

_ABORTED = (
    "<turn_aborted>\nThe user interrupted the previous turn on purpose. Any running unified exec processes may still "
    "be running in the background. If any tools/commands were aborted, they may have partially executed.\n"
    "</turn_aborted>"
)
_TOLD = b'response_item","payload":{"type":"message","role":"user","content":'
_TOLD_TEXT = _TOLD + b'[{"type":"input_text","text":'
_NO_IMAGES = b',"images":[]}}\n'
_TYPED = b'event_msg","payload":{"type":"user_message","message":'
_MARKERS = "<#\n"
"""How the markers begin that a reader looks for in what was typed; any other text it sees as it is."""
# A member is looked up slowly by its enum.
_PERSON, _PEER, _PROMPT, _STEER = Author.PERSON, Author.PEER, Via.PROMPT, Via.STEER
_COMPACTED = b'compacted","payload":{"message":'


class _Output(Struct, tag_field="type", tag="function_call_output", gc=False):
    """What a call gave, as Codex writes it."""

    call_id: str
    output: Json


class DeliveryWriter:
    """Writes deliveries, which answer the calls that ``responses`` wrote and begin ``turns``."""

    __slots__ = ("_is_results", "_logs", "_losses", "_message", "_responses", "_turns")

    def __init__(self, logs: Logs, losses: Losses, responses: ResponseWriter, turns: TurnWriter) -> None:
        self._logs = logs
        self._losses = losses
        self._responses = responses
        self._turns = turns
        self._message = 0
        self._is_results = False

    def write(self, message: int, blocks: Sequence[Block]) -> None:
        """Write the ``blocks`` of the message with the index ``message``."""
        self._message = message
        self._is_results = False
        place = 0
        size = len(blocks)
        while place < size:
            block = blocks[place]
            end = place + 1
            if type(block) is ToolResult:
                self._result(place, block)
                self._is_results = True
            elif type(block) is Text and block.author == _PEER:
                self._peer(place, block)
            elif type(block) is Text or type(block) is Image:
                if end < size:
                    end = _run(blocks, place)
                self._words(blocks, place, end)
            else:
                self._mark(place, block)
                if end < size:
                    self._lost(None, "message.boundary", "nothing is delivered together with this mark in Codex")
            place = end

    def _lost(self, place: int | None, what: str, why: str) -> None:
        if place is None:
            self._losses.message(self._message, what, why)
        else:
            self._losses.block(self._message, place, what, why)

    def _note(self, content: list[dict[str, str]]) -> None:
        """A user-role item that nobody typed, as far as the item itself tells."""
        self._logs.line(_TOLD, jsonio.encode(content), b"}}\n")

    # Results

    def _result(self, place: int, block: ToolResult) -> None:
        call_id = block.tool_use_id
        if call_id in self._responses.searches:
            self._search_result(place, block, self._responses.searches.pop(call_id))
        elif is_plain(block):
            self._logs.item(_Output(call_id, block.content), call_id)
        else:
            self._odd_result(place, block)

    def _odd_result(self, place: int, block: ToolResult) -> None:
        """A result that tells more than a text: an error, a refusal, values."""
        call_id = block.tool_use_id
        call = self._responses.calls.get(call_id)
        name = "" if call is None else call_name(call)
        output, (content, is_error, refusal) = write_output(block, name)
        if content != block.content:
            self._lost(place, "tool_result.content", "a refusal is written in Codex's own words")
        if is_error != block.is_error:
            self._lost(place, "tool_result.is_error", "in Codex every refusal is an error")
        if refusal != block.refusal:
            self._lost(place, "tool_result.refusal", "Codex tells this refusal in fewer words or not at all")
        self._logs.item(_Output(call_id, output), call_id)
        reason = block.refusal.reason if block.refusal is not None else None
        if reason and (refusal is None or refusal.reason != reason):
            self._lost(None, "text", "the words of a refusal follow as a text of their own, of unknown author")
            self._note([{"type": "input_text", "text": reason}])

    def _search_result(self, place: int, block: ToolResult, action: Json) -> None:
        """A search is answered by an event: a provider's own tool has no output item."""
        if block.is_error:
            self._lost(place, "tool_result.is_error", "a search does not fail in Codex")
        if block.refusal is not None:
            self._lost(place, "tool_result.refusal", "a search is not refused in Codex")
        event = {"type": "web_search_end", "call_id": block.tool_use_id, "query": "", "action": action}
        if block.content != searched(action, ""):
            event["results"] = block.content
            if block.content is None:
                self._lost(place, "tool_result.content", "a search without results is told in words")
        self._logs.event(event, f"{block.tool_use_id}:output")

    # Marks

    def _mark(self, place: int, block: Block) -> None:
        if type(block) is Interrupt:
            self._interrupt(place, block)
        elif type(block) is Compaction:
            self._compaction(place, block)

    def _interrupt(self, place: int, block: Interrupt) -> None:
        if block.by != Author.UNKNOWN:
            self._lost(place, "interrupt.by", "Codex records that a turn was aborted, not by whom")
        self._note([{"type": "input_text", "text": _ABORTED}])
        self._logs.event({"type": "turn_aborted", "turn_id": self._turns.id, "reason": "interrupted"})
        self._turns.is_open = False

    def _compaction(self, place: int, block: Compaction) -> None:
        if place > 0:
            self._lost(None, "message.boundary", "a compaction is a message of its own in Codex")
        if block.summary == "":
            self._lost(place, "compaction.summary", "an empty summary is none")
        for field in ("trigger", "tokens_before", "tokens_after"):
            if getattr(block, field) is not None:
                self._lost(place, f"compaction.{field}", "Codex does not record it")
        self._logs.line(_COMPACTED, jsonio.encode(block.summary or ""), b"}}\n")

    # Words

    def _peer(self, place: int, block: Text) -> None:
        if block.via is not None:
            self._lost(place, "text.via", "Codex does not record it")
        if block.by == "":
            self._lost(place, "text.by", "an empty name is none")
        content = [{"type": "input_text", "text": block.text}]
        self._logs.item({"type": "agent_message", "author": block.by or "", "recipient": "", "content": content})

    def _words(self, blocks: Sequence[Block], start: int, end: int) -> None:
        """One user item for a run of texts and pictures, with its event when a person wrote the texts."""
        block = blocks[start]
        first = block if type(block) is Text else _first_text(blocks[start:end])
        if first is None or first.author != _PERSON:
            self._told(start, blocks[start:end], None)
            return
        via = self._open_turn(first)
        if start > 0 and not self._is_results:
            self._lost(None, "message.boundary", "a prompt is a message of its own in Codex")
        self._turns.prompts += 1
        if end - start == 1 and first.via == via and first.by is None and first.text[0] not in _MARKERS:
            self._logs.typed(_TOLD_TEXT, jsonio.encode(first.text), b"}]}}\n", _TYPED, _NO_IMAGES)
            return
        run = blocks[start:end]
        self._told(start, run, via)
        words = speakers.typed_text([Element(text=block.text) for block in run if type(block) is Text])
        self._logs.line(_TYPED, jsonio.encode(words), _NO_IMAGES)

    def _open_turn(self, first: Text) -> Via:
        """A prompt begins a turn; words spoken into one that runs steer it."""
        turns = self._turns
        if turns.is_open and turns.prompts and (self._is_results or first.via == _STEER):
            return _STEER
        if not self._is_results:
            turns.start()
        return _PROMPT

    def _told(self, start: int, blocks: Sequence[Block], via: Via | None) -> None:
        """The item itself; what a reader will not see as it was is named. ``via`` is None when nobody typed it."""
        content = [_element(block) for block in blocks]
        self._note(content)
        elements = [Element(item["type"], item.get("text"), item.get("image_url")) for item in content]
        for place, (block, element) in enumerate(zip(blocks, elements, strict=True), start):
            if via is None:
                found = speakers.read_untyped([element])
            else:
                found = speakers.read_typed([element], _PERSON, via)
            if found == [block]:
                continue
            if len(found) != 1 or type(found[0]) is not type(block):
                self._lost(place, kind_of_block(block), "Codex reads this text in pieces")
                continue
            for field in block.__struct_fields__:
                if getattr(found[0], field) != getattr(block, field):
                    self._lost(place, f"{kind_of_block(block)}.{field}", "Codex does not record it")


def _run(blocks: Sequence[Block], place: int) -> int:
    """The end of the run of texts and pictures that go into one item: those of a person, or those of nobody known."""
    is_person: bool | None = None
    end = place
    while end < len(blocks):
        block = blocks[end]
        if type(block) is Text and block.author != _PEER:
            if is_person is not None and is_person != (block.author == _PERSON):
                break
            is_person = block.author == _PERSON
        elif type(block) is not Image:
            break
        end += 1
    return end


def _first_text(blocks: Sequence[Block]) -> Text | None:
    return next((block for block in blocks if type(block) is Text), None)


def _element(block: Block) -> dict[str, str]:
    if type(block) is Image:
        url = f"data:{block.media_type};base64,{block.data}" if block.data else block.url
        return {"type": "input_image", "image_url": url or ""}
    return {"type": "input_text", "text": block.text if type(block) is Text else ""}
