"""What reflecting on a moment came to, as records that are only ever added to.

Every moment that was reflected on has exactly one ``Reflected``, a skip too, so it is never asked about again. What the
owner does to a lesson is a record of its own; the fold of both is what counts now.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handrail import jsonio
from handrail.errors import HandrailError
from handrail.ids import short_hash
from handrail.learning.moment import Intervention, Trigger
from handrail.learning.naming import one_named
from handrail.learning.provenance import EvidenceKind, Origin
from handrail.learning.rules.model import Instant, Source
from handrail.learning.rules.scope import Place
from handrail.learning.rules.sentence import sentence


class Cause(StrEnum):
    """Whose fault it was, by look-up and not by opinion.

    ``behaviour``: it had what it needed and did otherwise. ``taste``: how the person likes it. ``data``: what it was
    given was wrong. ``gap``: nobody had told it. ``one_off``: about this task alone. ``unknown``: nothing that was
    copied stands where it was said to.
    """

    BEHAVIOUR = "behaviour"
    TASTE = "taste"
    DATA = "data"
    GAP = "gap"
    ONE_OFF = "one_off"
    UNKNOWN = "unknown"


LEARNABLE = frozenset({Cause.BEHAVIOUR, Cause.TASTE})
"""The causes that may become rules."""


class MomentKey(Struct, frozen=True, gc=False):
    """A moment wherever it is read: a resumed, compacted or forked session holds the same record."""

    harness: str
    uid: str
    block: int
    trigger: Trigger


class Reflected(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="row", tag="reflected"):
    """One moment that was reflected on. ``lesson`` None is a skip, with ``why``.

    ``riding`` are the ids of the rules that were in the prompt then; None where nobody recorded them.
    """

    key: MomentKey
    source: Source
    place: Place
    trigger: Trigger
    words: str
    lesson: str | None = None
    why: str | None = None
    cause: Cause = Cause.UNKNOWN
    wrong: str | None = None
    right: str | None = None
    riding: tuple[str, ...] | None = None
    origin: Origin = Origin.UNTRUSTED
    evidence: EvidenceKind = EvidenceKind.USER_TURNS
    model: str | None = None
    at: Instant | None = None

    @property
    def id(self) -> str:
        return f"l{short_hash(self.key.harness, self.key.uid, self.key.block, self.key.trigger)[:10]}"


class Changed(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="row", tag="changed"):
    """What was done to a lesson. The owner dropped it, took it back, or put it into their own words (``text``); it went
    into the rule ``text`` (``learned``); or it was used up by the proposal ``text`` and no rule came of it (``used``).
    """

    lesson: str
    did: Literal["drop", "restore", "edit", "learned", "used"]
    text: str | None = None
    reason: str | None = None
    at: Instant | None = None


Row: TypeAlias = Reflected | Changed


class Lesson(Struct, frozen=True, kw_only=True):
    """A lesson as it counts now. ``is_owners``: the words are the owner's own; ``rule`` is what it went into,
    ``used`` the proposal that used it up."""

    id: str
    text: str
    reflected: Reflected
    is_owners: bool = False
    is_dropped: bool = False
    reason: str | None = None
    rule: str | None = None
    used: str | None = None

    @property
    def why_not(self) -> str | None:
        """Why no rule may come of it; None where one may. What the owner dropped is dropped, whatever else is true."""
        if self.is_dropped:
            return "dropped"
        if self.rule is not None:
            return "learned already"
        if self.used is not None:
            return f"used up by {self.used}"
        if self.is_owners:
            return None
        if self.reflected.origin is not Origin.CLEAN:
            return f"origin {self.reflected.origin}"
        return None if self.reflected.cause in LEARNABLE else f"cause {self.reflected.cause}"


class LessonRefused(HandrailError, ValueError):
    """What the owner wants done to a lesson changes nothing, or cannot be done."""

    code = "lesson_refused"
    exit_code = 2


class NoSuchLesson(HandrailError, LookupError):
    """No lesson has that id, or several begin like it."""

    code = "no_such_lesson"
    exit_code = 5


class Journalled(Struct, frozen=True):
    """The rows of a file; ``bad`` are the numbers, from 1, of lines that are none."""

    rows: tuple[Row, ...] = ()
    bad: tuple[int, ...] = ()

    @property
    def mined(self) -> frozenset[MomentKey]:
        """The moments that were reflected on."""
        return frozenset(row.key for row in self.rows if isinstance(row, Reflected))

    def lessons(self) -> tuple[Lesson, ...]:
        """The lessons as they count now, in the order they came. Of two reflections on one moment the first counts."""
        found: dict[str, Lesson] = {}
        for row in self.rows:
            if isinstance(row, Reflected) and row.lesson is not None:
                found.setdefault(row.id, Lesson(id=row.id, text=row.lesson, reflected=row))
        for row in self.rows:
            if isinstance(row, Changed) and row.lesson in found:
                found[row.lesson] = _changed(found[row.lesson], row)
        return tuple(found.values())

    def find(self, prefix: str) -> Lesson:
        """The lesson whose id begins with ``prefix``; ``NoSuchLesson`` for none, several, or an empty prefix."""
        return one_named(self.lessons(), prefix, "lesson", NoSuchLesson, "handrail lessons lists them")


def key_of(harness: str, moment: Intervention) -> MomentKey:
    """The key of ``moment``; one whose record has no id is told apart by its own."""
    return MomentKey(harness, moment.uid or moment.id, moment.block, moment.trigger)


def edited(lesson: Lesson, text: str, at: datetime) -> Changed:
    """The owner's own words in place of a model's; ``LessonRefused`` where they are the same, ``NotASentence`` where no
    rule could say them."""
    words = sentence(text)
    if words == " ".join(lesson.text.split()):
        raise LessonRefused("that is what it says; saving it unchanged does not make it yours")
    return Changed(lesson=lesson.id, did="edit", text=words, at=at)


def parse_rows(data: bytes) -> Journalled:
    """The rows in ``data``; a line that is none costs that line."""
    rows: list[Row] = []
    bad: list[int] = []
    for number, (start, end) in enumerate(jsonio.iter_lines(data), 1):
        if not data[start:end].strip():
            continue
        try:
            rows.append(msgspec.convert(jsonio.decode(data[start:end]), Row))
        except (jsonio.NotJson, msgspec.ValidationError):
            bad.append(number)
    return Journalled(tuple(rows), tuple(bad))


def render_rows(rows: Iterable[Row]) -> bytes:
    return b"".join(jsonio.encode(msgspec.to_builtins(row)) + b"\n" for row in rows)


def _changed(lesson: Lesson, row: Changed) -> Lesson:
    match row.did:
        case "drop":
            return replace(lesson, is_dropped=True, reason=row.reason)
        case "restore":
            return replace(lesson, is_dropped=False, reason=None, used=None)
        case "edit":
            return replace(lesson, text=row.text or lesson.text, is_owners=row.text is not None or lesson.is_owners)
        case "learned":
            return replace(lesson, rule=row.text)
        case "used":
            return replace(lesson, used=row.text)
