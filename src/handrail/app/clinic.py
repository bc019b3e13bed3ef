"""From what a person typed to the file to be looked at, whose it is, and the place it lies in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeAlias

from handrail.app.machine import Machine
from handrail.app.opening import STDIN, Source
from handrail.app.spooling import spool
from handrail.errors import MalformedSession, StoreError
from handrail.files import CHUNK_BYTES, OpenFile, read_bytes
from handrail.library import guess_harness
from handrail.library.catalog import not_found
from handrail.transcripts.codec import HarnessInfo, SessionRef
from handrail.transcripts.repair import Medic

_HEAD_BYTES = 1 << 22


Stdin: TypeAlias = Callable[[], BinaryIO]
"""Gives standard input, where it may be read."""


class Patient(NamedTuple):
    """A session file to be looked at. ``harness`` is whose it was said or found to be, None when nobody knows yet.

    ``stream`` is where it comes from when it is no file; then nothing lies beside it, and nobody can be writing it.
    """

    path: Path
    harness: str | None = None
    id: str = ""
    title: str | None = None
    stream: BinaryIO | None = None

    def open(self) -> OpenFile:
        """Its bytes, to be read anywhere and again; a stream is read to its end for that."""
        if self.stream is None:
            return OpenFile(self.path)
        return spool(iter(partial(self.stream.read, CHUNK_BYTES), b""), "standard input")

    def is_redirected_from(self, path: Path) -> bool:
        """Whether its stream is the file at ``path``."""
        try:
            return self.stream is not None and os.path.samestat(os.fstat(self.stream.fileno()), path.stat())
        except (OSError, ValueError):
            return False


def find_patient(machine: Machine, text: str, harness: str | None, stdin: Stdin | None = None) -> Patient:
    """The file that ``text`` names: ``-``, which ``stdin`` gives, a path, an id, a unique start of one, or a title.

    Raises ``SessionNotFound``, ``AmbiguousSession``, ``UnknownHarness``, and ``MalformedSession`` for a listed session
    whose harness cannot diagnose it.
    """
    wanted = machine.info(harness).name if harness else None
    path = Path(text)
    if text == STDIN and stdin is not None:
        return Patient(path, wanted, stream=stdin())
    if os.path.lexists(path):
        return Patient(path, wanted)
    catalog = machine.catalog().of_harness(wanted)
    found = catalog.find_exact(text) or catalog.find_prefix(text)
    if found is None:
        raise not_found(text, wanted)
    _medic(machine.infos[found.harness])
    return of_ref(found)


def of_ref(ref: SessionRef) -> Patient:
    """The patient behind a listed session."""
    return Patient(Path(ref.locator), ref.harness, ref.id, ref.meta.title)


def find_medic(machine: Machine, patient: Patient, file: OpenFile) -> tuple[HarnessInfo | None, Medic | None, float]:
    """Whose file it is, who knows about its damage, and how sure that is (0 to 1).

    By evidence where it was not said; of a file too damaged for that, whoever finds a session in it. A harness that
    cannot diagnose its files raises ``MalformedSession``; None, when no harness finds anything.
    """
    if patient.harness is not None:
        info = machine.infos[patient.harness]
        return info, _medic(info), 1.0
    head = file.read(0, _HEAD_BYTES)
    try:
        guess = guess_harness(head, machine.infos.values(), str(patient.path))
    except MalformedSession:
        for info in machine.infos.values():
            if info.medic is not None and info.medic.diagnose((head,)).is_session:
                return info, info.medic, 0.0
        return None, None, 0.0
    info = machine.infos[guess.harness]
    return info, _medic(info), guess.confidence


def _medic(info: HarnessInfo) -> Medic:
    if info.medic is None:
        raise MalformedSession(
            f"sessions of {info.title} are not diagnosed or repaired", hint="`handrail show` says what cannot be read"
        )
    return info.medic


def source_of(patient: Patient, harness: str, session: str, confidence: float) -> Source:
    """Where the patient comes from, for a report."""
    return Source(
        harness=harness,
        id=patient.id or session or patient.path.stem,
        locator=str(patient.path),
        title=patient.title,
        confidence=confidence if patient.harness is None else None,
    )


class FileSurroundings:
    """The place of a file, for a medic who asks. Reads only; a folder is listed once."""

    def __init__(self, path: Path, age_days: float, listings: dict[Path, tuple[str, ...]]) -> None:
        self._folder = path.absolute().parent
        self._listings = listings
        self.name = path.name
        self.folder = tuple(self._folder.parts)
        self.age_days = age_days

    def is_file(self, name: str) -> bool:
        """Whether ``name``, relative to the folder of the session, is a file."""
        try:
            return (self._folder / name).is_file()
        except (OSError, ValueError):
            return False

    def has(self, ending: str, folders: Sequence[str]) -> bool:
        """Whether a file whose name ends so lies in one of ``folders`` or below; of ``.`` only the folder itself."""
        return any(name.endswith(ending) for folder in folders for name in self._names(folder))

    def read(self, name: str) -> bytes | None:
        """The bytes of that file, None when there is none."""
        try:
            return read_bytes(self._folder / name) if self.is_file(name) else None
        except StoreError:
            return None

    def _names(self, folder: str) -> tuple[str, ...]:
        place = self._folder if folder == "." else self._folder / folder
        if place not in self._listings:
            self._listings[place] = tuple(_walk(place, is_deep=folder != "."))
        return self._listings[place]


def _walk(folder: Path, *, is_deep: bool) -> Iterator[str]:
    for _, folders, names in os.walk(folder):
        yield from names
        if not is_deep:
            folders.clear()
