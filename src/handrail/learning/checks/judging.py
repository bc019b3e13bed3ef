"""What a check says of one call or one reply, given what came before: pure, and the same for a past session and a run.

``Past`` takes in what happened one by one, and every judgement looks at it. Three answers: violated, obeyed, or None
where the check does not apply.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from handrail import jsonio
from handrail.agents.permissions import matches
from handrail.agents.shell_words import simple_commands, without_assignments
from handrail.learning.checks.spec import AskBefore, CallPattern, Check, Forbid, KeepWithin, Order, Reply
from handrail.transcripts.model import Json

Verdict: TypeAlias = bool | None
"""Whether the check is obeyed; None where it does not apply."""

_PATCH = "apply_patch"
_PATCH_FIELDS = ("patch", "input", "command")
CHANGES = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit", _PATCH})
"""The tools that change files, by the names they have in the canonical model."""

_PATHS = ("file_path", "path", "notebook_path")
_COMMANDS = ("command", "cmd", "script")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE)


class Done(Struct, frozen=True, gc=False):
    """A call: its id, the tool, and its input as it was made."""

    id: str
    name: str
    input: Json


class Past:
    """What a session holds up to here: its calls, where the person last spoke and where files last changed."""

    def __init__(self) -> None:
        self.calls: list[Done] = []
        self._well: set[str] = set()
        self._since = {"session": 0, "person": 0, "change": 0}

    def spoke(self) -> None:
        """The person said something."""
        self._since["person"] = len(self.calls)

    def called(self, call: Done) -> None:
        self.calls.append(call)
        if is_change(call):
            self._since["change"] = len(self.calls)

    def ended(self, id: str, *, went_well: bool) -> None:
        """The call ``id`` has its result."""
        if went_well:
            self._well.add(id)

    def went_well(self, since: Literal["session", "person", "change"]) -> Iterator[Done]:
        """The calls since then that ended well."""
        return (call for call in self.calls[self._since[since] :] if call.id in self._well)


def judge_call(check: Check, call: Done, past: Past, *, was_asked: bool | None = None) -> Verdict:
    """What ``check`` says of ``call``. ``was_asked`` says whether a person was asked about it, None: nobody knows."""
    match check:
        case Forbid():
            if fits(check.call, call):
                return False
            return True if fits(check.among or _siblings(check.call), call) else None
        case Order():
            return None if not fits(check.call, call) else _came_first(check, past)
        case AskBefore():
            return was_asked if fits(check.call, call) else None
        case KeepWithin():
            paths = tuple(changed_paths(call))
            return all(_may_change(check, path) for path in paths) if paths else None
        case Reply():
            return None


def judge_reply(check: Check, text: str) -> Verdict:
    """What ``check`` says of an answer in words."""
    if not isinstance(check, Reply) or not text.strip():
        return None
    folded = text.casefold()
    if any(_holds(pattern, folded) for pattern in check.without):
        return False
    if check.with_ and not any(_holds(pattern, folded) for pattern in check.with_):
        return False
    return check.words is None or len(text.split()) <= check.words


def fits(pattern: CallPattern, call: Done) -> bool:
    """Whether the call is one that ``pattern`` means."""
    if not matches(pattern.tool, call.name):
        return False
    fields: Mapping[str, Json] = call.input if isinstance(call.input, dict) else {}
    if not all(field in fields and matches(text, _text(fields[field])) for field, text in pattern.where.items()):
        return False
    return pattern.command is None or any(matches(pattern.command, command) for command in commands_of(call))


def commands_of(call: Done) -> Iterator[str]:
    """The shell commands of a call: the line as it is, and each simple command in it."""
    fields = call.input if isinstance(call.input, dict) and call.name != _PATCH else {}
    for field in _COMMANDS:
        given = fields.get(field)
        line = _line(given)
        if line is not None:
            yield line.strip()
            for command in simple_commands(line)[0]:
                yield command
                yield without_assignments(command)


def changed_paths(call: Done) -> Iterator[str]:
    """The files that a call changes, as it names them."""
    if not is_change(call):
        return
    fields = call.input if isinstance(call.input, dict) else {}
    yield from (fields[field] for field in _PATHS if isinstance(fields.get(field), str))
    for patch in (call.input, *(fields.get(field) for field in _PATCH_FIELDS)):
        if isinstance(patch, str):
            yield from (one or other for one, other in _PATCHED.findall(patch))


def is_change(call: Done) -> bool:
    """Whether the call changes files."""
    return call.name in CHANGES


def _siblings(pattern: CallPattern) -> CallPattern:
    """Calls of the same tool that say something where the pattern looks."""
    return CallPattern(
        tool=pattern.tool,
        where=dict.fromkeys(pattern.where, "*"),
        command=None if pattern.command is None else "*",
    )


def _came_first(check: Order, past: Past) -> bool:
    return any(fits(check.first, call) for call in past.went_well(check.since))


def _may_change(check: KeepWithin, path: str) -> bool:
    if any(_is_under(path, pattern) for pattern in check.outside):
        return False
    return check.inside is None or any(_is_under(path, pattern) for pattern in check.inside)


def _is_under(path: str, pattern: str) -> bool:
    """Whether ``path`` is what the pattern means, from the root of the repository or from anywhere above it."""
    shape = f"{pattern}*" if pattern.endswith("/") else pattern.replace("**", "*")
    plain = posixpath.normpath(path)
    return matches(shape, plain) or (not shape.startswith(("/", "*")) and matches(f"*/{shape}", plain))


def _holds(pattern: str, folded: str) -> bool:
    return matches(f"*{pattern.casefold()}*", folded)


def _line(given: Json) -> str | None:
    """A command line as one text, also where it was given as a list of words."""
    if isinstance(given, list) and all(isinstance(word, str) for word in given):
        return " ".join(given)
    return given if isinstance(given, str) else None


def _text(value: Json) -> str:
    return value if isinstance(value, str) else jsonio.canonical(value).decode()
