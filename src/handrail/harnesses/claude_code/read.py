"""Rows of one line as messages: one for each response of the model, one for each delivery to it.

Rows come in file order. A response is spread over several rows and a delivery over several more, not always next
to each other, so messages are drafted while the rows pass and closed at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from handrail.harnesses.claude_code import envelopes
from handrail.harnesses.claude_code.blocks import RESPONSE_BLOCKS, document, image, result_blocks, server_result
from handrail.harnesses.claude_code.drafts import Draft, Drafts
from handrail.harnesses.claude_code.head import parse_version
from handrail.harnesses.claude_code.queue import HOOK_TEXTS, Queue, hook_texts, queued_blocks
from handrail.harnesses.claude_code.speech import (
    QUEUED,
    STEER,
    Setting,
    Speaker,
    has_proof,
    origin_speaker,
    row_speaker,
    speak,
    steer_speaker,
)
from handrail.harnesses.claude_code.wire import Attachment, Row, WireBlock
from handrail.harnesses.families.jsonl import Rows
from handrail.harnesses.families.markers import CLAUDE_CODE_INTERRUPTS, CLAUDE_CODE_SUMMARY
from handrail.transcripts.model import (
    Author,
    Bash,
    Block,
    Common,
    Compaction,
    Interrupt,
    Text,
    ToolResult,
    ToolUse,
)

_UNKNOWN = Speaker(Author.UNKNOWN)


def read_line(
    rows: Rows[Row], line: Iterable[int], setting: Setting, session: str, bridged: frozenset[int] = frozenset()
) -> Common:
    """The messages of the rows whose indices ``line`` names, which are in file order.

    ``session`` is the session's own id: rows that name another were copied from it.
    """
    return read_line_rows(rows, line, setting, session, bridged)[0]


def read_line_rows(
    rows: Rows[Row], line: Iterable[int], setting: Setting, session: str, bridged: frozenset[int] = frozenset()
) -> tuple[Common, list[list[int]]]:
    """``read_line`` with the indices of the rows each message stands on, records of the queue among them."""
    reader = _LineReader(rows, setting, Drafts(rows, session, bridged))
    reader.read(line)
    return reader.drafts.close()


class _LineReader:
    """Goes through the rows of a line once; ``index`` is the row at hand."""

    def __init__(self, rows: Rows[Row], setting: Setting, drafts: Drafts) -> None:
        self.rows = rows
        self.setting = setting
        self.drafts = drafts
        self.queue = Queue(rows.rows)
        self.response: Draft | None = None
        self.response_id: str | None = None
        self.owners: dict[str, Draft] = {}
        self.answered: dict[str, ToolResult] = {}
        self.command: str | None = None
        self.index = 0

    def read(self, line: Iterable[int]) -> None:
        rows = self.rows.rows
        handlers = _HANDLERS
        for index in line:
            row = rows[index]
            handle = handlers.get(row.type)
            if handle is not None:
                self.index = index
                handle(self, row)

    def _own(self, row: Row, kind: str, blocks: list[Block]) -> Draft:
        """A message to the model that the row begins."""
        draft = Draft("user", kind, row, blocks, [self.index])
        self.drafts.all.append(draft)
        return draft

    # Responses -------------------------------------------------------------------------------------------

    def _assistant(self, row: Row) -> None:
        message = row.message
        if message is None:
            return
        draft = self.response
        if draft is None or message.id is None or message.id != self.response_id:
            draft = self.response = Draft("assistant", "response", row, [], [])
            self.drafts.all.append(draft)
            self.response_id = message.id
        self._add_response_blocks(message.content, draft)
        draft.rows.append(self.index)
        draft.model = message.model
        draft.stop = message.stop_reason
        draft.usage = message.usage

    def _add_response_blocks(self, content: str | list[WireBlock] | None, draft: Draft) -> None:
        blocks = draft.blocks
        if type(content) is str:
            if content:
                blocks.append(Text(content, Author.MODEL))
            return
        parsers = RESPONSE_BLOCKS
        before = len(blocks)
        for item in content or ():
            parse = parsers.get(item.type)  # type: ignore[union-attr]
            block = parse(item) if parse is not None else server_result(item)  # type: ignore[arg-type]
            if block is None or (before and block in blocks):
                continue
            if type(block) is ToolUse:
                self.owners[block.id] = draft
            elif type(block) is ToolResult:
                self.answered[block.tool_use_id] = block
            blocks.append(block)

    # Deliveries ------------------------------------------------------------------------------------------

    def _user(self, row: Row) -> None:
        message = row.message
        if message is None or message.content is None:
            return
        content = message.content
        if row.isCompactSummary:
            self._summary(row, _joined(content))
        elif type(content) is str:
            self._user_text(row, content)
        elif len(content) == 1 and content[0].type == "tool_result":  # type: ignore[union-attr]
            self._result(row, content[0])  # type: ignore[arg-type]
        elif any(item.type == "tool_result" for item in content):  # type: ignore[union-attr]
            self._results(row, content)  # type: ignore[arg-type]
        elif len(content) == 1 and content[0].text is not None:  # type: ignore[union-attr]
            self._user_text(row, content[0].text)  # type: ignore[union-attr]
        else:
            self._prompt(row, content)  # type: ignore[arg-type]

    def _result(self, row: Row, item: WireBlock) -> None:
        call = item.tool_use_id
        found = self._result_blocks(row, item)
        if found:
            draft = self._delivery(row, call)
            draft.blocks += found
            draft.rows.append(self.index)

    def _results(self, row: Row, content: list[WireBlock]) -> None:
        found: list[Block] = []
        is_error = False
        call = None
        for item in content:
            if item.type == "tool_result":
                call = call or item.tool_use_id
                is_error = is_error or bool(item.is_error)
                found += self._result_blocks(row, item)
            else:
                found += self._beside(row, item, is_error)
        if found:
            self.drafts.put(self._delivery(row, call), self.index, found)

    def _result_blocks(self, row: Row, item: WireBlock) -> list[Block]:
        """A result with what was answered in it; nothing when it was read before, in which case its row goes along."""
        found = result_blocks(item, row)
        result = found[0]
        assert type(result) is ToolResult
        before = self.answered.get(result.tool_use_id)
        if before is None or before != result:
            self.answered[result.tool_use_id] = result
            return found
        owner = self.owners.get(result.tool_use_id)
        if owner is not None and owner.delivery is not None:
            owner.delivery.extra += (self.index,)
        return []

    def _beside(self, row: Row, item: WireBlock, is_error: bool) -> list[Block]:
        """What rides with a result in its own row: a note typed while approving the call, or a mark."""
        if item.text is not None:
            is_note = not is_error and not row.isMeta and not self.setting.is_driven
            speaker = (STEER if is_note else _UNKNOWN) if not row.isMeta else self._speaker(row)
            return speak(item.text, speaker, is_typed=False)
        return _media(item)

    def _delivery(self, row: Row, call: str | None) -> Draft:
        owner = self.owners.get(call) if call is not None else None
        if owner is not None and owner.delivery is not None:
            return owner.delivery
        draft = self.drafts.open_delivery()
        if draft is None or draft.kind not in _BEFORE_RESULTS:
            draft = self.drafts.start("user", "delivery", row)
        draft.kind = "delivery"
        if owner is not None:
            owner.delivery = draft
        return draft

    def _user_text(self, row: Row, text: str) -> None:
        if text[:1] in _ENVELOPE_STARTS and not has_proof(row):
            if self._envelope(row, text):
                return
            if text.startswith(CLAUDE_CODE_SUMMARY):
                self._summary(row, text)
                return
        if row.isMeta:
            self._meta_text(row, text)
            return
        if text in CLAUDE_CODE_INTERRUPTS:
            self._add_prompt(row, [Interrupt()])
            return
        speaker = self._speaker(row)
        extra = self.queue.joined(text) if speaker.author is Author.PERSON else ()
        blocks = speak(text, QUEUED if extra else speaker, is_typed=has_proof(row))
        self._add_prompt(row, blocks, extra)

    def _add_prompt(self, row: Row, blocks: list[Block], extra: tuple[int, ...] = ()) -> None:
        if not blocks:
            return
        if row.origin is not None:
            blocks = self._marked(row, blocks)
        first = blocks[0]
        if len(blocks) == 1 and type(first) is Interrupt:
            is_for_tool = row.message is not None and _joined(row.message.content) == CLAUDE_CODE_INTERRUPTS[1]
            self.drafts.mark(row, self.index, first, _DELIVERY if is_for_tool else _NONE)
            return
        is_said = any(type(block) is not Text or block.author not in _MACHINES for block in blocks)
        self._own(row, "prompt" if is_said else "notice", blocks).extra = extra

    def _marked(self, row: Row, blocks: list[Block]) -> list[Block]:
        """``blocks`` with interruptions by whom the row itself names, when it names anybody."""
        named = origin_speaker(row.origin)
        if named is None:
            return blocks
        self.drafts.named_marks.add(self.index)
        return [Interrupt(named.author) if type(block) is Interrupt else block for block in blocks]

    def _prompt(self, row: Row, content: list[WireBlock]) -> None:
        """A row with several blocks: words and pictures, or words an editor added beside a person's."""
        speaker = None
        extra: tuple[int, ...] = ()
        blocks: list[Block] = []
        for item in content:
            if item.text is None:
                blocks += _media(item)
                continue
            speaker = speaker or self._speaker(row)
            joined = self.queue.joined(item.text) if speaker.author is Author.PERSON else ()
            blocks += speak(item.text, QUEUED if joined else speaker, is_typed=has_proof(row))
            extra += joined
        if row.isMeta:
            self.drafts.ride(row, self.index, blocks, _TOLD, "notice")
        else:
            self._add_prompt(row, blocks, extra)

    def _speaker(self, row: Row) -> Speaker:
        return row_speaker(row, self.setting, self._version)

    def _version(self) -> tuple[int, ...] | None:
        """The version that wrote the row at hand."""
        return parse_version(self.rows.raw(self.index))

    def _meta_text(self, row: Row, text: str) -> None:
        blocks = speak(text, self._speaker(row), is_typed=False)
        if all(type(block) is Text and block.by == "caveat" for block in blocks):
            return
        owner = self.owners.get(row.sourceToolUseID) if row.sourceToolUseID is not None else None
        if owner is not None and owner.delivery is not None:
            self.drafts.put(owner.delivery, self.index, blocks)
        else:
            self.drafts.ride(row, self.index, blocks, _TOLD, "notice")

    # Commands --------------------------------------------------------------------------------------------

    def _envelope(self, row: Row, text: str) -> bool:
        """Read a slash command, a ``!`` command or their output; False when ``text`` is none."""
        uid = self.drafts.uid(self.index)
        command = envelopes.parse_command(text)
        shell = None if command else envelopes.parse_section(text, "bash-input")
        if command is not None or shell is not None:
            self.command = uid
            call = command if command is not None else Bash(shell or "")
            self._own(row, "command", [ToolUse(uid, call)])
            return True
        output = envelopes.parse_section(text, "local-command-stdout")
        if output is None:
            output = envelopes.parse_shell_output(text)
        if output is None:
            return False
        result = ToolResult(self.command or uid, envelopes.without_ansi(output))
        self.command = None
        self._own(row, "output", [result])
        return True

    def _system(self, row: Row) -> None:
        if row.subtype == "compact_boundary":
            metadata = row.compactMetadata
            block = Compaction()
            if metadata is not None:
                block = Compaction(None, metadata.trigger, metadata.preTokens, metadata.postTokens)
            self._own(row, "compaction", [block])
        elif row.subtype == "local_command" and type(row.content) is str:
            self._envelope(row, row.content)

    def _summary(self, row: Row, text: str) -> None:
        draft = self.drafts.last()
        block = draft.blocks[0] if draft is not None and draft.kind == "compaction" else None
        if draft is None or type(block) is not Compaction or block.summary is not None:
            self._own(row, "compaction", [Compaction(text)])
            return
        draft.blocks[0] = msgspec.structs.replace(block, summary=text)
        self.drafts.put(draft, self.index, ())

    # Queue and attachments -------------------------------------------------------------------------------

    def _queue_operation(self, row: Row) -> None:
        found = self.queue.play(row, self.index)
        if found is not None:
            speaker = steer_speaker(row.origin, is_driven=self.setting.is_driven)
            self._steer(row, found.content, speaker, found.rows)

    def _steer(self, row: Row, content: Any, speaker: Speaker, extra: tuple[int, ...] = ()) -> None:
        blocks: list[Block] = []
        for item in queued_blocks(content):
            blocks += speak(item.text, speaker, is_typed=False) if item.text is not None else _media(item)
        self.drafts.ride(row, self.index, blocks, _DELIVERY, "steer", extra)

    def _attachment(self, row: Row) -> None:
        attachment = row.attachment
        if attachment is None:
            return
        if attachment.type == "queued_command":
            self._queued_command(row, attachment)
        elif attachment.type in HOOK_TEXTS:
            by = f"hook:{attachment.hookName or attachment.hookEvent or ''}"
            blocks: list[Block] = [Text(text, Author.HARNESS, by) for text in hook_texts(attachment)]
            self.drafts.ride(row, self.index, blocks, _HOOKED, "notice")

    def _queued_command(self, row: Row, attachment: Attachment) -> None:
        if attachment.commandMode == "prompt":
            speaker = steer_speaker(attachment.origin, is_driven=self.setting.is_driven)
        else:
            named = origin_speaker(attachment.origin)
            speaker = named or Speaker(Author.HARNESS, attachment.commandMode)
        self._steer(row, attachment.prompt, speaker)


_BEFORE_RESULTS = frozenset({"delivery", "steer", "notice"})
_MACHINES = frozenset({Author.HARNESS, Author.HOST})
_ENVELOPE_STARTS = frozenset({"<", "T", " ", "\n"})
_NONE: frozenset[str] = frozenset()
_DELIVERY = frozenset({"delivery"})
_TOLD = frozenset({"delivery", "prompt", "command"})
_HOOKED = frozenset({*_TOLD, "notice", "steer"})

_HANDLERS: dict[str, Callable[[_LineReader, Row], None]] = {
    "assistant": _LineReader._assistant,
    "user": _LineReader._user,
    "system": _LineReader._system,
    "attachment": _LineReader._attachment,
    "queue-operation": _LineReader._queue_operation,
}


def _joined(content: str | list[WireBlock] | None) -> str:
    if type(content) is str:
        return content
    return "\n".join(item.text for item in content or () if type(item) is WireBlock and item.text is not None)


def _media(item: WireBlock) -> list[Block]:
    block = image(item) if item.type == "image" else document(item) if item.type == "document" else None
    return [] if block is None else [block]
