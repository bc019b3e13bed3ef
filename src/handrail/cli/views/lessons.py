"""``handrail lessons``: what moments taught, each beside the words it rests on."""

from __future__ import annotations

from collections.abc import Iterator

from handrail.app.learning.lessons import LessonList, LessonView
from handrail.cli.cells import one_line
from handrail.cli.formats import count, when
from handrail.cli.surface import Surface
from handrail.cli.table import Column, render_table
from handrail.cli.views.moments import render_moment
from handrail.learning.reflecting.lesson import Lesson
from handrail.library import project_name

_COLUMNS = (
    Column("ID"),
    Column("TRIGGER"),
    Column("CAUSE"),
    Column("WHERE"),
    Column("LESSON", flexible=True),
    Column("NOT LEARNED", flexible=True),
)


def render_lessons(found: LessonList, surface: Surface) -> Iterator[str]:
    """A table, then how many there are beside."""
    rows = [
        [
            line.lesson.id,
            line.lesson.reflected.trigger.value,
            "yours" if line.lesson.is_owners else line.lesson.reflected.cause.value,
            project_name(line.lesson.reflected.place.repository) or "unknown",
            line.lesson.text,
            line.why_not or "",
        ]
        for line in found.lessons
    ]
    if rows:
        lines = render_table(_COLUMNS, rows, surface.terminal_width)
        yield surface.style(lines[0], bold=True)
        yield from lines[1:]
    else:
        yield "No lessons."
    yield f"{count(found.reflected, 'moment')} reflected on"
    if found.others:
        yield f"{count(found.others, 'lesson')} no rule may come of; --all shows them"
    if found.bad:
        yield f"{count(len(found.bad), 'line')} of the file could not be read: {', '.join(map(str, found.bad))}"


def render_lesson(found: LessonView, surface: Surface) -> Iterator[str]:
    """The lesson, what it rests on, and its moment."""
    lesson = found.lesson
    yield surface.style(f"{lesson.id}  {one_line(lesson.text)}", bold=True)
    yield from render_about(lesson, surface)
    if found.why_not is not None:
        reason = f" ({one_line(lesson.reason)})" if lesson.reason else ""
        yield f"  no rule comes of it: {one_line(found.why_not)}{reason}"
    if found.moment is not None:
        yield ""
        yield from render_moment(found.moment, surface)


def render_about(lesson: Lesson, surface: Surface) -> Iterator[str]:
    """Whose words a lesson holds, and what was shown for it."""
    row = lesson.reflected
    whose = "your own words" if lesson.is_owners else f"by {one_line(row.model or 'a model')}"
    shown = "the moment whole" if row.evidence == "full" else "your words only"
    yield f"  {whose}, from {shown}; cause {row.cause}, {when(row.at, surface.zone)}"
    yield f"  said: {one_line(row.words)}"
    if lesson.rule is not None:
        yield f"  went into rule {lesson.rule}"
