"""Questions that wait: held for whoever answers, asked once over crashes, all open at once, answered in any order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from handrail import Agent, Event, Question, RunOptions, RunResult, ScriptedModel, Session, ToolContext, call, tool
from handrail.agents.approval import HOLD, PERSON
from handrail.agents.tools import built_in_tools
from handrail.journal import events as ev
from handrail.journal.memory import MemoryJournal
from handrail.journal.vocabulary import AskKind, AskOutcome
from handrail.models.scripted import Item
from handrail.transcripts.model import Author, Decision, RefusalKind, Text, ToolResult, Via

from .stage import go

ASKERS = ("ask_user_text", "ask_user_choice", "ask_user_confirm", "edit_document", "present_for_review")
HELD = RunOptions(approver=HOLD, answerer=HOLD)


class Shared(MemoryJournal):
    """One that other processes may post into, as far as a driver can tell."""

    poll_s = 0.001


def agent_of(script: list[Item], *tools: Any) -> Agent:
    return Agent(model=ScriptedModel(script), tools=[*built_in_tools(ASKERS), *tools])


async def opened_in(run: Any, count: int) -> list[ev.AskOpened]:
    """The first ``count`` questions of ``run``."""
    found: list[ev.AskOpened] = []
    async for item in run:
        if isinstance(item, Event) and isinstance(item.body, ev.AskOpened):
            found.append(item.body)
            if len(found) == count:
                break
    return found


async def answer(journal: MemoryJournal, ask: str, session: str = "s1", **said: Any) -> None:
    closed = ev.AskClosed(ask=ask, outcome=AskOutcome.ANSWERED, **said)
    await journal.post(session, closed, PERSON, f"answer to {ask}")


async def survivor(journal: MemoryJournal, keep: Callable[[Event], bool], session: str = "s1") -> Shared:
    """A journal with what stood in ``journal`` up to the first event that ``keep`` says was the last one written."""
    events = await journal.read(session)
    last = next(event.seq for event in events if keep(event))
    entries = {entry.number: entry for entry in await journal.inbox(session)}
    revived = Shared()
    await revived.take_over(session)
    for event in events[:last]:
        if event.inbox is not None:
            entry = entries[event.inbox]
            await revived.post(session, entry.body, entry.by, entry.key)
        await revived.append(session, event.seq - 1, 1, [event])
    return revived


def results(result: RunResult) -> list[ToolResult]:
    return [block for block in result.transcript.body[2].content if isinstance(block, ToolResult)]


def opened_count(events: tuple[Event, ...]) -> int:
    return sum(isinstance(event.body, ev.AskOpened) for event in events)


# At once ----------------------------------------------------------------------------------------------------

THREE: list[Item] = [
    [
        call("ask_user_text", prompt="Why?"),
        call("ask_user_choice", options=["left", "right"], prompt="Which?"),
        call("ask_user_confirm", prompt="Go?"),
    ],
    "done",
]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_rows_107_and_137_three_questions_are_open_at_once_and_results_keep_the_order_of_the_calls(
    order: tuple[int, ...],
) -> None:
    said: list[dict[str, Any]] = [{"words": "because"}, {"choice": "right"}, {"choice": "No"}]

    async def story() -> RunResult:
        journal = Shared()
        run = agent_of(THREE).start("go", HELD, session=Session("s1", journal))
        asks = await opened_in(run, 3)
        assert 3 == len({one.ask for one in asks}) == len({one.key for one in asks})
        for place in order:
            await answer(journal, asks[place].ask, **said[place])
        return await run

    told = [one.content for one in results(go(story()))]
    assert ["They answered: because", "They chose: right", "They answered: No."] == told


def test_row_108_two_runs_with_the_same_call_id_have_their_own_questions() -> None:
    async def story() -> set[str]:
        journal = Shared()
        runs = [agent_of(THREE).start("go", HELD, session=Session(name, journal)) for name in ("s1", "s2")]
        asks = [await opened_in(run, 3) for run in runs]
        for run in runs:
            run.cancel()
            await run
        assert [one.call for one in asks[0]] == [one.call for one in asks[1]]
        return {one.ask for group in asks for one in group}

    assert 6 == len(go(story()))


def test_an_answer_to_one_question_closes_no_other() -> None:
    async def story() -> tuple[str, ...]:
        journal = Shared()
        run = agent_of(THREE).start("go", HELD, session=Session("s1", journal))
        asks = await opened_in(run, 3)
        await answer(journal, asks[1].ask, choice="left")
        async for item in run:
            if isinstance(item, Event) and isinstance(item.body, ev.AskClosed):
                break
        run.cancel()
        await run
        return tuple(
            event.body.ask
            for event in await journal.read("s1")
            if isinstance(event.body, ev.AskClosed) and event.body.outcome is AskOutcome.ANSWERED
        )

    assert 1 == len(go(story()))


# Over a crash -----------------------------------------------------------------------------------------------

ONE: list[Item] = [call("ask_user_choice", options=["left", "right"], prompt="Which?"), "done"]


async def taken_over(journal: MemoryJournal) -> None:
    """Until another driver has the session: a call that asked is run again when it has its answer, not before."""

    def is_it(event: Event) -> bool:
        return isinstance(event.body, ev.DriverTookOver)

    while not any(map(is_it, await journal.read("s1"))):
        await asyncio.sleep(0)


def is_opened(event: Event) -> bool:
    return isinstance(event.body, ev.AskOpened)


def is_closed(event: Event) -> bool:
    return isinstance(event.body, ev.AskClosed)


async def died(journal: MemoryJournal, script: list[Item], *tools: Any) -> None:
    """A run up to its question being answered; what became of it later is cut off by ``survivor``."""
    run = agent_of(script, *tools).start("go", HELD, session=Session("s1", journal))
    (opened,) = await opened_in(run, 1)
    said: dict[str, Any] = {"is_allowed": True} if opened.kind is AskKind.APPROVAL else {"choice": "left"}
    await answer(journal, opened.ask, **said)
    await run


def test_rows_123_and_130_a_question_that_was_open_is_the_same_one_after_a_restart() -> None:
    async def story() -> tuple[RunResult, int]:
        first = Shared()
        await died(first, ONE)
        journal = await survivor(first, is_opened)
        before = next(event.body for event in await journal.read("s1") if isinstance(event.body, ev.AskOpened))
        run = agent_of(ONE).resume(Session("s1", journal), HELD)
        await taken_over(journal)
        await answer(journal, before.ask, choice="right")
        return await run, opened_count(await journal.read("s1"))

    result, count = go(story())
    assert (["They chose: right"], 1) == ([one.content for one in results(result)], count)


def test_an_answer_that_was_recorded_before_the_crash_is_not_asked_for_again() -> None:
    async def story() -> tuple[RunResult, int]:
        first = Shared()
        await died(first, ONE)
        journal = await survivor(first, is_closed)
        return await agent_of(ONE).resume(Session("s1", journal), HELD), opened_count(await journal.read("s1"))

    result, count = go(story())
    assert (["They chose: left"], 1) == ([one.content for one in results(result)], count)
    assert 1 == sum(isinstance(block, Decision) for block in result.transcript.body[2].content)


def test_a_recorded_answer_is_not_used_for_another_question_of_the_call() -> None:
    asked: list[str] = []

    @tool(twice_is_safe=True)
    async def twice(context: ToolContext) -> str:
        """Asks two things."""
        assert context.ask is not None
        answers = [await context.ask(Question(prompt=prompt)) for prompt in ("first?", "second?")]
        asked.append("ran")
        return " ".join(str(one.text) for one in answers)

    async def story() -> tuple[RunResult, list[str]]:
        first = Shared()
        script: list[Item] = [call("twice"), "done"]
        run = agent_of(script, twice).start("go", HELD, session=Session("s1", first))
        (one,) = await opened_in(run, 1)
        await answer(first, one.ask, words="1")
        _, two = await opened_in(run, 2)
        await answer(first, two.ask, words="lost with the process")
        await run
        journal = await survivor(
            first, lambda event: isinstance(event.body, ev.AskOpened) and event.body.ask == two.ask
        )
        run = agent_of(script, twice).resume(Session("s1", journal), HELD)
        await taken_over(journal)
        await answer(journal, two.ask, words="2")
        prompts = [event.body.prompt for event in await journal.read("s1") if isinstance(event.body, ev.AskOpened)]
        return await run, prompts

    result, prompts = go(story())
    assert (["1 2"], ["first?", "second?"]) == ([one.content for one in results(result)], prompts)


def test_a_tool_that_may_not_run_twice_takes_its_question_with_it() -> None:
    @tool
    async def once(context: ToolContext) -> str:
        """Asks."""
        assert context.ask is not None
        return str((await context.ask(Question(prompt="Which?", options=("left", "right")))).choice)

    async def story() -> tuple[RunResult, list[AskOutcome]]:
        first = Shared()
        script: list[Item] = [call("once"), "done"]
        await died(first, script, once)
        journal = await survivor(first, is_opened)
        result = await agent_of(script, once).resume(Session("s1", journal), HELD)
        outcomes = [event.body.outcome for event in await journal.read("s1") if isinstance(event.body, ev.AskClosed)]
        return result, outcomes

    result, outcomes = go(story())
    assert [AskOutcome.WITHDRAWN] == outcomes
    refusal = results(result)[0].refusal
    assert refusal is not None and refusal.kind is RefusalKind.OUTCOME_UNKNOWN


@pytest.mark.parametrize("keep", [is_opened, is_closed])
def test_row_130_an_approval_that_was_open_or_given_is_kept_over_a_crash_and_the_call_runs_once(
    keep: Callable[[Event], bool],
) -> None:
    done: list[str] = []

    @tool(destructive=True)
    async def wipe() -> str:
        """Wipes."""
        done.append("wiped")
        return "wiped"

    async def story() -> tuple[RunResult, int]:
        first = Shared()
        script: list[Item] = [call("wipe"), "done"]
        await died(first, script, wipe)
        done.clear()
        journal = await survivor(first, keep)
        run = agent_of(script, wipe).resume(Session("s1", journal), HELD)
        if keep is is_opened:
            opened = next(event.body for event in await journal.read("s1") if isinstance(event.body, ev.AskOpened))
            await answer(journal, opened.ask, is_allowed=True)
        return await run, opened_count(await journal.read("s1"))

    result, count = go(story())
    assert (["wiped"], ["wiped"], 1) == (done, [one.content for one in results(result)], count)


# What is asked and what is left -----------------------------------------------------------------------------


def test_a_question_says_where_it_was_asked_and_what_is_shown() -> None:
    async def story() -> ev.AskOpened:
        journal = Shared()
        script: list[Item] = [call("edit_document", content="one", prompt="Look."), "done"]
        run = agent_of(script).start("go", HELD, session=Session("s1", journal))
        (opened,) = await opened_in(run, 1)
        await answer(journal, opened.ask, before="one", after="two")
        result = await run
        decision = next(block for block in result.transcript.body[2].content if isinstance(block, Decision))
        assert (Author.PERSON, "one", "two") == (decision.by, decision.before, decision.after)
        assert str(results(result)[0].content).endswith("\n\ntwo")
        return opened

    opened = go(story())
    assert (AskKind.EDIT, "one", "call_1", True) == (opened.kind, opened.shown, opened.call, opened.run is not None)
    assert opened.digest == "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
    assert "" != opened.key


def test_a_question_nobody_waits_for_any_more_is_withdrawn() -> None:
    @tool
    async def hasty(context: ToolContext) -> str:
        """Asks and does not wait."""
        assert context.ask is not None
        waiting = asyncio.ensure_future(context.ask(Question(prompt="Still there?")))
        await asyncio.sleep(0)
        while not waiting.done() and not opened:
            await asyncio.sleep(0)
        return "gone"

    opened: list[ev.AskOpened] = []

    async def story() -> list[tuple[AskOutcome, str | None]]:
        journal = Shared()
        run = agent_of([call("hasty"), "done"], hasty).start("go", HELD, session=Session("s1", journal))
        opened.extend(await opened_in(run, 1))
        await run
        bodies = [event.body for event in await journal.read("s1")]
        return [(body.outcome, body.comment) for body in bodies if isinstance(body, ev.AskClosed)]

    assert [(AskOutcome.WITHDRAWN, "the call that asked has ended")] == go(story())


@pytest.mark.parametrize(
    "spoil",
    [
        {"choice": "straight on"},
        {"words": "left, I think"},
        {"choice": None},
        {"choice": "left", "is_allowed": True},
    ],
)
def test_rows_14_and_60_an_answer_the_question_does_not_take_leaves_it_open(spoil: dict[str, Any]) -> None:
    async def story() -> tuple[RunResult, list[str]]:
        journal = Shared()
        run = agent_of(ONE).start("go", HELD, session=Session("s1", journal))
        (opened,) = await opened_in(run, 1)
        await journal.post("s1", ev.AskClosed(ask=opened.ask, outcome=AskOutcome.ANSWERED, **spoil), PERSON, "bad")
        async for item in run:
            if isinstance(item, Event) and isinstance(item.body, ev.EntryRefused):
                break
        await answer(journal, opened.ask, choice="left")
        bodies = [event.body for event in await journal.read("s1")]
        return await run, [body.why for body in bodies if isinstance(body, ev.EntryRefused)]

    result, refused = go(story())
    assert (["They chose: left"], 1) == ([one.content for one in results(result)], len(refused))


def test_words_a_person_typed_are_theirs_once() -> None:
    async def story() -> RunResult:
        journal = Shared()
        run = agent_of([call("ask_user_text", prompt="Why?"), "done"]).start("go", HELD, session=Session("s1", journal))
        (opened,) = await opened_in(run, 1)
        await answer(journal, opened.ask, words="because")
        return await run

    texts = [block for block in go(story()).transcript.body[2].content if isinstance(block, Text)]
    assert [Text("because", Author.PERSON, via=Via.ANSWER)] == texts
