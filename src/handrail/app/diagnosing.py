"""Use case: what is wrong with a session, or with all of them, what it costs, and the command that helps."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from handrail.app.clinic import FileSurroundings, Patient, Stdin, find_medic, find_patient, of_ref, source_of
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.opening import STDIN, Source
from handrail.clock import Clock, SystemClock
from handrail.errors import HandrailError
from handrail.files import OpenFile
from handrail.library import Unread
from handrail.transcripts.repair import Diagnosis, Finding, Medic, Remedy, Severity

_DAY_S = 86_400
_OF_A_RUNNING_SESSION = frozenset({"torn_tail", "unanswered_call"})
_UNKNOWN = "unknown"


class Complaint(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One finding: ``start`` and ``end`` are byte offsets into ``file``; ``fix`` is the command that helps, if any."""

    code: str
    severity: Severity
    file: str
    start: int
    end: int
    message: str
    count: int = 1
    fix: str | None = None


class Checkup(Struct, frozen=True, kw_only=True):
    """One session looked at.

    ``turns`` are the prompts and responses of its line, ``shown`` those that its own tool would show on a resume.
    """

    source: Source
    size_bytes: int
    records: int
    turns: int
    shown: int
    findings: tuple[Complaint, ...]

    @property
    def severity(self) -> Severity | None:
        """The worst of it; None when nothing was found."""
        order = (Severity.UNREADABLE, Severity.DAMAGE, Severity.NOTE)
        found = {finding.severity for finding in self.findings}
        return next((severity for severity in order if severity in found), None)


class DoctorReport(Struct, frozen=True, kw_only=True):
    """What was looked at and found. ``sessions`` holds those with findings; of one that was named, that one anyway."""

    schema_version: int = SCHEMA_VERSION
    checked: int
    damaged: int
    unreadable: int
    size_bytes: int
    sessions: tuple[Checkup, ...]
    unread: tuple[Unread, ...] = ()


Progress = Callable[[int, int], None]


def doctor(
    machine: Machine,
    text: str | None = None,
    *,
    harness: str | None = None,
    stdin: Stdin | None = None,
    clock: Clock | None = None,
    on_progress: Progress | None = None,
) -> DoctorReport:
    """Look at the session that ``text`` names, or at all of this machine that some harness can diagnose.

    A file is read once, in stretches. ``stdin`` gives the bytes for ``-``, of which no more is held than of a file, and
    whose surroundings are not looked at. Raises ``StoreError`` for a file that was named and cannot be read,
    ``MalformedSession`` for one whose harness has no diagnosis; of all sessions such are reported or left out.
    """
    now = (clock or SystemClock()).now().timestamp()
    if text is not None:
        found = _look_at(machine, find_patient(machine, text, harness, stdin), now, {})
        return _report([found], (), 1)
    checkups: list[Checkup] = []
    unread: list[Unread] = list(machine.unread)
    patients = list(_patients(machine, harness, unread))
    listings: dict[Path, tuple[str, ...]] = {}
    for number, patient in enumerate(patients):
        if on_progress is not None:
            on_progress(number, len(patients))
        try:
            checkups.append(_look_at(machine, patient, now, listings))
        except HandrailError as problem:
            unread.append(Unread(harness=patient.harness or "", where=str(patient.path), message=str(problem)))
    if on_progress is not None:
        on_progress(len(patients), len(patients))
    return _report(checkups, tuple(unread), None)


def _patients(machine: Machine, harness: str | None, unread: list[Unread]) -> Iterator[Patient]:
    wanted = machine.info(harness).name if harness else None
    catalog = machine.catalog().of_harness(wanted)
    unread += (item for item in catalog.unread if item not in unread)
    for ref in catalog.sessions:
        if machine.infos[ref.harness].medic is not None:
            yield of_ref(ref)


def _report(checkups: list[Checkup], unread: tuple[Unread, ...], named: int | None) -> DoctorReport:
    return DoctorReport(
        checked=len(checkups),
        damaged=sum(checkup.severity is Severity.DAMAGE for checkup in checkups),
        unreadable=sum(checkup.severity is Severity.UNREADABLE for checkup in checkups) + len(unread),
        size_bytes=sum(checkup.size_bytes for checkup in checkups),
        sessions=tuple(checkup for checkup in checkups if named or checkup.findings),
        unread=unread,
    )


def _look_at(machine: Machine, patient: Patient, now_s: float, listings: dict[Path, tuple[str, ...]]) -> Checkup:
    with patient.open() as file:
        info, medic, confidence = find_medic(machine, patient, file)
        if info is None or medic is None:
            return _nobodys(patient, file)
        diagnosis = medic.diagnose(file.chunks())
        findings = list(diagnosis.findings)
        if patient.stream is None:
            age_s = max(0.0, now_s - file.modified_at_s)
            place = FileSurroundings(patient.path, age_s / _DAY_S, listings)
            findings = _in_place(file, medic, diagnosis, place)
        source = source_of(patient, info.name, diagnosis.session, confidence)
        return _checkup(source, file.size, diagnosis, findings)


def _in_place(file: OpenFile, medic: Medic, diagnosis: Diagnosis, place: FileSurroundings) -> list[Finding]:
    """What is found in ``file``, by what lies beside it and by who may still be writing it."""
    findings = [*diagnosis.findings, *medic.beside(diagnosis, place)]
    # Who has a file open is costly to find out, so it is asked only where it makes a difference.
    is_unfinished = any(finding.code in _OF_A_RUNNING_SESSION for finding in findings)
    if file.has_changed() or (is_unfinished and file.writers()):
        findings = _of_running(findings, file.size)
    return findings


def _of_running(findings: list[Finding], size: int) -> list[Finding]:
    """The findings of a file that somebody has open for writing: what is missing at its end may yet come."""
    message = "the file is being written: what is missing at its end may yet come"
    note = Finding(code="in_use", severity=Severity.NOTE, start=size, end=size, message=message)
    eased = [
        replace(finding, severity=Severity.NOTE, remedy=Remedy.NONE)
        if finding.code in _OF_A_RUNNING_SESSION and finding.severity is Severity.DAMAGE
        else finding
        for finding in findings
    ]
    return [*eased, note]


def _nobodys(patient: Patient, file: OpenFile) -> Checkup:
    empty = "the file is empty" if patient.stream is None else "standard input is empty"
    message = "no harness finds a session in it" if file.size else empty
    code = "no_session" if file.size else "empty"
    finding = Finding(code=code, severity=Severity.UNREADABLE, start=0, end=file.size, message=message)
    source = Source(harness=_UNKNOWN, id=patient.path.stem, locator=str(patient.path))
    return _checkup(source, file.size, Diagnosis(), [finding])


def _checkup(source: Source, size: int, diagnosis: Diagnosis, findings: list[Finding]) -> Checkup:
    return Checkup(
        source=source,
        size_bytes=size,
        records=diagnosis.records,
        turns=diagnosis.turns,
        shown=diagnosis.shown,
        findings=tuple(
            Complaint(
                code=finding.code,
                severity=finding.severity,
                file=source.locator,
                start=finding.start,
                end=finding.end,
                message=finding.message,
                count=finding.count,
                fix=_fix(finding, source.locator),
            )
            for finding in findings
        ),
    )


def _fix(finding: Finding, locator: str) -> str | None:
    """The command that helps, ready for a shell; what it writes goes to the folder it is run in."""
    path = Path(locator)
    copy = "repaired.jsonl" if locator == STDIN else f"{path.stem}.repaired{path.suffix}"
    repair = ["handrail", "repair", locator, "--out", copy]
    match finding.remedy:
        case Remedy.NONE:
            return None
        case Remedy.REPAIR:
            return shlex.join(repair)
        case Remedy.IMAGES:
            return shlex.join([*repair, "--images", "placeholder"])
        case Remedy.BRANCH:
            return shlex.join([*repair, "--branch", finding.branch or ""])
        case Remedy.COPY:
            return shlex.join(["cp", "-p", locator, "."])
