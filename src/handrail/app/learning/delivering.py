"""Use case: rules into the instruction files of other tools, and the owner's hand there back into the rules.

The owner's hand is read first. Nothing is written unless it is asked for, and then files are written one by one, each
whole, and only where they still are what was shown.
"""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from handrail import files
from handrail.app.learning.memory import Memory
from handrail.app.machine import SCHEMA_VERSION
from handrail.clock import Clock, SystemClock
from handrail.errors import HandrailError, StoreError
from handrail.learning.delivery.hands import Taken, taken_from
from handrail.learning.delivery.managed import Hand, Wanted, block_in, hand_in, lines_of
from handrail.learning.delivery.record import Delivered, ReadRecord
from handrail.learning.delivery.store import DeliveryStore
from handrail.learning.delivery.targets import TARGETS, Planned, Target, place_of, planned, rules_in, target_named
from handrail.learning.rules.block import block_of
from handrail.learning.rules.model import Life, RuleBook
from handrail.learning.rules.operations import Add, Advance, Operation, Refused, apply
from handrail.learning.rules.sentence import normalised, sentence
from handrail.workspace.repository import repository_of

_PLAIN_FILE = 0o644

Change = Literal["none", "new", "changed", "removed", "problem"]


class SyncOrder(Struct, frozen=True, kw_only=True):
    """Which files: of ``targets`` by name (none: those that there are rules for and that are there, ``AGENTS.md`` at
    least) in the repository that ``folder`` is in. ``removes``: the blocks are taken out."""

    folder: Path
    targets: tuple[str, ...] = ()
    removes: bool = False


class SyncedFile(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One file: what changes, as a unified ``diff``; the ids of the ``rules`` in its block; those without room there.

    ``hand`` is what the owner did to the block. ``problem`` says why the file is left as it is, ``note`` what else is
    to be known.
    """

    target: str
    path: str
    change: Change
    diff: str = ""
    rules: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    hand: Hand = Hand()
    problem: str | None = None
    note: str | None = None


class SyncReport(Struct, frozen=True, kw_only=True):
    """The files, in the order of the targets. ``is_applied``: they were written; else it is what would be."""

    schema_version: int = SCHEMA_VERSION
    repository: str
    is_applied: bool
    files: tuple[SyncedFile, ...]

    @property
    def changes(self) -> bool:
        """Whether there is anything to write, into files or into the rules."""
        return any(one.change in ("new", "changed", "removed") or (one.hand and not one.problem) for one in self.files)


class _Sheet(Struct, frozen=True, kw_only=True):
    """A file as it is: its bytes (None: it is not there), the owner's hand, what that comes to."""

    target: Target
    path: Path
    before: bytes | None = None
    hand: Hand = Hand()
    taken: Taken = Taken()
    problem: str | None = None
    note: str | None = None


class _Page(Struct, frozen=True, kw_only=True):
    """A file as it would be."""

    sheet: _Sheet
    plan: Planned | None
    lines: tuple[Wanted, ...]
    told: SyncedFile


def preview_sync(memory: Memory, order: SyncOrder, *, clock: Clock | None = None) -> SyncReport:
    """What ``sync`` would write; nothing is. Raises ``ValueError`` for a target that is none."""
    return _Desk(memory, order, (clock or SystemClock()).now()).report(is_applied=False)


def sync(
    memory: Memory, order: SyncOrder, *, shown: SyncReport | None = None, clock: Clock | None = None
) -> SyncReport:
    """Take in the owner's hand, and write the files.

    One at a time on one machine. With ``shown`` nothing is written unless it is what was shown (``StoreError``).
    Raises ``StoreError`` where a file cannot be written, or was changed meanwhile; those before it stand.
    """
    with files.lock(memory.folder / "sync.lock"):
        desk = _Desk(memory, order, (clock or SystemClock()).now())
        if shown is not None and shown.files != desk.report(is_applied=False).files:
            raise StoreError(
                "the files or the rules changed since they were shown; nothing was written", hint="look again"
            )
        desk.write()
        return desk.report(is_applied=True)


class _Desk:
    """All files of one repository, and the rules as they are with the owner's hand taken in."""

    def __init__(self, memory: Memory, order: SyncOrder, at: datetime) -> None:
        self._memory = memory
        self._order = order
        self._at = at
        self._root = repository_of(order.folder)
        self._record = DeliveryStore(memory.folder)
        record = self._record.load()
        book = memory.rules.load().book
        sheets: list[_Sheet] = []
        for target in self._targets(book):
            # Each hand is read against what those before it left, so that the same one in two files is taken in once.
            sheet, book = _taken_in(_sheet(self._root, target, record, book), book, at)
            sheets.append(sheet)
        self.operations = tuple(one for sheet in sheets if sheet.problem is None for one in sheet.taken.operations)
        self._pages = [self._page(sheet, book) for sheet in sheets]

    def report(self, *, is_applied: bool) -> SyncReport:
        return SyncReport(
            repository=str(self._root), is_applied=is_applied, files=tuple(page.told for page in self._pages)
        )

    def write(self) -> None:
        """The rules first: a file that lost the owner's words to a crash could not give them back."""
        if self.operations:
            self._memory.rules.update(lambda book: _with_hand(book, self.operations, self._at))
        for page in self._pages:
            if page.plan is None:
                continue
            if page.plan.changes:
                _write(self._root, page.sheet, page.plan)
            if page.plan.changes or page.sheet.hand:
                row = Delivered(repository=str(self._root), target=page.plan.target, lines=page.lines, at=self._at)
                self._record.add((row,))

    def _targets(self, book: RuleBook) -> tuple[Target, ...]:
        if self._order.targets:
            return tuple(target_named(name) for name in dict.fromkeys(self._order.targets))
        there = tuple(target for target in TARGETS if files.look_at(self._root / target.path) is not None)
        first = TARGETS[0]
        return there if first in there or self._order.removes else (first, *there)

    def _page(self, sheet: _Sheet, book: RuleBook) -> _Page:
        rules = () if self._order.removes else rules_in(book, str(self._root), sheet.target)
        room = block_of((), rules)
        lines = lines_of(rule for rule in rules if rule.id in room.rules)
        plan: Planned | None = None
        problem = sheet.problem
        if problem is None:
            try:
                plan = planned(sheet.target, sheet.path, sheet.before, lines)
            except HandrailError as fault:
                problem = fault.message
        told = SyncedFile(
            target=sheet.target.name,
            path=str(sheet.path),
            change=_change(plan),
            diff="" if plan is None else _diff(sheet.target.path, plan),
            rules=tuple(line.id for line in lines),
            left_out=room.left_out,
            hand=sheet.hand,
            problem=problem,
            note=sheet.note,
        )
        return _Page(sheet=sheet, plan=plan, lines=lines, told=told)


def _sheet(root: Path, target: Target, record: ReadRecord, book: RuleBook) -> _Sheet:
    """The file as it is, and the owner's hand in it since we last wrote there."""
    path = root / target.path
    try:
        path = place_of(root, target)
        before = files.read_bytes(path) if files.look_at(path) is not None else None
        block = None if before is None else block_in(before)
        last = record.last(str(root), target.name)
        written = () if last is None else last.lines
        hand = Hand() if before is None else hand_in(before, written)
    except HandrailError as fault:
        return _Sheet(target=target, path=path, problem=fault.message)
    taken = taken_from(hand, book, repository=str(root), harnesses=target.reads, file=target.path)
    problem = "; ".join(taken.problems) or None
    note = (
        "the block that was put there was taken out by hand; writing puts it back"
        if written and block is None
        else None
    )
    return _Sheet(target=target, path=path, before=before, hand=hand, taken=taken, problem=problem, note=note)


def _taken_in(sheet: _Sheet, book: RuleBook, at: datetime) -> tuple[_Sheet, RuleBook]:
    """The rules as the owner's hand in the file leaves them; a hand that they do not take is its problem."""
    if sheet.problem is not None:
        return sheet, book
    try:
        return sheet, _with_hand(book, sheet.taken.operations, at)
    except Refused as fault:
        return replace(sheet, problem=fault.message), book


def _with_hand(book: RuleBook, operations: Iterable[Operation], at: datetime) -> RuleBook:
    """The rules after ``operations`` of the owner; what they wrote themselves is in force at once."""
    for operation in operations:
        book = apply(book, operation, by="owner", at=at)
        if isinstance(operation, Add):
            wanted = normalised(sentence(operation.text))
            rule = next(one for one in book if normalised(one.text) == wanted)
            book = apply(book, Advance(rule=rule.id, life=Life.ACTIVE), by="owner", at=at)
    return book


def _change(plan: Planned | None) -> Change:
    if plan is None:
        return "problem"
    if not plan.changes:
        return "none"
    if plan.before is None:
        return "new"
    return "removed" if plan.after is None else "changed"


def _diff(name: str, plan: Planned) -> str:
    """What changes, as ``diff -u`` tells it; bytes that are no UTF-8 show as U+FFFD."""
    before, after = (_lines(data) for data in (plan.before, plan.after))
    told = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm="")
    return "\n".join(told)


def _lines(data: bytes | None) -> Sequence[str]:
    return (data or b"").decode("utf-8", "replace").splitlines()


def _write(root: Path, sheet: _Sheet, plan: Planned) -> None:
    """Write one file, or take it away; ``StoreError`` where it is no longer what was read."""
    found = files.look_at(plan.path)
    now = None if found is None else files.read_bytes(plan.path)
    if now != plan.before:
        raise StoreError(f"{sheet.target.path} was changed meanwhile; it is left as it is", hint="look again")
    if plan.after is None:
        _take_away(root, plan.path)
        return
    # It is the repository's file and not one of ours: its owner's tools and colleagues read it as they did before.
    mode = _PLAIN_FILE if found is None else found.st_mode & 0o777
    _make_folder(plan.path.parent)
    files.write_stream_atomically(plan.path, (plan.after,), replace=True, check=lambda made: made.chmod(mode))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise StoreError(f"cannot make {folder}: {problem.strerror}") from problem


def _take_away(root: Path, path: Path) -> None:
    """Remove a file that held nothing but our block, and the folders that are empty without it."""
    try:
        path.unlink(missing_ok=True)
    except OSError as problem:
        raise StoreError(f"cannot take away {path}: {problem.strerror}") from problem
    top = Path(os.path.realpath(root))
    for folder in path.parents:
        if folder == top or not folder.is_relative_to(top):
            return
        with contextlib.suppress(OSError):
            folder.rmdir()
