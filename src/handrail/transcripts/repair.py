"""What is wrong with a session's bytes, and how a copy without it is made: findings, edits, and the proof of a copy.

A diagnosis is made from a stream of chunks and holds what a person needs: a stable code, a place, what it means to
them, what helps. A repair is a list of ``Edit`` over the source: each replaces one stretch of its bytes and says
why. The copy is the source with the edits applied and nothing else, so that every byte no edit names is the
original's by construction; ``is_spliced`` checks it again from what was written.

What a format can suffer from is knowledge of its harness (``Medic``). This module holds what all of them share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

MAX_PER_CODE = 100
"""How many findings of one code are told one by one; the rest are told as one, so that a report stays readable."""

CHUNK_BYTES = 1 << 20


class Severity(StrEnum):
    """How bad it is: ``NOTE`` nothing is broken, ``DAMAGE`` something is lost or refused, ``UNREADABLE`` no session."""

    NOTE = "note"
    DAMAGE = "damage"
    UNREADABLE = "unreadable"


class Remedy(StrEnum):
    """What helps against a finding: a repair, one that replaces images, one that takes a branch, a copy elsewhere."""

    NONE = "none"
    REPAIR = "repair"
    IMAGES = "images"
    BRANCH = "branch"
    COPY = "copy"


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One thing that is wrong, or worth knowing.

    ``start`` and ``end`` are byte offsets into the file (half-open), ``message`` says what it means to the person
    whose session it is, ``count`` how many of the same it stands for. ``branch`` is the id of the line that
    ``Remedy.BRANCH`` takes.
    """

    code: str
    severity: Severity
    start: int
    end: int
    message: str
    remedy: Remedy = Remedy.NONE
    count: int = 1
    branch: str | None = None


class Diagnosis(Struct, frozen=True, kw_only=True):
    """All that a stream of bytes tells: the findings in file order, and what those who look beside the file need.

    ``agents`` are the sub-agents the session started, ``told`` those of them whose talk stands in the file itself.
    ``turns`` counts prompts and responses of the live line, ``shown`` how many of them the tool itself would show.
    """

    session: str = ""
    records: int = 0
    turns: int = 0
    shown: int = 0
    findings: tuple[Finding, ...] = ()
    agents: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()

    @property
    def is_session(self) -> bool:
        """Whether there is a session in it at all."""
        return all(finding.severity is not Severity.UNREADABLE for finding in self.findings)

    @property
    def is_damaged(self) -> bool:
        """Whether anything is more than a note."""
        return any(finding.severity is not Severity.NOTE for finding in self.findings)


class Change(Struct, frozen=True, kw_only=True, gc=False):
    """One stretch of the source that the copy does not have as it was.

    ``start`` and ``end`` are byte offsets into the source (equal: something was put in), ``size`` the bytes that
    stand there now. ``is_loss``: what stood there cannot be had from the copy.
    """

    kind: str
    start: int
    end: int
    size: int
    message: str
    is_loss: bool = False


class Edit(Struct, frozen=True, gc=False):
    """The bytes ``new`` in place of ``start`` to ``end`` of the source.

    ``is_wound``: it mends the bytes of a record, so an edit that replaces the stretch around it makes it needless.
    """

    start: int
    end: int
    new: bytes
    kind: str
    message: str
    is_loss: bool = False
    is_wound: bool = False

    def change(self) -> Change:
        """The edit without its bytes, for a report."""
        return Change(
            kind=self.kind,
            start=self.start,
            end=self.end,
            size=len(self.new),
            message=self.message,
            is_loss=self.is_loss,
        )


class Wishes(Struct, frozen=True, kw_only=True, gc=False):
    """What a person may ask of a repair: the line ``branch`` to become the live one, images to become placeholders."""

    branch: str | None = None
    images: Literal["placeholder"] | None = None


class Source(Protocol):
    """Bytes that can be read twice and anywhere; their size does not change while they are."""

    def chunks(self) -> Iterator[bytes]:
        """All bytes in order, a stretch at a time."""
        ...

    def read(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` to ``end``."""
        ...


class Surroundings(Protocol):
    """What can be asked about the place a session lies in. Reads only."""

    def is_file(self, name: str) -> bool:
        """Whether ``name``, relative to the folder of the session, is a file."""
        ...

    def has(self, ending: str, folders: Sequence[str]) -> bool:
        """Whether a file whose name ends so lies in one of ``folders`` (relative to that of the session) or below.

        Of ``.`` only the folder itself is looked at.
        """
        ...

    def read(self, name: str) -> bytes | None:
        """The bytes of that file, None when there is none."""
        ...

    @property
    def name(self) -> str:
        """The name of the session's own file."""
        ...

    @property
    def folder(self) -> tuple[str, ...]:
        """The names of the folders it lies in, outermost first."""
        ...

    @property
    def age_days(self) -> float:
        """How long ago the file was changed last."""
        ...


class Medic(Protocol):
    """What a harness knows about damage to its own files. Pure, but for what ``beside`` asks its argument."""

    def diagnose(self, chunks: Iterable[bytes]) -> Diagnosis:
        """What is wrong, in memory bounded by the largest record and a table of ids. Raises nothing for any bytes."""
        ...

    def edits(self, source: Source, wishes: Wishes) -> tuple[Edit, ...]:
        """What makes a copy of ``source`` that the tool itself opens whole; none for a session without damage.

        The copy's diagnosis has no damage left but what only another wish would cure. Raises ``MalformedSession``
        for a branch that is not there.
        """
        ...

    def beside(self, diagnosis: Diagnosis, place: Surroundings) -> tuple[Finding, ...]:
        """What the place of the file tells: sub-agent files that are missing, files that will be deleted."""
        ...


class Bytes:
    """A ``Source`` that is at hand as bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def chunks(self) -> Iterator[bytes]:
        """The bytes, ``CHUNK_BYTES`` at a time."""
        for start in range(0, len(self._data), CHUNK_BYTES):
            yield self._data[start : start + CHUNK_BYTES]

    def read(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` to ``end``."""
        return self._data[start:end]


def limited(findings: Iterable[Finding], limit: int = MAX_PER_CODE) -> tuple[Finding, ...]:
    """``findings`` in file order, those of a code beyond ``limit`` told as one that counts them."""
    kept: list[Finding] = []
    counts: dict[tuple[str, Severity], int] = {}
    rest: dict[tuple[str, Severity], Finding] = {}
    for finding in sorted(findings, key=lambda finding: (finding.start, finding.end)):
        key = (finding.code, finding.severity)
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= limit:
            kept.append(finding)
            continue
        before = rest.get(key)
        start = finding.start if before is None else before.start
        count = finding.count + (before.count if before is not None else 0)
        rest[key] = replace(finding, start=start, count=count, message=f"{count:,} more: {finding.message}")
    return (*kept, *rest.values())


def merged(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """``edits`` in file order, wounds left out that lie within a stretch that is replaced anyway.

    At one place mended bytes come before what is put in, and what is put in before what is replaced.
    """
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end > edit.start, not edit.is_wound, -edit.end))
    replaced = [edit for edit in ordered if not edit.is_wound and edit.end > edit.start]
    kept: list[Edit] = []
    at = 0
    for edit in ordered:
        while at < len(replaced) and replaced[at].end < edit.start:
            at += 1
        # A wound at the border of two stretches may belong to either.
        around = replaced[at : at + 2] if edit.is_wound else []
        if not any(_takes_in(other, edit) for other in around):
            kept.append(edit)
    return tuple(kept)


def _takes_in(stretch: Edit, wound: Edit) -> bool:
    """Whether ``stretch`` makes ``wound`` needless: what is put in at a border of it still parts what stands there."""
    if stretch.new and wound.start == wound.end and wound.start in (stretch.start, stretch.end):
        return False
    return stretch.start <= wound.start and wound.end <= stretch.end


def splice(chunks: Iterable[bytes], edits: Sequence[Edit]) -> Iterator[bytes]:
    """The stream with ``edits`` applied: what ``merged`` gave, in order and without overlaps.

    Raises ``ValueError`` for edits that overlap or lie outside the stream.
    """
    at = 0
    pending = list(reversed(edits))
    skip_to = 0
    for chunk in chunks:
        end = at + len(chunk)
        while pending and pending[-1].start < end:
            edit = pending.pop()
            if edit.start < skip_to:
                raise ValueError(f"edits overlap at byte {edit.start}")
            yield from _between(chunk, at, max(at, skip_to), edit.start)
            yield edit.new
            skip_to = edit.end
        yield from _between(chunk, at, max(at, skip_to), end)
        at = end
    for edit in reversed(pending):
        if edit.start != at or edit.end != at or skip_to > at:
            raise ValueError(f"an edit at byte {edit.start} lies outside of {at} bytes")
        yield edit.new


def _between(chunk: bytes, offset: int, start: int, end: int) -> Iterator[bytes]:
    if start < end:
        yield chunk[start - offset : end - offset]


def is_spliced(source: Source, copy: Source, edits: Sequence[Edit]) -> bool:
    """Whether ``copy`` is ``source`` but for ``edits``: every stretch between two of them is compared, byte by byte."""
    there = 0
    here = 0
    for edit in edits:
        if not _is_equal(source, here, edit.start, copy, there):
            return False
        there += edit.start - here
        if copy.read(there, there + len(edit.new)) != edit.new:
            return False
        there += len(edit.new)
        here = edit.end
    while piece := source.read(here, here + CHUNK_BYTES):
        if copy.read(there, there + len(piece)) != piece:
            return False
        here += len(piece)
        there += len(piece)
    return not copy.read(there, there + 1)


def _is_equal(source: Source, start: int, end: int, copy: Source, there: int) -> bool:
    while start < end:
        stop = min(end, start + CHUNK_BYTES)
        if source.read(start, stop) != copy.read(there, there + stop - start):
            return False
        there += stop - start
        start = stop
    return True


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """``1 turn``, ``41 turns``, ``1,200 turns``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


Replacements = Mapping[tuple[str | int, ...], bytes]
"""New JSON for the value at each path of a record."""
