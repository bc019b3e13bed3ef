"""Content blocks of Claude Code's rows as canonical blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from handrail.harnesses.claude_code.wire import Outcome, Row, WireBlock, WireUsage
from handrail.harnesses.families.markers import (
    CLAUDE_CODE_ANSWERS,
    CLAUDE_CODE_DENIALS,
    CLAUDE_CODE_PLAN_APPROVED,
    CLAUDE_CODE_PLAN_EDITED,
    CLAUDE_CODE_REFUSALS,
    find_refusal,
)
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import (
    Artifact,
    Author,
    Block,
    Decision,
    Image,
    Raw,
    Refusal,
    RefusalKind,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolUse,
    Usage,
    Via,
)

_RESULT_SUFFIX = "_tool_result"
_MODEL = Author.MODEL
SERVER_TOOL = {"type": "server_tool_use"}
"""``ToolUse.provider`` of a call that the provider ran itself."""


def parse_native_call(name: str, input: Any) -> ToolCall:
    """The typed call of a Claude Code tool. Its shell counts ``timeout`` in milliseconds."""
    if name == "Bash" and type(input) is dict:
        if "timeout_ms" in input:
            return Raw(name, input)
        if "timeout" in input:
            renamed = {"timeout_ms" if key == "timeout" else key: value for key, value in input.items()}
            call = parse_call(name, renamed)
            return Raw(name, input) if type(call) is Raw else call
    return parse_call(name, input)


def _text(block: WireBlock) -> Block | None:
    return Text(block.text, _MODEL) if block.text is not None else None


def _thinking(block: WireBlock) -> Block | None:
    return Thinking(block.thinking or "", block.signature)


def _redacted(block: WireBlock) -> Block | None:
    return Thinking("", None, block.data) if block.data is not None else None


def _tool_use(block: WireBlock) -> Block | None:
    if block.id is None or block.name is None:
        return None
    return ToolUse(block.id, parse_native_call(block.name, {} if block.input is None else block.input))


def _server_tool_use(block: WireBlock) -> Block | None:
    if block.id is None or block.name is None:
        return None
    return ToolUse(block.id, parse_native_call(block.name, {} if block.input is None else block.input), SERVER_TOOL)


def image(block: WireBlock) -> Block | None:
    """A picture, when it has one."""
    source = block.source
    if source is None or (source.data is None and source.url is None):
        return None
    return Image(source.media_type or "", source.data or "", source.url)


def document(block: WireBlock) -> Block | None:
    """A document as an artifact; plain text stays text."""
    source = block.source
    if source is None:
        return None
    name = block.title or "document"
    text, data = (source.data, None) if source.type == "text" else (None, source.data)
    return Artifact(block.id or name, name, text, data, source.url, source.media_type)


def media(block: WireBlock) -> list[Block]:
    """The picture or document of a block that holds one."""
    found = image(block) if block.type == "image" else document(block) if block.type == "document" else None
    return [] if found is None else [found]


RESPONSE_BLOCKS: dict[str, Callable[[WireBlock], Block | None]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _tool_use,
    "server_tool_use": _server_tool_use,
    "mcp_tool_use": _server_tool_use,
    "image": image,
    "document": document,
}

KNOWN_BLOCKS = frozenset({*RESPONSE_BLOCKS, "tool_result"})


def server_result(block: WireBlock) -> Block | None:
    """The result of a call that the provider ran, which stands in the response; None for any other kind of block."""
    if block.type.endswith(_RESULT_SUFFIX) and block.tool_use_id is not None:
        return ToolResult(block.tool_use_id, "" if block.content is None else block.content, bool(block.is_error))
    return None


def usage(found: WireUsage) -> Usage | None:
    """The tokens of a response, when both counts are there."""
    if found.input_tokens is None or found.output_tokens is None:
        return None
    return Usage(
        input_tokens=found.input_tokens,
        output_tokens=found.output_tokens,
        cache_read_input_tokens=found.cache_read_input_tokens,
        cache_creation_input_tokens=found.cache_creation_input_tokens,
    )


def read_result(block: WireBlock, row: Row) -> ToolResult:
    """What came back for a call."""
    call = block.tool_use_id or ""
    content = "" if block.content is None else block.content
    is_error = block.is_error is True
    if is_error or row.toolDenialKind is not None:
        return ToolResult(call, content, is_error, _refusal(content, row))
    return ToolResult(call, content)


def answers_in(found: ToolResult, row: Row) -> Sequence[Block]:
    """What a person answered in the result ``found`` of ``row``: decisions and typed words."""
    call, content = found.tool_use_id, found.content
    outcome = row.toolUseResult
    blocks: list[Block] = []
    if type(outcome) is Outcome:
        if outcome.answers is not None and _plain(content).startswith(CLAUDE_CODE_ANSWERS):
            blocks += _answers(outcome)
        elif outcome.userModified:
            blocks.append(Decision(call, Author.PERSON, "edit"))
    if type(content) is str and not found.is_error and content.startswith(CLAUDE_CODE_PLAN_APPROVED):
        blocks.append(_approval(call, content))
    return blocks


def _plain(content: Any) -> str:
    if type(content) is str:
        return content
    if type(content) is not list:
        return ""
    texts = (item.get("text") for item in content if type(item) is dict)
    return "\n".join(text for text in texts if type(text) is str)


def _refusal(content: Any, row: Row) -> Refusal | None:
    found = find_refusal(_plain(content), CLAUDE_CODE_REFUSALS)
    if found is None and row.toolDenialKind is not None:
        kind, by = CLAUDE_CODE_DENIALS.get(row.toolDenialKind, (RefusalKind.BLOCKED, row.toolDenialKind))
        return Refusal(kind, by)
    return found


def _answers(outcome: Outcome) -> list[Block]:
    if type(outcome.answers) is not dict:
        return []
    labels = _labels(outcome.questions)
    notes = outcome.annotations if type(outcome.annotations) is dict else {}
    found: list[Block] = []
    for question, answer in outcome.answers.items():
        words = answer if type(answer) is str else ", ".join(map(str, answer)) if type(answer) is list else None
        if not words:
            continue
        offered = labels.get(question, ())
        note = notes.get(question)
        comment = note.get("notes") if type(note) is dict else None
        if words in offered or (offered and all(part in offered for part in words.split(", "))):
            found.append(Decision(question, Author.PERSON, words, comment if type(comment) is str else None))
        else:
            found.append(Text(words, Author.PERSON, None, Via.ANSWER))
    return found


def _labels(questions: Any) -> dict[str, tuple[str, ...]]:
    """The labels offered for each question."""
    found: dict[str, tuple[str, ...]] = {}
    for item in questions if type(questions) is list else ():
        if type(item) is not dict or type(item.get("question")) is not str:
            continue
        options = item.get("options")
        labels = (option.get("label") for option in options if type(option) is dict) if type(options) is list else ()
        found[item["question"]] = tuple(label for label in labels if type(label) is str)
    return found


def _approval(call: str, content: str) -> Decision:
    _, edited, plan = content.partition(CLAUDE_CODE_PLAN_EDITED)
    if edited:
        return Decision(call, Author.PERSON, "edit", after=plan)
    return Decision(call, Author.UNKNOWN, "approve")
