"""The blocks of one message as Codex's items and events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handrail import jsonio
from handrail.harnesses.codex import speakers
from handrail.harnesses.codex.call_writing import is_kept, write_call
from handrail.harnesses.codex.outputs import read_output, write_output
from handrail.harnesses.codex.searches import searched
from handrail.harnesses.codex.wire import Element
from handrail.transcripts.calls import call_name
from handrail.transcripts.model import (
    Author,
    Block,
    Common,
    Compaction,
    Image,
    Interrupt,
    Json,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Via,
)

if TYPE_CHECKING:
    from handrail.harnesses.codex.writing import Writer

_NEVER_TURNS = frozenset({Author.HARNESS, Author.HOST})
_ABORTED = (
    "<turn_aborted>\nThe user interrupted the previous turn on purpose. Any running unified exec processes may still "
    "be running in the background. If any tools/commands were aborted, they may have partially executed.\n"
    "</turn_aborted>"
)

Numbered = tuple[int, Block]


class BlockWriter:
    """Writes the blocks of one message after another with ``writer``."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._losses = writer.losses
        self._names: dict[str, str] = {}
        self._refused: set[str] = set()
        self._searches: dict[str, Json] = {}
        self._message = 0
        self._first: str | None = None
        self._is_results = False

    # What can be written at all

    def writable(self, index: int, message: Message) -> list[Numbered]:
        """The blocks of ``message`` that have a place in Codex; the others are named as lost."""
        kept: list[Numbered] = []
        for number, block in enumerate(message.content):
            why = self._why_not(message.role, block)
            if why is None:
                kept.append((number, block))
            else:
                self._losses.block(index, number, _kind(block), why)
        return kept

    def _why_not(self, role: str, block: Block) -> str | None:
        kind = type(block)
        if role == "assistant":
            if kind is ToolUse or kind is Thinking:
                return None
            if kind is Text:
                return _why_not_said(block)  # type: ignore[arg-type]
            return "Codex has no such block in a response"
        if kind is ToolUse:
            self._refused.add(block.id)  # type: ignore[union-attr]
            return "a call that a person made has no place in Codex"
        if kind is ToolResult:
            is_of_person = block.tool_use_id in self._refused  # type: ignore[union-attr]
            return "the result of a call that could not be written" if is_of_person else None
        if kind is Text:
            return _why_not_told(block)  # type: ignore[arg-type]
        if kind is Image:
            return None if block.data or block.url else "an image without data"  # type: ignore[union-attr]
        if kind is Interrupt or kind is Compaction:
            return None
        return "Codex has no such block"

    def is_cut_short(self, body: Common, index: int) -> bool:
        """Whether the first thing written after message ``index`` is the mark of an aborted turn, and the response
        is still open then: nothing of it was counted."""
        if body[index].usage is not None:
            return False
        for following in range(index + 1, len(body)):
            message = body[following]
            for block in message.content:
                if type(block) is Interrupt and message.role == "user":
                    return True
                if self._why_not(message.role, block) is None:
                    return False
        return False

    # Writing

    def write(self, index: int, message: Message, blocks: list[Numbered]) -> str:
        """Write ``blocks`` (at least one) in their order; the uid of the first row."""
        self._message = index
        self._first = None
        self._is_results = False
        if message.role == "assistant":
            self._response(blocks)
        else:
            self._delivery(blocks)
        return self._first or ""

    def _item(self, payload: dict[str, Json], name: str | None = None) -> None:
        self._note_uid(name, self._writer.item(jsonio.encode(payload)))

    def _note_uid(self, name: str | None, line: bytes) -> None:
        uid = self._writer.uid(name, line)
        if self._first is None:
            self._first = uid

    def _lost(self, number: int | None, what: str, why: str) -> None:
        if number is None:
            self._losses.message(self._message, what, why)
        else:
            self._losses.block(self._message, number, what, why)

    # A response

    def _response(self, blocks: list[Numbered]) -> None:
        for number, block in blocks:
            if type(block) is Text:
                self._said(number, block)
            elif type(block) is Thinking:
                self._thought(number, block)
            elif type(block) is ToolUse:
                self._call(number, block)

    def _said(self, number: int, block: Text) -> None:
        if block.author != Author.MODEL:
            self._lost(number, "text.author", "what stands in a response is the model's in Codex")
        if block.by is not None:
            self._lost(number, "text.by", "Codex does not record it")
        if block.via is not None:
            self._lost(number, "text.via", "Codex does not record it")
        text = jsonio.encode(block.text)
        self._writer.event(b'{"type":"agent_message","message":%b}' % text)
        content = b'[{"type":"output_text","text":%b}]' % text
        self._note_uid(None, self._writer.item(b'{"type":"message","role":"assistant","content":%b}' % content))

    def _thought(self, number: int, block: Thinking) -> None:
        if block.signature is not None:
            self._lost(number, "thinking.signature", "a signature means something to the provider that made it only")
        summary = [{"type": "summary_text", "text": block.text}] if block.text else []
        if block.text:
            self._writer.event(jsonio.encode({"type": "agent_reasoning", "text": block.text}))
        self._item({"type": "reasoning", "summary": summary, "encrypted_content": block.encrypted})

    def _call(self, number: int, block: ToolUse) -> None:
        native = write_call(block)
        if not is_kept(block, native):
            bare = ToolUse(block.id, block.call)
            native = write_call(bare)
            if block.provider is not None:
                self._lost(number, "tool_use.provider", "provider state means nothing to another harness")
            if not is_kept(bare, native):
                self._lost(number, "tool_use", "Codex spells this call in another way")
        self._names[block.id] = call_name(block.call)
        if native["type"] == "web_search_call" and block.id:
            self._searches[block.id] = native["action"]
        self._item(native, block.id or None)

    # A delivery

    def _delivery(self, blocks: list[Numbered]) -> None:
        place = 0
        has_item = False
        while place < len(blocks):
            number, block = blocks[place]
            end = place + 1
            if type(block) is ToolResult:
                self._result(number, block)
                self._is_results = True
            elif type(block) is Interrupt:
                self._interrupt(number, block)
            elif type(block) is Compaction:
                self._compaction(number, block, has_item)
            elif type(block) is Text and block.author == Author.PEER:
                self._peer(number, block)
            else:
                end = _run(blocks, place)
                self._texts(blocks[place:end], has_item)
            if type(block) in (Interrupt, Compaction) and end < len(blocks):
                self._lost(None, "message.boundary", "nothing is delivered together with this mark in Codex")
            has_item = True
            place = end

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
        self._writer.event(jsonio.encode(event))
        self._note_uid(f"{block.tool_use_id}:output", b"")

    def _result(self, number: int, block: ToolResult) -> None:
        if block.tool_use_id in self._searches:
            self._search_result(number, block, self._searches.pop(block.tool_use_id))
            return
        name = self._names.get(block.tool_use_id, "")
        output = write_output(block, name)
        content, is_error, refusal = read_output(output, name)
        payload = {"type": "function_call_output", "call_id": block.tool_use_id, "output": output}
        if content != block.content:
            self._lost(number, "tool_result.content", "a refusal is written in Codex's own words")
        if is_error != block.is_error:
            self._lost(number, "tool_result.is_error", "in Codex every refusal is an error")
        if refusal != block.refusal:
            self._lost(number, "tool_result.refusal", "Codex tells this refusal in fewer words or not at all")
        self._item(payload, f"{block.tool_use_id}:output" if block.tool_use_id else None)
        reason = block.refusal.reason if block.refusal is not None else None
        if reason and (refusal is None or refusal.reason != reason):
            self._lost(None, "text", "the words of a refusal follow as a text of their own, of unknown author")
            self._note([{"type": "input_text", "text": reason}])

    def _interrupt(self, number: int, block: Interrupt) -> None:
        if block.by != Author.UNKNOWN:
            self._lost(number, "interrupt.by", "Codex records that a turn was aborted, not by whom")
        self._note([{"type": "input_text", "text": _ABORTED}])
        writer = self._writer
        aborted = {"type": "turn_aborted", "turn_id": writer.turn_id, "reason": "interrupted"}
        writer.event(jsonio.encode(aborted))
        writer.is_turn = False

    def _compaction(self, number: int, block: Compaction, has_item: bool) -> None:
        if has_item:
            self._lost(None, "message.boundary", "a compaction is a message of its own in Codex")
        if block.summary == "":
            self._lost(number, "compaction.summary", "an empty summary is none")
        for field in ("trigger", "tokens_before", "tokens_after"):
            if getattr(block, field) is not None:
                self._lost(number, f"compaction.{field}", "Codex does not record it")
        self._note_uid(None, self._writer.line(b"compacted", {"message": block.summary or ""}))

    def _peer(self, number: int, block: Text) -> None:
        if block.via is not None:
            self._lost(number, "text.via", "Codex does not record it")
        if block.by == "":
            self._lost(number, "text.by", "an empty name is none")
        content = [{"type": "input_text", "text": block.text}]
        self._item({"type": "agent_message", "author": block.by or "", "recipient": "", "content": content})

    def _note(self, content: list[dict[str, str]]) -> None:
        self._item({"type": "message", "role": "user", "content": content})

    def _texts(self, blocks: list[Numbered], has_item: bool) -> None:
        """One user item for a run of texts and pictures, with its event when a person wrote the texts."""
        texts = [(number, block) for number, block in blocks if type(block) is Text]
        is_typed = bool(texts) and texts[0][1].author == Author.PERSON
        via = Via.PROMPT
        if is_typed:
            via = self._open_turn(texts[0][1])
            if has_item and not self._is_results:
                self._lost(None, "message.boundary", "a prompt is a message of its own in Codex")
        content = [_element(block) for _, block in blocks]
        self._note(content)
        if not (is_typed and all(_is_plainly_typed(block, via) for _, block in blocks)):
            self._compare(blocks, content, is_typed, via)
        if is_typed:
            words = "".join([block.text for _, block in texts])
            if "<" in words:
                words = speakers.typed_text([Element(text=block.text) for _, block in texts])
            self._writer.event(b'{"type":"user_message","message":%b,"images":[]}' % jsonio.encode(words))
            self._writer.prompts += 1

    def _open_turn(self, first: Text) -> Via:
        """A prompt begins a turn; words spoken into one that runs steer it."""
        writer = self._writer
        if writer.is_turn and writer.prompts and (self._is_results or first.via == Via.STEER):
            return Via.STEER
        if not self._is_results:
            writer.start_turn()
        return Via.PROMPT

    def _compare(self, blocks: list[Numbered], content: list[dict[str, str]], is_typed: bool, via: Via) -> None:
        """Name what a reader of the item will not see as it was."""
        elements = [Element(item["type"], item.get("text"), item.get("image_url")) for item in content]
        for (number, block), element in zip(blocks, elements, strict=True):
            if is_typed:
                found = speakers.read_typed([element], Author.PERSON, via)
            else:
                found = speakers.read_untyped([element])
            if found == [block]:
                continue
            if len(found) != 1 or type(found[0]) is not type(block):
                self._lost(number, _kind(block), "Codex reads this text in pieces")
                continue
            for field in block.__struct_fields__:
                if getattr(found[0], field) != getattr(block, field):
                    self._lost(number, f"{_kind(block)}.{field}", "Codex does not record it")


def _why_not_said(block: Text) -> str | None:
    if block.author in _NEVER_TURNS:
        return "what a harness or a host wrote is no response of the model"
    return None if block.text else "Codex has no empty text"


def _why_not_told(block: Text) -> str | None:
    if block.author in _NEVER_TURNS:
        return "what a harness or a host wrote is never written as a user's turn"
    return None if block.text else "Codex has no empty text"


def _kind(block: Block) -> str:
    return str(type(block).__struct_config__.tag)


def _run(blocks: list[Numbered], place: int) -> int:
    """The end of the run of texts and pictures that go into one item: those of a person, or those of nobody known."""
    is_person: bool | None = None
    end = place
    while end < len(blocks):
        block = blocks[end][1]
        if type(block) is Text and block.author != Author.PEER:
            if is_person is not None and is_person != (block.author == Author.PERSON):
                break
            is_person = block.author == Author.PERSON
        elif type(block) is not Image:
            break
        end += 1
    return end


def _is_plainly_typed(block: Block, via: Via) -> bool:
    """Whether a reader of a typed item sees ``block`` as it is: a person's text that opens like no marker."""
    return (
        type(block) is Text
        and block.author == Author.PERSON
        and block.via == via
        and block.by is None
        and block.text[0] not in "<#\n"
    )


def _element(block: Block) -> dict[str, str]:
    if type(block) is Image:
        url = f"data:{block.media_type};base64,{block.data}" if block.data else block.url
        return {"type": "input_image", "image_url": url or ""}
    return {"type": "input_text", "text": block.text if type(block) is Text else ""}
