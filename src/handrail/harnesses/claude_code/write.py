"""Canonical messages as the rows Claude Code would have written: one chain, one row for each block or result.

The same session gives the same bytes. Text of a harness or host is never written as a turn. A person's prompt
carries the keys that prove it, so that it reads back as a person's, and text of nobody known carries an origin
that says so, so that it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from handrail import ids, jsonio
from handrail.harnesses.claude_code import envelopes, spell
from handrail.harnesses.claude_code.spell import Lost
from handrail.harnesses.families.markers import CLAUDE_CODE_INTERRUPTS
from handrail.transcripts.codec import LossItem
from handrail.transcripts.model import (
    Artifact,
    Author,
    Bash,
    Block,
    Command,
    Common,
    Compaction,
    Decision,
    Image,
    Interrupt,
    Message,
    Text,
    ToolResult,
    ToolUse,
    Transcript,
    Via,
)

_MACHINES = frozenset({Author.HARNESS, Author.HOST})
_ORIGINS = {Author.PERSON: "human", Author.PEER: "peer", Author.UNKNOWN: "unknown", Author.MODEL: "unknown"}


class Written:
    """The rows of a written session, what got lost, and which rows stand for which message."""

    def __init__(self, session: Transcript[Common]) -> None:
        self.meta = session.meta
        self.body = session.body
        self.session = session.meta.id or ids.stable_uuid("claude_code", *(message.uid for message in session.body))
        self.rows: list[dict[str, Any]] = []
        self.losses: list[LossItem] = []
        self.row_ids: list[list[str]] = [[] for _ in session.body]
        self.dropped: set[tuple[int, int]] = set()
        self.commands: dict[str, str] = {}
        self.shells: set[str] = set()
        self.calls: dict[str, ToolUse] = {}
        self.last: str | None = None
        self.message = 0

    # Losses ----------------------------------------------------------------------------------------------

    def lose(self, what: str, why: str, block: int | None = None) -> None:
        """Name something of the present message that could not be carried."""
        self.losses.append(LossItem(what=what, why=why, message=self.message, block=block))

    def lose_all(self, lost: Lost, block: int) -> None:
        for what, why in lost:
            self.lose(what, why, block)

    def drop(self, block: int, what: str, why: str) -> None:
        """Name a block that is not written at all."""
        self.dropped.add((self.message, block))
        self.lose(what, why, block)

    # Rows ------------------------------------------------------------------------------------------------

    def add(self, kind: str, source: Message, uuid: str | None = None, /, **fields: Any) -> dict[str, Any]:
        """Append a row for the present message, in the order of keys in which Claude Code writes them."""
        own = self.row_ids[self.message]
        uuid = uuid or ids.stable_uuid("claude_code", self.session, self.message, len(own))
        row: dict[str, Any] = {"parentUuid": self.last, "isSidechain": False, "userType": "external"}
        row["cwd"] = self.meta.cwd or ""
        row["sessionId"] = source.origin or self.session
        if self.meta.cli_version is not None:
            row["version"] = self.meta.cli_version
        if self.meta.git_branch is not None:
            row["gitBranch"] = self.meta.git_branch
        row["type"] = kind
        row |= fields
        row["uuid"] = uuid
        if source.timestamp is not None:
            row["timestamp"] = instant(source.timestamp)
        own.append(uuid)
        self.rows.append(row)
        self.last = uuid
        return row

    def add_user(self, source: Message, content: Any, uuid: str | None = None, /, **fields: Any) -> dict[str, Any]:
        return self.add("user", source, uuid, message={"role": "user", "content": content}, **fields)


def write_session(session: Transcript[Common]) -> Written:
    """The rows of ``session`` in order, the title first."""
    written = Written(session)
    if session.meta.title is not None:
        title = {"type": "custom-title", "customTitle": session.meta.title, "sessionId": written.session}
        written.rows.append(title)
    for index, message in enumerate(session.body):
        written.message = index
        if message.role == "assistant":
            _write_response(written, message)
        else:
            _write_delivery(written, message)
        if not written.row_ids[index]:
            written.lose("message", "nothing of it can be written")
    return written


def render_rows(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """One line a row, each ended by a line feed."""
    return b"".join(jsonio.encode(row) + b"\n" for row in rows)


def instant(value: datetime) -> str:
    """``value`` as Claude Code writes it: UTC, milliseconds, ``Z``; finer only where the value is."""
    precision = "milliseconds" if value.microsecond % 1000 == 0 else "microseconds"
    return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec=precision) + "Z"


# Responses ---------------------------------------------------------------------------------------------------


def _write_response(written: Written, message: Message) -> None:
    blocks: list[dict[str, Any]] = []
    for index, block in enumerate(message.content):
        spelled = spell.response_block(block)
        if spelled.block is None:
            written.dropped.add((written.message, index))
        else:
            blocks.append(spelled.block)
        if type(block) is ToolUse:
            written.calls[block.id] = block
        written.lose_all(spelled.lost, index)
    envelope: dict[str, Any] = {"model": message.model} if message.model is not None else {}
    envelope |= {
        "id": f"msg_{ids.short_hash(written.session, written.message)}",
        "type": "message",
        "role": "assistant",
    }
    usage: dict[str, int] | None = None
    if message.usage is not None:
        usage, lost = spell.native_usage(message.usage)
        for what, why in lost:
            written.lose(f"message.{what}", why)
    for index, spelled_block in enumerate(blocks):
        is_last = index == len(blocks) - 1
        native = {**envelope, "content": [spelled_block], "stop_reason": message.stop_reason if is_last else None}
        native["stop_sequence"] = None
        if usage is not None:
            native["usage"] = usage
        written.add("assistant", message, message=native)


# Deliveries --------------------------------------------------------------------------------------------------


def _write_delivery(written: Written, message: Message) -> None:
    """A user message. Beside results everything rides in rows that join them; without, it is a prompt."""
    content = message.content
    if any(type(block) is ToolResult and block.tool_use_id not in written.commands for block in content):
        _write_results(written, message)
        return
    prompt: list[tuple[int, Block]] = []
    for index, block in enumerate(content):
        kind = type(block)
        if kind is Text and block.author in _MACHINES:  # type: ignore[union-attr]
            written.drop(index, "text", f"text of the {block.author.value} is not written as a turn")  # type: ignore[union-attr]
        elif kind in _ALONE:
            _flush_prompt(written, message, prompt)
            _ALONE[kind](written, message, index, block)
        elif kind in _IN_PROMPT:
            prompt.append((index, block))
        else:
            name = block.__struct_config__.tag
            written.drop(index, str(name), "a prompt cannot hold one here")
    _flush_prompt(written, message, prompt)


def _flush_prompt(written: Written, message: Message, prompt: list[tuple[int, Block]]) -> None:
    """Write what was gathered as prompt rows, one for each stretch of one author's."""
    while prompt:
        speaker = next((block for _, block in prompt if type(block) is Text), None)
        size = next((at for at, (_, block) in enumerate(prompt) if _is_other(block, speaker)), len(prompt))
        _write_prompt(written, message, prompt[:size], speaker)
        del prompt[:size]


def _is_other(block: Block, speaker: Text | None) -> bool:
    if type(block) is not Text or speaker is None:
        return False
    return (block.author, block.by) != (speaker.author, speaker.by)


def _write_prompt(
    written: Written, message: Message, prompt: Sequence[tuple[int, Block]], speaker: Text | None
) -> None:
    spelled = [native for index, block in prompt if (native := _prompt_block(written, index, block)) is not None]
    if not spelled:
        return
    content: Any = spelled
    if len(spelled) == 1 and spelled[0]["type"] == "text":
        content = spelled[0]["text"]
    mark = next((block for _, block in prompt if type(block) is Interrupt), None)
    fields: dict[str, Any] = {}
    if speaker is not None:
        fields = _speaker_fields(speaker)
    elif mark is not None:
        fields = _mark_fields(mark)
    else:
        fields = {"permissionMode": "default"}
    written.add_user(message, content, **fields)


def _speaker_fields(text: Text) -> dict[str, Any]:
    if text.author is Author.PERSON:
        return {"permissionMode": "default", "promptSource": "queued" if text.via is Via.QUEUE else "typed"}
    origin = {"kind": _ORIGINS[text.author]}
    if text.by is not None:
        origin["name"] = text.by
    return {"origin": origin}


def _mark_fields(mark: Interrupt) -> dict[str, Any]:
    return {"origin": {"kind": _ORIGINS.get(mark.by, "unknown")}}


def _prompt_block(written: Written, index: int, block: Block) -> dict[str, Any] | None:
    if type(block) is Interrupt:
        return {"type": "text", "text": CLAUDE_CODE_INTERRUPTS[0]}
    if type(block) is Text:
        if not block.text:
            written.drop(index, "text", "an empty text is refused by the provider")
            return None
        return {"type": "text", "text": block.text}
    return _media(written, index, block)


def _media(written: Written, index: int, block: Block) -> dict[str, Any] | None:
    spelled = spell.image(block) if type(block) is Image else spell.document(block)  # type: ignore[arg-type]
    if spelled.block is None:
        written.dropped.add((written.message, index))
    written.lose_all(spelled.lost, index)
    return spelled.block


def _write_compaction(written: Written, message: Message, index: int, block: Any) -> None:
    metadata = {"trigger": block.trigger, "preTokens": block.tokens_before, "postTokens": block.tokens_after}
    before = written.last
    written.last = None
    written.add(
        "system",
        message,
        logicalParentUuid=before,
        subtype="compact_boundary",
        content="Conversation compacted",
        isMeta=False,
        level="info",
        compactMetadata={key: value for key, value in metadata.items() if value is not None},
    )
    if block.summary is not None:
        written.add_user(message, block.summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)


def _write_command(written: Written, message: Message, index: int, block: Any) -> None:
    """A slash command or ``!`` command, whose row's id is the call's."""
    if block.provider is not None:
        written.lose("tool_use.provider", "state of another provider", index)
    text = command_text(block.call)
    if text is None:
        written.drop(index, "tool_use", "a prompt cannot hold a call of this kind here")
        return
    own = written.row_ids[written.message]
    taken = {row["uuid"] for row in written.rows if "uuid" in row}
    uuid = block.id if _may_be_uuid(block.id) and block.id not in taken else None
    row = written.add_user(
        message, text, uuid or ids.stable_uuid("claude_code", written.session, written.message, len(own))
    )
    if uuid is None:
        written.lose("tool_use.id", f"a command is named by its row: {row['uuid']}", index)
    written.commands[block.id] = row["uuid"]
    if type(block.call) is Bash:
        written.shells.add(block.id)


def command_text(call: object) -> str | None:
    """How a call a person made at the prompt is written, or None when it is no such call."""
    if type(call) is Command:
        return envelopes.render_command(call)
    if type(call) is Bash and call == Bash(call.command):
        return envelopes.render_section(call.command, "bash-input")
    return None


def _may_be_uuid(value: str) -> bool:
    return len(value) == 36 and value.count("-") == 4 and value.isascii()


def _write_output(written: Written, message: Message, index: int, block: Any) -> None:
    """What a slash command or ``!`` command printed."""
    content, lost = spell.result_content(block.content)
    if not isinstance(content, str):
        content, lost = (
            jsonio.encode(content).decode(),
            (("tool_result.content", "output of a command is a text here"),),
        )
    if block.is_error:
        lost += (("tool_result.is_error", "output of a command does not say whether it failed"),)
    if block.refusal is not None:
        lost += (("tool_result.refusal", "output of a command cannot be refused"),)
    written.lose_all(lost, index)
    if block.tool_use_id in written.shells:
        text = envelopes.render_shell_output(content)
    else:
        text = envelopes.render_section(content, "local-command-stdout")
    written.add_user(message, text)
    if written.commands[block.tool_use_id] != block.tool_use_id:
        written.lose("tool_result.tool_use_id", f"written as {written.commands[block.tool_use_id]}", index)


def _drop_decision(written: Written, message: Message, index: int, block: Any) -> None:
    written.drop(index, "decision", "a decision stands in the result of the call that asked")


_ALONE: dict[type, Any] = {
    Compaction: _write_compaction,
    ToolUse: _write_command,
    ToolResult: _write_output,
    Decision: _drop_decision,
}
_IN_PROMPT = frozenset({Text, Image, Artifact, Interrupt})


# Results and what rides with them ----------------------------------------------------------------------------


def _write_results(written: Written, message: Message) -> None:
    answers: list[tuple[int, Block]] = []
    result: tuple[int, ToolResult] | None = None
    for index, block in enumerate(message.content):
        kind = type(block)
        if result is not None and (kind is Decision or (kind is Text and block.via is Via.ANSWER)):  # type: ignore[union-attr]
            answers.append((index, block))
            continue
        if result is not None:
            _write_result(written, message, *result, answers)
            result, answers = None, []
        if kind is ToolResult:
            result = (index, block)  # type: ignore[assignment]
        elif kind is Decision:
            _drop_decision(written, message, index, block)
        else:
            _write_rider(written, message, index, block)
    if result is not None:
        _write_result(written, message, *result, answers)


def _write_result(
    written: Written, message: Message, index: int, block: ToolResult, answers: Sequence[tuple[int, Block]]
) -> None:
    spelled = spell.result(block, spell.native_id(block.tool_use_id))
    written.lose_all(spelled.lost, index)
    fields: dict[str, Any] = {}
    if answers:
        fields["toolUseResult"] = _outcome(written, block, answers)
    if spelled.denial is not None:
        fields["toolDenialKind"] = spelled.denial
    written.add_user(message, [spelled.block], **fields)


def _outcome(written: Written, block: ToolResult, answers: Sequence[tuple[int, Block]]) -> dict[str, Any]:
    """What a person answered, as Claude Code keeps it beside the result of the question."""
    asked = _questions(written.calls.get(block.tool_use_id))
    decided = {answer.ask for _, answer in answers if type(answer) is Decision}
    free = [question for question in asked if question not in decided]
    questions: list[dict[str, Any]] = []
    given: dict[str, str] = {}
    notes: dict[str, Any] = {}
    for index, answer in answers:
        if type(answer) is Decision:
            if answer.choice == "edit" and answer.by is Author.PERSON and answer.ask == block.tool_use_id:
                return {"userModified": True}
            question, words, labels = answer.ask, answer.choice or "", [{"label": answer.choice or ""}]
            if answer.comment is not None:
                notes[question] = {"notes": answer.comment}
        else:
            question = free.pop(0) if free else " " * (index + 1)
            words, labels = answer.text if type(answer) is Text else "", []
        questions.append({"question": question, "options": labels})
        given[question] = words
    outcome: dict[str, Any] = {"questions": questions, "answers": given}
    if notes:
        outcome["annotations"] = notes
    return outcome


def _questions(call: ToolUse | None) -> list[str]:
    value = spell.native_call(call.call)[1] if call is not None else None
    questions = value.get("questions") if isinstance(value, Mapping) else None
    found = (item.get("question") for item in questions if isinstance(item, Mapping)) if questions else ()
    return [question for question in found if isinstance(question, str)]


def _write_rider(written: Written, message: Message, index: int, block: Block) -> None:
    """What rides with results: a text or picture handed over while the agent works, or a mark."""
    if type(block) is Interrupt:
        written.add_user(message, [{"type": "text", "text": CLAUDE_CODE_INTERRUPTS[1]}], **_mark_fields(block))
        return
    if type(block) is Text:
        if block.author in _MACHINES:
            written.drop(index, "text", f"text of the {block.author.value} is not written as a turn")
        elif not block.text:
            written.drop(index, "text", "an empty text is refused by the provider")
        else:
            origin = _speaker_fields(block).get("origin") or {"kind": "human"}
            _attach(written, message, block.text, origin)
        return
    if type(block) is Image or type(block) is Artifact:
        native = _media(written, index, block)
        if native is not None:
            _attach(written, message, [native], {"kind": "human"})
        return
    written.drop(index, str(block.__struct_config__.tag), "it cannot stand beside results here")


def _attach(written: Written, message: Message, prompt: Any, origin: Mapping[str, str]) -> None:
    attachment = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt", "origin": origin}
    written.add("attachment", message, attachment=attachment)
