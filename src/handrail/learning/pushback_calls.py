"""What a call does to files and to history, told from its canonical form: enough to see work being taken back."""

from __future__ import annotations

import re
from collections.abc import Iterator

from handrail.transcripts.model import Bash, Edit, Json, MultiEdit, Raw, ToolCall, Write

_LOOKED_AT = 4000
_SHIPPING = re.compile(r"\bgit (?:commit|push)\b|\bgh pr (?:create|merge)\b")
_TAKING_BACK = re.compile(r"\bgit (?:revert|restore|checkout|reset)\b|\brm ")
_PATCHED = re.compile(r"\*\*\* (?:Update|Add|Delete) File: ([^\s\\]+)")


def ships(call: ToolCall) -> bool:
    """Whether ``call`` commits, pushes or opens a pull request."""
    command = _command(call)
    return ("git " in command or "gh pr " in command) and bool(_SHIPPING.search(command))


def takes_back(call: ToolCall) -> bool:
    """Whether ``call`` undoes or deletes something."""
    command = _command(call)
    return ("git " in command or "rm " in command) and bool(_TAKING_BACK.search(command))


def changed_files(call: ToolCall) -> set[str]:
    """The names (without folders) of the files that ``call`` changes."""
    if type(call) is Write or type(call) is Edit or type(call) is MultiEdit:
        return {_name(call.file_path)}
    if type(call) is Raw and "*** " in (patch := _command(call)):
        return {_name(path) for path in _PATCHED.findall(patch)}
    return set()


def written_text(call: ToolCall, chars: int) -> str:
    """The beginning of what ``call`` puts into files, with their names."""
    match call:
        case Write():
            return f"{_name(call.file_path)} {call.content[:chars]}"
        case Edit():
            return f"{_name(call.file_path)} {call.new_string[:chars]}"
        case MultiEdit():
            return f"{_name(call.file_path)} {' '.join(step.new_string[:chars] for step in call.edits)[:chars]}"
        case Raw() if changed_files(call):
            return " ".join(_strings(call.input))[:chars]
        case _:
            return ""


def _command(call: ToolCall) -> str:
    if type(call) is Bash:
        return call.command
    return " ".join(_strings(call.input))[:_LOOKED_AT] if type(call) is Raw else ""


def _name(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _strings(value: Json) -> Iterator[str]:
    """The strings of an input, one level deep."""
    if type(value) is str:
        yield value
    elif type(value) is dict:
        for item in value.values():
            if type(item) is str:
                yield item
            elif type(item) is list:
                yield from (part for part in item if type(part) is str)
