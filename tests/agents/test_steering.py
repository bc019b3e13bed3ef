"""What people send to a run while it goes on: delivered once, in order, with a receipt, or given back (K.4)."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from msgspec.structs import replace

from handrail import (
    Actor,
    ActorKind,
    EndReason,
    Event,
    Receipt,
    Run,
    RunFailed,
    RunOptions,
    RunResult,
    ScriptedModel,
    Session,
    call,
    tool,
)
from handrail.agents.agent import Agent
from handrail.agents.approval import PERSON
from handrail.journal import events as ev
from handrail.journal.memory import MemoryJournal
from handrail.models.scripted import Item
from handrail.transcripts.model import Author, Image, Interrupt, RefusalKind, Taint, Text, ToolResult, Via

from .stage import TOOLS, Watching, agent_of, go, said

PICTURE = Image("image/png", "AAAA")


class Gate:
    """A tool that waits inside until it is let out, so that a test can act while a run is busy."""

    def __init__(self) -> None:
        self.inside = asyncio.Event()
        self.leave = asyncio.Event()

        @tool
        async def hold() -> str:
            """Waits."""
            self.inside.set()
            await self.leave.wait()
            return "held"

        self.tool = hold


def held(script: list[Item], options: RunOptions | None = None) -> tuple[Run, Gate, ScriptedModel]:
    """A run of ``script`` whose tool ``hold`` can be waited for."""
    gate = Gate()
    model = ScriptedModel(script)
    return Agent(model=model, tools=(*TOOLS, gate.tool)).start("go", options or RunOptions()), gate, model


async def act(run: Run, gate: Gate, *sent: Any) -> tuple[RunResult, list[Receipt]]:
    """Send while the tool waits, let it go on, and wait for the end."""
    await gate.inside.wait()
    receipts = [one() for one in sent]
    gate.leave.set()
    return await run, receipts


def test_row_93_a_steer_is_in_the_next_request_once() -> None:
    async def story() -> tuple[Any, Any, Any]:
        run, gate, model = held([call("hold"), "a"])
        result, receipts = await act(run, gate, lambda: run.steer("left"))
        return result, receipts, model

    result, (receipt,), model = go(story())
    assert said(model.requests[1].messages)[-1] == "user: [held] left"
    assert (receipt.status, receipt.round) == ("delivered", 2)
    texts = [block for block in result.transcript.body[2].content if isinstance(block, Text)]
    assert texts == [Text("left", Author.PERSON, via=Via.STEER)]


def test_row_94_a_follow_up_waits_until_the_run_would_end() -> None:
    async def story() -> tuple[RunResult, list[Receipt]]:
        run, gate, _ = held([call("hold"), call("probe", value="a"), "a", "b"])
        return await act(run, gate, lambda: run.follow_up("and then?"))

    result, (receipt,) = go(story())
    assert said(result.transcript.body)[-3:] == ["assistant: a", "user: and then?", "assistant: b"]
    assert receipt.round == 4


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("one", ["user: [held] 1", "user: 2", "user: 3"]), ("all", ["user: [held] 1\n\n2\n\n3"])],
)
def test_row_95_a_queue_gives_one_message_at_a_boundary_or_all(mode: Any, expected: list[str]) -> None:
    async def story() -> tuple[RunResult, list[Receipt]]:
        run, gate, _ = held([call("hold"), "a", "b", "c"], RunOptions(steers=mode))
        return await act(run, gate, *(lambda n=n: run.steer(n) for n in "123"))

    result, receipts = go(story())
    assert [line for line in said(result.transcript.body) if line.startswith("user")][1:] == expected
    assert [one.status for one in receipts] == ["delivered"] * 3


def test_steers_go_before_follow_ups_whatever_order_they_came_in() -> None:
    async def story() -> tuple[RunResult, list[Receipt]]:
        run, gate, _ = held([call("hold"), "a", "b", "c"])
        return await act(run, gate, lambda: run.follow_up("later"), lambda: run.steer("now"))

    result, _ = go(story())
    assert [line for line in said(result.transcript.body) if line.startswith("user")][1:] == [
        "user: [held] now",
        "user: later",
    ]


def test_row_96_a_run_that_fails_gives_back_what_was_not_delivered_and_keeps_what_was() -> None:
    async def story() -> tuple[Any, list[Receipt]]:
        run, gate, _ = held([call("hold"), ValueError("broken"), "never"])
        await gate.inside.wait()
        receipts = [run.steer("in the failing request"), run.steer("after it")]
        gate.leave.set()
        with pytest.raises(RunFailed) as caught:
            await run
        return caught.value.result, receipts

    result, (first, second) = go(story())
    assert (first.status, second.status, second.why) == ("delivered", "returned", "the run ended: failed")
    assert said(result.transcript.body)[-1] == "user: [held] in the failing request"


def test_row_98_a_stop_leaves_a_steer_undelivered_and_gives_it_back() -> None:
    async def story() -> tuple[RunResult, list[Receipt]]:
        run, gate, _ = held([call("hold"), "never"])
        return await act(run, gate, lambda: run.stop("enough"), lambda: run.steer("more"))

    result, (stop, steer) = go(story())
    assert (result.end_reason, result.detail) == (EndReason.STOP_REQUESTED, "enough")
    assert (stop.status, steer.status) == ("delivered", "returned")
    assert said(result.transcript.body)[-1] == "user: [held]"


def test_row_101_two_runs_of_one_agent_share_no_queue() -> None:
    async def story() -> tuple[RunResult, RunResult]:
        one, gate, _ = held([call("hold"), "a"])
        other, other_gate, _ = held([call("hold"), "b"])
        first, _ = await act(one, gate, lambda: one.steer("for one"))
        second, _ = await act(other, other_gate)
        return first, second

    first, second = go(story())
    assert "for one" in said(first.transcript.body)[2]
    assert said(second.transcript.body)[2] == "user: [held]"


def test_row_102_a_steer_that_no_request_would_carry_costs_no_answer() -> None:
    async def story() -> tuple[RunResult, Receipt]:
        inside, leave = asyncio.Event(), asyncio.Event()

        async def answer(request: Any) -> str:
            inside.set()
            await leave.wait()
            return "the answer"

        agent = Agent(model=ScriptedModel([answer]))
        run = agent.start("go", RunOptions(max_rounds=1))
        await inside.wait()
        receipt = run.steer("one more thing")
        leave.set()
        return await run, receipt

    result, receipt = go(story())
    assert (result.output, result.end_reason) == ("the answer", EndReason.ANSWERED)
    assert (receipt.status, receipt.why) == ("returned", "the run ended: answered")


def test_row_103_a_thread_can_steer_and_wait_for_its_receipt() -> None:
    ended: list[Any] = []

    async def story() -> RunResult:
        run, gate, _ = held([call("hold"), "a"])
        await gate.inside.wait()

        def work() -> None:
            receipt = run.steer("from a thread")
            gate_is_open.set()
            ended.append(receipt.wait(10))

        gate_is_open = threading.Event()
        thread = threading.Thread(target=work)
        thread.start()
        await asyncio.to_thread(gate_is_open.wait, 10)
        gate.leave.set()
        result = await run
        await asyncio.to_thread(thread.join, 10)
        return result

    result = go(story())
    assert said(result.transcript.body)[2] == "user: [held] from a thread"
    assert (ended[0].status, ended[0].round) == ("delivered", 2)


def test_row_104_received_and_delivered_are_two_events_with_one_id() -> None:
    async def story() -> tuple[list[ev.Body], Receipt]:
        run, gate, _ = held([call("hold"), "a"])
        _, (receipt,) = await act(run, gate, lambda: run.steer("left"))
        return [item.body async for item in run if isinstance(item, Event)], receipt

    bodies, receipt = go(story())
    assert [body.input for body in bodies if isinstance(body, ev.InputReceived)] == [receipt.id]
    assert [body.inputs for body in bodies if isinstance(body, ev.InputDelivered)] == [(receipt.id,)]


def test_row_105_what_was_queued_when_the_process_died_is_delivered_by_the_next_driver() -> None:
    async def story() -> RunResult:
        journal = MemoryJournal()
        agent, _ = agent_of(["a", "b", "c"])
        session = (await agent.run("go", RunOptions(journal=journal))).session
        person = Actor(ActorKind.PERSON)
        body = ev.InputReceived(input="k", via="steer", content=(Text("still there", Author.PERSON),))
        await journal.post(session.id, body, person, "k")
        return await agent.run("more", session=session)

    result = go(story())
    assert said(result.transcript.body)[2:] == ["user: more", "assistant: b", "user: still there", "assistant: c"]


def test_row_106_a_full_queue_says_so() -> None:
    async def story() -> tuple[RunResult, list[Receipt]]:
        run, gate, _ = held([call("hold"), "a", "b"], RunOptions(max_queued=1))
        return await act(run, gate, lambda: run.steer("one"), lambda: run.steer("two"))

    _, (first, second) = go(story())
    assert (first.status, second.status, second.why) == ("delivered", "returned", "1 messages wait already")


def test_pictures_count_as_words() -> None:
    async def story() -> tuple[RunResult, list[Receipt]]:
        run, gate, _ = held([call("hold"), "a"])
        return await act(run, gate, lambda: run.steer([PICTURE]))

    result, (receipt,) = go(story())
    assert (PICTURE in result.transcript.body[2].content, receipt.status) == (True, "delivered")


def test_what_is_sent_brings_in_what_a_prompt_would() -> None:
    async def story(content: Any, by: Actor) -> Taint | None:
        run, gate, _ = held([call("hold"), "a"])
        result, _ = await act(run, gate, lambda: run.steer(content, by=by))
        return result.transcript.body[-1].taint

    assert go(story([PICTURE], PERSON)) == Taint(private=True)
    assert go(story("look", Actor(ActorKind.PEER, "another"))) == Taint(untrusted=True)
    assert go(story("look", PERSON)) == Taint()


@pytest.mark.parametrize("nothing", ["", " ", []])
def test_nothing_cannot_be_sent(nothing: Any) -> None:
    async def story() -> None:
        agent, _ = agent_of(["a"])
        run = agent.start("go")
        with pytest.raises(ValueError, match="nothing to send"):
            run.steer(nothing)
        await run

    go(story())


def test_a_program_that_steers_says_so_and_is_no_person() -> None:
    async def story() -> RunResult:
        run, gate, _ = held([call("hold"), "a"])
        result, _ = await act(run, gate, lambda: run.steer("left", by=Actor(ActorKind.HOST, "cron")))
        return result

    texts = [block for block in go(story()).transcript.body[2].content if isinstance(block, Text)]
    assert texts == [Text("left", Author.HOST, by="cron", via=Via.STEER)]


def test_what_is_sent_after_the_end_is_returned_at_once() -> None:
    async def story() -> list[Receipt]:
        agent, _ = agent_of(["a"])
        run = agent.start("go")
        await run
        return [run.steer("late"), run.follow_up("late"), run.stop(), run.cancel(), run.interrupt()]

    assert {(one.status, one.why) for one in go(story())} == {("returned", "the run is over")}


def test_the_strategies_see_what_is_pending() -> None:
    watching = Watching()

    async def story() -> None:
        run, gate, _ = held([call("hold"), "a", "b", "c"], RunOptions(strategies=[watching]))
        await act(run, gate, lambda: run.follow_up("later"), lambda: run.follow_up("even later"))

    go(story())
    assert [(ctx.pending.steers, ctx.pending.follow_ups) for ctx in watching.asked] == [(0, 2), (0, 0)]


# Interrupts


def test_an_interrupt_stops_the_model_now_and_goes_on_with_what_was_sent_along() -> None:
    async def story() -> tuple[RunResult, list[Receipt], list[Any]]:
        asked = asyncio.Event()

        async def hang(request: Any) -> str:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

        model = ScriptedModel([hang])
        other = ScriptedModel(["this instead"])

        class Both:
            info = model.info

            def stream(self, request: Any, cancellation: Any = None) -> Any:
                return (other if asked.is_set() else model).stream(request, cancellation)

        run = Agent(model=Both()).start("go")
        await asked.wait()
        receipts = [run.steer("not that"), run.interrupt("wrong way")]
        return await run, receipts, other.requests

    result, receipts, requests = go(story())
    assert (result.output, [one.status for one in receipts]) == ("this instead", ["delivered", "delivered"])
    assert said(requests[0].messages) == ["user: go", "user: not that"]
    assert Interrupt(Author.PERSON) in result.transcript.body[1].content


def test_an_interrupt_stops_a_tool_now_and_its_call_has_a_result() -> None:
    async def story() -> tuple[RunResult, list[Receipt]]:
        run, gate, _ = held([[call("hold"), call("change", value="b")], "never"])
        await gate.inside.wait()
        receipts = [run.interrupt("stop that")]
        return await run, receipts

    result, (receipt,) = go(story())
    assert (result.end_reason, result.detail, receipt.status) == (
        EndReason.STOP_REQUESTED,
        "stop that",
        "delivered",
    )
    results = [block for block in result.transcript.body[-1].content if isinstance(block, ToolResult)]
    refusals = [block.refusal.kind for block in results if block.refusal]
    assert refusals == [RefusalKind.INTERRUPTED, RefusalKind.NOT_RUN]


def test_a_cancel_ends_a_hanging_tool_and_leaves_a_valid_history() -> None:
    async def story() -> RunResult:
        run, gate, _ = held([call("hold"), "never"])
        await gate.inside.wait()
        run.cancel("no more")
        return await run

    result = go(story())
    assert (result.end_reason, result.detail) == (EndReason.CANCELLED, "no more")
    assert result.transcript.tool_pairs() == [(1, 2)]


def test_cancelling_the_task_commits_and_raises_on() -> None:
    async def story() -> tuple[bool, list[str]]:
        gate = Gate()
        agent = Agent(model=ScriptedModel([call("hold"), "never"]), tools=[gate.tool])
        journal = MemoryJournal()
        task = asyncio.create_task(agent.run("go", RunOptions(journal=journal)))
        await gate.inside.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        events = await journal.read((await journal.sessions())[0])
        return task.cancelled(), [type(event.body).__name__ for event in events[-3:]]

    is_cancelled, last = go(story())
    assert is_cancelled
    assert last == ["CancelRequested", "ToolFinished", "RunEnded"]


def test_somebody_else_can_post_into_the_inbox_of_a_run_that_goes_on() -> None:
    class Shared(MemoryJournal):
        poll_s = 0.001

    async def story() -> RunResult:
        gate = Gate()
        session = Session("s1", Shared())
        agent = Agent(model=ScriptedModel([call("hold"), "never"]), tools=[gate.tool])
        run = agent.start("go", session=session)
        await gate.inside.wait()
        await session.journal.post("s1", ev.Interrupted("from elsewhere"), Actor(ActorKind.PERSON), "k")
        return await run

    result = go(story())
    assert (result.end_reason, result.detail) == (EndReason.STOP_REQUESTED, "from elsewhere")


def test_who_watches_sees_every_event_from_the_first_however_late_they_come() -> None:
    async def story() -> tuple[list[int], list[int]]:
        agent, _ = agent_of([call("probe", value="a"), "done"])
        run = agent.start("go")
        early = [item.seq async for item in run if isinstance(item, Event)]
        await run
        late = [item.seq async for item in run if isinstance(item, Event)]
        return early, late

    early, late = go(story())
    assert early == late == list(range(1, len(early) + 1))


def test_a_waiter_that_gives_up_leaves_the_receipt_to_the_others() -> None:
    async def story() -> tuple[RunResult, Any]:
        run, gate, _ = held([call("hold"), "a"])
        await gate.inside.wait()
        receipt = run.steer("left")

        async def wait() -> Any:
            return await receipt

        impatient = asyncio.create_task(wait())
        await asyncio.sleep(0)
        impatient.cancel()
        gate.leave.set()
        outcome = await receipt
        return await run, outcome

    _, outcome = go(story())
    assert outcome.status == "delivered"


def test_changed_copies_of_an_agent_are_agents_of_their_own() -> None:
    agent, _ = agent_of(["a"])
    assert replace(agent, name="other").toolbox == agent.toolbox
