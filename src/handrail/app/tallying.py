"""Use case: what all the work adds up to: turns, rounds, tools, tokens and step-ins.

Over all, and by day, harness, project and model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, tzinfo
from itertools import chain
from typing import NamedTuple

from msgspec import Struct

from handrail.app.counting import MomentRow, per_100
from handrail.app.listing import SessionFilter
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.mining import Progress, mine
from handrail.app.opening import Opened, open_ref, open_session
from handrail.errors import HandrailError
from handrail.library import Catalog, Unread, project_name
from handrail.library.catalog import is_subagent
from handrail.library.usage import Entry, IdTable, Lines, Tokens, count_session
from handrail.transcripts.codec import Child, SessionRef
from handrail.transcripts.model import Message

GROUPINGS = ("day", "harness", "project", "model")


class Figures(Struct, frozen=True, kw_only=True, gc=False):
    """What was counted. ``sessions`` are those a person started that had a part in it.

    ``turns`` are messages in which a person speaks, ``rounds`` responses of a model, ``tools`` calls it made.
    ``rounds_without_tokens`` have no count of tokens on record, so that ``tokens`` say nothing of them.
    """

    sessions: int
    turns: int
    rounds: int
    tools: int
    stepins: int
    per_100_rounds: float | None
    tokens: Tokens
    rounds_without_tokens: int


class Group(Struct, frozen=True, kw_only=True, gc=False):
    """The figures of one day (as ``2026-05-01``), harness, project or model; ``name`` is None where it is unknown."""

    name: str | None
    figures: Figures


class Stats(Struct, frozen=True, kw_only=True):
    """Figures over all sessions that were read, and the same split four ways.

    Days stand in order, the others by rounds, the most first.

    ``zone`` is that of the days, ``local`` for this machine's. ``copies`` are turns and responses that stand
    here too and are counted where they come from. ``by_tool`` counts calls, the most first.
    """

    schema_version: int = SCHEMA_VERSION
    zone: str
    since: datetime | None
    total: Figures
    by_day: tuple[Group, ...]
    by_harness: tuple[Group, ...]
    by_project: tuple[Group, ...]
    by_model: tuple[Group, ...]
    by_tool: dict[str, int]
    subagents: int
    copies: int
    unread: tuple[Unread, ...]


def stats(
    machine: Machine,
    wanted: SessionFilter | None = None,
    *,
    references: tuple[str, ...] = (),
    zone: tzinfo | None = None,
    stdin: Callable[[], bytes] | None = None,
    on_progress: Progress | None = None,
) -> Stats:
    """What the sessions that ``wanted`` admits add up to, or those that ``references`` name, sub-agents included.

    Days are those of ``zone`` (None: this machine's), each moment at the offset that held there then. ``since`` holds
    for the sessions and for what is counted in them. Every line of a session counts, those that were left too. One
    session is held at a time, and eight bytes for each message that was counted.
    """
    wanted = (wanted or SessionFilter()).on(machine)
    catalog = machine.catalog()
    tally = _Tally(machine, catalog, zone, wanted.since)
    unread: list[Unread] = [] if references else list(catalog.unread)
    if references:
        for text in references:
            tally.add(open_session(machine, text, harness=wanted.harness, stdin=stdin), is_child=False)
    else:
        # The oldest first, so that a copy is met after what it was copied from; sub-agents after all sessions.
        refs = sorted(filter(wanted.admits, reversed(catalog.sessions)), key=is_subagent)
        for ref, opened in _opened(machine, refs, tally, unread, on_progress):
            tally.add(opened, is_child=is_subagent(ref))
    return tally.stats(tuple(unread))


def _opened(
    machine: Machine, refs: list[SessionRef], tally: _Tally, unread: list[Unread], on_progress: Progress | None
) -> Iterator[tuple[SessionRef, Opened]]:
    """Each of ``refs`` with its session, but for sub-agents whose talk was counted with the session they belong to."""
    for done, ref in enumerate(refs):
        if on_progress is not None:
            on_progress(done, len(refs))
        if tally.has_counted(ref):
            continue
        try:
            yield ref, open_ref(machine, ref)
        except HandrailError as problem:
            unread.append(Unread(harness=ref.harness, where=ref.locator, message=problem.message))
    if on_progress is not None:
        on_progress(len(refs), len(refs))


class _Place(NamedTuple):
    """Under which names something is counted."""

    day: str | None
    harness: str
    project: str | None
    model: str | None


class _Sum:
    """Figures in the making."""

    def __init__(self) -> None:
        self.sessions = self.turns = self.rounds = self.tools = self.stepins = self.without_tokens = 0
        self.tokens = Tokens()

    def add(self, entry: Entry) -> None:
        self.turns += entry.turns
        self.rounds += entry.rounds
        self.tools += len(entry.tools)
        if entry.tokens is not None:
            self.tokens += entry.tokens
        elif entry.rounds:
            self.without_tokens += 1

    def figures(self) -> Figures:
        return Figures(
            sessions=self.sessions,
            turns=self.turns,
            rounds=self.rounds,
            tools=self.tools,
            stepins=self.stepins,
            per_100_rounds=per_100(self.stepins, self.rounds),
            tokens=self.tokens,
            rounds_without_tokens=self.without_tokens,
        )


class _Tally:
    """Sums over the sessions that were added so far."""

    def __init__(self, machine: Machine, catalog: Catalog, zone: tzinfo | None, since: datetime | None) -> None:
        self._machine = machine
        self._here: dict[str, set[str]] = {}
        for ref in catalog.sessions:
            self._here.setdefault(ref.harness, set()).add(ref.id)
        self._zone = zone
        self._since = since
        self._seen = IdTable()
        self._total = _Sum()
        self._groups: tuple[dict[str | None, _Sum], ...] = tuple({} for _ in GROUPINGS)
        self._tools: Counter[str] = Counter()
        self._subagents = 0
        self._children: set[tuple[str, str, str]] = set()
        self._copies = 0

    def has_counted(self, ref: SessionRef) -> bool:
        """Whether ``ref`` is a sub-agent that was counted with its parent."""
        return ref.parent is not None and (ref.harness, ref.parent.session, ref.id) in self._children

    def add(self, opened: Opened, *, is_child: bool) -> None:
        """Count a session; one that is a sub-agent's, which another session started, is no session of its own."""
        harness = opened.info.name
        talks = [child for child in opened.info.codec.children(opened.native) if child.session is not None]
        self._children.update((harness, opened.source.id, child.id) for child in talks)
        here = self._here.get(harness, set()) - {opened.source.id}
        counted = count_session(_lines(opened, talks), self._seen, here)
        self._copies += counted.copies
        project = project_name(opened.session.meta.cwd)
        places: set[_Place] = set()
        for entry in counted.entries:
            if self._is_wanted(entry.at):
                place = _Place(self._day(entry.at), harness, project, entry.model)
                places.add(place)
                for total in self._sums(place):
                    total.add(entry)
                self._tools.update(entry.tools)
        self._subagents += is_child + len(talks)
        if is_child:
            return
        for row in mine(opened, opened.source.id, self._machine.judging).rows:
            if row.is_stepin and self._is_wanted(row.at) and self._seen.add(f"moment\n{row.id}"):
                place = _Place(self._day(row.at), harness, project, _model_before(opened, row))
                places.add(place)
                for total in self._sums(place):
                    total.stepins += 1
        self._count_session(places)

    def _is_wanted(self, at: datetime | None) -> bool:
        return self._since is None or (at is not None and at >= self._since)

    def _day(self, at: datetime | None) -> str | None:
        return None if at is None else at.astimezone(self._zone).strftime("%Y-%m-%d")

    def _sums(self, place: _Place) -> Iterator[_Sum]:
        yield self._total
        for group, name in zip(self._groups, place, strict=True):
            yield group.setdefault(name, _Sum())

    def _count_session(self, places: set[_Place]) -> None:
        self._total.sessions += bool(places)
        for group, names in zip(self._groups, zip(*places, strict=True), strict=False):
            for name in set(names):
                group[name].sessions += 1

    def stats(self, unread: tuple[Unread, ...]) -> Stats:
        """What was counted."""
        days, harnesses, projects, models = map(_groups, self._groups)
        return Stats(
            zone="local" if self._zone is None else str(self._zone),
            since=self._since,
            total=self._total.figures(),
            by_day=tuple(sorted(days, key=lambda group: group.name or "")),
            by_harness=harnesses,
            by_project=projects,
            by_model=models,
            by_tool=dict(self._tools.most_common()),
            subagents=self._subagents,
            copies=self._copies,
            unread=unread,
        )


def _groups(sums: dict[str | None, _Sum]) -> tuple[Group, ...]:
    found = [Group(name=name, figures=total.figures()) for name, total in sums.items()]
    return tuple(sorted(found, key=lambda group: (-group.figures.rounds, group.name or "")))


def _lines(opened: Opened, children: Iterable[Child]) -> Lines:
    """The live line, what the others add to it, and the talk of sub-agents."""
    info, native = opened.info, opened.native
    others = (branch.body for branch in info.codec.branches(native))
    talks = (child.session.body for child in children if child.session is not None)
    ids = info.counting.response_ids
    lines: Iterable[Iterable[Message]] = chain((opened.session.body,), others, talks)
    return Lines(info.name, lines, {} if ids is None else ids(native), info.counting.input_holds_cache)


def _model_before(opened: Opened, row: MomentRow) -> str | None:
    """The model whose work the person stepped into; on a line that was left that of the session."""
    if row.branch is None:
        for message in reversed(opened.session.body[: row.message]):
            if message.role == "assistant":
                return message.model
    return opened.session.meta.model
