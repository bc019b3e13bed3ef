"""The words by which harnesses mark who speaks: one table for each harness, one row for each marker.

A coding agent's log puts many things in the user's place: reminders, notifications, command output, skill texts,
words of other agents. What gives them away is an exact opening, listed here. To teach Handrail a new one, add a
row; no code changes. Each row names where it was seen, in the documents under ``docs/formats``.

A marker matches at the very start of a text block. ``closes`` ends its reach, and what follows is looked at anew;
without it the whole block is the marker's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from handrail.transcripts.model import Author, Refusal, RefusalKind


class Marker(NamedTuple):
    """Text that opens with ``opens`` was written by ``author`` (``by`` names it closer).

    ``is_whole``: the block holds nothing else. ``is_prose``: a person could well type this, so it does not count
    where a record proves the text was typed.
    """

    opens: str
    author: Author
    by: str
    closes: str | None = None
    is_whole: bool = False
    is_prose: bool = False


class RefusalMarker(NamedTuple):
    """A result that opens with ``opens`` (or holds ``holds``) stands for a call that was refused.

    ``words`` are the openings after which the refuser's own words follow; ``until`` are texts the harness puts
    after them.
    """

    kind: RefusalKind
    by: str | None
    opens: str = ""
    holds: str = ""
    words: tuple[str, ...] = ()
    until: tuple[str, ...] = ()


def find_marker(text: str, markers: Sequence[Marker], *, is_typed: bool = False) -> Marker | None:
    """The first marker that ``text`` opens with. ``is_typed`` says a record proves that it was typed."""
    for marker in markers:
        if text.startswith(marker.opens) and not (is_typed and marker.is_prose):
            if marker.is_whole and text != marker.opens:
                continue
            return marker
    return None


def split_marked(text: str, markers: Sequence[Marker], *, is_typed: bool = False) -> list[tuple[str, Marker | None]]:
    """``text`` cut into marked stretches and what a person may have written, in order.

    The pieces joined are the text again; white space around a marked stretch belongs to it.
    """
    pieces: list[tuple[str, Marker | None]] = []
    rest = text
    while rest:
        lead = len(rest) - len(rest.lstrip())
        marker = find_marker(rest[lead:], markers, is_typed=is_typed)
        if marker is None:
            break
        end = rest.find(marker.closes, lead) if marker.closes else -1
        if marker.closes is None or end < 0:
            return [*pieces, (rest, marker)]
        end += len(marker.closes)
        end += len(rest[end:]) - len(rest[end:].lstrip())
        pieces.append((rest[:end], marker))
        rest = rest[end:]
    tail: list[tuple[str, Marker | None]] = []
    while rest and (found := _closing(rest, markers)) is not None:
        start, marker = found
        tail.append((rest[start:], marker))
        rest = rest[:start]
    if rest:
        pieces.append((rest, None))
    return pieces + tail[::-1]


def _closing(text: str, markers: Sequence[Marker]) -> tuple[int, Marker] | None:
    """Where a marked stretch begins that ends ``text``, white space before it included."""
    end = text.rstrip()
    for marker in markers:
        if marker.closes and end.endswith(marker.closes):
            start = end.rfind(marker.opens)
            if start > 0:
                return len(end[:start].rstrip()), marker
    return None


def find_refusal(text: str, markers: Sequence[RefusalMarker]) -> Refusal | None:
    """The refusal that a result's ``text`` stands for, with the refuser's own words, or None."""
    for marker in markers:
        if text.startswith(marker.opens) and marker.holds in text:
            return Refusal(marker.kind, marker.by, _words(text, marker))
    return None


def _words(text: str, marker: RefusalMarker) -> str | None:
    for opening in marker.words:
        at = text.find(opening, len(marker.opens) if opening != marker.opens else 0)
        if at >= 0:
            said = text[at + len(opening) :]
            for ending in marker.until:
                said = said.partition(ending)[0]
            return said or None
    return None


# Claude Code -------------------------------------------------------------------------------------------------

_HARNESS, _PEER = Author.HARNESS, Author.PEER

REPAIR_NOTE = "[handrail repair] "
"""What our own repair puts in place of something that cannot stand where it stood; the whole block is its."""

CLAUDE_CODE_TEXTS: tuple[Marker, ...] = (
    Marker(REPAIR_NOTE, _HARNESS, "repair"),
    Marker("<system-reminder>", _HARNESS, "system-reminder", closes="</system-reminder>"),
    Marker("<task-notification>", _HARNESS, "task-notification"),
    Marker("<bash-notification>", _HARNESS, "task-notification"),
    Marker("<agent-notification>", _HARNESS, "task-notification"),
    Marker('{"task_id":"', _HARNESS, "task-notification", is_prose=True),
    Marker("[SYSTEM NOTIFICATION - NOT USER INPUT]", _HARNESS, "notification"),
    Marker("<local-command-caveat>", _HARNESS, "caveat", closes="</local-command-caveat>"),
    Marker(
        "Caveat: The messages below were generated by the user while running local commands.",
        _HARNESS,
        "caveat",
        is_prose=True,
    ),
    Marker("<local-command-stdout>", _HARNESS, "command"),
    Marker("<local-command-stderr>", _HARNESS, "command"),
    Marker("<bash-stdout>", _HARNESS, "shell"),
    Marker("<bash-stderr>", _HARNESS, "shell"),
    Marker("<ide_opened_file>", _HARNESS, "ide", closes="</ide_opened_file>"),
    Marker("<ide_selection>", _HARNESS, "ide", closes="</ide_selection>"),
    Marker("<ide_diagnostics>", _HARNESS, "ide", closes="</ide_diagnostics>"),
    Marker("<user-prompt-submit-hook>", _HARNESS, "hook:UserPromptSubmit", closes="</user-prompt-submit-hook>"),
    Marker("<session-start-hook>", _HARNESS, "hook:SessionStart", closes="</session-start-hook>"),
    Marker("<user-memory-input>", _HARNESS, "memory", closes="</user-memory-input>"),
    Marker("<new-diagnostics>", _HARNESS, "ide", closes="</new-diagnostics>"),
    Marker("Stop hook feedback:", _HARNESS, "hook:Stop", is_prose=True),
    Marker("Operation stopped by hook: ", _HARNESS, "hook", is_prose=True),
    Marker("Unknown slash command: ", _HARNESS, "command", is_prose=True),
    Marker("<teammate-message", _PEER, "teammate", closes="</teammate-message>"),
    Marker("Base directory for this skill: ", _HARNESS, "skill", is_prose=True),
    Marker("Warmup", _HARNESS, "warmup", is_whole=True, is_prose=True),
)
"""Openings of user text in Claude Code 1.0.24 to 2.1.219 that are not a person's."""

CLAUDE_CODE_SUMMARY = "This session is being continued from a previous conversation that ran out of context"
"""How the summary of a compaction opens."""

CLAUDE_CODE_INTERRUPTS = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")
"""Whole blocks that say the agent was stopped. The second, straight after a refusal, is part of that refusal."""

CLAUDE_CODE_ORIGINS: dict[str, tuple[Author, str | None]] = {
    "human": (Author.PERSON, None),
    "task-notification": (Author.HARNESS, "task-notification"),
    "peer": (Author.PEER, None),
    "teammate": (Author.PEER, "teammate"),
    "coordinator": (Author.PEER, "coordinator"),
}
"""``origin.kind`` of a row or queued text; any other kind is unknown."""

CLAUDE_CODE_PROGRAMS = frozenset({"sdk-cli", "sdk-ts", "sdk-py", "mcp", "claude-code-github-action"})
"""Values of ``entrypoint`` that mean a program writes the prompts."""

CLAUDE_CODE_EDITORS = frozenset({"claude-vscode"})
"""Values of ``entrypoint`` that mean a person writes them in an editor, which leaves no proof of it in the rows."""

_REJECTED = "The user doesn't want to proceed with this tool use."
_NOTE = "\n\nNote: The user's next message may contain a correction or preference."
_DENIED, _BLOCKED = RefusalKind.DENIED, RefusalKind.BLOCKED

CLAUDE_CODE_REFUSALS: tuple[RefusalMarker, ...] = (
    RefusalMarker(
        # Turning questions down to talk about them: what follows is the harness's text and the agent's questions.
        _DENIED,
        "person",
        opens=_REJECTED,
        holds=" the user said:\nThe user wants to clarify these questions.",
    ),
    RefusalMarker(
        _DENIED,
        "person",
        opens=_REJECTED,
        words=(
            " To tell you how to proceed, the user said:\n",
            " The user provided the following reason for the rejection:  ",
        ),
        until=(_NOTE,),
    ),
    RefusalMarker(_DENIED, "person", opens="The user doesn't want to take this action right now."),
    RefusalMarker(RefusalKind.INTERRUPTED, None, opens="[Request interrupted by user for tool use]"),
    RefusalMarker(
        RefusalKind.INTERRUPTED, None, opens="Exit code ", holds="\n[Request interrupted by user for tool use]"
    ),
    RefusalMarker(
        _BLOCKED,
        "policy",
        opens="Permission for this action was denied by the Claude Code auto mode classifier.",
        words=(" Reason: ",),
    ),
    RefusalMarker(
        _BLOCKED, "policy", holds=" is temporarily unavailable, so auto mode cannot determine the safety of "
    ),
    RefusalMarker(_BLOCKED, "policy", opens="This command requires approval"),
    RefusalMarker(
        _BLOCKED, "policy", opens="Claude requested permissions to ", holds=", but you haven't granted it yet."
    ),
    RefusalMarker(_BLOCKED, "policy", holds="The following part requires approval: "),
    RefusalMarker(_BLOCKED, "policy", holds=" was blocked. For security"),
    RefusalMarker(_BLOCKED, "policy", opens="Permission to use ", holds=" has been denied"),
    RefusalMarker(_BLOCKED, "hook:PreToolUse", opens="PreToolUse:", holds=" hook error"),
    RefusalMarker(_BLOCKED, "hook:PreToolUse", opens="Hook PreToolUse:", holds=" denied this tool"),
)
"""How an error result of Claude Code says that the call was refused."""

CLAUDE_CODE_DENIALS: dict[str, tuple[RefusalKind, str | None]] = {
    "user-rejected": (_DENIED, "person"),
    "automode-unavailable": (_BLOCKED, "policy"),
    "automode-denied": (_BLOCKED, "policy"),
    "hook-denied": (_BLOCKED, "hook"),
    "permission-rule": (_BLOCKED, "policy"),
}
"""``toolDenialKind`` of a row; any other kind is a block by what it names."""

CLAUDE_CODE_ANSWERS = (
    "User has answered your questions:",
    "Your questions have been answered:",
    "The user answered:",
)
"""How the result of a question opens when a person answered it."""

CLAUDE_CODE_PLAN_APPROVED = "User has approved your plan."
"""How the result of a plan opens when it was approved; by whom is not recorded."""

CLAUDE_CODE_PLAN_EDITED = "## Approved Plan (edited by user):\n"
"""What stands before a plan that a person changed while approving it."""


# Codex -------------------------------------------------------------------------------------------------------


class Wrapper(NamedTuple):
    """A template in which a person's part is buried, in a text that was submitted as a prompt.

    ``opens`` is a pattern the template begins with (white space before it is free), ``starts`` what stands right
    before the person's part (None: no part of it is provably a person's), ``ends`` what stands right after (None: it
    goes to the end).
    """

    by: str
    opens: str
    starts: str | None
    ends: str | None = None

    def inner(self, text: str) -> tuple[int, int] | None:
        """Where the person's part of ``text`` stands; None when this is not the template."""
        if not re.match(self.opens, text.lstrip()):
            return None
        if self.starts is None:
            return len(text), len(text)
        start = text.find(self.starts)
        if start < 0:
            return None
        start += len(self.starts)
        end = len(text) if self.ends is None else text.find(self.ends, start - 1)
        return (start, len(text)) if end < 0 else (start, max(start, end))


CODEX_ENVELOPES: tuple[Marker, ...] = (
    Marker(REPAIR_NOTE, _HARNESS, "repair"),
    Marker("<environment_context>", _HARNESS, "environment"),
    Marker("# AGENTS.md instructions for ", _HARNESS, "agents.md"),
    Marker("<user_instructions>", _HARNESS, "agents.md"),
    Marker("<INSTRUCTIONS>", _HARNESS, "agents.md"),
    Marker("<recommended_plugins>", _HARNESS, "plugins"),
    Marker("<plugins_instructions>", _HARNESS, "plugins"),
    Marker("<apps_instructions>", _HARNESS, "apps"),
    Marker("<skill>", _HARNESS, "skill"),
    Marker("<skills_instructions>", _HARNESS, "skill"),
    Marker("<user_action>", _HARNESS, "review"),
    Marker("<user_shell_command>", _HARNESS, "shell"),
    Marker("<permissions instructions>", _HARNESS, "permissions"),
    Marker("<collaboration_mode>", _HARNESS, "mode"),
    Marker("<multi_agent_mode>", _HARNESS, "mode"),
    Marker("<model_switch>", _HARNESS, "mode"),
    Marker("<personality_spec>", _HARNESS, "mode"),
    Marker("<sandbox_mode>", _HARNESS, "permissions"),
    Marker("<approval_policy>", _HARNESS, "permissions"),
    Marker("<turn_aborted>", _HARNESS, "interrupt"),
    Marker("<hook_prompt", _HARNESS, "hook"),
    Marker("<subagent_notification>", _PEER, "subagent"),
    Marker("Another language model started to solve this problem", _HARNESS, "compaction"),
)
"""Openings of user items in Codex 0.36 to 0.145 that no ``user_message`` event follows."""

CODEX_WRAPPERS: tuple[Wrapper, ...] = (
    Wrapper("files", "# Files mentioned by the user:", starts="## My request for Codex:\n"),
    Wrapper("ide", "# Context from my IDE setup:", starts="## My request for Codex:\n"),
    Wrapper("prompt-file", "## User Input", starts="```text\n", ends="\n```"),
    Wrapper("prompt-file", "# /\\S+ — ", starts=None),
)
"""Templates round a person's words in Codex. A custom prompt file whose first line is ``# /NAME — …`` tells nothing
about which of its words were typed."""

CODEX_PROGRAMS = frozenset({"exec", "mcp"})
"""Values of ``session_meta.source`` that mean a program writes the prompts."""
