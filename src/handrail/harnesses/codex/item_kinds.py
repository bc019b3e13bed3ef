"""What the model sees, item by item: the payloads of ``response_item``, one class for each kind.

An item says in its ``type`` what kind it is, and is read as that class. The decoder skips what is not declared, which
is where the speed comes from; what is declared and asked for by nobody is there so that damage in it is told.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct, field


class Element(Struct, gc=False):
    """One element of a message's ``content`` or of a reasoning ``summary``."""

    type: str = ""
    text: str | None = None
    image_url: Any = None


Content: TypeAlias = list[Element] | str | None


class Item(Struct, gc=False, tag_field="type"):
    """An item of the conversation; only newer ones have an ``id``."""

    id: str | None = None


class Message(Item, tag="message"):
    role: str | None = None
    content: Content = None


class Reasoning(Item, tag="reasoning"):
    summary: Content = None
    content: Content = None
    encrypted_content: str | None = None


class FunctionCall(Item, tag="function_call"):
    name: str | None = None
    arguments: Any = None
    call_id: str | None = None
    namespace: str | None = None


class CustomToolCall(Item, tag="custom_tool_call"):
    call_id: str | None = None
    name: str | None = None
    input: Any = None


class LocalShellCall(Item, tag="local_shell_call"):
    call_id: str | None = None
    action: Any = None


class WebSearchCall(Item, tag="web_search_call"):
    call_id: str | None = None
    action: Any = None


class ToolSearchCall(Item, tag="tool_search_call"):
    call_id: str | None = None
    execution: str | None = None
    arguments: Any = None


class Output(Item):
    """What a call gave."""

    call_id: str | None = None
    output: Any = None


class FunctionOutput(Output, tag="function_call_output"):
    pass


class CustomToolOutput(Output, tag="custom_tool_call_output"):
    pass


class ToolSearchOutput(Output, tag="tool_search_output"):
    execution: str | None = None
    output: Any = field(default=None, name="tools")


class GhostSnapshot(Item, tag="ghost_snapshot"):
    pass


class CompactionItem(Item, tag="compaction"):
    pass


class CompactionSummary(Item, tag="compaction_summary"):
    pass


class PeerMessage(Item, tag="agent_message"):
    """What another agent said to this one."""

    author: str | None = None
    content: Content = None


Call: TypeAlias = FunctionCall | CustomToolCall | LocalShellCall | WebSearchCall | ToolSearchCall


AnyItem: TypeAlias = (
    Message
    | Reasoning
    | Call
    | FunctionOutput
    | CustomToolOutput
    | ToolSearchOutput
    | PeerMessage
    | GhostSnapshot
    | CompactionItem
    | CompactionSummary
)
