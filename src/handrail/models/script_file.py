"""A script for ``ScriptedModel`` as a JSON file, for the command line and for people who have no key.

A list of items: a string is an answer; ``{"call": NAME, "input": {…}}`` is one call; a list of these is a response
with several; ``{"content": […], "thinking": …, "stop_reason": …, "usage": {…}}`` is a reply in full; and
``{"error": CODE}`` fails once before the next item, ``CODE`` being one of ``overloaded``, ``rate_limited``,
``connection_lost``, ``bad_key`` and the other codes of ``handrail.models.errors``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from handrail import jsonio
from handrail.errors import StoreError
from handrail.models import errors
from handrail.models.errors import MalformedScript, ModelError
from handrail.models.scripted import Call, Item, Reply, Said
from handrail.transcripts.model import Json, Usage

_ERRORS: dict[str, type[ModelError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, ModelError) and kind is not ModelError
}


def load_script(path: Path) -> list[Item]:
    """The items of the script at ``path``; ``StoreError`` when it cannot be read, else raises as ``parse_script``."""
    try:
        raw = path.read_bytes()
    except OSError as problem:
        raise StoreError(f"the script {path} cannot be read: {problem.strerror}") from problem
    return parse_script(raw)


def parse_script(data: bytes) -> list[Item]:
    """The items that ``data`` spells; ``MalformedScript`` names the first that is none, counted from 1."""
    try:
        items = jsonio.decode(data)
    except jsonio.NotJson as problem:
        raise MalformedScript(f"the script is no JSON: {problem}") from problem
    if not isinstance(items, list):
        raise MalformedScript("a script is a list of replies")
    return [_item(item, number) for number, item in enumerate(items, 1)]


def _item(item: Json, number: int) -> Item:
    match item:
        case list():
            return [_said(one, number) for one in item]
        case {"error": str() as code, **rest} if not rest:
            kind = _ERRORS.get(code)
            if kind is None:
                raise _malformed(number, f"no error has the code {code!r}; there are {', '.join(_ERRORS)}")
            return kind("as scripted")
        case {"content": list() as content, **rest}:
            return _reply(content, {str(name): value for name, value in rest.items()}, number)
        case _:
            said = _said(item, number)
            return said if isinstance(said, str | Call) else [said]


def _said(item: Json, number: int) -> Said:
    match item:
        case str():
            return item
        case {"call": str() as tool, **rest} if rest.keys() <= {"input"}:
            return Call(tool, rest.get("input", {}))
        case _:
            raise _malformed(number, "neither a text nor a call")


def _reply(content: list[Json], rest: dict[str, Json], number: int) -> Reply:
    unknown = rest.keys() - {"thinking", "stop_reason", "usage"}
    if unknown:
        raise _malformed(number, f"a reply has no {', '.join(sorted(unknown))}")
    said = tuple(_said(one, number) for one in content)
    try:
        usage = msgspec.convert(rest.get("usage"), Usage | None)
        thinking = msgspec.convert(rest.get("thinking"), str | None)
        stop_reason = msgspec.convert(rest.get("stop_reason"), str | None)
    except msgspec.ValidationError as problem:
        raise _malformed(number, str(problem)) from problem
    return Reply(content=said, thinking=thinking, stop_reason=stop_reason, usage=usage)


def _malformed(number: int, why: str) -> MalformedScript:
    return MalformedScript(f"item {number} of the script: {why}")
