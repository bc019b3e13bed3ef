"""What was delivered to the model as Codex's items and events.

A ``user_message`` event is written for a person's text and for no other, so that it reads back as one.
"""

from __future__ import annotations

from handrail import jsonio
from handrail.harnesses.codex import speakers
from handrail.harnesses.codex.logs import Logs
from handrail.harnesses.codex.losses import Losses
from handrail.harnesses.codex.outputs import read_output, write_output
from handrail.harnesses.codex.placing import Numbered, kind_of_block
from handrail.harnesses.codex.searches import searched
from handrail.harnesses.codex.wire import Element
from handrail.harnesses.codex.writing_responses import ResponseWriter
from handrail.harnesses.codex.writing_turns import TurnWriter
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
# A member is looked up slowly by its enum.
_PERSON, _PEER, _PROMPT, _STEER = Author.PERSON, Author.PEER, Via.PROMPT, Via.STEER
_COMPACTED = b'compacted","payload":{"message":'


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

    def write(self, message: int, blocks: list[Numbered]) -> None:
        """Write the blocks of the message with the index ``message``."""
        self._message = message
        self._is_results = False
        place = 0
        while place < len(blocks):
            number, block = blocks[place]
            end = place + 1
            if type(block) is ToolResult:
                self._result(number, block)
                self._is_results = True
            elif type(block) is Interrupt:
                self._interrupt(number, block)
            elif type(block) is Compaction:
                self._compaction(number, block, place > 0)
            elif type(block) is Text and block.author == _PEER:
                self._peer(number, block)
            else:
                end = _run(blocks, place)
                self._texts(blocks[place:end], place > 0)
            if end < len(blocks) and type(block) in (Interrupt, Compaction):
                self._lost(None, "message.boundary", "nothing is delivered together with this mark in Codex")
            place = end

    def _lost(self, number: int | None, what: str, why: str) -> None:
        if number is None:
            self._losses.message(self._message, what, why)
        else:
            self._losses.block(self._message, number, what, why)

    def _note(self, content: list[dict[str, str]]) -> None:
        """A user-role item that nobody typed, as far as the item itself tells."""
        self._logs.known()
        self._logs.line(_TOLD, jsonio.encode(content), b"}}\n")

    # Results

    def _result(self, number: int, block: ToolResult) -> None:
        call_id = block.tool_use_id
        if call_id in self._responses.searches:
            self._search_result(number, block, self._responses.searches.pop(call_id))
            return
        name = self._responses.names.get(call_id, "")
        output = write_output(block, name)
        content, is_error, refusal = read_output(output, name)
        if content != block.content:
            self._lost(number, "tool_result.content", "a refusal is written in Codex's own words")
        if is_error != block.is_error:
            self._lost(number, "tool_result.is_error", "in Codex every refusal is an error")
        if refusal != block.refusal:
            self._lost(number, "tool_result.refusal", "Codex tells this refusal in fewer words or not at all")
        payload = {"type": "function_call_output", "call_id": call_id, "output": output}
        self._logs.item(payload, f"{call_id}:output" if call_id else None)
        reason = block.refusal.reason if block.refusal is not None else None
        if reason and (refusal is None or refusal.reason != reason):
            self._lost(None, "text", "the words of a refusal follow as a text of their own, of unknown author")
            self._note([{"type": "input_text", "text": reason}])

    def _search_result(self, number: int, block: ToolResult, action: Json) -> None:
        """A search is answered by an event: a provider's own tool has no output item."""
        if block.is_error:
            self._lost(number, "tool_result.is_error", "a search does not fail in Codex")
        if block.refusal is not None:
            self._lost(number, "tool_result.refusal", "a search is not refused in Codex")
        event = {"type": "web_search_end", "call_id": block.tool_use_id, "query": "", "action": action}
        if block.content != searched(action, ""):
            event["results"] = block.content
            if block.content is None:
                self._lost(number, "tool_result.content", "a search without results is told in words")
        self._logs.known(f"{block.tool_use_id}:output")
        self._logs.event(event)

    # Marks

    def _interrupt(self, number: int, block: Interrupt) -> None:
        if block.by != Author.UNKNOWN:
            self._lost(number, "interrupt.by", "Codex records that a turn was aborted, not by whom")
        self._note([{"type": "input_text", "text": _ABORTED}])
        self._logs.event({"type": "turn_aborted", "turn_id": self._turns.id, "reason": "interrupted"})
        self._turns.is_open = False

    def _compaction(self, number: int, block: Compaction, has_item: bool) -> None:
        if has_item:
            self._lost(None, "message.boundary", "a compaction is a message of its own in Codex")
        if block.summary == "":
            self._lost(number, "compaction.summary", "an empty summary is none")
        for field in ("trigger", "tokens_before", "tokens_after"):
            if getattr(block, field) is not None:
                self._lost(number, f"compaction.{field}", "Codex does not record it")
        self._logs.known()
        self._logs.line(_COMPACTED, jsonio.encode(block.summary or ""), b"}}\n")

    # Words

    def _peer(self, number: int, block: Text) -> None:
        if block.via is not None:
            self._lost(number, "text.via", "Codex does not record it")
        if block.by == "":
            self._lost(number, "text.by", "an empty name is none")
        content = [{"type": "input_text", "text": block.text}]
        self._logs.item({"type": "agent_message", "author": block.by or "", "recipient": "", "content": content})

    def _texts(self, blocks: list[Numbered], has_item: bool) -> None:
        """One user item for a run of texts and pictures, with its event when a person wrote the texts."""
        texts = [block for _, block in blocks if type(block) is Text]
        is_typed = bool(texts) and texts[0].author == _PERSON
        via = _PROMPT
        if is_typed:
            via = self._open_turn(texts[0])
            if has_item and not self._is_results:
                self._lost(None, "message.boundary", "a prompt is a message of its own in Codex")
            self._turns.prompts += 1
            if len(blocks) == 1 and _is_plainly_typed(texts[0], via):
                self._logs.typed(_TOLD_TEXT, jsonio.encode(texts[0].text), b"}]}}\n", _TYPED, _NO_IMAGES)
                return
        content = [_element(block) for _, block in blocks]
        self._note(content)
        self._compare(blocks, content, is_typed, via)
        if is_typed:
            words = speakers.typed_text([Element(text=block.text) for block in texts])
            self._logs.line(_TYPED, jsonio.encode(words), _NO_IMAGES)

    def _open_turn(self, first: Text) -> Via:
        """A prompt begins a turn; words spoken into one that runs steer it."""
        turns = self._turns
        if turns.is_open and turns.prompts and (self._is_results or first.via == _STEER):
            return _STEER
        if not self._is_results:
            turns.start()
        return _PROMPT

    def _compare(self, blocks: list[Numbered], content: list[dict[str, str]], is_typed: bool, via: Via) -> None:
        """Name what a reader of the item will not see as it was."""
        elements = [Element(item["type"], item.get("text"), item.get("image_url")) for item in content]
        for (number, block), element in zip(blocks, elements, strict=True):
            if is_typed:
                found = speakers.read_typed([element], _PERSON, via)
            else:
                found = speakers.read_untyped([element])
            if found == [block]:
                continue
            if len(found) != 1 or type(found[0]) is not type(block):
                self._lost(number, kind_of_block(block), "Codex reads this text in pieces")
                continue
            for field in block.__struct_fields__:
                if getattr(found[0], field) != getattr(block, field):
                    self._lost(number, f"{kind_of_block(block)}.{field}", "Codex does not record it")


def _run(blocks: list[Numbered], place: int) -> int:
    """The end of the run of texts and pictures that go into one item: those of a person, or those of nobody known."""
    is_person: bool | None = None
    end = place
    while end < len(blocks):
        block = blocks[end][1]
        if type(block) is Text and block.author != _PEER:
            if is_person is not None and is_person != (block.author == _PERSON):
                break
            is_person = block.author == _PERSON
        elif type(block) is not Image:
            break
        end += 1
    return end


def _is_plainly_typed(block: Text, via: Via) -> bool:
    """Whether a reader of a typed item sees ``block`` as it is: a person's text that opens like no marker."""
    return block.author == _PERSON and block.via == via and block.by is None and block.text[0] not in "<#\n"


def _element(block: Block) -> dict[str, str]:
    if type(block) is Image:
        url = f"data:{block.media_type};base64,{block.data}" if block.data else block.url
        return {"type": "input_image", "image_url": url or ""}
    return {"type": "input_text", "text": block.text if type(block) is Text else ""}
