"""Other people's code (tools, hooks, strategies, approvers, models) and its values, kept from ending what called it.

Whatever it raises is a value here, exceptions included that name no ``Exception`` as their base (``SystemExit``, a
test framework's own, ``GeneratorExit``) and a ``CancelledError`` of its own making. Two things pass: the cancelling
of the task that waits for it, and Ctrl-C.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from handrail import jsonio
from handrail.transcripts.model import Json

Value = TypeVar("Value")


class Raised(Struct, frozen=True):
    """What other people's code raised instead of giving a value."""

    problem: BaseException

    @property
    def told(self) -> str:
        """Its type and its words."""
        return told(self.problem)


class Gave(Struct, Generic[Value], frozen=True):
    """The value that other people's code gave."""

    value: Value


async def contained(work: Awaitable[Value]) -> Gave[Value] | Raised:
    """What ``work`` came to."""
    try:
        return Gave(await work)
    except KeyboardInterrupt:
        raise
    except asyncio.CancelledError as problem:
        if _is_being_cancelled():
            raise
        return Raised(problem)
    except BaseException as problem:  # noqa: BLE001 - that is what this is for
        return Raised(problem)


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def told(problem: BaseException) -> str:
    """The type of ``problem`` and its words, as far as it has any: an exception's own code may fail as well."""
    return f"{type(problem).__name__}: {words_of(problem)}".rstrip(": ")


def words_of(problem: BaseException) -> str:
    """The words of ``problem``; "" where its own code fails to say any."""
    try:
        return str(problem)
    except Exception:  # noqa: BLE001 - the words of other people's exceptions are made by their code
        return ""


_NO_JSON = (TypeError, ValueError, OverflowError, RecursionError)


def spellable(value: Any) -> Json:
    """``value`` as JSON that has a spelling: numbers that are none become null, what is no JSON becomes its text."""
    if value is None or isinstance(value, str):
        return value
    try:
        spelled = jsonio.encode(value)
        return _text_of(value) if jsonio.is_deep(spelled) else jsonio.decode(spelled)
    except _NO_JSON:
        return _text_of(value)


def _text_of(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - made by other people's code
        return f"[{type(value).__name__}, which has no JSON form]"


def misfit(value: Struct) -> str | None:
    """What in ``value`` is not of the type its fields say, so that nothing is written that cannot be read again.

    For values that other people's code made; type checkers see to ours.
    """
    try:
        msgspec.convert(msgspec.to_builtins(value, str_keys=True), type(value))
        return jsonio.MAX_DEPTH_ERROR if jsonio.is_deep(jsonio.encode(value)) else None
    except (msgspec.ValidationError, *_NO_JSON) as problem:
        return told(problem)


def check_fits(value: Struct) -> None:
    """``TypeError`` for what ``misfit`` finds."""
    if problem := misfit(value):
        raise TypeError(f"{type(value).__name__} does not fit: {problem}")
