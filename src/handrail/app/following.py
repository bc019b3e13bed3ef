"""Use case: follow a session that is being written. What is new in it is told as it comes, step-ins among it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from handrail.app.counting import MomentRow
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.mining import mine
from handrail.app.opening import Opened, Source, locate_file
from handrail.app.tails import tail_of
from handrail.clock import Clock, Sleeper, SystemClock, sleep
from handrail.errors import StoreError
from handrail.learning.interventions import Intervention, Scorer, Verdict
from handrail.library.tail import Growth, Restart
from handrail.transcripts.codec import Fault, is_person
from handrail.transcripts.model import Block, Common, Role, Transcript

INTERVAL_S = 1.0
"""How long to wait between two looks at the file."""

_REST_PER_WORK = 4
"""Reading a session again takes longer the longer it is; a rest of this many times as long bounds the load."""

_WHY_RESTARTED = {
    Restart.TRUNCATED: "was cut short",
    Restart.REPLACED: "was replaced by another file",
    Restart.REWRITTEN: "was written anew",
}


class FollowedSession(Struct, frozen=True, kw_only=True, tag_field="event", tag="session"):
    """What is followed, and how much of it there was at the start. ``stepins`` and ``rounds`` are those so far."""

    schema_version: int = SCHEMA_VERSION
    source: Source
    messages: int
    rounds: int
    stepins: int


class FollowedMessage(Struct, frozen=True, kw_only=True, tag_field="event", tag="message"):
    """A message, or what was added to one.

    ``number`` is its place (from 1) in the line that is live now. ``content`` are its blocks from ``first_block``
    (from 0) on: a message grows while a response streams in. One that was told before and reads otherwise now is
    told again whole, as ``is_again``.
    """

    schema_version: int = SCHEMA_VERSION
    number: int
    uid: str
    role: Role
    at: datetime | None
    model: str | None
    first_block: int
    is_again: bool
    content: tuple[Block, ...]


class FollowedMoment(Struct, frozen=True, kw_only=True, tag_field="event", tag="moment"):
    """A moment, told as soon as it can be seen. ``replaces`` is the id it was told under before it had these words."""

    schema_version: int = SCHEMA_VERSION
    moment: MomentRow
    replaces: str | None


class FollowNotice(Struct, frozen=True, kw_only=True, tag_field="event", tag="notice"):
    """Something about the file.

    ``truncated``, ``replaced`` and ``rewritten``: it is read from its beginning again, and what was told before is
    not told twice. ``missing``: it is gone, and is waited for. ``damaged``: a place could not be read. ``unfinished``:
    the last record had not been written whole.
    """

    schema_version: int = SCHEMA_VERSION
    code: Literal["truncated", "replaced", "rewritten", "missing", "damaged", "unfinished"]
    message: str


FollowEvent: TypeAlias = FollowedSession | FollowedMessage | FollowedMoment | FollowNotice


class FollowOptions(Struct, frozen=True, kw_only=True, gc=False):
    """``last``: how many messages to begin with (None: all). ``candidates``: moments that may be no step-ins, too.

    ``once``: tell what is there and end.
    """

    last: int | None = None
    candidates: bool = False
    once: bool = False
    interval_s: float = INTERVAL_S


def follow(
    machine: Machine,
    text: str,
    options: FollowOptions | None = None,
    *,
    harness: str | None = None,
    sleeper: Sleeper = sleep,
    clock: Clock | None = None,
) -> Iterator[FollowEvent]:
    """Tell what the session that ``text`` names holds and, without ``once``, what is added to it, until it is closed.

    Only whole records count. Rows are read once, however long the session gets. Raises as ``open_session`` does, and
    ``StoreError`` when the file cannot be read any more.
    """
    options = options or FollowOptions()
    clock = clock or SystemClock()
    source = locate_file(machine, text, harness=harness)
    watch = _Watch(machine, source, text, options)
    tail = tail_of(machine, source.harness, source.locator)
    growth = tail.look()
    if growth.is_missing:
        raise StoreError(f"{source.locator} is gone")
    yield from watch.begin(growth)
    if options.once:
        if growth.held_bytes:
            message = f"{source.locator}: {growth.held_bytes:,} bytes of an unfinished record are held back"
            yield FollowNotice(code="unfinished", message=message)
        return
    pause_s = options.interval_s
    while True:
        sleeper(pause_s)
        begun_s = clock.monotonic_s()
        events = list(watch.take(tail.look()))
        pause_s = max(options.interval_s, _REST_PER_WORK * (clock.monotonic_s() - begun_s))
        yield from events


class _Remembering:
    """Judges a follow-up once. When a person has spoken again after it, what is appended changes nothing around it."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self._known: dict[str, tuple[Intervention, Verdict]] = {}

    def __call__(self, moment: Intervention, line: Common, at: int) -> Verdict:
        known = self._known.get(moment.id)
        if known is not None and known[0] == moment:
            return known[1]
        verdict = self._scorer(moment, line, at)
        if any(is_person(block) for message in line[at + 1 :] for block in message.content):
            self._known[moment.id] = moment, verdict
        return verdict


class _Told(NamedTuple):
    """A moment that was told, and the record in which the act stands."""

    row: MomentRow
    record: str


class _Watch:
    """What of one session has been told so far. Messages are known by their uids, so a restart tells none twice."""

    def __init__(self, machine: Machine, source: Source, name: str, options: FollowOptions) -> None:
        judging = machine.judging
        self._judging = judging if judging.scorer is None else replace(judging, scorer=_Remembering(judging.scorer))
        self._source = source
        self._name = name
        self._options = options
        self._info = machine.infos[source.harness]
        self._native: Transcript[Any] = self._info.codec.parse(b"")
        self._messages: dict[str, tuple[Block, ...]] = {}
        self._moments: dict[str, _Told] = {}
        self._faults = 0
        self._is_missing = False

    def begin(self, growth: Growth) -> Iterator[FollowEvent]:
        """The session, then the last of its messages with their moments."""
        self._read(growth)
        session = self._info.codec.to_common(self._native)
        mined = mine(self._opened(session), self._name, self._judging)
        count = len(session.body)
        yield FollowedSession(
            source=self._source,
            messages=count,
            rounds=mined.rounds,
            stepins=sum(row.is_stepin for row in mined.rows),
        )
        first = 0 if self._options.last is None else max(0, count - self._options.last)
        yield from self._new_faults()
        yield from self._news(session, mined.rows, first)

    def take(self, growth: Growth) -> Iterator[FollowEvent]:
        """What ``growth`` brought."""
        if growth.is_missing:
            if not self._is_missing:
                yield FollowNotice(code="missing", message=f"{self._source.locator} is gone; waiting for it")
            self._is_missing = True
            return
        self._is_missing = False
        if growth.restarted is not None:
            why = f"{self._source.locator} {_WHY_RESTARTED[growth.restarted]}; it is read from its beginning again"
            yield FollowNotice(code=growth.restarted.value, message=why)
        elif not growth.data:
            return
        self._read(growth)
        yield from self._new_faults()
        session = self._info.codec.to_common(self._native)
        mined = mine(self._opened(session), self._name, self._judging)
        yield from self._news(session, mined.rows, 0)

    def _read(self, growth: Growth) -> None:
        codec, extend = self._info.codec, self._info.extend
        if growth.restarted is not None:
            self._native = codec.parse(growth.data)
            self._faults = 0
        elif extend is not None:
            self._native = extend(self._native, growth.data)
        else:
            before = codec.render(self._native)
            self._native = codec.parse((before if isinstance(before, bytes) else b"") + growth.data)

    def _opened(self, session: Transcript[Common]) -> Opened:
        return Opened(source=self._source, info=self._info, native=self._native, session=session)

    def _new_faults(self) -> Iterator[FollowNotice]:
        faults = self._info.codec.faults(self._native)
        for fault in faults[self._faults :]:
            yield FollowNotice(code="damaged", message=_describe(fault))
        self._faults = len(faults)

    def _news(self, session: Transcript[Common], rows: tuple[MomentRow, ...], first: int) -> Iterator[FollowEvent]:
        """What was not told yet, in the session's order; what stands before message ``first`` is taken as told."""
        body = session.body
        wanted = [row for row in rows if row.is_stepin or self._options.candidates]
        gone = self._moments.keys() - {row.id for row in wanted}
        at: dict[int, list[MomentRow]] = {}
        for row in wanted:
            at.setdefault(min(row.message, len(body)) - 1, []).append(row)
        for index in range(len(body)):
            for event in (self._message(body, index), *(self._moment(body, row, gone) for row in at.get(index, ()))):
                if event is not None and index >= first:
                    yield event

    def _message(self, body: Common, index: int) -> FollowedMessage | None:
        message = body[index]
        key = message.uid or f"#{index}"
        told = self._messages.get(key, ())
        if message.content == told[: len(message.content)]:
            return None
        self._messages[key] = message.content
        is_longer = message.content[: len(told)] == told
        start = len(told) if is_longer else 0
        return FollowedMessage(
            number=index + 1,
            uid=message.uid,
            role=message.role,
            at=message.timestamp,
            model=message.model,
            first_block=start,
            is_again=not is_longer,
            content=message.content[start:],
        )

    def _moment(self, body: Common, row: MomentRow, gone: set[str]) -> FollowedMoment | None:
        if row.id in self._moments:
            return None
        record = body[row.message - 1].uid if row.branch is None else ""
        earlier = next((id for id in gone if _is_same_act(self._moments[id], row, record)), None)
        if earlier is not None:
            gone.discard(earlier)
            del self._moments[earlier]
        self._moments[row.id] = _Told(row, record)
        return FollowedMoment(moment=row, replaces=earlier)


def _is_same_act(told: _Told, row: MomentRow, record: str) -> bool:
    """Whether ``row`` tells again, under another id, what was told: a refusal or a stop whose words have come now."""
    return bool(record) and told.record == record and told.row.branch == row.branch


def _describe(fault: Fault) -> str:
    return f"bytes {fault.start:,}-{fault.end:,} could not be read: {fault.message}"
