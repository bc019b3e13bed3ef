"""``handrail asks`` and ``handrail answer``: questions that wait, and what became of an answer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from handrail.app import Answered, AskList, StandingAsk
from handrail.cli.cells import cut, one_line
from handrail.cli.formats import ago, count, when
from handrail.cli.points import render_opened
from handrail.cli.surface import Surface
from handrail.cli.views.runs import how_it_goes_on
from handrail.clock import SystemClock
from handrail.runs.asks.wording import told

_PROMPT_CHARS = 300


def render_asks(found: AskList, surface: Surface, *, is_full: bool) -> list[str]:
    """A few lines a question, with its options; ``is_full`` shows what it is about as well."""
    if not found.asks:
        return ["Nothing waits for an answer."]
    now = SystemClock().now()
    blocks = [list(_lines(one, surface, now, is_full=is_full)) for one in found.asks]
    return [line for number, block in enumerate(blocks) for line in ([""] if number else []) + block]


def _lines(one: StandingAsk, surface: Surface, now: datetime, *, is_full: bool) -> Iterator[str]:
    row = one.ask
    opened = row.opened
    where = [f"run {row.session}", *([f"stage {opened.stage}"] if opened.stage else []), *opened.origin]
    head = f"{one.name}  {row.kind.value}  {ago(row.opened_at, now)} ago"
    yield surface.style(f"{head}  {one_line(' › '.join(where))}", bold=True)
    if row.status != "open" and row.closed is not None and row.closed_by is not None:
        yield f"    {one_line(told(row.closed, row.closed_by))}"
    if opened.deadline is not None:
        yield f"    until {when(opened.deadline, surface.zone)}"
    if is_full:
        yield from render_opened(opened)
        return
    title = f"{one_line(opened.title)}: " if opened.title and opened.title not in opened.prompt else ""
    yield f"    ? {cut(title + one_line(opened.prompt), _PROMPT_CHARS)}"
    if opened.shown is not None:
        lines = opened.shown.count("\n") + 1
        yield f"    about {count(lines, 'line')}: {cut(one_line(opened.shown), 100)}"
    if one.offers:
        yield f"    {', '.join(f'{offer.number} {one_line(offer.word)}' for offer in one.offers)}"


def finish_asks(found: AskList, surface: Surface) -> None:
    """Say how to answer, on a terminal."""
    if found.is_cut:
        surface.note("there are more; --limit 0 lists all")
    if found.asks and not surface.as_json and surface.is_terminal:
        surface.note("`handrail answer ID OPTION` answers; `handrail asks --full` shows what they are about")


def render_answered(done: Answered, surface: Surface) -> list[str]:
    """What became of the answer."""
    if done.status == "voted":
        return [f"{done.cast} of {done.needed} have approved; the question stays open"]
    also = f", and {count(len(done.also), 'other')} like it" if done.also else ""
    return [f"answered{also}"]


def finish_answered(done: Answered, surface: Surface) -> None:
    """Say who carries the run on, or how somebody does."""
    if done.status == "closed" and not surface.as_json:
        surface.note(how_it_goes_on(done.run, done.driven))
