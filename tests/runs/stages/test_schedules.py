"""Random schedules of answers, crashes and pauses: no answer is lost or doubled, no stage leaves past a required point
that let nothing pass, and there is always a way to the end.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail import MemoryJournal, RunFailed, RunResult
from handrail.blueprints.labels import AnswerRefused
from handrail.blueprints.model import Blueprint
from handrail.journal import events as ev
from handrail.journal.board import JournalWithBoard
from handrail.journal.port import AskTaken
from handrail.journal.transcript import project
from handrail.journal.vocabulary import AskKind, AskOutcome, EndReason, Route
from handrail.runs.asks.replies import Reply
from handrail.runs.journals.sqlite import SqliteJournal

from .playing import ANN, BEN, POINT, Died, Dying, Play, blueprint, go, stage

STEPS = 60
"""After so many steps everything is approved: by then a run has to come to its end."""


def drawn(dice: Random) -> Blueprint:
    """Stages in a row, with points of all sorts and ways back that are bounded."""
    stages: list[dict[str, Any]] = []
    for number in range(dice.randint(1, 3)):
        points = [_point(dice, f"p{at}") for at in range(dice.randint(0, 2))]
        edges: list[dict[str, Any]] = []
        if dice.random() < 0.4:
            edges.append({"to": "s0", "when": "output", "contains": "3"})
        if dice.random() < 0.3:
            edges.append({"to": "end", "when": "error"})
        edges.append({"to": f"s{number + 1}"} if number < 2 else {"to": "end"})
        stages.append(stage(f"s{number}", points=points, edges=edges, max_visits=3))
    last = stages[-1]["edges"]
    last[-1] = {"to": "end"}
    return blueprint(*stages)


def _point(dice: Random, name: str) -> dict[str, Any]:
    region = dice.choice(["plan", None])
    if dice.random() < 0.2:
        return {"name": name, "prompt": "Words?", "required": dice.random() < 0.5, "document_region": region}
    return {
        **POINT,
        "name": name,
        "required": dice.random() < 0.8,
        "document_region": region,
        "revisions": dice.choice([0, 1, 3]),
        "on_change": dice.choice(["reask", "keep"]),
    }


def _reply(dice: Random, asked: ev.AskOpened, *, is_last: bool) -> Reply:
    if asked.kind is AskKind.EDIT:
        return Reply(edited=f"{asked.shown or ''} by hand {dice.randint(0, 9)}")
    if is_last:
        return Reply(option="approve") if asked.options else Reply(words="fine")
    any_of = [Reply(option=word) for word in ("approve", "revise", "edit", "edit", "nonsense", "yes please")]
    any_of += [Reply(), Reply(words="go on then"), Reply(number=99), Reply(option="approve", words="twice")]
    return dice.choice(any_of)


async def played(play: Play, dice: Random) -> int:
    """The run to its end, whatever happens on the way; how many replies were taken."""
    taken = 0
    for step in range(STEPS + 40):
        if await play.events(ev.RunEnded):
            return taken
        is_last = step >= STEPS
        with contextlib.suppress(Died, RunFailed):
            result = await (play.resume() if await play.events(ev.RunStarted) else play.start())
            taken += await _acted(play, dice, result, is_last=is_last)
    raise AssertionError("the run does not come to its end")


async def _acted(play: Play, dice: Random, result: RunResult, *, is_last: bool) -> int:
    """What people do while the run is parked: answer, now and then twice or nonsense, pause and resume."""
    state = await play.state()
    if result.end_reason is not EndReason.WAITING or state.run is None:
        return 0
    key = f"k{dice.random()}"
    if state.run.is_paused:
        if is_last or dice.random() < 0.7:
            await play.journal.post("s1", ev.ResumeRequested(), ANN, key)
    elif dice.random() < 0.1 and not is_last:
        await play.journal.post("s1", ev.PauseRequested(), ANN, key)
    taken = 0
    for asked in await play.asks():
        for by in (ANN, BEN)[: dice.randint(1, 2)]:
            with contextlib.suppress(AnswerRefused, AskTaken):
                await play.desk.answer(asked.ask, _reply(dice, asked, is_last=is_last), by=by)
                taken += 1
    return taken


def check(events: list[ev.Event], taken: int) -> None:
    """What must hold of every run, however it went."""
    bodies = [event.body for event in events]
    opened = {body.ask: body for body in bodies if isinstance(body, ev.AskOpened)}
    closed = Counter(body.ask for body in bodies if isinstance(body, ev.AskClosed))
    assert set(closed.values()) <= {1}
    assert len({body.key for body in opened.values()}) == len(opened)
    answered = [b.ask for b in bodies if isinstance(b, ev.AskClosed) and b.outcome is AskOutcome.ANSWERED]
    assert taken == len(answered)
    effects = Counter(_asks_of_effects(bodies))
    assert all(count == 1 for count in effects.values())
    # An answer that ends the run, or that a failure overtook, is the last one of its stage.
    assert set(effects) >= {ask for ask in answered if opened[ask].kind in (AskKind.POINT, AskKind.EDIT)}
    project(events)


def _asks_of_effects(bodies: list[Any]) -> list[str]:
    found = [body.ask for body in bodies if isinstance(body, ev.PointRouted)]
    return found + [body.ask for body in bodies if isinstance(body, ev.DocumentEdited) and body.ask]


def check_points(events: list[ev.Event], blueprint: Blueprint) -> None:
    """Whenever a stage was left with its work done, each of its points had let something pass in that very visit."""
    passed: dict[str, Route] = {}
    for event in events:
        body = event.body
        if isinstance(body, ev.StageEntered):
            passed = {}
        elif isinstance(body, ev.PointRouted):
            passed[body.point] = body.route
        elif isinstance(body, ev.StageLeft) and body.edge != "error" and "fail" not in (body.reason or ""):
            for point in blueprint.stage(body.stage).points:
                allowed = {Route.APPROVED} if point.required else {Route.APPROVED, Route.SKIPPED}
                assert passed.get(point.name) in allowed, (body, point.name)


def lived(seed: int, journal: JournalWithBoard | None = None) -> tuple[list[ev.Event], Blueprint, int]:
    async def story() -> tuple[list[ev.Event], Blueprint, int]:
        dice = Random(seed)
        deaths = {dice.randint(1, 60) for _ in range(dice.randint(0, 6))}
        kept = journal or Dying(deaths, is_written=dice.random() < 0.5)
        play = Play(drawn(dice), [f"text {number % 5}" for number in range(400)], journal=kept)
        taken = await played(play, dice)
        return list(await play.journal.read("s1")), play.blueprint, taken

    return go(story())


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 1 << 40))
def test_every_schedule_comes_to_an_end_with_every_answer_in_effect_once(seed: int) -> None:
    events, blueprint, taken = lived(seed)
    check(events, taken)
    check_points(events, blueprint)


@pytest.mark.parametrize("seed", range(8))
def test_the_same_over_sqlite(seed: int, tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "journal.sqlite")
    try:
        events, blueprint, taken = lived(seed, journal)
    finally:
        journal.close()
    check(events, taken)
    check_points(events, blueprint)


@pytest.mark.parametrize("seed", range(6))
def test_a_schedule_goes_the_same_way_over_every_journal(seed: int, tmp_path: Path) -> None:
    def shape(events: list[ev.Event]) -> list[str]:
        return [type(event.body).__name__ for event in events]

    journal = SqliteJournal(tmp_path / "journal.sqlite")
    try:
        over_sqlite = shape(lived(seed, journal)[0])
    finally:
        journal.close()
    assert shape(lived(seed, MemoryJournal())[0]) == over_sqlite
