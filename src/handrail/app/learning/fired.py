"""Use case: what checks did: refused, asked, let pass or noted, in runs of ours and in other hosts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from msgspec import Struct

from handrail.app.learning.places import find_learning_folder
from handrail.app.listing import SessionFilter
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.mining import Progress
from handrail.app.opening import open_ref
from handrail.errors import HandrailError
from handrail.harnesses.handrail.codec import NAME, read_events
from handrail.learning.checks.enforcing import fired_in
from handrail.learning.checks.firing import FiringStore
from handrail.library import Unread

_EARLIEST = datetime.min.replace(tzinfo=UTC)


class FiredRow(Struct, frozen=True, kw_only=True, gc=False):
    """One time. ``did`` is ``refused``, ``asked``, ``let_pass``, ``noted`` or ``failed``; ``what`` an excerpt."""

    at: datetime | None
    host: str
    session: str
    rule: str
    did: str
    what: str


class FiredCount(Struct, frozen=True, kw_only=True, gc=False):
    """How often the check of a rule did what."""

    rule: str
    refused: int
    asked: int
    let_pass: int
    noted: int
    failed: int


class FiredList(Struct, frozen=True, kw_only=True):
    """Every time, the newest first, and the counts by rule."""

    schema_version: int = SCHEMA_VERSION
    fired: tuple[FiredRow, ...]
    rules: tuple[FiredCount, ...]
    unread: tuple[Unread, ...]


def fired_checks(
    machine: Machine,
    environment: Mapping[str, str],
    rules: tuple[str, ...] = (),
    since: datetime | None = None,
    on_progress: Progress | None = None,
) -> FiredList:
    """What the checks of ``rules`` (none named: of all) did since then. A session that cannot be read is reported."""
    unread: list[Unread] = []
    rows = [*_in_runs(machine, since, unread, on_progress), *_in_hosts(environment)]
    kept = [row for row in rows if (not rules or row.rule in rules) and _is_since(row, since)]
    kept.sort(key=lambda row: row.at or _EARLIEST, reverse=True)
    return FiredList(fired=tuple(kept), rules=tuple(_counts(kept)), unread=tuple(unread))


def _in_runs(
    machine: Machine, since: datetime | None, unread: list[Unread], on_progress: Progress | None
) -> Iterator[FiredRow]:
    wanted = SessionFilter(harness=NAME, since=since)
    refs = [ref for ref in machine.catalog().sessions if wanted.admits(ref)]
    for done, ref in enumerate(refs):
        if on_progress is not None:
            on_progress(done, len(refs))
        try:
            events = read_events(open_ref(machine, ref).native.body)
        except HandrailError as problem:
            unread.append(Unread(harness=ref.harness, where=ref.locator, message=problem.message))
            continue
        for one in fired_in(events):
            yield FiredRow(at=one.at, host=NAME, session=ref.id, rule=one.rule, did=one.did, what=one.what)
    if on_progress is not None:
        on_progress(len(refs), len(refs))


def _in_hosts(environment: Mapping[str, str]) -> Iterator[FiredRow]:
    folder = find_learning_folder(environment)
    if folder is None:
        return
    for one in FiringStore(folder).rows():
        what = one.what if one.why is None else f"{one.why} {one.what}".strip()
        yield FiredRow(at=one.at, host=one.host, session=one.session, rule=one.rule, did=one.did, what=what)


def _is_since(row: FiredRow, since: datetime | None) -> bool:
    return since is None or (row.at is not None and row.at >= since)


def _counts(rows: list[FiredRow]) -> Iterator[FiredCount]:
    counted = Counter((row.rule, row.did) for row in rows)
    for rule in dict.fromkeys(row.rule for row in rows):
        refused, asked, let_pass, noted, failed = (
            counted[rule, did] for did in ("refused", "asked", "let_pass", "noted", "failed")
        )
        yield FiredCount(rule=rule, refused=refused, asked=asked, let_pass=let_pass, noted=noted, failed=failed)
