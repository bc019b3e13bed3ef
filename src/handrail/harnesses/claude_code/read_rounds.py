"""Reading rounds: what the model said, row by row, and what came back for its calls."""

from __future__ import annotations

from handrail.harnesses.claude_code.blocks import RESPONSE_BLOCKS, answers_in, media, read_result, server_result
from handrail.harnesses.claude_code.drafts import Draft, Drafts
from handrail.harnesses.claude_code.speech import STEER, UNKNOWN, Setting, meta_speaker, speak
from handrail.harnesses.claude_code.wire import Row, WireBlock, WireMessage
from handrail.transcripts.model import Author, Block, Text, ToolResult, ToolUse

_MODEL = Author.MODEL
_BEFORE_RESULTS = frozenset({"delivery", "steer", "notice"})


class Rounds:
    """The responses of a line so far and which call each of them made.

    A response is spread over several rows, and so is what answers it. Results join the message that answers the
    response of their call, wherever they stand. A resumed session may hold responses a second time under other row
    ids; what a response of the same id said before is left out.
    """

    def __init__(self, drafts: Drafts, setting: Setting) -> None:
        self._drafts = drafts
        self._setting = setting
        self._response: Draft | None = None
        self._response_id: str | None = None
        self._first: dict[str, Draft] = {}
        self._copied: Draft | None = None
        self._owners: dict[str, Draft] = {}
        self._answered: dict[str, ToolResult] = {}

    def response(self, row: Row, index: int) -> None:
        """Read a row of the model; rows with the same response id next to each other are one response."""
        said = row.message
        if said is None:
            return
        draft = self._response
        if draft is None or said.id is None or said.id != self._response_id:
            draft = self._begin(row, index, said)
        else:
            draft.rows += (index,)
            draft.said = said
        content = said.content
        if type(content) is not list:
            if content:
                draft.blocks.append(Text(content, _MODEL))  # type: ignore[arg-type]
            return
        blocks = draft.blocks
        is_open = bool(blocks)
        copied = self._copied
        for item in content:
            text = item.text
            if text is not None and item.type == "text":
                block: Block | None = Text(text, _MODEL)
            else:
                block = RESPONSE_BLOCKS.get(item.type, server_result)(item)
            if block is None or (is_open and block in blocks) or (copied is not None and _holds(copied, block)):
                continue
            blocks.append(block)
            if type(block) is ToolUse:
                self._owners[block.id] = draft
            elif type(block) is ToolResult:
                self._answered[block.tool_use_id] = block

    def _begin(self, row: Row, index: int, said: WireMessage) -> Draft:
        name = self._response_id = said.id
        draft = self._response = Draft("response", row, [], (index,), (), said)
        self._drafts.all.append(draft)
        first = self._first.setdefault(name, draft) if name is not None else draft
        self._copied = first if first is not draft else None
        return draft

    def delivery_of(self, call: str | None) -> Draft | None:
        """The message that answers the response which made ``call``, when there is one."""
        owner = self._owners.get(call) if call is not None else None
        return owner.delivery if owner is not None else None

    def result(self, row: Row, index: int, item: WireBlock) -> None:
        """Read a row that holds one result and nothing else."""
        result = read_result(item, row)
        if self._is_new(result, index):
            draft = self._delivery(row, item.tool_use_id)
            draft.blocks.append(result)
            draft.blocks += answers_in(result, row)
            draft.rows += (index,)

    def results(self, row: Row, index: int, content: list[WireBlock]) -> None:
        """Read a row that holds results among other things."""
        found: list[Block] = []
        is_error = False
        call = None
        for item in content:
            if item.type == "tool_result":
                call = call or item.tool_use_id
                is_error = is_error or bool(item.is_error)
                result = read_result(item, row)
                if self._is_new(result, index):
                    found.append(result)
                    found += answers_in(result, row)
            else:
                found += self._beside(row, item, is_error)
        if found:
            self._drafts.put(self._delivery(row, call), index, found)

    def _is_new(self, result: ToolResult, index: int) -> bool:
        """Whether ``result`` was not read before; if it was, its row ``index`` goes with the answer to the call."""
        call = result.tool_use_id
        before = self._answered.get(call)
        if before is None or before != result:
            self._answered[call] = result
            return True
        delivery = self.delivery_of(call)
        if delivery is not None:
            delivery.extra += (index,)
        return False

    def _beside(self, row: Row, item: WireBlock, is_error: bool) -> list[Block]:
        """What rides with a result in its own row: a note typed while approving the call, or a mark."""
        if item.text is None:
            return media(item)
        if row.isMeta:
            speaker = meta_speaker(row)
        else:
            speaker = UNKNOWN if is_error or self._setting.is_driven else STEER
        return speak(item.text, speaker, is_typed=False)

    def _delivery(self, row: Row, call: str | None) -> Draft:
        owner = self._owners.get(call) if call is not None else None
        if owner is not None and owner.delivery is not None:
            return owner.delivery
        drafts = self._drafts.all
        draft = drafts[-1] if drafts else None
        if draft is None or draft.kind not in _BEFORE_RESULTS:
            draft = Draft("delivery", row, [])
            drafts.append(draft)
        else:
            draft.kind = "delivery"
        if owner is not None:
            owner.delivery = draft
        return draft


def _holds(response: Draft, block: Block) -> bool:
    """Whether ``response`` has said ``block`` already; a call is known by its id."""
    if type(block) is ToolUse:
        return any(type(own) is ToolUse and own.id == block.id for own in response.blocks)
    return block in response.blocks
