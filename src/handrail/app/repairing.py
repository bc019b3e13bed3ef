"""Use case: a repaired copy of a session, proved before it gets its name. The original is never touched."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from handrail.app.clinic import Patient, Stdin, find_medic, find_patient, source_of
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.opening import Source
from handrail.app.spooling import spool
from handrail.errors import MalformedSession, StoreError
from handrail.files import OpenFile, write_stream_atomically
from handrail.transcripts.repair import (
    Change,
    Diagnosis,
    Edit,
    Finding,
    Medic,
    Remedy,
    Severity,
    Wishes,
    is_spliced,
    splice,
)

Sink: TypeAlias = Callable[[bytes], None]
"""Takes the bytes of a copy in order, such as standard output."""

_WAIT = "end the session (or wait until it rests), then repair again; nothing was written"


class Repaired(Struct, frozen=True, kw_only=True):
    """A copy that was written and proved.

    ``out`` is its file, None where it went to a ``Sink``. ``changes`` are all stretches of the source that the copy
    has otherwise, ``losses`` those of them whose words cannot be had from the copy. ``remaining`` is damage that only a
    wish that was not made would cure.
    """

    schema_version: int = SCHEMA_VERSION
    source: Source
    out: str | None
    size_bytes: int
    turns: int
    shown_before: int
    shown: int
    changes: tuple[Change, ...]
    losses: tuple[Change, ...]
    remaining: tuple[Finding, ...]


def repair(
    machine: Machine,
    text: str,
    out: str | Sink,
    *,
    harness: str | None = None,
    stdin: Stdin | None = None,
    branch: str | None = None,
    images: Literal["placeholder"] | None = None,
    force: bool = False,
) -> Repaired:
    """Write to ``out`` a copy of the session that ``text`` names, such as its own tool opens whole.

    ``stdin`` gives the bytes for ``-``; a ``Sink`` is given the copy once that is proved. ``branch`` makes the line of
    that id the live one; ``images`` leaves a note with size and hash where an image stood. An existing ``out`` is
    replaced with ``force`` only. Raises ``StoreError`` when the session is being written, when there is none in the
    file, when ``out`` is the session itself or cannot be written; ``MalformedSession`` when there is no such branch, or
    when the copy could not be proved. Then nothing is written.
    """
    patient = find_patient(machine, text, harness, stdin)
    with patient.open() as file:
        if isinstance(out, str):
            _refuse_bad_target(patient, file, out, force)
        _refuse_running(patient, file)
        info, medic, confidence = find_medic(machine, patient, file)
        if info is None or medic is None:
            raise StoreError(f"{file.path} holds no session; there is nothing to repair")
        return _write(
            _Case(patient, info.name, medic, confidence), file, out, Wishes(branch=branch, images=images), force
        )


class _Case(Struct, frozen=True):
    patient: Patient
    harness: str
    medic: Medic
    confidence: float


def _write(case: _Case, file: OpenFile, out: str | Sink, wishes: Wishes, force: bool) -> Repaired:
    before = case.medic.diagnose(file.chunks())
    if not before.is_session:
        raise StoreError(f"{file.path}: {before.findings[0].message}; there is nothing to repair")
    edits = case.medic.edits(file, wishes)
    proofs: list[Diagnosis] = []

    def prove(copy: OpenFile) -> None:
        proofs.append(_prove(case.medic, file, copy, edits, wishes))
        _refuse_running(case.patient, file)

    _deliver(splice(file.chunks(), edits), out, prove, force)
    changes = tuple(edit.change() for edit in edits)
    after = proofs[0]
    return Repaired(
        source=source_of(case.patient, case.harness, before.session, case.confidence),
        out=str(Path(out)) if isinstance(out, str) else None,
        size_bytes=file.size + sum(change.size - (change.end - change.start) for change in changes),
        turns=after.turns,
        shown_before=before.shown,
        shown=after.shown,
        changes=changes,
        losses=tuple(change for change in changes if change.is_loss),
        remaining=_damage(after),
    )


def _deliver(chunks: Iterable[bytes], out: str | Sink, prove: Callable[[OpenFile], None], force: bool) -> None:
    """Write the copy that ``chunks`` make to ``out``; nothing of it is there before ``prove`` has returned."""
    if isinstance(out, str):

        def check(written: Path) -> None:
            with OpenFile(written) as copy:
                prove(copy)

        write_stream_atomically(Path(out), chunks, replace=force, check=check)
        return
    with spool(chunks, "the copy") as copy:
        prove(copy)
        for chunk in copy.chunks():
            out(chunk)


def _prove(medic: Medic, file: OpenFile, copy: OpenFile, edits: Sequence[Edit], wishes: Wishes) -> Diagnosis:
    """The diagnosis of ``copy``; ``MalformedSession`` when it is not what it should be."""
    if not is_spliced(file, copy, edits):
        raise MalformedSession("the copy differs from the original where no change was made; nothing was written")
    after = medic.diagnose(copy.chunks())
    left = [finding for finding in _damage(after) if finding.remedy is not Remedy.IMAGES or wishes.images is not None]
    if left:
        what = f"{left[0].code} at byte {left[0].start:,}: {left[0].message}"
        raise MalformedSession(f"the copy is still damaged, so nothing was written ({what})")
    return after


def _damage(diagnosis: Diagnosis) -> tuple[Finding, ...]:
    return tuple(finding for finding in diagnosis.findings if finding.severity is not Severity.NOTE)


def _refuse_bad_target(patient: Patient, file: OpenFile, out: str, force: bool) -> None:
    target = Path(out)
    if file.is_same_as(target) or patient.is_redirected_from(target):
        raise StoreError(f"{out} is the session itself", hint="name another file: the original is never touched")
    if os.path.isdir(out) or out.endswith(("/", os.sep)):  # noqa: PTH112 - pathlib raises for a name that is too long
        raise StoreError(f"{out} is a folder", hint="name the file to write")
    if not force and os.path.lexists(target):
        raise StoreError(f"{out} exists already", hint="choose another name, or --force to replace it")


def _refuse_running(patient: Patient, file: OpenFile) -> None:
    if patient.stream is not None:
        return
    if writers := file.writers():
        raise StoreError(f"process {writers[0]} has {file.path} open for writing", hint=_WAIT)
    if file.has_changed():
        raise StoreError(f"{file.path} was written while it was read", hint=_WAIT)
