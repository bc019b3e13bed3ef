"""What a Codex call gave, between its record and the content of a ``ToolResult``.

Codex records no flag for failure. It stands in the text: a JSON envelope with ``metadata.exit_code``, a header
with ``Exit code: N`` or ``Process exited with code N``, or the words of the harness that could not start the
command. A refusal is known by the whole output only: a command may print the same words.
"""

from __future__ import annotations

import re
from typing import Any

from handrail import jsonio
from handrail.transcripts.model import Json, Refusal, RefusalKind, ToolResult

Outcome = tuple[Json, bool, Refusal | None]
"""Content, whether it is an error, and the refusal if it is one."""

DENIED = "exec command rejected by user"
PATCH_DENIED = "patch rejected by user"
INTERRUPTED = "aborted by user after 0.0s"

_DENIED = re.compile(
    r"exec command rejected by user|patch rejected by user"
    r'|exec_command failed(?: for `.*`)?: CreateProcess \{ message: "Rejected\(\\"rejected by user\\"\)" \}',
    re.DOTALL,
)
_INTERRUPTED = re.compile(r"aborted by user after \d+(?:\.\d+)?s")
_SANDBOX = re.compile(
    r"failed in sandbox"
    r"|exec_command failed(?: for `.*`)?: (?:CreateProcess \{ message: \"Codex\(Sandbox\(Denied|SandboxDenied \{)",
    re.DOTALL,
)
_FAILED_CODE = r"-?0*[1-9][0-9]*"
_FAILED_HEADER = re.compile(
    rf"Chunk ID: [^\n]*\nWall time: [^\n]*\nProcess exited with code {_FAILED_CODE}(?:\n|\Z)"
    rf"|Exit code: {_FAILED_CODE}\n"
)
_FAILURES = (
    "Script failed",
    "apply_patch verification failed",
    "exec_command failed",
    "write_stdin failed",
    "collab spawn failed",
)
_ENVELOPE = '{"output":'
_HEADERS = ("Chunk ID: ", "Exit code: ", "Command: ")
_OPENINGS = (
    *_HEADERS,
    _ENVELOPE,
    "aborted by user",
    "failed in sandbox",
    "exec ",
    "patch ",
    *_FAILURES,
)
"""Openings that decide more than that here is a text; all others are only that."""


def read_output(output: Any, name: str) -> Outcome:
    """The outcome that ``output`` tells; ``name`` is the canonical name of the call (``""`` when unknown)."""
    if type(output) is str:
        if output.startswith(_HEADERS):
            return output, _has_failed(output), None
        if output.startswith(_OPENINGS):
            return _read_text(output, name)
        return output, False, None
    if type(output) is list:
        first = output[0] if output else None
        text = first.get("text") if type(first) is dict else None
        return [_read_element(item) for item in output], type(text) is str and text.startswith(_FAILURES), None
    if type(output) is dict and "content" in output:
        return output["content"], output.get("success") is False, None
    return output, False, None


def _read_text(output: str, name: str) -> Outcome:
    if output.startswith(_ENVELOPE):
        return _read_envelope(output)
    if _may_be_refused(name) and _DENIED.fullmatch(output):
        return output, True, Refusal(RefusalKind.DENIED, "person")
    if _INTERRUPTED.fullmatch(output):
        return output, True, Refusal(RefusalKind.INTERRUPTED)
    if _SANDBOX.match(output):
        return output, True, Refusal(RefusalKind.BLOCKED, "sandbox")
    return output, output.startswith(_FAILURES), None


def _has_failed(output: str) -> bool:
    """Whether the header says so; before it may stand the command, in several lines."""
    start = output.find("\nChunk ID: ") + 1 if output.startswith("Command: ") else 0
    return _FAILED_HEADER.match(output, start) is not None


def _may_be_refused(name: str) -> bool:
    """Codex asks a person before its own tools; what another program's tool prints proves nothing."""
    return name != "" and not name.startswith("mcp__")


def _read_envelope(output: str) -> Outcome:
    try:
        value = jsonio.decode(output)
    except jsonio.NotJson:
        return output, False, None
    metadata = value.get("metadata") if type(value) is dict and value.keys() == {"output", "metadata"} else None
    code = metadata.get("exit_code") if type(metadata) is dict else None
    if type(code) is not int:
        return output, False, None
    return value["output"], code != 0, None


def _read_element(item: Any) -> Json:
    if type(item) is not dict:
        return item
    kind = item.get("type")
    if kind == "input_text" and item.keys() == {"type", "text"}:
        return {"type": "text", "text": item["text"]}
    if kind == "input_image" and item.keys() == {"type", "image_url"} and type(item["image_url"]) is str:
        return {"type": "image", "source": _source(item["image_url"])}
    return item


def _source(url: str) -> dict[str, str]:
    found = split_data_url(url)
    if found is None:
        return {"type": "url", "url": url}
    return {"type": "base64", "media_type": found[0], "data": found[1]}


def split_data_url(url: str) -> tuple[str, str] | None:
    """Media type and base64 data of a ``data:`` URL; None for any other."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        return None
    return head[len("data:") : -len(";base64")], data


# Writing ----------------------------------------------------------------------------------------------------


def is_plain(block: ToolResult) -> bool:
    """Whether the content of ``block`` is a text that is written and read back as it is."""
    content = block.content
    return type(content) is str and block.refusal is None and not block.is_error and not content.startswith(_OPENINGS)


def write_output(block: ToolResult, name: str) -> tuple[Any, Outcome]:
    """The native ``output`` of ``block`` and what it reads back as: the same outcome as far as Codex can tell it.

    A refusal is written in Codex's own words, whatever the content; everything else keeps its content.
    """
    if block.refusal is not None:
        own = _write_refusal(block, name)
        if own is not None:
            return own, read_output(own, name)
    content = block.content
    if type(content) is str and not block.is_error and not content.startswith(_OPENINGS):
        return content, (content, False, None)
    plain = _plain(content)
    if plain is not None:
        outcome = read_output(plain, name)
        if _is_outcome(outcome, block):
            return plain, outcome
    envelope = {"output": content, "metadata": {"exit_code": int(block.is_error), "duration_seconds": 0.0}}
    text = jsonio.encode(envelope).decode("utf-8", "surrogatepass")
    return text, read_output(text, name)


def _is_outcome(outcome: Outcome, block: ToolResult) -> bool:
    content, is_error, refusal = outcome
    return is_error is block.is_error and _same(refusal, block.refusal) and _same(content, block.content)


def _write_refusal(block: ToolResult, name: str) -> str | None:
    refusal = block.refusal
    if refusal is None or (type(block.content) is str and _same(read_output(block.content, name)[2], refusal)):
        return block.content if refusal is not None else None
    if refusal.kind == RefusalKind.DENIED and refusal.by == "person" and _may_be_refused(name):
        return PATCH_DENIED if name in ("ApplyPatch", "Write", "Edit", "MultiEdit") else DENIED
    if refusal.kind == RefusalKind.INTERRUPTED:
        return INTERRUPTED
    return None


def _plain(content: Json) -> Any:
    if type(content) is str:
        return content
    if type(content) is not list:
        return None
    written = [_write_element(item) for item in content]
    return None if None in written else written


def _write_element(item: Json) -> Json:
    """The native element, or None when this one has no native form."""
    if type(item) is not dict:
        return None
    if item.get("type") == "text" and item.keys() == {"type", "text"} and type(item["text"]) is str:
        return {"type": "input_text", "text": item["text"]}
    source = item.get("source")
    if item.get("type") != "image" or item.keys() != {"type", "source"} or type(source) is not dict:
        return item if item.get("type") in ("input_text", "input_image", "encrypted_content") else None
    if source.get("type") == "base64":
        return {"type": "input_image", "image_url": f"data:{source.get('media_type')};base64,{source.get('data')}"}
    return {"type": "input_image", "image_url": source.get("url")}


def _same(one: object, other: object) -> bool:
    """Equality that tells True from 1 and 1 from 1.0, inside JSON too."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other
