"""What the screen shows: the payloads of ``event_msg``, one class for each kind.

An event says in its ``type`` what kind it is, and is read as that class. The decoder skips what is not declared, which
is where the speed comes from (rate limits, formatted output); what is declared and asked for by nobody is there so
that damage in it is told.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Raw, Struct


class Event(Struct, gc=False, tag_field="type"):
    """What every kind of event is."""


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


class TokenCount(Event, tag="token_count"):
    info: TokenInfo | None = None


class Said(Event, tag="agent_message"):
    message: str | None = None


class Thought(Event, tag="agent_reasoning"):
    text: str | None = None


class RawThought(Thought, tag="agent_reasoning_raw_content"):
    pass


class Submitted(Event, tag="user_message"):
    message: str | None = None
    kind: str | None = None


class CallEnd(Event):
    """How a call ended."""

    call_id: str | None = None
    turn_id: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    aggregated_output: str | None = None
    exit_code: int | None = None
    success: bool | None = None
    status: Any = None


class CommandEnd(CallEnd, tag="exec_command_end"):
    command: Any = None
    cwd: str | None = None


class PatchEnd(CallEnd, tag="patch_apply_end"):
    changes: Raw = Raw()


class McpEnd(Event, tag="mcp_tool_call_end"):
    call_id: str | None = None
    invocation: Any = None
    result: Raw = Raw()
    status: Any = None


class WebSearchEnd(Event, tag="web_search_end"):
    call_id: str | None = None
    query: str | None = None
    action: Any = None
    results: Any = None


class OfTurn(Event):
    """An event that says of which turn it is."""

    turn_id: str | None = None


class TaskStarted(OfTurn, tag="task_started"):
    pass


class TurnStarted(OfTurn, tag="turn_started"):
    pass


class TaskComplete(OfTurn, tag="task_complete"):
    pass


class TurnComplete(OfTurn, tag="turn_complete"):
    pass


class TurnAborted(OfTurn, tag="turn_aborted"):
    reason: str | None = None


class RolledBack(Event, tag="thread_rolled_back"):
    num_turns: int | None = None


class Renamed(Event, tag="thread_name_updated"):
    thread_name: str | None = None


class AgentActivity(Event, tag="sub_agent_activity"):
    event_id: str | None = None
    agent_thread_id: str | None = None
    kind: str | None = None


class AgentSpawned(Event, tag="collab_agent_spawn_end"):
    call_id: str | None = None
    new_thread_id: str | None = None


class ContextCompacted(Event, tag="context_compacted"):
    pass


class ToolRequested(Event, tag="dynamic_tool_call_request"):
    pass


class ToolAnswered(Event, tag="dynamic_tool_call_response"):
    pass


class ReviewEntered(OfTurn, tag="entered_review_mode"):
    pass


class ReviewLeft(OfTurn, tag="exited_review_mode"):
    pass


class Failed(Event, tag="error"):
    pass


class Warned(Event, tag="warning"):
    pass


class ItemCompleted(OfTurn, tag="item_completed"):
    pass


class SettingsApplied(Event, tag="thread_settings_applied"):
    pass


class ImageViewed(Event, tag="view_image_tool_call"):
    pass


AnyEvent: TypeAlias = (
    TokenCount
    | Said
    | Thought
    | RawThought
    | Submitted
    | CommandEnd
    | PatchEnd
    | McpEnd
    | WebSearchEnd
    | TaskStarted
    | TurnStarted
    | TaskComplete
    | TurnComplete
    | TurnAborted
    | RolledBack
    | Renamed
    | AgentActivity
    | AgentSpawned
    | ContextCompacted
    | ToolRequested
    | ToolAnswered
    | ReviewEntered
    | ReviewLeft
    | Failed
    | Warned
    | ItemCompleted
    | SettingsApplied
    | ImageViewed
)
