"""From what a person typed, or a ref from a listing, to an open session."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from handrail.app.machine import Machine
from handrail.app.tails import table_tail
from handrail.errors import MalformedSession, StoreError
from handrail.files import read_bytes
from handrail.library import Catalog, RangeRequest, Reference, guess_harness, parse_reference, resolve_ranges
from handrail.library.catalog import not_found
from handrail.transcripts.codec import Fault, HarnessInfo, SessionRef
from handrail.transcripts.model import Common, Transcript
from handrail.transcripts.spans import Span

STDIN = "-"
_FOLDER_HINT = "--root HARNESS=PATH lists and opens what lies in a folder"


class Source(Struct, frozen=True, kw_only=True, gc=False):
    """Where a session was read from. ``confidence`` (0 to 1) is how sure its harness is; None where it was given."""

    harness: str
    id: str
    locator: str
    title: str | None = None
    confidence: float | None = None


class Opened(Struct, frozen=True, kw_only=True):
    """A session, read: its native form, its canonical form, the ranges that were asked for."""

    source: Source
    info: HarnessInfo
    native: Transcript[Any]
    session: Transcript[Common]
    ranges: tuple[RangeRequest, ...] = ()

    def spans(self) -> tuple[Span, ...]:
        """The spans asked for, the whole session when none were; ``CropError`` where they do not fit."""
        return resolve_ranges(self.ranges, len(self.session.body))

    def faults(self) -> tuple[Fault, ...]:
        """What could not be read of it."""
        return self.info.codec.faults(self.native)


def open_session(
    machine: Machine,
    text: str,
    *,
    harness: str | None = None,
    branch: str | None = None,
    stdin: Callable[[], bytes] | None = None,
) -> Opened:
    """The session that ``text`` names: ``-``, a file, an id, a unique start of one, or a title, each with a range.

    A file is opened with those of its sub-agents. ``harness`` says whose it is, or among whose sessions to look.
    ``branch`` opens another line of the session. ``stdin`` gives the bytes for ``-``. Raises ``SessionNotFound``,
    ``AmbiguousSession``, ``StoreError`` or a ``TranscriptError``.
    """
    reference = parse_reference(text)
    wanted = machine.info(harness).name if harness else None
    document = _document(reference, stdin)
    if document is not None:
        name, data, ranges = document
        return _open_bytes(machine, name, data, ranges, wanted, branch)
    ref, ranges = _look_up(machine.catalog().of_harness(wanted), reference, wanted)
    return open_ref(machine, ref, ranges=ranges, branch=branch)


def doctor_command(info: HarnessInfo, name: str, harness: str | None = None) -> str | None:
    """What says, ready for a shell, how a session is damaged that is called ``name``; None where nobody knows.

    ``harness`` is the one among whose sessions it was found by that name, where one was given.
    """
    if info.medic is None:
        return None
    return shlex.join(["handrail", "doctor", name, *(() if harness is None else ("--from", harness))])


def locate_file(machine: Machine, text: str, *, harness: str | None = None) -> Source:
    """The file of the session that ``text`` names (as ``open_session`` takes it, without a range), and whose it is.

    A session of Handrail's own that stands in its database is found too. Of a path only the bytes there are now say
    whose it is; an empty file needs ``harness``. Raises ``StoreError`` for what is no plain file.
    """
    reference = parse_reference(text)
    wanted = machine.info(harness).name if harness else None
    name = next((name for name in (reference.whole, reference.source) if _is_document(name)), None)
    if name is None:
        ref, ranges = _look_up(machine.catalog().of_harness(wanted), reference, wanted)
        source = Source(harness=ref.harness, id=ref.id, locator=ref.locator, title=ref.meta.title)
    else:
        ranges = () if name == reference.whole else reference.ranges
        source = Source(harness=wanted or "", id=Path(name).stem, locator=name)
    if ranges:
        raise MalformedSession(f"{text!r} names a range, and a session is followed to its end")
    if name is None and table_tail(machine, source.harness, source.locator) is not None:
        return source
    mode = _mode(source.locator)
    if mode is None or not stat.S_ISREG(mode):
        raise StoreError(f"{source.locator} is no plain file, so it cannot be followed")
    if source.harness:
        return source
    data = read_bytes(Path(source.locator))
    if not data.strip():
        raise StoreError(f"{source.locator} is empty so far", hint="say which harness writes it with --from")
    guess = guess_harness(data, machine.infos.values(), source.locator)
    return replace(source, harness=guess.harness, confidence=guess.confidence)


def open_ref(
    machine: Machine, ref: SessionRef, *, ranges: tuple[RangeRequest, ...] = (), branch: str | None = None
) -> Opened:
    """The session behind ``ref``, read whole from its store."""
    info = machine.infos[ref.harness]
    native = machine.stores[ref.harness].load(ref)
    source = Source(harness=ref.harness, id=ref.id, locator=ref.locator, title=ref.meta.title)
    return Opened(source=source, info=info, native=native, session=info.codec.to_common(native, branch), ranges=ranges)


def _look_up(
    catalog: Catalog, reference: Reference, harness: str | None
) -> tuple[SessionRef, tuple[RangeRequest, ...]]:
    if whole := catalog.find_exact(reference.whole):
        return whole, ()
    found = catalog.find_exact(reference.source) or catalog.find_prefix(reference.source)
    if found is None and _is_folder(reference.source):
        raise StoreError(f"{reference.source} is a folder, not a session", hint=_FOLDER_HINT)
    if found is None and _is_closed(reference.source):
        raise StoreError(f"cannot look at {reference.source}: Permission denied")
    if found is None:
        raise not_found(reference.source, harness)
    return found, reference.ranges


def _document(
    reference: Reference, stdin: Callable[[], bytes] | None
) -> tuple[str, bytes, tuple[RangeRequest, ...]] | None:
    for name, ranges in ((reference.whole, ()), (reference.source, reference.ranges)):
        if name == STDIN and stdin is not None:
            return name, stdin(), ranges
        if _is_document(name):
            return name, read_bytes(Path(name)), ranges
    return None


def _is_document(name: str) -> bool:
    mode = _mode(name)
    return mode is not None and not stat.S_ISDIR(mode)


def _is_folder(name: str) -> bool:
    mode = _mode(name)
    return mode is not None and stat.S_ISDIR(mode)


def _is_closed(name: str) -> bool:
    """Whether ``name`` is a path into a folder that this process may not look into."""
    try:
        os.stat(name)  # noqa: PTH116 - as below
    except PermissionError:
        return os.sep in name
    except (OSError, ValueError):
        return False
    return False


def _mode(name: str) -> int | None:
    """What kind of file ``name`` is; None when there is none, or when it cannot be a name of one."""
    try:
        return os.stat(name).st_mode  # noqa: PTH116 - pathlib raises for a name that is too long
    except (OSError, ValueError):
        return None


def _open_bytes(
    machine: Machine,
    name: str,
    data: bytes,
    ranges: tuple[RangeRequest, ...],
    harness: str | None,
    branch: str | None,
) -> Opened:
    shown = "standard input" if name == STDIN else name
    if not data.strip():
        raise StoreError(f"{shown} is empty")
    guess = None if harness else guess_harness(data, machine.infos.values(), shown)
    info = machine.infos[guess.harness if guess else str(harness)]
    native = info.codec.parse(data if info.gather is None or name == STDIN else info.gather(name, data))
    session = info.codec.to_common(native, branch)
    source = Source(
        harness=info.name,
        id=session.meta.id or ("" if name == STDIN else Path(name).stem),
        locator=name,
        title=session.meta.title,
        confidence=guess.confidence if guess else None,
    )
    return Opened(source=source, info=info, native=native, session=session, ranges=ranges)
