"""Use case: read one session, or a range of it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.opening import Source, doctor_command, open_session
from handrail.library import parse_reference
from handrail.transcripts.codec import Fault
from handrail.transcripts.model import Message, Meta
from handrail.transcripts.spans import Span
from handrail.transcripts.text import chosen_indices


class NumberedMessage(Struct, frozen=True, gc=False):
    """A message and its number in the session, counted from 1."""

    number: int
    message: Message


class BranchNote(Struct, frozen=True, kw_only=True, gc=False):
    """Another line of the session: it leaves the shown one before message ``leaves_before`` (from 1)."""

    id: str
    leaves_before: int
    messages: int
    human_turns: int


class ChildNote(Struct, frozen=True, kw_only=True, gc=False):
    """A sub-agent and the id of the call that started it, where that is known."""

    id: str
    call: str | None


class Shown(Struct, frozen=True, kw_only=True):
    """Messages of a session in order; ``length`` counts all of its messages, ``spans`` are the ones asked for.

    ``faults`` is what could not be read of it; ``see`` the command that says what that costs, where there is one.
    """

    schema_version: int = SCHEMA_VERSION
    source: Source
    meta: Meta
    length: int
    spans: tuple[Span, ...]
    messages: tuple[NumberedMessage, ...]
    branches: tuple[BranchNote, ...]
    subagents: tuple[ChildNote, ...]
    faults: tuple[Fault, ...]
    see: str | None = None


def show(
    machine: Machine,
    text: str,
    *,
    harness: str | None = None,
    branch: str | None = None,
    stdin: Callable[[], bytes] | None = None,
) -> Shown:
    """The session ``text`` names, or the messages of its range; with ``branch`` another line of it."""
    opened = open_session(machine, text, harness=harness, branch=branch, stdin=stdin)
    codec, native, body = opened.info.codec, opened.native, opened.session.body
    spans = opened.spans()
    faults = opened.faults()
    name = parse_reference(text).source if opened.ranges else text
    return Shown(
        source=opened.source,
        meta=opened.session.meta,
        length=len(body),
        spans=spans,
        messages=tuple(NumberedMessage(index + 1, body[index]) for index in chosen_indices(len(body), spans)),
        branches=tuple(
            BranchNote(id=line.id, leaves_before=line.at + 1, messages=len(line.body), human_turns=line.human_turns)
            for line in codec.branches(native)
        ),
        subagents=tuple(ChildNote(id=child.id, call=child.call) for child in codec.children(native)),
        faults=faults,
        see=doctor_command(opened.info, name, harness) if faults else None,
    )
