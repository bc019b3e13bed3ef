"""What can be checked of a rule, as data: five kinds, no code, no regular expressions.

Patterns are texts with ``*`` for anything, as in permissions; a call's pattern fits a shell line when it fits one of
the commands in it. What cannot be said with these is not checked: a rule without a check is a rule all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from handrail.errors import HandrailError
from handrail.transcripts.model import Json

MAX_PATTERN = 500


class CallPattern(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Calls of ``tool`` whose arguments fit ``where`` (field to pattern) and, for a shell tool, ``command``."""

    tool: str = "*"
    where: Mapping[str, str] = {}
    command: str | None = None


class Forbid(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="forbid"):
    """Such a call is a violation; calls of ``among`` (the same tool, when None) are the occasions to commit it."""

    call: CallPattern
    among: CallPattern | None = None


class Order(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="order"):
    """``call`` is a violation unless ``first`` went well before it: in the session, since the person last spoke, or
    since files were last changed."""

    call: CallPattern
    first: CallPattern
    since: Literal["session", "person", "change"] = "session"


class AskBefore(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="ask_before"):
    """``call`` is a violation unless a person was asked about it."""

    call: CallPattern


class KeepWithin(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="keep_within"):
    """Files are changed inside ``inside`` only (None: anywhere) and never inside ``outside``: path patterns."""

    inside: tuple[str, ...] | None = None
    outside: tuple[str, ...] = ()


class Reply(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind", tag="reply"):
    """What an answer in words holds none of (``without``), holds one of (``with_``), or is at most ``words`` long."""

    without: tuple[str, ...] = ()
    with_: tuple[str, ...] = msgspec.field(default=(), name="with")
    words: int | None = None


Check: TypeAlias = Forbid | Order | AskBefore | KeepWithin | Reply


class NotACheck(HandrailError, ValueError):
    """A spec that says nothing, too much, or what no check can say."""

    code = "not_a_check"
    exit_code = 2


def check_from(data: Json) -> Check:
    """The check that ``data`` spells; ``NotACheck`` with all that is wrong with it."""
    try:
        check: Check = msgspec.convert(data, Check)
    except msgspec.ValidationError as problem:
        raise NotACheck(f"the check cannot be read: {problem}") from problem
    faults = tuple(_faults(check))
    if faults:
        raise NotACheck("; ".join(faults))
    return check


def to_json(check: Check) -> Json:
    return msgspec.to_builtins(check)


def _faults(check: Check) -> Iterator[str]:
    match check:
        case Forbid():
            yield from _call_faults("call", check.call)
            if check.among is not None:
                yield from _call_faults("among", check.among, may_be_any=True)
        case Order():
            yield from _call_faults("call", check.call)
            yield from _call_faults("first", check.first)
            if check.call == check.first:
                yield "the call would have to come before itself"
        case AskBefore():
            yield from _call_faults("call", check.call)
        case KeepWithin():
            if check.inside is None and not check.outside:
                yield "neither inside nor outside is said"
            if check.inside == ():
                yield "inside names no place: every change would be a violation"
            yield from _pattern_faults((*(check.inside or ()), *check.outside))
        case Reply():
            if not (check.without or check.with_ or check.words is not None):
                yield "nothing is said about the reply"
            if check.words is not None and check.words < 1:
                yield "a reply of no words cannot be asked for"
            yield from _pattern_faults((*check.without, *check.with_))


def _call_faults(name: str, call: CallPattern, *, may_be_any: bool = False) -> Iterator[str]:
    patterns = [pattern for pattern in (call.tool, call.command, *call.where.values()) if pattern is not None]
    if not may_be_any and all(not pattern.strip("* ") for pattern in patterns):
        yield f"{name} fits every call"
    yield from _pattern_faults(patterns)


def _pattern_faults(patterns: tuple[str, ...] | list[str]) -> Iterator[str]:
    for pattern in patterns:
        if not pattern.strip():
            yield "a pattern is empty"
        elif len(pattern) > MAX_PATTERN:
            yield f"a pattern is longer than {MAX_PATTERN} characters"
