"""Rows of one line as messages: one for each response of the model, one for each delivery to it.

Rows come in file order. A response is spread over several rows and a delivery over several more, not always next
to each other, so messages are drafted while the rows pass and closed at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import msgspec

from handrail import ids, jsonio
from handrail.harnesses.claude_code import envelopes
from handrail.harnesses.claude_code.blocks import (
    assistant_block,
    document,
    image,
    result_blocks,
    usage,
)
from handrail.harnesses.claude_code.head import parse_version
from handrail.harnesses.claude_code.speech import (
    STEER,
    Setting,
    Speaker,
    has_proof,
    origin_speaker,
    row_speaker,
    speak,
    steer_speaker,
)
from handrail.harnesses.claude_code.wire import Attachment, Row, WireBlock, WireMessage
from handrail.harnesses.families.jsonl import Rows
from handrail.harnesses.families.markers import CLAUDE_CODE_INTERRUPTS, CLAUDE_CODE_SUMMARY
from handrail.transcripts.model import (
    Author,
    Bash,
    Block,
    Common,
    Compaction,
    Interrupt,
    Message,
    Role,
    Text,
    ToolResult,
    ToolUse,
    Usage,
    Via,
)

_UNKNOWN = Speaker(Author.UNKNOWN)


class _Draft:
    """A message in the making. ``kind`` says what a later row may join."""

    __slots__ = (
        "blocks",
        "bridged",
        "delivery",
        "kind",
        "model",
        "origin",
        "role",
        "rows",
        "stop",
        "timestamp",
        "uids",
        "usage",
    )

    def __init__(self, role: Role, kind: str, timestamp: datetime | None) -> None:
        self.role: Role = role
        self.kind = kind
        self.timestamp = timestamp
        self.blocks: list[Block] = []
        self.uids: list[str] = []
        self.rows: list[int] = []
        self.model: str | None = None
        self.stop: str | None = None
        self.usage: Usage | None = None
        self.origin: str | None = None
        self.bridged = False
        self.delivery: _Draft | None = None

    def message(self) -> Message:
        timestamp = self.timestamp
        if timestamp is not None and timestamp.tzinfo is not UTC:
            timestamp = timestamp.astimezone(UTC)
        uids = tuple(self.uids)
        return Message(
            role=self.role,
            content=tuple(self.blocks),
            uid=uids[0] if uids else "",
            uids=uids,
            timestamp=timestamp,
            model=self.model,
            stop_reason=self.stop,
            usage=self.usage,
            origin=self.origin,
            is_bridged=self.bridged,
        )


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
    reader = _LineReader(rows, setting, session, bridged)
    reader.read(line)
    return reader.messages(), [draft.rows for draft in reader.drafts if draft.blocks]


class _LineReader:
    def __init__(self, rows: Rows[Row], setting: Setting, session: str, bridged: frozenset[int]) -> None:
        self.rows = rows
        self.setting = setting
        self.session = session
        self.bridged = bridged
        self.drafts: list[_Draft] = []
        self.response: _Draft | None = None
        self.response_id: str | None = None
        self.owners: dict[str, _Draft] = {}
        self.answered: dict[str, ToolResult] = {}
        self.command: str | None = None
        self.queue: list[tuple[Any, int]] = []
        self.dequeued: dict[str, tuple[int, int]] = {}
        self.pending_rows: tuple[int, ...] = ()
        self.named_marks: set[int] = set()
        self.nameless: Counter[bytes] = Counter()
        self.made_uids: dict[int, str] = {}
        self.index = 0
        self.attached: Counter[str] | None = None

    def read(self, line: Iterable[int]) -> None:
        rows = self.rows.rows
        seen: set[str] = set()
        handlers = _HANDLERS
        for index in line:
            row = rows[index]
            handle = handlers.get(row.type)
            if handle is None:
                continue
            uuid = row.uuid
            if uuid is not None:
                if uuid in seen:
                    continue
                seen.add(uuid)
            self.index = index
            handle(self, row)

    def messages(self) -> Common:
        drafts = [draft for draft in self.drafts if draft.blocks]
        for draft, following in pairwise(drafts):
            if draft.role == "user" and following.kind == "prompt" and self.named_marks.isdisjoint(draft.rows):
                _name_interrupter(draft, following)
        return tuple(draft.message() for draft in drafts)

    # Drafts ----------------------------------------------------------------------------------------------

    def _start(self, role: Role, kind: str, row: Row) -> _Draft:
        draft = _Draft(role, kind, row.timestamp)
        self.drafts.append(draft)
        if row.sessionId is not None and row.sessionId != self.session:
            draft.origin = row.sessionId
        return draft

    def _uid(self, row: Row) -> str:
        if row.uuid is not None:
            return row.uuid
        if self.index not in self.made_uids:
            raw = self.rows.raw(self.index)
            self.nameless[raw] += 1
            self.made_uids[self.index] = ids.short_hash(raw, self.nameless[raw])
        return self.made_uids[self.index]

    def _put(self, draft: _Draft, row: Row, blocks: Iterable[Block]) -> None:
        draft.blocks += blocks
        draft.uids.append(self._uid(row))
        draft.rows += (*self.pending_rows, self.index)
        self.pending_rows = ()
        if self.index in self.bridged:
            draft.bridged = True

    def _last_user(self) -> _Draft | None:
        """The message to the model that is still open: no response has begun since."""
        return self.drafts[-1] if self.drafts and self.drafts[-1].role == "user" else None

    def _ride(self, row: Row, blocks: list[Block], kinds: tuple[str, ...], kind: str) -> None:
        """Put ``blocks`` into the open message when it is of one of ``kinds``, else into one of their own."""
        if not blocks:
            return
        open_message = self._last_user()
        if open_message is None or open_message.kind not in kinds:
            open_message = self._start("user", kind, row)
        self._put(open_message, row, blocks)

    # Responses -------------------------------------------------------------------------------------------

    def _assistant(self, row: Row) -> None:
        message = row.message
        if message is None:
            return
        draft = self.response
        if draft is None or message.id is None or message.id != self.response_id:
            draft = self.response = self._start("assistant", "response", row)
            self.response_id = message.id
        found = self._response_blocks(message, draft)
        self._put(draft, row, found)
        draft.model = message.model
        draft.stop = message.stop_reason
        draft.usage = usage(message.usage)

    def _response_blocks(self, message: WireMessage, draft: _Draft) -> list[Block]:
        content = message.content
        if type(content) is str:
            return [Text(content, Author.MODEL)] if content else []
        found: list[Block] = []
        known = draft.blocks
        for item in content or ():
            block = assistant_block(item)  # type: ignore[arg-type]
            if block is None or (known and block in known):
                continue
            if type(block) is ToolUse:
                self.owners[block.id] = draft
            elif type(block) is ToolResult:
                self.answered[block.tool_use_id] = block
            found.append(block)
        return found

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
        elif any(item.type == "tool_result" for item in content):  # type: ignore[union-attr]
            self._results(row, content)  # type: ignore[arg-type]
        elif len(content) == 1 and content[0].text is not None:  # type: ignore[union-attr]
            self._user_text(row, content[0].text)  # type: ignore[union-attr]
        else:
            self._prompt(row, content)  # type: ignore[arg-type]

    def _results(self, row: Row, content: list[WireBlock]) -> None:
        found: list[Block] = []
        is_error = False
        call = None
        for item in content:
            if item.type == "tool_result":
                blocks = result_blocks(item, row)
                result = blocks[0]
                assert type(result) is ToolResult
                call = call or result.tool_use_id
                is_error = is_error or result.is_error
                if self.answered.get(result.tool_use_id) == result:
                    self._copied(call)
                else:
                    self.answered[result.tool_use_id] = result
                    found += blocks
            else:
                found += self._beside(row, item, is_error)
        if found:
            self._put(self._delivery(row, call), row, found)

    def _copied(self, call: str | None) -> None:
        """A result that was read before: its row goes with the delivery that has it."""
        owner = self.owners.get(call) if call is not None else None
        if owner is not None and owner.delivery is not None:
            owner.delivery.rows.append(self.index)

    def _beside(self, row: Row, item: WireBlock, is_error: bool) -> list[Block]:
        """What rides with a result in its own row: a note typed while approving the call, or a mark."""
        if item.text is not None:
            is_note = not is_error and not row.isMeta and not self.setting.is_driven
            speaker = (STEER if is_note else _UNKNOWN) if not row.isMeta else row_speaker(row, self.setting, None)
            return speak(item.text, speaker, is_typed=False)
        return _media(item)

    def _delivery(self, row: Row, call: str | None) -> _Draft:
        owner = self.owners.get(call) if call is not None else None
        if owner is not None and owner.delivery is not None:
            return owner.delivery
        draft = self._last_user()
        if draft is None or draft.kind not in _BEFORE_RESULTS:
            draft = self._start("user", "delivery", row)
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
        blocks = speak(text, self._speaker(row, text), is_typed=has_proof(row))
        self._add_prompt(row, blocks)

    def _add_prompt(self, row: Row, blocks: list[Block]) -> None:
        if not blocks:
            return
        blocks = self._marked(row, blocks)
        if len(blocks) == 1 and type(blocks[0]) is Interrupt:
            is_for_tool = row.message is not None and _joined(row.message.content) == CLAUDE_CODE_INTERRUPTS[1]
            self._ride(row, blocks, ("delivery",) if is_for_tool else (), "mark")
            return
        is_said = any(type(block) is not Text or block.author not in _MACHINES for block in blocks)
        self._put(self._start("user", "prompt" if is_said else "notice", row), row, blocks)

    def _marked(self, row: Row, blocks: list[Block]) -> list[Block]:
        """``blocks`` with interruptions by whom the row itself names, when it names anybody."""
        named = origin_speaker(row.origin)
        if named is None:
            return blocks
        self.named_marks.add(self.index)
        return [Interrupt(named.author) if type(block) is Interrupt else block for block in blocks]

    def _prompt(self, row: Row, content: list[WireBlock]) -> None:
        speaker = None
        blocks: list[Block] = []
        for item in content:
            if item.text is None:
                blocks += _media(item)
                continue
            speaker = speaker or self._speaker(row, item.text)
            blocks += speak(item.text, speaker, is_typed=has_proof(row))
        if row.isMeta:
            self._ride(row, blocks, ("delivery", "prompt", "command"), "notice")
        else:
            self._add_prompt(row, blocks)

    def _speaker(self, row: Row, text: str) -> Speaker:
        version = None
        if self.setting.has_proof and not has_proof(row):
            version = parse_version(self.rows.raw(self.index))
        speaker = row_speaker(row, self.setting, version)
        if speaker.author is Author.PERSON and text in self.dequeued:
            self.pending_rows = self.dequeued.pop(text)
            return Speaker(speaker.author, speaker.by, Via.QUEUE)
        return speaker

    def _meta_text(self, row: Row, text: str) -> None:
        blocks = speak(text, row_speaker(row, self.setting, None), is_typed=False)
        if all(type(block) is Text and block.by == "caveat" for block in blocks):
            return
        owner = self.owners.get(row.sourceToolUseID) if row.sourceToolUseID is not None else None
        if owner is not None and owner.delivery is not None:
            self._put(owner.delivery, row, blocks)
        else:
            self._ride(row, blocks, ("delivery", "prompt", "command"), "notice")

    # Commands --------------------------------------------------------------------------------------------

    def _envelope(self, row: Row, text: str) -> bool:
        """Read a slash command, a ``!`` command or their output; False when ``text`` is none."""
        uid = self._uid(row)
        command = envelopes.parse_command(text)
        shell = None if command else envelopes.parse_section(text, "bash-input")
        if command is not None or shell is not None:
            self.command = uid
            call = command if command is not None else Bash(shell or "")
            self._put(self._start("user", "command", row), row, [ToolUse(uid, call)])
            return True
        output = envelopes.parse_section(text, "local-command-stdout")
        if output is None:
            output = envelopes.parse_shell_output(text)
        if output is None:
            return False
        result = ToolResult(self.command or uid, envelopes.without_ansi(output))
        self.command = None
        self._put(self._start("user", "output", row), row, [result])
        return True

    def _system(self, row: Row) -> None:
        if row.subtype == "compact_boundary":
            metadata = row.compactMetadata
            block = Compaction()
            if metadata is not None:
                block = Compaction(None, metadata.trigger, metadata.preTokens, metadata.postTokens)
            self._put(self._start("user", "compaction", row), row, [block])
        elif row.subtype == "local_command" and type(row.content) is str:
            self._envelope(row, row.content)

    def _summary(self, row: Row, text: str) -> None:
        draft = self.drafts[-1] if self.drafts else None
        block = draft.blocks[0] if draft is not None and draft.kind == "compaction" else None
        if draft is None or type(block) is not Compaction or block.summary is not None:
            draft = self._start("user", "compaction", row)
            block = Compaction()
            draft.blocks.append(block)
        draft.blocks[0] = msgspec.structs.replace(block, summary=text)
        self._put(draft, row, ())

    # Queue and attachments -------------------------------------------------------------------------------

    def _queue_operation(self, row: Row) -> None:
        operation = row.operation
        if operation == "enqueue":
            self.queue.append((row.content, self.index))
        elif operation == "dequeue" and self.queue:
            content, index = self.queue.pop(0)
            self.dequeued[_queued_text(content)] = (index, self.index)
        elif operation == "popAll":
            self.queue.clear()
        elif operation == "remove":
            self._removed(row)

    def _removed(self, row: Row) -> None:
        entry = row.content
        texts = [_queued_text(item) for item, _ in self.queue]
        enqueued: tuple[int, ...] = ()
        if entry is not None and _queued_text(entry) in texts:
            enqueued = (self.queue.pop(texts.index(_queued_text(entry)))[1],)
        elif entry is None and self.queue:
            entry, index = self.queue.pop(0)
            enqueued = (index,)
        elif entry is None:
            return
        text = _queued_text(entry)
        if self.attached is None:
            self.attached = Counter(_attached_prompts(self.rows.rows))
        if self.attached[text]:
            self.attached[text] -= 1
            return
        self.pending_rows = enqueued
        self._steer(row, entry, steer_speaker(row.origin, is_driven=self.setting.is_driven))
        self.pending_rows = ()

    def _steer(self, row: Row, content: Any, speaker: Speaker) -> None:
        blocks: list[Block] = []
        for item in _queued_blocks(content):
            blocks += speak(item.text, speaker, is_typed=False) if item.text is not None else _media(item)
        self._ride(row, blocks, ("delivery",), "steer")

    def _attachment(self, row: Row) -> None:
        attachment = row.attachment
        if attachment is None:
            return
        if attachment.type == "queued_command":
            self._queued_command(row, attachment)
        elif attachment.type in _HOOK_TEXTS:
            texts = _hook_texts(attachment)
            by = f"hook:{attachment.hookName or attachment.hookEvent or ''}"
            blocks: list[Block] = [Text(text, Author.HARNESS, by) for text in texts]
            self._ride(row, blocks, ("delivery", "prompt", "command", "notice", "steer"), "notice")

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
_HOOK_TEXTS = frozenset({"hook_additional_context", "hook_blocking_error", "hook_success"})

_HANDLERS: dict[str, Callable[[_LineReader, Row], None]] = {
    "assistant": _LineReader._assistant,
    "user": _LineReader._user,
    "system": _LineReader._system,
    "attachment": _LineReader._attachment,
    "queue-operation": _LineReader._queue_operation,
}


def _name_interrupter(draft: _Draft, following: _Draft) -> None:
    """A person whose prompt comes straight after an interruption is the one who interrupted."""
    if any(type(block) is Text and block.author is Author.PERSON for block in following.blocks):
        draft.blocks = [Interrupt(Author.PERSON) if type(block) is Interrupt else block for block in draft.blocks]


def _joined(content: str | list[WireBlock] | None) -> str:
    if type(content) is str:
        return content
    return "\n".join(item.text for item in content or () if type(item) is WireBlock and item.text is not None)


def _media(item: WireBlock) -> list[Block]:
    block = image(item) if item.type == "image" else document(item) if item.type == "document" else None
    return [] if block is None else [block]


def _queued_blocks(content: Any) -> list[WireBlock]:
    """Queued content, a text or a list of blocks, as blocks."""
    if type(content) is str:
        return [WireBlock(type="text", text=content)]
    found = []
    for item in content if type(content) is list else ():
        try:
            found.append(msgspec.convert(item, WireBlock))
        except msgspec.ValidationError:
            continue
    return found


def _queued_text(content: Any) -> str:
    return "\n".join(item.text for item in _queued_blocks(content) if item.text is not None)


def _attached_prompts(rows: list[Row]) -> Iterable[str]:
    for row in rows:
        if row.attachment is not None and row.attachment.type == "queued_command":
            yield _queued_text(row.attachment.prompt)


def _hook_texts(attachment: Attachment) -> list[str]:
    """What a hook put before the model: added context, the output of a hook that adds it, the reason of a block."""
    raw = attachment.blockingError if attachment.type == "hook_blocking_error" else attachment.content
    if attachment.type == "hook_success" and attachment.hookEvent not in ("SessionStart", "UserPromptSubmit"):
        return []
    try:
        value = jsonio.decode(memoryview(raw))
    except jsonio.NotJson:
        return []
    if type(value) is dict:
        value = value.get("blockingError")
    values = value if type(value) is list else [value]
    return [text for text in values if type(text) is str and text]
