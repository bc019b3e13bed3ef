"""Use case: a person says of a moment whether it was a step-in, and is believed from then on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from handrail.app.counting import MomentRow
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.mining import Progress, has_people, iter_mined
from handrail.clock import Clock, SystemClock
from handrail.errors import MomentNotFound, StoreError
from handrail.files import lock, look_at, read_bytes, state_folder, write_atomically
from handrail.learning.corrections import Correction, parse_corrections, render_correction
from handrail.library import Unread

FILE = "corrections.jsonl"


class Marked(Struct, frozen=True, kw_only=True):
    """The moment as it was told before, what the person says of it, and the file that remembers it."""

    schema_version: int = SCHEMA_VERSION
    moment: MomentRow
    is_stepin: bool
    file: str


def corrections_file(environment: Mapping[str, str]) -> Path | None:
    """Where a person's corrections are kept; None where there is no home."""
    folder = state_folder(environment)
    return folder / FILE if folder else None


def load_corrections(environment: Mapping[str, str]) -> dict[str, Correction]:
    """Every correction made so far, by moment; none where there is no file."""
    file = corrections_file(environment)
    return parse_corrections(read_bytes(file)) if file is not None and look_at(file) else {}


def mark(
    machine: Machine,
    moment: str,
    *,
    is_stepin: bool,
    environment: Mapping[str, str],
    clock: Clock | None = None,
    on_progress: Progress | None = None,
) -> Marked:
    """Remember that ``moment`` (an id as ``moments`` shows it) was a step-in, or was none.

    Sessions are read, the newest first, until the moment is found. Raises ``MomentNotFound`` when no session holds
    it, and ``StoreError`` when there is nowhere to remember it.
    """
    file = corrections_file(environment)
    if file is None:
        raise StoreError("there is no home folder to keep the correction in", hint="set HOME or HANDRAIL_HOME")
    row = _find(machine, moment.strip().lower(), on_progress)
    _remember(file, Correction(moment=row.id, is_stepin=is_stepin, at=(clock or SystemClock()).now()))
    return Marked(moment=row, is_stepin=is_stepin, file=str(file))


def _find(machine: Machine, moment: str, on_progress: Progress | None) -> MomentRow:
    catalog = machine.catalog()
    refs = [ref for ref in catalog.sessions if has_people(ref)]
    unread: list[Unread] = []
    for mined in iter_mined(machine, refs, catalog.short_ids(), unread, on_progress, total=len(refs)):
        for row in mined.rows:
            if row.id == moment:
                return row
    hint = "handrail moments --all --why shows the ids"
    if unread:
        hint += f"; {len(unread)} of {len(refs)} sessions could not be read"
    raise MomentNotFound(f"no moment has the id {moment!r}", hint=hint)


def _remember(file: Path, correction: Correction) -> None:
    with lock(file.with_suffix(".lock")):
        before = read_bytes(file) if look_at(file) else b""
        if before and not before.endswith(b"\n"):
            before += b"\n"
        write_atomically(file, before + render_correction(correction), replace=True)
