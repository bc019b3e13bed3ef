"""The records of a Codex rollout, as far as they are read.

A line is an envelope (``timestamp``, ``type``, ``payload``). Two logs are interleaved in a file: ``response_item``
is what the model sees, ``event_msg`` what the screen shows. One struct holds the fields of all payloads, because
the kind stands partly in the envelope and partly in the payload; what is not declared here is skipped by the
decoder, which is where the speed comes from (rate limits, sandbox policies, formatted output, base instructions).
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from handrail.harnesses.families.jsonl import RowReader

STARTS = (b'{"timestamp"',)
"""What a record begins with; where reading picks up again inside a line of glued records."""


class Element(Struct, gc=False):
    """One element of a message's ``content`` or of a reasoning ``summary``."""

    type: str = ""
    text: str | None = None
    image_url: Any = None


class TokenUsage(Struct, gc=False):
    """Tokens as the provider counted them; ``input_tokens`` includes the cached ones."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    reasoning_output_tokens: int | None = None


class TokenInfo(Struct, gc=False):
    """``last_token_usage`` is of one response, ``total_token_usage`` of the session so far."""

    total_token_usage: TokenUsage | None = None
    last_token_usage: TokenUsage | None = None


class Git(Struct, gc=False):
    """The part of ``session_meta.git`` that is read."""

    branch: str | None = None


class Payload(Struct, gc=False):
    """The fields of every kind of payload that are read, the frequent ones first and in the order they are written:
    the decoder looks for a key from where it found the one before."""

    type: str = ""
    # calls and their outputs, reasoning, messages
    id: str | None = None
    name: str | None = None
    arguments: Any = None
    call_id: str | None = None
    output: Any = None
    summary: list[Element] | str | None = None
    encrypted_content: str | None = None
    role: str | None = None
    content: list[Element] | str | None = None
    input: Any = None
    namespace: str | None = None
    action: Any = None
    execution: str | None = None
    tools: Any = None
    author: str | None = None
    # events
    info: TokenInfo | None = None
    message: str | None = None
    text: str | None = None
    turn_id: str | None = None
    reason: str | None = None
    command: Any = None
    cwd: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    aggregated_output: str | None = None
    exit_code: int | None = None
    status: Any = None
    success: bool | None = None
    changes: Raw = Raw()
    invocation: Any = None
    result: Raw = Raw()
    query: str | None = None
    results: Any = None
    num_turns: int | None = None
    thread_name: str | None = None
    kind: str | None = None
    event_id: str | None = None
    agent_thread_id: str | None = None
    new_thread_id: str | None = None
    # compacted
    replacement_history: Raw = Raw()
    # session_meta and turn_context
    timestamp: str | None = None
    cli_version: str | None = None
    model: str | UnsetType | None = UNSET
    model_name: str | None = None
    git: Git | None = None
    source: Any = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    approvals_reviewer: str | None = None


class Row(Struct, gc=False):
    """One line."""

    timestamp: str | None = None
    type: str = ""
    payload: Payload | None = None


reader = RowReader(Row, STARTS)

ITEM = "response_item"
EVENT = "event_msg"

KNOWN_ENVELOPES = frozenset(
    {
        "session_meta",
        "turn_context",
        "compacted",
        "world_state",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
    }
)
"""Types of a line besides the two logs."""

KNOWN_ITEMS = frozenset(
    {
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "web_search_call",
        "tool_search_call",
        "tool_search_output",
        "agent_message",
        "ghost_snapshot",
        "compaction",
        "compaction_summary",
    }
)

KNOWN_EVENTS = frozenset(
    {
        "agent_message",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "collab_agent_spawn_end",
        "context_compacted",
        "dynamic_tool_call_request",
        "dynamic_tool_call_response",
        "entered_review_mode",
        "error",
        "exec_command_end",
        "exited_review_mode",
        "item_completed",
        "mcp_tool_call_end",
        "patch_apply_end",
        "sub_agent_activity",
        "task_complete",
        "task_started",
        "thread_name_updated",
        "thread_rolled_back",
        "thread_settings_applied",
        "token_count",
        "turn_aborted",
        "turn_complete",
        "turn_started",
        "user_message",
        "view_image_tool_call",
        "warning",
        "web_search_end",
    }
)


def kind_of(row: Row) -> str:
    """The kind of a record as people name it: ``session_meta``, ``response_item/message``, …"""
    if row.type in (ITEM, EVENT):
        return f"{row.type}/{row.payload.type if row.payload else ''}"
    return row.type


def is_known(row: Row) -> bool:
    """Whether this codec knows the kind of ``row`` (not: whether it says anything)."""
    if row.type == ITEM:
        return row.payload is not None and row.payload.type in KNOWN_ITEMS
    if row.type == EVENT:
        return row.payload is not None and row.payload.type in KNOWN_EVENTS
    return row.type in KNOWN_ENVELOPES


def history_of(raw: Raw) -> list[Payload]:
    """The items of a ``replacement_history``; what does not fit is left out."""
    try:
        return msgspec.json.decode(raw, type=list[Payload])
    except (msgspec.DecodeError, RecursionError):
        return []
