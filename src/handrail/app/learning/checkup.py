"""Use case: whether the loop is alive. Rules that no run can load, proposals nobody looked at, hooks that no host
loaded, files that cannot be read: all the ways in which it can look as if rules were obeyed, or learned, and none is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from handrail.app.learning.hooks import hook_report
from handrail.app.learning.memory import Memory, open_memory
from handrail.app.learning.places import find_learning_folder
from handrail.app.machine import SCHEMA_VERSION
from handrail.clock import Clock, SystemClock
from handrail.errors import StoreError
from handrail.harnesses import harness_names
from handrail.learning.delivery.record import Delivered
from handrail.learning.delivery.store import DeliveryStore
from handrail.learning.delivery.targets import TARGETS
from handrail.learning.probes.store import LedgerStore
from handrail.learning.rules.block import block_of, in_order
from handrail.learning.rules.model import Life, Rule, RuleScope
from handrail.learning.rules.scope import Place, matches

PATIENCE = timedelta(days=7)
"""How long a proposal may wait before it is one that nobody looks at."""

_KNOWN = frozenset({"rules.jsonl", "own-rules.md", "lessons.jsonl", "probes.jsonl", "delivered.jsonl", "proposals"})
_LIKE_RULES = ("rule", "regel")


class Grade(StrEnum):
    """``problem``: something does not do what it looks like. ``note``: worth knowing."""

    NOTE = "note"
    PROBLEM = "problem"


class LoopFinding(Struct, frozen=True, kw_only=True, gc=False):
    """One finding: a stable ``code``, what it is about (a rule, a proposal, a file, a host), and what helps."""

    code: str
    grade: Grade
    about: str
    message: str
    fix: str | None = None


class LoopCheckup(Struct, frozen=True, kw_only=True):
    """What was found, problems first; the figures say what was looked at."""

    schema_version: int = SCHEMA_VERSION
    folder: str | None
    rules: int
    riding: int
    lessons: int
    pending: int
    rows: int
    findings: tuple[LoopFinding, ...]

    @property
    def has_problems(self) -> bool:
        return any(one.grade is Grade.PROBLEM for one in self.findings)


def loop_checkup(
    environment: Mapping[str, str], *, project: Path | None = None, clock: Clock | None = None
) -> LoopCheckup:
    """Look at the loop of this person and at the hooks of their hosts, those of ``project`` too; nothing is changed."""
    folder = find_learning_folder(environment)
    if folder is None:
        return LoopCheckup(folder=None, rules=0, riding=0, lessons=0, pending=0, rows=0, findings=())
    memory = open_memory(environment)
    now = (clock or SystemClock()).now()
    found = sorted(_findings(memory, environment, project, now), key=lambda one: one.grade is Grade.NOTE)
    book = memory.rules.load().book
    return LoopCheckup(
        folder=str(folder),
        rules=len(book),
        riding=sum(rule.rides for rule in book),
        lessons=len(memory.lessons.load().lessons()),
        pending=len(memory.proposals.load().pending()),
        rows=len(LedgerStore(memory.folder).load().rows),
        findings=tuple(found),
    )


def _findings(
    memory: Memory, environment: Mapping[str, str], project: Path | None, now: datetime
) -> Iterator[LoopFinding]:
    yield from _unreadable(memory)
    rules = tuple(memory.rules.load().book)
    yield from _unloaded(rules, memory)
    yield from _waiting(memory, now)
    yield from _unused(memory)
    for host in hook_report(environment, project).hosts:
        for problem in host.problems:
            yield LoopFinding(
                code="hook_not_loaded",
                grade=Grade.PROBLEM,
                about=host.host,
                message=problem,
                fix="handrail hook doctor",
            )


def _unreadable(memory: Memory) -> Iterator[LoopFinding]:
    """Lines and files that are none, and files that look like rules and are read by nobody."""
    for name, bad in (
        ("rules.jsonl", tuple(one.line for one in memory.rules.load().bad)),
        ("lessons.jsonl", memory.lessons.load().bad),
        ("probes.jsonl", LedgerStore(memory.folder).load().bad),
        ("delivered.jsonl", DeliveryStore(memory.folder).load().bad),
    ):
        if bad:
            lines = ", ".join(map(str, bad))
            message = f"lines that cannot be read, and count for nothing: {lines}"
            yield LoopFinding(code="bad_lines", grade=Grade.PROBLEM, about=name, message=message)
    for file in memory.proposals.load().bad:
        yield LoopFinding(code="bad_proposal", grade=Grade.PROBLEM, about=file.file, message=file.reason)
    for name in _strangers(memory.folder):
        message = "it looks like rules, and nothing reads it"
        yield LoopFinding(code="stray_file", grade=Grade.PROBLEM, about=name, message=message)


def _strangers(folder: Path) -> list[str]:
    try:
        names = [one.name for one in folder.iterdir()]
    except FileNotFoundError:
        return []
    except OSError as problem:
        raise StoreError(f"cannot list {folder}: {problem.strerror}") from problem
    odd = (name for name in names if name not in _KNOWN and not name.startswith(".") and not name.endswith(".lock"))
    return sorted(name for name in odd if any(part in name.lower() for part in _LIKE_RULES))


def _unloaded(rules: Iterable[Rule], memory: Memory) -> Iterator[LoopFinding]:
    """Rules that ride by their life and can be in no prompt."""
    synced = {(row.repository, line.id) for row in _standing(memory) for line in row.lines}
    riding = [rule for rule in rules if rule.rides]
    for rule in riding:
        why = _why_dark(rule)
        if why is not None:
            yield LoopFinding(
                code="dark_rule",
                grade=Grade.PROBLEM,
                about=rule.id,
                message=f"no run can load it: {why}",
                fix=f"handrail rules scope {rule.id}",
            )
        elif not _is_reached(rule, synced):
            listed = ", ".join(rule.scope.harnesses or ())
            yield LoopFinding(
                code="undelivered_rule",
                grade=Grade.PROBLEM,
                about=rule.id,
                message=f"it counts in {listed} only, and was put into no file that those read",
                fix="handrail sync",
            )
    yield from _crowded(riding)


def _standing(memory: Memory) -> Iterator[Delivered]:
    record = DeliveryStore(memory.folder).load()
    for repository, target in {(row.repository, row.target) for row in record.rows}:
        row = record.last(repository, target)
        if row is not None:
            yield row


def _why_dark(rule: Rule) -> str | None:
    scope: RuleScope = rule.scope
    if scope.is_dark:
        return "where it counts is not known"
    gone = [one for one in scope.repositories or () if not Path(one).is_dir()]
    if scope.repositories and len(gone) == len(scope.repositories):
        return f"its repository is gone: {', '.join(gone)}"
    unknown = [one for one in scope.harnesses or () if one not in _readers()]
    if scope.harnesses and len(unknown) == len(scope.harnesses):
        return f"nobody reads rules for {', '.join(unknown)}"
    return None


def _readers() -> frozenset[str]:
    return frozenset((*harness_names(), *(name for target in TARGETS for name in target.reads)))


def _is_reached(rule: Rule, synced: set[tuple[str, str]]) -> bool:
    """Whether a run of ours can load it, or some file holds it."""
    if rule.scope.harnesses is None or "handrail" in rule.scope.harnesses:
        return True
    return any(id == rule.id for _, id in synced)


def _crowded(riding: Iterable[Rule]) -> Iterator[LoopFinding]:
    """Rules for which there is no room in the prompt of their own repository."""
    rules = tuple(riding)
    homes = {home for rule in rules for home in rule.scope.repositories or ()}
    told: set[str] = set()
    for home in (*sorted(homes), None):
        here = [rule for rule in rules if matches(_anywhere(rule.scope), Place(repository=home))]
        for id in block_of((), in_order(here)).left_out:
            if id not in told:
                told.add(id)
                message = f"there is no room for it in the prompts of {home or 'most repositories'}"
                yield LoopFinding(code="no_room", grade=Grade.PROBLEM, about=id, message=message)


def _anywhere(scope: RuleScope) -> RuleScope:
    """``scope`` as far as the repository goes."""
    return RuleScope(repositories=scope.repositories)


def _waiting(memory: Memory, now: datetime) -> Iterator[LoopFinding]:
    for proposal in memory.proposals.load().pending():
        if now - proposal.created_at >= PATIENCE:
            days = (now - proposal.created_at).days
            yield LoopFinding(
                code="proposal_waits",
                grade=Grade.PROBLEM,
                about=proposal.id,
                message=f"nobody has looked at it for {days} days",
                fix=f"handrail proposals show {proposal.id}",
            )


def _unused(memory: Memory) -> Iterator[LoopFinding]:
    """What was taught and never learned, and what rides and was never measured."""
    free = sum(lesson.why_not is None for lesson in memory.lessons.load().lessons())
    if free:
        message = f"{free} lessons that no rule was made of yet"
        yield LoopFinding(code="lessons_wait", grade=Grade.NOTE, about="lessons", message=message, fix="handrail learn")
    probed = {row.rule for row in LedgerStore(memory.folder).load().rows}
    for rule in memory.rules.load().book:
        if rule.rides and rule.by != "owner" and rule.id not in probed and rule.life is not Life.RETIRED:
            yield LoopFinding(
                code="never_probed",
                grade=Grade.NOTE,
                about=rule.id,
                message="it rides and was never measured",
                fix=f"handrail probe {rule.id}",
            )
