"""``handrail moments``: each moment as a few lines, then the figures."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from handrail.app import Marked, MomentList, MomentRow, MomentSummary
from handrail.cli.cells import ELLIPSIS, cut, one_line, wrap
from handrail.cli.formats import count, when
from handrail.cli.surface import Surface
from handrail.cli.table import Column, render_table

_LABEL_CELLS = 8
_QUOTE_LINES = 4
_QUOTE_CHARS = 600
_SHOWN_PROJECTS = 10
_SHOWS_WHAT_CHANGED = frozenset({"edit", "revision"})
_WORDLESS = {"denial": "(refused without a word)", "interrupt": "(stopped without a word)"}
_COLOURS = {
    "denial": "red",
    "interrupt": "red",
    "rewind": "magenta",
    "revision": "magenta",
    "edit": "yellow",
    "steer": "cyan",
    "followup": "white",
}


def render_moments(found: MomentList, surface: Surface, *, why: bool = False) -> list[str]:
    """The moments, then step-ins per 100 rounds, by trigger and by project; with ``why`` the reasons and ids too."""
    lines: list[str] = []
    for row in found.moments:
        lines += [*render_moment(row, surface), *(_why(row, surface) if why else _why_candidate(row, surface)), ""]
    if not found.moments:
        lines += ["No moments.", ""]
    return lines + render_summary(found.summary, surface)


def render_summary(summary: MomentSummary, surface: Surface) -> list[str]:
    """The figures over all sessions that were read."""
    rate = "" if summary.per_100_rounds is None else f": {summary.per_100_rounds} per 100 rounds"
    lines = [
        f"{count(summary.stepins, 'step-in')} in {count(summary.rounds, 'round')} "
        f"of {count(summary.sessions, 'session')}{rate}"
    ]
    if summary.candidates:
        lines.append(f"{count(summary.candidates, 'candidate')} beside them, which may be no step-ins")
    if summary.by_trigger:
        lines.append("by trigger: " + ", ".join(f"{name} {times:,}" for name, times in summary.by_trigger.items()))
    return lines + _projects(summary, surface)


def _projects(summary: MomentSummary, surface: Surface) -> list[str]:
    counted = [item for item in summary.by_project if item.stepins]
    if not counted:
        return []
    columns = (
        Column("PROJECT", flexible=True),
        Column("SESSIONS", right=True),
        Column("ROUNDS", right=True),
        Column("STEP-INS", right=True),
        Column("PER 100", right=True),
    )
    rows = [
        [
            item.project or "unknown",
            f"{item.sessions:,}",
            f"{item.rounds:,}",
            f"{item.stepins:,}",
            "" if item.per_100_rounds is None else str(item.per_100_rounds),
        ]
        for item in counted[:_SHOWN_PROJECTS]
    ]
    lines = render_table(columns, rows, surface.terminal_width)
    more = len(counted) - _SHOWN_PROJECTS
    rest = [f"and {more:,} more"] if more > 0 else []
    return ["", surface.style(lines[0], bold=True), *lines[1:], *rest]


def render_moment(row: MomentRow, surface: Surface) -> list[str]:
    """One moment: what it was and where, then what was done, said, and done after it."""
    trigger = surface.style(row.trigger, fg=_COLOURS.get(row.trigger), bold=True)
    where = f"{one_line(row.short_id)}#{row.message}"
    if row.branch is not None:
        where += f" --branch {one_line(row.branch)}"
    about = [when(row.at, surface.zone), one_line(row.project or "project unknown"), row.harness]
    if not row.is_stepin:
        about.append("candidate" if row.is_candidate else "unlikely")
    head = f"{trigger}  {where}  {'  '.join(about)}"
    return [
        head,
        *_labelled("doing", row.tools_before, row.context, surface, 2),
        *_quote(row, where, surface),
        *_labelled("then", row.tools_after, row.aftermath, surface, 2),
    ]


def _quote(row: MomentRow, where: str, surface: Surface) -> list[str]:
    """What the person said; under a long quote, which is cut, the command that shows it whole."""
    said = one_line(row.words or _without_words(row))
    if len(said) <= _QUOTE_CHARS:
        return _labelled("said", (), said, surface, _QUOTE_LINES, bold=True)
    cut_short = said[: said.rfind(" ", 1, _QUOTE_CHARS + 1)] if " " in said[1:_QUOTE_CHARS] else said[:_QUOTE_CHARS]
    return [
        *_labelled("said", (), f"{cut_short.rstrip()} {ELLIPSIS}", surface, _QUOTE_LINES, bold=True),
        *_labelled("whole", (), f"handrail show {shlex.quote(where) if ' ' in row.short_id else where}", surface, 1),
    ]


def _why_candidate(row: MomentRow, surface: Surface) -> list[str]:
    return [] if row.is_stepin else _labelled("why", (), "; ".join(row.reasons), surface, 2)


def _why(row: MomentRow, surface: Surface) -> list[str]:
    """Reasons and doubts, how likely the scorer finds it, and the id that ``moments mark`` takes."""
    likely = "" if row.likelihood is None else f", {row.likelihood:.0%} likely"
    return [
        *_labelled("why", (), "; ".join(row.reasons), surface, 3),
        *_labelled("but", (), "; ".join(row.doubts), surface, 3),
        *_labelled("id", (), f"{row.id}{likely}", surface, 1),
    ]


def render_marked(marked: Marked, surface: Surface) -> list[str]:
    """The moment that was marked, and where that is remembered."""
    says = "a step-in" if marked.is_stepin else "no step-in"
    return [*render_moment(marked.moment, surface), f"{marked.moment.id} counts as {says} from now on ({marked.file})"]


def _without_words(row: MomentRow) -> str:
    if row.trigger in _SHOWS_WHAT_CHANGED and row.text:
        return f"(no words; changed to) {row.text}"
    return _WORDLESS.get(row.trigger, "(no words)")


def _labelled(
    label: str, tools: Sequence[str], text: str, surface: Surface, lines: int, *, bold: bool = False
) -> list[str]:
    """``label`` and ``text``, after the names of those ``tools`` it does not tell of, cut after ``lines`` lines."""
    said = one_line(text)
    if used := [name for name in dict.fromkeys(map(one_line, tools)) if f"{name} {{" not in said]:
        said = f"[{', '.join(used)}] {said}".rstrip()
    if not said:
        return []
    indent = " " * (_LABEL_CELLS + 2)
    limit = surface.terminal_width
    rows = [said] if limit is None else wrap(said, max(20, limit - len(indent)), lines)
    first = f"  {label:<{_LABEL_CELLS}}"
    shown = [cut(row, limit - len(indent)) if limit and limit > len(indent) + 20 else row for row in rows]
    styled = [surface.style(row, bold=True) for row in shown] if bold else shown
    return [(first if index == 0 else indent) + row for index, row in enumerate(styled)]
