"""What other hosts tell a hook and what they take for an answer: Claude Code and Codex; pure.

Both give one JSON object on standard input and read one from standard output; nothing printed and exit code 0 is "go
on". They differ in what a hook may answer: Claude Code can be told to ask its person, Codex cannot. The formats are
described, with their sources, in ``docs/hooks.md``.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from handrail import jsonio
from handrail.transcripts.model import Json

Host = Literal["claude_code", "codex"]
HOSTS: tuple[Host, ...] = ("claude_code", "codex")

CALL_EVENT = "PreToolUse"
REPLY_EVENT = "Stop"
EVENTS = (CALL_EVENT, REPLY_EVENT)
"""The events that a check looks at, by the names both hosts have for them: before a call, and when the agent ends."""

_ASKS = frozenset({"claude_code"})
"""The hosts that a hook can have ask their person."""


class Heard(Struct, frozen=True, kw_only=True):
    """One thing a host asked about. ``event`` is the host's own name for it; ``tool``, ``input`` and ``call`` are set
    before a call. ``reply`` is the answer in words, where the host says it. ``transcript`` is the session's file."""

    host: Host
    event: str
    session: str = ""
    cwd: str | None = None
    transcript: str | None = None
    tool: str = ""
    input: Json = None
    call: str = ""
    reply: str | None = None


class NotHeard(ValueError):
    """What stood on standard input is nothing that the host would say; the message says why."""


def heard(host: Host, data: bytes) -> Heard:
    """What ``host`` said; ``NotHeard`` for anything else."""
    try:
        said = jsonio.decode(data)
    except jsonio.NotJson as problem:
        raise NotHeard(f"no JSON: {problem}") from problem
    if not isinstance(said, dict):
        raise NotHeard(f"{type(said).__name__} and no object")
    event = said.get("hook_event_name")
    if not isinstance(event, str):
        raise NotHeard("no event is named")
    if event == CALL_EVENT and not isinstance(said.get("tool_name"), str):
        raise NotHeard("no tool is named")
    return Heard(
        host=host,
        event=event,
        session=_text(said, "session_id") or "",
        cwd=_text(said, "cwd"),
        transcript=_text(said, "transcript_path"),
        tool=_text(said, "tool_name") or "",
        input=said.get("tool_input"),
        call=_text(said, "tool_use_id") or "",
        reply=_text(said, "last_assistant_message"),
    )


def can_ask(host: Host) -> bool:
    """Whether ``host`` can be told to ask its person about a call."""
    return host in _ASKS


def refused(reason: str) -> bytes:
    """The answer that keeps a call from running."""
    return _decided("deny", reason)


def asked(reason: str) -> bytes:
    """The answer that has the person asked about a call, where the host can."""
    return _decided("ask", reason)


def sent_back(reason: str) -> bytes:
    """The answer that has the agent go on instead of ending with the reply it gave."""
    return jsonio.encode({"decision": "block", "reason": reason})


def _decided(decision: str, reason: str) -> bytes:
    told = {"hookEventName": CALL_EVENT, "permissionDecision": decision, "permissionDecisionReason": reason}
    return jsonio.encode({"hookSpecificOutput": told})


def _text(said: dict[str, Any], field: str) -> str | None:
    value = said.get(field)
    return value if isinstance(value, str) else None
