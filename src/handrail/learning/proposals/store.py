"""The proposals on disk: one readable file each, so that resolving one rewrites one.

A file that is no proposal costs that proposal and is reported. Fields that a newer release wrote survive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from handrail import files, jsonio
from handrail.errors import StoreError
from handrail.ids import check_id
from handrail.learning.naming import one_named
from handrail.learning.proposals.model import NoSuchProposal, Proposal, Status

FOLDER = "proposals"
_KNOWN = frozenset(Proposal.__struct_fields__)


class BadFile(Struct, frozen=True, gc=False):
    """A file that is no proposal."""

    file: str
    reason: str


class Shelf(Struct, frozen=True):
    """All proposals, the oldest first."""

    proposals: tuple[Proposal, ...] = ()
    bad: tuple[BadFile, ...] = ()

    def __iter__(self) -> Iterator[Proposal]:
        return iter(self.proposals)

    def find(self, prefix: str) -> Proposal:
        """The proposal whose id begins with ``prefix``; ``NoSuchProposal`` for none, several, or an empty prefix."""
        return one_named(self.proposals, prefix, "proposal", NoSuchProposal, "handrail proposals lists them")

    def pending(self, topic: str | None = None, kind: str | None = None) -> tuple[Proposal, ...]:
        """Those that wait for the owner; of one topic and kind where they are given."""
        return tuple(
            one
            for one in self.proposals
            if one.status is Status.PENDING and topic in (None, one.topic) and kind in (None, one.kind)
        )


class ProposalStore:
    """The proposals in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / FOLDER
        self._lock = folder / "proposals.lock"

    def load(self) -> Shelf:
        """What stands there; nothing where nothing does, and looking creates nothing."""
        if files.look_at(self.folder) is None:
            return Shelf()
        found: list[Proposal] = []
        bad: list[BadFile] = []
        for file in _documents(self.folder):
            try:
                found.append(_read(file)[0])
            except (StoreError, jsonio.NotJson, msgspec.ValidationError) as problem:
                bad.append(BadFile(file.name, str(problem)))
        found.sort(key=lambda one: (one.created_at, one.id))
        return Shelf(tuple(found), tuple(bad))

    @contextmanager
    def writing(self) -> Iterator[Shelf]:
        """What stands there, for the only one who may write until the block ends."""
        with files.lock(self._lock):
            yield self.load()

    def put(self, *proposals: Proposal) -> None:
        """Write each to its file, within ``writing``. ``StoreError`` where the folder cannot be written."""
        for proposal in proposals:
            file = self.folder / f"{check_id(proposal.id)}.json"
            files.write_atomically(file, _render(proposal, _unknown_in(file)), replace=True)


def _documents(folder: Path) -> Iterable[Path]:
    try:
        return sorted(file for file in folder.iterdir() if file.suffix == ".json" and not file.name.startswith("."))
    except OSError as problem:
        raise StoreError(f"cannot list {folder}: {problem.strerror}") from problem


def _read(file: Path) -> tuple[Proposal, dict[str, Any]]:
    fields = jsonio.decode(files.read_bytes(file))
    proposal = msgspec.convert(fields, Proposal)
    if proposal.id != file.stem:
        raise jsonio.NotJson(f"it calls itself {proposal.id!r}")
    return proposal, {key: value for key, value in fields.items() if key not in _KNOWN}


def _unknown_in(file: Path) -> dict[str, Any]:
    """The fields of the file that this release does not know."""
    if files.look_at(file) is None:
        return {}
    try:
        return _read(file)[1]
    except (jsonio.NotJson, msgspec.ValidationError) as problem:
        raise StoreError(f"{file} is no proposal, so it is not written over: {problem}") from problem


def _render(proposal: Proposal, unknown: dict[str, Any]) -> bytes:
    """Indented, so that a person can read and compare it."""
    return msgspec.json.format(jsonio.encode({**msgspec.to_builtins(proposal), **unknown}), indent=2) + b"\n"
