"""Going on from events alone: rows H.9 of the blueprint catalogue, the frozen blueprint, pauses (H.6), what waits."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from handrail import MemoryJournal, RunFailed, tool
from handrail.agents.approval import HOLD
from handrail.agents.opening import NotStartable
from handrail.agents.tools import built_in
from handrail.blueprints.toml import BlueprintError
from handrail.errors import UnknownName
from handrail.journal import events as ev
from handrail.journal.port import AskTaken
from handrail.journal.transcript import project
from handrail.journal.vocabulary import AskKind, AskOutcome, EndReason
from handrail.models.port import ModelRequest
from handrail.models.scripted import Item, call
from handrail.runs.asks.replies import Reply
from handrail.runs.stages import (
    BlueprintChanged,
    frozen_blueprint,
    progress_of,
    restart_blueprint,
    resume_blueprint,
)
from handrail.runs.stages.progress import Progress
from handrail.testing.clock import ManualClock

from .playing import ANN, BEN, POINT, Died, Dying, Play, blueprint, go, planned, stage

WAITING, ANSWERED, FAILED = EndReason.WAITING, EndReason.ANSWERED, EndReason.FAILED


def test_123_an_open_point_is_the_same_one_after_a_restart_and_no_model_is_called() -> None:
    async def story() -> tuple[ev.AskOpened, ev.AskOpened, int]:
        play = Play(planned(), ["plan"])
        await play.start()
        before = await play.ask()
        await play.resume()
        return before, await play.ask(), len(play.requests)

    before, after, requests = go(story())
    assert (before, 1) == (after, requests)


def test_124_its_answer_then_leads_on() -> None:
    async def story() -> list[str]:
        play = Play(planned(), ["plan", "built"])
        await play.start()
        await play.resume()
        await play.reply(option="approve")
        return await play.path()

    assert ["plan", "build"] == go(story())


def test_129_an_open_edit_is_the_same_edit_after_a_restart() -> None:
    async def story() -> tuple[ev.AskOpened, ev.AskOpened]:
        play = Play(planned(), ["plan"])
        await play.start()
        await play.reply(option="edit")
        before = await play.ask()
        await play.resume()
        return before, await play.ask()

    before, after = go(story())
    assert (AskKind.EDIT, before) == (after.kind, after)


def test_130_an_open_approval_of_a_call_is_back_and_its_call_was_not_run() -> None:
    ran: list[str] = []

    @tool(destructive=True)
    async def wipe() -> str:
        """Wipe it."""
        ran.append("wiped")
        return "wiped"

    async def story() -> tuple[AskKind, list[str], EndReason | None, list[ev.ToolOutcomeUnknown]]:
        play = Play(blueprint(stage("build", tools=["wipe"])), [call("wipe"), "done"], tools=[wipe])
        await play.start()
        await play.resume()
        kind, before = (await play.ask()).kind, list(ran)
        await play.reply(option="approve")
        return kind, before, play.ended, await play.events(ev.ToolOutcomeUnknown)

    assert (AskKind.APPROVAL, [], ANSWERED, []) == go(story())
    assert ["wiped"] == ran


def test_131_a_deadline_goes_on_while_nobody_drives_and_is_not_begun_again() -> None:
    async def story(on_deadline: str) -> tuple[list[EndReason | None], list[AskOutcome]]:
        play = Play(planned(point={"deadline": "2h", "on_deadline": on_deadline}), ["plan"])
        clock = play.clock
        assert isinstance(clock, ManualClock)
        ends: list[EndReason | None] = [(await play.start()).end_reason]
        for _ in range(2):
            clock.advance(timedelta(hours=1).total_seconds())
            try:
                ends.append((await play.resume()).end_reason)
            except RunFailed as failed:
                ends.append(failed.result.end_reason)
        return ends, [closed.outcome for closed in await play.events(ev.AskClosed)]

    assert ([WAITING, WAITING, FAILED], [AskOutcome.TIMED_OUT]) == go(story("fail"))
    assert ([WAITING, WAITING, EndReason.CANCELLED], [AskOutcome.TIMED_OUT]) == go(story("abort"))
    assert ([WAITING, WAITING, WAITING], []) == go(story("wait"))


def test_a_deadline_that_only_waits_reminds_once() -> None:
    async def story() -> tuple[int, int]:
        play = Play(planned(point={"deadline": "2h"}), ["plan"])
        await play.start()
        assert isinstance(play.clock, ManualClock)
        play.clock.advance(7200)
        for _ in range(3):
            await play.resume()
        return len(await play.events(ev.AskReminded)), len(await play.asks())

    assert (1, 1) == go(story())


def test_137_a_run_that_was_paused_is_paused_after_a_restart() -> None:
    async def story() -> tuple[EndReason, int, EndReason]:
        play = Play(planned(), ["plan", "built"])
        await play.start()
        await play.journal.post("s1", ev.PauseRequested(), ANN, "p")
        await play.desk.answer((await play.ask()).ask, Reply(option="approve"))
        held = await play.resume()
        again = (await play.resume()).end_reason
        assert held.end_reason == again
        requests = len(play.requests)
        await play.journal.post("s1", ev.ResumeRequested(), ANN, "r")
        return again, requests, (await play.resume()).end_reason

    assert (WAITING, 1, ANSWERED) == go(story())


def test_138_a_reply_that_lands_in_a_paused_run_is_held_and_counts_when_it_is_resumed() -> None:
    async def story() -> tuple[EndReason, list[str], EndReason, list[str], int]:
        journal = MemoryJournal()

        async def pausing(request: ModelRequest) -> str:
            await journal.post("s1", ev.PauseRequested(), ANN, "p")
            return "one"

        play = Play(blueprint(stage("one"), stage("two")), [pausing, "two"], journal=journal)
        first = (await play.start()).end_reason
        path = await play.path()
        await journal.post("s1", ev.ResumeRequested(), ANN, "r")
        return first, path, (await play.resume()).end_reason, await play.path(), len(play.requests)

    assert (WAITING, ["one"], ANSWERED, ["one", "two"], 2) == go(story())


def test_92_and_96_a_waiting_run_may_be_paused_its_question_stays_open_and_the_effect_of_the_answer_is_held() -> None:
    async def story() -> tuple[bool, int, list[str], list[str]]:
        play = Play(planned(), ["plan", "built"])
        await play.start()
        await play.journal.post("s1", ev.PauseRequested(), ANN, "p")
        await play.resume()
        run = (await play.state()).run
        is_open = len(await play.asks())
        await play.desk.answer((await play.ask()).ask, Reply(option="approve"))
        await play.resume()
        held = await play.routes()
        await play.journal.post("s1", ev.ResumeRequested(), ANN, "r")
        await play.resume()
        return run is not None and run.is_paused, is_open, held, await play.routes()

    assert (True, 1, [], ["approved"]) == go(story())


def test_a_pause_twice_and_a_resume_of_what_is_not_paused_are_refused_and_say_why() -> None:
    async def story() -> list[str]:
        play = Play(planned(), ["plan"])
        await play.start()
        for key, body in (("r", ev.ResumeRequested()), ("p1", ev.PauseRequested()), ("p2", ev.PauseRequested())):
            await play.journal.post("s1", body, ANN, key)
        await play.resume()
        return [body.why for body in await play.events(ev.EntryRefused)]

    assert ["the run is not paused", "the run is paused already"] == go(story())


@pytest.mark.parametrize("wish", [ev.StopRequested("enough"), ev.CancelRequested("enough")])
def test_a_paused_run_that_waits_at_a_point_can_be_ended_and_its_question_is_withdrawn(wish: Any) -> None:
    async def story() -> tuple[EndReason, list[AskOutcome]]:
        play = Play(planned(), ["plan"])
        await play.start()
        await play.journal.post("s1", ev.PauseRequested(), ANN, "p")
        await play.journal.post("s1", wish, ANN, "w")
        result = await play.resume()
        return result.end_reason, [closed.outcome for closed in await play.events(ev.AskClosed)]

    expected = EndReason.STOP_REQUESTED if isinstance(wish, ev.StopRequested) else EndReason.CANCELLED
    assert (expected, [AskOutcome.WITHDRAWN]) == go(story())


def test_139_visits_rounds_revisions_regions_and_what_was_sent_survive() -> None:
    async def story() -> tuple[list[tuple[int, int, int, str]], list[str]]:
        edges = [{"to": "plan", "when": "output", "contains": "back"}, {"to": "end"}]
        stages = (stage("plan", points=[POINT], edges=[{"to": "build"}], max_visits=2), stage("build", edges=edges))
        play = Play(blueprint(*stages), ["A", "B", "back", "C", "back"])
        await play.start()
        found = []
        for answer in ("revise", "approve", "revise"):
            await play.reply(option=answer)
            progress = await play.progress()
            assert progress.visit is not None
            record = progress.visit.point("plan_approval")
            found.append((progress.visits["plan"], record.round, record.revisions, await play.plan()))
        return found, await play.path()

    found, path = go(story())
    assert [(1, 2, 1, "B"), (2, 1, 0, "C"), (2, 2, 1, "back")] == found
    assert ["plan", "build", "plan"] == path


def test_grants_for_a_stage_hold_while_it_is_entered_again_and_end_where_another_begins() -> None:
    @tool(destructive=True)
    async def wipe() -> str:
        """Wipe it."""
        return "wiped"

    async def story(first_edge: str) -> int:
        edges = [{"to": first_edge, "when": "output", "contains": "again"}, {"to": "end"}]
        stages = (
            stage("one", tools=["wipe"], edges=edges, max_visits=3),
            stage("other", edges=[{"to": "one"}]),
        )
        middle: list[Item] = ["other done"] if first_edge == "other" else []
        script: list[Item] = [call("wipe"), "again", *middle, call("wipe"), "done"]
        play = Play(blueprint(*stages), script, tools=[wipe])
        await play.start()
        await play.reply(option="approve-stage")
        while await play.asks():
            await play.reply(option="approve")
        return len(await play.events(ev.AskOpened))

    # Rows 111 and 110.
    assert 1 == go(story("one"))
    assert 2 == go(story("other"))


def test_140_an_answer_given_twice_at_once_is_applied_once_and_the_loser_is_told_who_won() -> None:
    async def story() -> tuple[list[str], str | None]:
        play = Play(planned(), ["plan", "built"])
        await play.start()
        asked = await play.ask()
        await play.desk.answer(asked.ask, Reply(option="approve"), by=ANN)
        with pytest.raises(AskTaken) as raised:
            await play.desk.answer(asked.ask, Reply(option="abort"), by=BEN)
        await play.resume()
        return await play.routes(), raised.value.winner.by.name

    assert (["approved"], "ann") == go(story())


LIFE = (
    Reply(option="revise", comment="shorter"),
    Reply(option="edit"),
    Reply(edited="plan C"),
    Reply(option="approve"),
)
"""What is answered at the points of one run, in order."""


async def carry(play: Play, answers: Sequence[Reply]) -> None:
    """The run to its end, gone on with whenever it died."""
    left = list(answers)
    while not await play.events(ev.RunEnded):
        with contextlib.suppress(Died):
            result = await (play.resume() if await play.events(ev.RunStarted) else play.start())
            if result.end_reason is WAITING:
                await play.desk.answer((await play.ask()).ask, left.pop(0), by=ANN)


def test_140_a_run_that_dies_at_any_append_loses_no_answer_and_doubles_none() -> None:
    def lived(*deaths: int, is_written: bool = False) -> tuple[Any, ...]:
        async def story() -> tuple[Any, ...]:
            journal = Dying(deaths, is_written=is_written)
            play = Play(planned(), ["plan A", "plan B", "built"], journal=journal)
            await carry(play, LIFE)
            said = [message.content for message in project(await play.journal.read("s1")).body]
            return (
                journal.appends - len(deaths),
                said,
                await play.routes(),
                [edit.after for edit in await play.events(ev.DocumentEdited)],
                len({ask.key for ask in await play.events(ev.AskOpened)}),
                await play.plan(),
                len(await play.events(ev.ModelReplied)),
            )

        return go(story())

    appends, *whole = lived()
    assert ["plan C"] == whole[2]
    for at in range(1, appends + 1):
        for is_written in (False, True):
            assert whole == list(lived(at, is_written=is_written)[1:]), (at, is_written)


def test_what_ran_before_a_point_is_not_run_again_by_any_answer_or_restart() -> None:
    # Rows A13 150 and 151 of the users' reports.
    sent: list[str] = []

    @tool
    async def send(to: str) -> str:
        """Send a letter. to: whom"""
        sent.append(to)
        return "sent"

    async def story() -> tuple[str, EndReason | None]:
        plan = stage("plan", points=[POINT], tools=["send"])
        play = Play(blueprint(plan), [call("send", to="ann"), "plan", "plan B"], tools=[send])
        await play.start()
        status = (await play.journal.run("s1")).status
        for option in ("edit", "revise", "approve"):
            await play.resume()
            await play.desk.answer((await play.ask()).ask, Reply(option=option, edited=_edited(option)), by=ANN)
            await play.resume()
        return status, play.ended

    assert ("waiting", ANSWERED) == go(story())
    assert ["ann"] == sent


def _edited(option: str) -> str | None:
    return "by hand" if option == "edit" else None


# The frozen blueprint ----------------------------------------------------------------------------------------


def test_a_run_obeys_the_blueprint_it_was_started_with_whatever_becomes_of_the_file() -> None:
    async def story() -> tuple[list[str], bool]:
        play = Play(planned(), ["plan", "built"])
        await play.start()
        same = await frozen_blueprint(play.session) == play.blueprint
        await play.reply(option="approve")
        return await play.path(), same

    assert (["plan", "build"], True) == go(story())


def test_125_another_blueprint_is_refused_with_the_difference_and_two_ways_on() -> None:
    async def story() -> BlueprintChanged:
        play = Play(planned(), ["plan"])
        await play.start()
        other = blueprint(stage("plan"), stage("build"))
        with pytest.raises(BlueprintChanged) as raised:
            await resume_blueprint(play.session, play.agent, play.options, blueprint=other)
        return raised.value

    changed = go(story())
    assert '-name = "plan_approval"' in changed.diff
    assert "finish" in (changed.hint or "")
    assert "restart" in (changed.hint or "")


def test_a_run_is_started_anew_with_another_blueprint_and_the_old_one_is_over() -> None:
    async def story() -> tuple[Any, EndReason | None, AskOutcome, str]:
        play = Play(planned(), ["plan", "from the new one"])
        await play.start("paint it")
        other = blueprint(stage("only"))
        run = await restart_blueprint(play.session, other, play.agent, play.options, clock=play.clock)
        result = await run
        old = (await play.events(ev.RunEnded))[-1]
        prompt = result.transcript.body[0].content[0]
        return result.output, old.reason, (await play.events(ev.AskClosed))[0].outcome, getattr(prompt, "text", "")

    assert ("from the new one", EndReason.CANCELLED, AskOutcome.WITHDRAWN, "paint it") == go(story())


def test_a_run_without_a_blueprint_is_none_to_go_on_with_by_one_and_the_other_way_round() -> None:
    async def story() -> None:
        play = Play(planned(), ["plan"])
        with pytest.raises(NotStartable):
            await play.resume()
        await play.start()
        before = len(await play.events())
        with pytest.raises(NotStartable, match="blueprint"):
            await play.agent.resume(play.session, play.options)
        assert before == len(await play.events())
        await play.journal.post("s1", ev.StopRequested(), ANN, "s")
        await play.resume()

    go(story())


def test_what_could_not_be_started_ends_nothing() -> None:
    async def story() -> tuple[int, EndReason]:
        play = Play(planned(), ["plan"])
        await play.start()
        nowhere = blueprint(stage("only", edges=[{"to": "nowhere"}]))
        with pytest.raises(BlueprintError, match="nowhere"):
            await restart_blueprint(play.session, nowhere, play.agent, play.options, clock=play.clock)
        with pytest.raises(UnknownName):
            needy = blueprint(stage("only", tools=["Teleport"]))
            await restart_blueprint(play.session, needy, play.agent, play.options, clock=play.clock)
        return len(await play.asks()), (await play.resume()).end_reason

    assert (1, WAITING) == go(story())


def test_a_blueprint_with_errors_is_not_run() -> None:
    async def story() -> int:
        play = Play(blueprint(stage("one", edges=[{"to": "nowhere"}])), ["x"])
        with pytest.raises(BlueprintError, match="nowhere"):
            await play.start()
        return len(await play.events())

    assert 0 == go(story())


# The fold ----------------------------------------------------------------------------------------------------


def test_the_progress_of_any_prefix_and_the_rest_is_that_of_the_whole() -> None:
    def held(progress: Progress) -> dict[str, Any]:
        return {name: value for name, value in vars(progress).items() if name != "taken"}

    async def story() -> None:
        play = Play(planned(), ["A", "B", "built"])
        await play.start()
        for option in ("revise", "edit"):
            await play.reply(option=option)
        await play.reply(edited="C")
        await play.reply(option="approve")
        events = await play.journal.read("s1")
        for cut in range(len(events)):
            progress = progress_of(events[:cut])
            for event in events[cut:]:
                progress.take(event)
            assert held(progress_of(events)) == held(progress)

    go(story())


def test_a_parked_question_of_a_tool_holds_no_task_and_is_answered_in_another_process() -> None:
    async def story() -> tuple[tuple[str, ...], list[ev.ToolStarted], EndReason | None]:
        asking = built_in("ask_user_text")
        script: list[Item] = [call("ask_user_text", prompt="Which colour?"), "thanks"]
        play = Play(blueprint(stage("one", tools=["ask_user_text"])), script, tools=[asking], answerer=HOLD)
        result = await play.start()
        prompts = tuple(ask.prompt for ask in result.waits_for)
        for _ in range(3):
            await play.resume()
        await play.reply(words="green")
        return prompts, await play.events(ev.ToolStarted), play.ended

    prompts, started, ended = go(story())
    assert (("Which colour?",), 2, ANSWERED) == (prompts, len(started), ended)
