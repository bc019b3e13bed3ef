"""What a played provider is to answer, in the words of the canonical model."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from handrail import jsonio
from handrail.transcripts.calls import render_call
from handrail.transcripts.model import Author, Bash, Block, Raw, Text, ToolUse, Usage


class Fault(StrEnum):
    """How a request fails instead of being answered.

    ``cut`` breaks the connection in the middle; ``unfinished`` ends the stream in the middle, as if that were all.
    """

    OVERLOADED = "overloaded"
    OVERLOADED_MID_WAY = "overloaded_mid_way"
    SERVER_ERROR = "server_error"
    RATE_LIMITED = "rate_limited"
    BAD_KEY = "bad_key"
    QUOTA_SPENT = "quota_spent"
    BAD_REQUEST = "bad_request"
    CONTEXT_TOO_LONG = "context_too_long"
    CUT = "cut"
    UNFINISHED = "unfinished"
    MALFORMED = "malformed"


RETRY_AFTER_S = 2.0
"""What a rate limit asks to wait."""


class Turn(Struct, frozen=True, kw_only=True):
    """One response, or the fault that comes in its place. ``hangs`` says that it begins and never ends."""

    content: tuple[Block, ...] = ()
    stop_reason: str = "end_turn"
    usage: Usage = Usage(input_tokens=11, output_tokens=7, cache_read_input_tokens=5)
    fault: Fault | None = None
    hangs: bool = False


def says(text: str, *, stop_reason: str = "end_turn") -> Turn:
    """A turn of one text."""
    return Turn(content=(Text(text, Author.MODEL),), stop_reason=stop_reason)


TEXT = says("Grüße aus dem Strom, in mehreren Stücken.")
ONE_CALL = Turn(
    content=(Text("I look.", Author.MODEL), ToolUse("call_one", Bash("ls -l", description="lists"))),
    stop_reason="tool_use",
)
PARALLEL_CALLS = Turn(
    content=(
        ToolUse("call_a", Raw("probe", {"value": "a", "deep": {"list": [1, None, "ü"]}})),
        ToolUse("call_b", Raw("probe", {"value": "b"})),
    ),
    stop_reason="tool_use",
)
BROKEN_CALL = Turn(content=(ToolUse("call_one", Raw("probe", '{"value": "a')),), stop_reason="tool_use")
CUT_CALL = Turn(content=BROKEN_CALL.content, stop_reason="max_tokens")
LENGTH = says("It ends in the midd", stop_reason="max_tokens")
REFUSAL = says("I won't help with that.", stop_reason="refusal")


def spelled_input(call: ToolUse) -> tuple[str, str]:
    """The name of a call and its input as the JSON text a model writes."""
    name, input = render_call(call.call)
    return name, input if isinstance(input, str) else jsonio.encode(input).decode()


def pieces(text: str, size: int = 7) -> list[str]:
    """``text`` as it streams: in pieces of ``size`` characters."""
    return [text[start : start + size] for start in range(0, len(text), size)]
