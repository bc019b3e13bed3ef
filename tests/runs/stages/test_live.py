"""Runs that are driven while people answer, pause and leave: one driver, no restart in between."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from handrail import (
    Agent,
    MemoryJournal,
    RoundContext,
    RoundDecision,
    Run,
    RunFailed,
    ScriptedModel,
    run_blueprint,
    start_blueprint,
    tool,
)
from handrail.agents.options import RunOptions
from handrail.agents.result import Session
from handrail.agents.tools import built_in
from handrail.journal import events as ev
from handrail.journal.vocabulary import Actor, ActorKind, AskOutcome, EndReason
from handrail.models.scripted import Item, call
from handrail.runs.asks.replies import Reply

from .playing import ANN, BEN, DIRECTIVE, POINT, Play, blueprint, go, planned, stage

WAITING, ANSWERED = EndReason.WAITING, EndReason.ANSWERED


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Let the loop run until ``condition`` holds; the story around it is bounded."""
    while not await condition():
        await asyncio.sleep(0)


async def asked(play: Play, count: int = 1) -> None:
    async def is_so() -> bool:
        return len(await play.asks()) == count

    await until(is_so)


def live(play: Play) -> Run:
    return start_blueprint(play.blueprint, "do it", play.agent, play.options, session=play.session)


def test_a_run_waits_in_memory_is_answered_at_the_desk_and_goes_on_at_once() -> None:
    async def story() -> tuple[EndReason, list[str], int]:
        play = Play(planned(), ["A", "B", "built"], parks=False)
        run = live(play)
        for option in ("revise", "approve"):
            await asked(play)
            await play.desk.answer((await play.ask()).ask, Reply(option=option))
            await asked(play, 0)
        result = await run
        return result.end_reason, await play.path(), len(await play.events(ev.DriverTookOver))

    assert (ANSWERED, ["plan", "build"], 0) == go(story())


def test_89_to_91_a_run_is_waiting_while_a_question_is_open_running_after_it_and_stays_ended() -> None:
    async def story() -> list[str]:
        play = Play(planned(), ["plan", "built"], parks=False)
        run = live(play)
        await asked(play)
        found: list[str] = [(await play.journal.run("s1")).status]
        await play.desk.answer((await play.ask()).ask, Reply(option="approve"))
        await run
        found.append((await play.journal.run("s1")).status)
        return found

    assert ["waiting", "ended"] == go(story())


def test_a_pause_from_the_handle_holds_what_is_answered_until_the_run_is_resumed() -> None:
    async def story() -> tuple[list[str], EndReason]:
        play = Play(planned(), ["plan", "built"], parks=False)
        run = live(play)
        await asked(play)
        await run.pause("wait for ben")
        await play.desk.answer((await play.ask()).ask, Reply(option="approve"))
        await asked(play, 0)
        before = await play.routes()
        await run.resume()
        return before, (await run).end_reason

    assert ([], ANSWERED) == go(story())


def test_a_driver_that_leaves_lands_what_runs_and_another_goes_on() -> None:
    async def story() -> tuple[EndReason, list[str], EndReason, int]:
        begun, go_on = asyncio.Event(), asyncio.Event()

        @tool
        async def slow() -> str:
            """Takes its time."""
            begun.set()
            await go_on.wait()
            return "slow and done"

        script: list[Item] = [call("slow"), "one", "two"]
        play = Play(blueprint(stage("one", tools=["slow"]), stage("two")), script, tools=[slow], parks=False)
        run = live(play)
        await begun.wait()
        run.park()
        go_on.set()
        left = (await run).end_reason
        results = [str(body.content) for body in await play.events(ev.ToolFinished)]
        return left, results, (await play.resume()).end_reason, len(await play.events(ev.ToolStarted))

    assert (WAITING, ["slow and done"], ANSWERED, 1) == go(story())


def test_a_run_that_waits_at_a_point_is_cancelled_and_its_question_withdrawn() -> None:
    async def story() -> tuple[EndReason, list[AskOutcome]]:
        play = Play(planned(), ["plan"], parks=False)
        run = live(play)
        await asked(play)
        run.cancel("enough")
        return (await run).end_reason, [closed.outcome for closed in await play.events(ev.AskClosed)]

    assert (EndReason.CANCELLED, [AskOutcome.WITHDRAWN]) == go(story())


def test_a_directive_that_has_the_model_ask_is_answered_by_a_question_of_its_own() -> None:
    """The seed's way: the option says what to do next, and the model asks what to change."""

    async def story() -> tuple[list[str], str, str]:
        asking = built_in("ask_user_text")
        plan = stage("plan", points=[POINT], tools=["ask_user_text"])
        script: list[Item] = ["plan A", call("ask_user_text", prompt="What is wrong with it?"), "plan B"]
        play = Play(blueprint(plan), script, tools=[asking])
        await play.start()
        await play.reply(option="revise")
        kinds = [(await play.ask()).kind.value]
        await play.reply(words="too long")
        kinds.append((await play.ask()).kind.value)
        result = await play.reply(option="approve")
        return kinds, str((await play.events(ev.ToolFinished))[0].content), str(result.output)

    kinds, content, output = go(story())
    assert (["question", "point"], "plan B") == (kinds, output)
    assert "too long" in content
    assert "ask" in DIRECTIVE.lower()


def test_86_two_of_those_who_may_must_approve_and_one_revision_is_enough_to_send_it_back() -> None:
    async def story(*answers: tuple[str, str]) -> tuple[list[str], int, EndReason | None]:
        point = {"approvers": ["ann", "ben"], "quorum": 2}
        play = Play(planned(point=point), ["A", "B", "built"])
        await play.start()
        for name, option in answers:
            await play.reply(by=ANN if name == "ann" else BEN, option=option)
        return await play.routes(), len(await play.asks()), play.ended

    assert ([], 1, WAITING) == go(story(("ann", "approve")))
    assert (["approved"], 0, ANSWERED) == go(story(("ann", "approve"), ("ben", "approve")))
    assert (["directed"], 1, WAITING) == go(story(("ann", "approve"), ("ben", "revise")))


def test_87_who_started_the_run_may_not_approve_where_the_point_says_so() -> None:
    async def story() -> tuple[str, list[str]]:
        play = Play(planned(point={"creator_may_answer": False}), ["plan", "built"])
        await play.start()
        with pytest.raises(PermissionError) as raised:
            await play.reply(option="approve", by=ANN)
        await play.reply(option="approve", by=BEN)
        return str(raised.value), await play.routes()

    told, routes = go(story())
    assert "ann" in told
    assert ["approved"] == routes


def test_the_short_form_runs_to_the_end_with_a_function_that_gives_each_stage_its_agent() -> None:
    async def story() -> list[str]:
        # A script is played by the replies that the run has had, whoever gave them.
        said = {name: ScriptedModel([f"from {name}"] * 2, name=name) for name in ("one", "two")}
        result = await run_blueprint(
            blueprint(stage("one"), stage("two")), "go", lambda one: Agent(model=said[one.name]), RunOptions()
        )
        return [str(result.output), result.end_reason.value]

    assert ["from two", "answered"] == go(story())


def test_an_empty_task_starts_nothing() -> None:
    async def story() -> tuple[str, ...]:
        journal = MemoryJournal()
        session = Session("s1", journal)
        with pytest.raises(ValueError, match="empty"):
            await run_blueprint(planned(), "  ", Agent(model=ScriptedModel(["x"])), session=session)
        return await journal.sessions()

    assert () == go(story())


def test_two_runs_of_a_blueprint_in_one_session_ask_under_keys_of_their_own() -> None:
    async def story() -> list[str]:
        play = Play(planned(), ["A", "built", "B", "built"])
        for _ in range(2):
            await play.start()
            await play.reply(option="approve")
        return [asked.key.partition("/")[2] for asked in await play.events(ev.AskOpened)]

    assert ["plan#1/plan_approval/0/choice"] * 2 == go(story())


def test_a_strategy_that_pauses_waits_in_its_stage_and_goes_on_with_the_answer() -> None:
    class Asks:
        name = "asks"

        def __init__(self) -> None:
            self.is_asked = False

        async def on_round(self, ctx: RoundContext) -> RoundDecision:
            if self.is_asked or any("blue" in str(message.content) for message in ctx.history):
                return RoundDecision.proceed()
            self.is_asked = True
            return RoundDecision.pause("Which colour?")

    async def story() -> tuple[str | None, list[str], EndReason | None]:
        play = Play(blueprint(stage("one"), stage("two")), ["draft", "in blue", "two"], strategies=[Asks])
        question = (await play.start()).question
        await play.reply(words="blue")
        return question, await play.path(), play.ended

    assert ("Which colour?", ["one", "two"], ANSWERED) == go(story())


def test_a_failing_strategy_of_a_stage_takes_the_error_edge() -> None:
    async def fails(ctx: RoundContext) -> RoundDecision:
        if "You are in the stage" in str(ctx.history):
            return RoundDecision.proceed()
        return RoundDecision.fail("no good")

    async def story() -> list[str]:
        edges = [{"to": "end"}, {"to": "mend", "when": "error"}]
        play = Play(blueprint(stage("one", edges=edges), stage("mend")), ["bad", "mended"], strategies=[fails])
        await play.start()
        return await play.path()

    assert ["one", "mend"] == go(story())


def test_the_error_that_failed_the_last_stage_is_what_the_run_failed_of() -> None:
    async def story() -> BaseException | None:
        play = Play(blueprint(stage("one")), [ValueError("dead")])
        with pytest.raises(RunFailed) as raised:
            await play.start()
        return raised.value.__cause__

    assert "dead" == str(go(story()))


def test_a_point_that_keeps_out_who_started_the_run_needs_to_know_who_that_is() -> None:
    async def story() -> int:
        play = Play(planned(point={"creator_may_answer": False}), ["plan"], by=Actor(ActorKind.PERSON))
        with pytest.raises(ValueError, match="name"):
            await play.start()
        return len(await play.events())

    assert 0 == go(story())
