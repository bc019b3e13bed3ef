"""Use cases that make a file: crop, convert, export. A draft first, then a save; the source is never touched."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from handrail import harnesses
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.opening import Opened, Source, open_session
from handrail.errors import MalformedSession, StoreError, UnconvertibleSession
from handrail.files import look_at, write_atomically
from handrail.ids import check_id
from handrail.transcripts.codec import Fault, LossItem
from handrail.transcripts.spans import EmptyCrop, Span

_EXPORT = "simple"
_UNNAMED = ""
"""The name of the only part of a session that is one file: whoever saves it names it."""
Stdin = Callable[[], bytes]


class Draft(Struct, frozen=True, kw_only=True):
    """A session ready to be written: ``parts`` by name (the main one and any sub-agent files), nothing on disk yet.

    ``loss`` is what the target could not carry, ``faults`` what could not be read of the source, ``subagents``
    how many sub-agents of the source are not part of it.
    """

    source: Source
    harness: str
    messages: int
    parts: Mapping[str, bytes]
    loss: tuple[LossItem, ...] = ()
    faults: tuple[Fault, ...] = ()
    subagents: int = 0

    @property
    def main_part(self) -> str:
        """The name of the part that holds the session itself: the one that lies highest."""
        return min(self.parts, key=lambda name: name.count("/"))

    @property
    def document(self) -> bytes:
        """The bytes of the main part."""
        return self.parts[self.main_part]


class Written(Struct, frozen=True, kw_only=True):
    """What was written where. ``left_out`` names parts that a single file had no place for."""

    schema_version: int = SCHEMA_VERSION
    source: Source
    harness: str
    messages: int
    files: tuple[str, ...]
    size_bytes: int
    left_out: tuple[str, ...]
    subagents_left_out: int
    loss: tuple[LossItem, ...]
    faults: tuple[Fault, ...]


def crop(machine: Machine, text: str, *, harness: str | None = None, stdin: Stdin | None = None) -> Draft:
    """The messages of the range in ``text``, in the session's own harness, native records kept as they are.

    Raises ``CropError`` when a range does not fit or would cut a call from its result.
    """
    opened = open_session(machine, text, harness=harness, stdin=stdin)
    if not opened.ranges:
        raise EmptyCrop(f"{text!r} names no range: say which messages to keep, as in ID#5-12 or ID#2-4,9")
    return _native_draft(opened, opened.spans())


def convert(machine: Machine, text: str, to: str, *, harness: str | None = None, stdin: Stdin | None = None) -> Draft:
    """The session (or its range) as harness ``to`` would have written it.

    Into its own harness it is a copy with nothing lost. Raises ``UnconvertibleSession`` where nothing of it can be
    written: what only a harness said is no turn of anybody in another.
    """
    target = machine.info(to)
    opened = open_session(machine, text, harness=harness, stdin=stdin)
    if not opened.session.body:
        raise MalformedSession(f"{opened.source.locator} holds no messages that could be read; nothing was written")
    if target.name == opened.info.name:
        return _native_draft(opened, opened.spans() if opened.ranges else None)
    session = opened.session.crop_to(opened.spans()) if opened.ranges else opened.session
    native, loss = harnesses.convert(session, target)
    if not loss.uids and not target.codec.to_common(native).body:
        why = "; ".join(dict.fromkeys(item.why for item in loss.items)) or "it holds nothing that can be said there"
        raise UnconvertibleSession(f"no message of {opened.source.locator} can be written for {target.name}: {why}")
    return Draft(
        source=opened.source,
        harness=target.name,
        messages=len(session.body),
        parts=_parts(target.codec.render(native)),
        loss=loss.items,
        faults=opened.faults(),
        subagents=len(opened.info.codec.children(opened.native)),
    )


def export(machine: Machine, text: str, *, harness: str | None = None, stdin: Stdin | None = None) -> Draft:
    """The session (or its range) as the neutral JSON document."""
    return convert(machine, text, _EXPORT, harness=harness, stdin=stdin)


def save(draft: Draft, out: str, *, force: bool = False) -> Written:
    """Write ``draft`` to ``out``, readable by its owner only, whole or not at all.

    A folder (one that exists, or a name that ends in a separator) takes every part under its own name; a file
    takes the main part. An existing file is replaced with ``force`` only, else ``StoreError``.
    """
    path = Path(out)
    found = look_at(path)
    is_folder = out.endswith(("/", os.sep)) or (found is not None and stat.S_ISDIR(found.st_mode))
    if is_folder and _UNNAMED in draft.parts:
        raise StoreError(f"{out} is a folder, and this session is one file", hint="name the file to write")
    if is_folder:
        targets = {name: path.joinpath(*(check_id(piece) for piece in name.split("/"))) for name in draft.parts}
    else:
        targets = {draft.main_part: path}
    if not force and (existing := next((path for path in targets.values() if look_at(path)), None)):
        raise StoreError(f"{existing} exists already", hint="choose another name, or --force to replace it")
    for name, target in targets.items():
        write_atomically(target, draft.parts[name], replace=force)
    return Written(
        source=draft.source,
        harness=draft.harness,
        messages=draft.messages,
        files=tuple(str(target) for target in targets.values()),
        size_bytes=sum(len(draft.parts[name]) for name in targets),
        left_out=tuple(name for name in draft.parts if name not in targets),
        subagents_left_out=draft.subagents,
        loss=draft.loss,
        faults=draft.faults,
    )


def _native_draft(opened: Opened, spans: tuple[Span, ...] | None) -> Draft:
    codec = opened.info.codec
    kept = len(opened.session.body) if spans is None else len(opened.session.crop_to(spans).body)
    native = opened.native if spans is None else codec.crop(opened.native, spans)
    return Draft(
        source=opened.source,
        harness=opened.info.name,
        messages=kept,
        parts=_parts(codec.render(native)),
        faults=opened.faults(),
    )


def _parts(rendered: Mapping[str, bytes] | bytes) -> Mapping[str, bytes]:
    return {_UNNAMED: rendered} if isinstance(rendered, bytes) else rendered
