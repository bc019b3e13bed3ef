"""Use case: the owner looks at lessons, puts them right, drops them and takes them back."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from handrail.app.counting import MomentRow
from handrail.app.learning.beside import moments_beside
from handrail.app.learning.memory import Memory
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.clock import Clock, SystemClock
from handrail.learning.reflecting.lesson import Changed, Lesson, LessonRefused, edited


class LessonLine(Struct, frozen=True, kw_only=True):
    """A lesson as it counts now; ``why_not`` says why no rule may come of it (None: one may)."""

    lesson: Lesson
    why_not: str | None


class LessonList(Struct, frozen=True, kw_only=True):
    """The lessons, the newest first; ``others`` were not chosen. ``reflected`` counts the moments that were looked at,
    ``bad`` are the numbers of lines that are no record."""

    schema_version: int = SCHEMA_VERSION
    lessons: tuple[LessonLine, ...]
    others: int = 0
    reflected: int = 0
    bad: tuple[int, ...] = ()


class LessonView(Struct, frozen=True, kw_only=True):
    """One lesson and the moment it came of (None: its session is gone)."""

    schema_version: int = SCHEMA_VERSION
    lesson: Lesson
    why_not: str | None = None
    moment: MomentRow | None = None


def list_lessons(memory: Memory, *, everything: bool = False) -> LessonList:
    """The lessons a rule may come of; with ``everything`` the others too, with why not."""
    journalled = memory.lessons.load()
    lines = [LessonLine(lesson=one, why_not=one.why_not) for one in journalled.lessons()]
    chosen = [line for line in lines if everything or line.why_not is None]
    return LessonList(
        lessons=tuple(reversed(chosen)),
        others=len(lines) - len(chosen),
        reflected=len(journalled.mined),
        bad=journalled.bad,
    )


def show_lesson(machine: Machine, memory: Memory, prefix: str) -> LessonView:
    """The lesson beside its moment; ``NoSuchLesson``."""
    lesson = memory.lessons.load().find(prefix)
    found = moments_beside(machine, (lesson.reflected.source,))
    return LessonView(lesson=lesson, why_not=lesson.why_not, moment=found[0] if found else None)


def edit_lesson(memory: Memory, prefix: str, text: str, *, clock: Clock | None = None) -> LessonView:
    """Put it into the owner's own words, from then on theirs.

    ``LessonRefused`` for the words it has, ``NotASentence`` for what no rule could say, ``NoSuchLesson``.
    """
    at = (clock or SystemClock()).now()
    return _changed(memory, prefix, lambda lesson: edited(lesson, text, at))


def drop_lesson(memory: Memory, prefix: str, reason: str | None = None, *, clock: Clock | None = None) -> LessonView:
    """Never let a rule come of it. ``LessonRefused`` where it is dropped already."""
    at = (clock or SystemClock()).now()

    def drop(lesson: Lesson) -> Changed:
        if lesson.is_dropped:
            raise LessonRefused(f"lesson {lesson.id} is dropped already")
        return Changed(lesson=lesson.id, did="drop", reason=reason, at=at)

    return _changed(memory, prefix, drop)


def restore_lesson(memory: Memory, prefix: str, *, clock: Clock | None = None) -> LessonView:
    """Take back that it was dropped, or used up without a rule. ``LessonRefused`` where it was neither."""
    at = (clock or SystemClock()).now()

    def restore(lesson: Lesson) -> Changed:
        if not lesson.is_dropped and lesson.used is None:
            raise LessonRefused(f"lesson {lesson.id} was neither dropped nor used up")
        return Changed(lesson=lesson.id, did="restore", at=at)

    return _changed(memory, prefix, restore)


def _changed(memory: Memory, prefix: str, make: Callable[[Lesson], Changed]) -> LessonView:
    """Look the lesson up and change it as the only writer, so that two who change it at once see each other."""
    # Looked for first, so that a wrong id creates no folder.
    memory.lessons.load().find(prefix)
    memory.lessons.add(lambda present: (make(present.find(prefix)),))
    lesson = memory.lessons.load().find(prefix)
    return LessonView(lesson=lesson, why_not=lesson.why_not)
