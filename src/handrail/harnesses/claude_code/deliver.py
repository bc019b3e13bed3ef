"""Writing user messages without results: prompts, commands a person ran, compactions.

A message with results goes to ``results``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from handrail import ids, jsonio
from handrail.harnesses.claude_code import envelopes, spell
from handrail.harnesses.claude_code.results import (
    MACHINES,
    drop_decision,
    mark_fields,
    media,
    speaker_fields,
    write_results,
)
from handrail.harnesses.claude_code.written import Written
from handrail.harnesses.families.markers import CLAUDE_CODE_INTERRUPTS
from handrail.transcripts.model import (
    Artifact,
    Bash,
    Block,
    Command,
    Compaction,
    Decision,
    Image,
    Interrupt,
    Message,
    Text,
    ToolResult,
    ToolUse,
)


def write_delivery(written: Written, message: Message) -> None:
    """A user message. Beside results everything rides in rows that join them; without, it is a prompt."""
    content = message.content
    if any(type(block) is ToolResult and block.tool_use_id not in written.commands for block in content):
        write_results(written, message)
        return
    prompt: list[tuple[int, Block]] = []
    for index, block in enumerate(content):
        kind = type(block)
        if kind is Text and block.author in MACHINES:  # type: ignore[union-attr]
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
        fields = speaker_fields(speaker)
    elif mark is not None:
        fields = mark_fields(mark)
    else:
        fields = {"permissionMode": "default"}
    written.add_user(message, content, **fields)


def _prompt_block(written: Written, index: int, block: Block) -> dict[str, Any] | None:
    if type(block) is Interrupt:
        return {"type": "text", "text": CLAUDE_CODE_INTERRUPTS[0]}
    if type(block) is Text:
        if not block.text:
            written.drop(index, "text", "an empty text is refused by the provider")
            return None
        return {"type": "text", "text": block.text}
    return media(written, index, block)


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
    text = command_text(block.call)
    if text is None:
        written.drop(index, "tool_use", "a prompt cannot hold a call of this kind here")
        return
    if block.provider is not None:
        written.lose("tool_use.provider", "state of another provider", index)
    own = written.row_ids[written.message]
    uuid = block.id if _may_be_uuid(block.id) and block.id not in written.taken else None
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


_ALONE: dict[type, Any] = {
    Compaction: _write_compaction,
    ToolUse: _write_command,
    ToolResult: _write_output,
    Decision: drop_decision,
}
_IN_PROMPT = frozenset({Text, Image, Artifact, Interrupt})
