"""What a Python function returned, as the output of a call."""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from handrail import jsonio
from handrail.agents.tool import ToolOutput
from handrail.transcripts.model import Image, Json, Text


def output_of(value: Any, *, is_external: bool) -> ToolOutput:
    """``value`` as an output: strings as they are, None as no words, anything else as JSON.

    Blocks (``Text``, ``Image``), alone or in a list, make mixed output. Raises ``TypeError`` for what has no JSON.
    """
    if isinstance(value, ToolOutput):
        return value
    if value is None:
        return ToolOutput("", is_external=is_external)
    if isinstance(value, str):
        return ToolOutput(str(value), is_external=is_external)
    if isinstance(value, Text | Image):
        value = [value]
    if isinstance(value, list | tuple) and value and all(isinstance(item, Text | Image) for item in value):
        return ToolOutput([_part(item) for item in value], is_external=is_external)
    plain = msgspec.to_builtins(value, str_keys=True, enc_hook=_builtins)
    # Through JSON, so that what the model gets now is what is read back later: lists for tuples, null for NaN.
    return ToolOutput(jsonio.decode(jsonio.encode(plain)), is_external=is_external)


def _part(block: Text | Image) -> Json:
    # A result's parts are the tool's words whoever is named in them: authorship is not a tool's to give.
    return {"type": "text", "text": block.text} if isinstance(block, Text) else msgspec.to_builtins(block)


def _builtins(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if isinstance(value, memoryview):
        return base64.b64encode(value).decode()
    raise TypeError(f"a tool returned {type(value).__name__}, which has no JSON form")
