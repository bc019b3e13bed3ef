"""Rows of the catalogue of cases about the runner, its tools, its stream and its sessions that no other test holds.

K is the catalogue of ``runtime.md``, J that of ``learning.md``; rows that are overruled stand in ADR 7 and 8.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from handrail import (
    Agent,
    EndReason,
    Event,
    FileJournal,
    Hook,
    MemoryJournal,
    Raw,
    Reply,
    RunFailed,
    RunOptions,
    RunResult,
    ScriptedModel,
    Session,
    call,
    tool,
)
from handrail.agents.cancellation import CancellationToken
from handrail.agents.paging import READER, MemoryShelf
from handrail.agents.sessions import rewind
from handrail.agents.tool import ResultLimits, ToolContext, ToolOutput
from handrail.journal import events as ev
from handrail.journal.events import Event as Recorded
from handrail.models.errors import Overloaded
from handrail.models.port import ModelInfo, ModelReply, ModelRequest, Streamed, TextDelta, ThinkingDelta
from handrail.models.retry import RetryPolicy
from handrail.models.scripted import Item
from handrail.transcripts.model import Author, Message, RefusalKind, Text, Thinking, ToolResult, ToolUse

from .stage import TOOLS, Watching, agent_of, go, played, said


class Counting(MemoryJournal):
    """A journal that counts its appends."""

    def __init__(self) -> None:
        super().__init__()
        self.appends = 0

    async def append(self, session: str, expected_seq: int, epoch: int, events: Sequence[Recorded]) -> None:
        self.appends += 1
        await super().append(session, expected_seq, epoch, events)


class Streaming:
    """A model that streams ``deltas`` and then replies, or hangs where it is given no reply."""

    def __init__(self, deltas: Sequence[TextDelta | ThinkingDelta], reply: str | None) -> None:
        self.info = ModelInfo(id="streaming", provider="here")
        self.has_streamed = asyncio.Event()
        self._deltas = deltas
        self._reply = reply

    async def stream(self, request: ModelRequest, cancellation: Any = None) -> Streamed:
        for delta in self._deltas:
            yield delta
        self.has_streamed.set()
        if self._reply is None:
            await cancellation.guard(asyncio.Event().wait())
        words = (Text(self._reply or "", Author.MODEL),)
        yield ModelReply(message=Message(role="assistant", content=words, stop_reason="end_turn"))


def _results(result: RunResult, at: int = 2) -> list[ToolResult]:
    return [block for block in result.transcript.body[at].content if isinstance(block, ToolResult)]


def _events(result: RunResult) -> tuple[Event, ...]:
    return asyncio.run(result.session.journal.read(result.session.id))


# Requests and streams


def test_row_41_what_a_plain_answer_shows_has_a_beginning_the_stream_and_an_end() -> None:
    async def story() -> list[Any]:
        agent, _ = agent_of(["yes"])
        return [item async for item in agent.start("go")]

    shown = [item.body if isinstance(item, Event) else item for item in go(story())]
    kinds = [type(one).__name__ for one in shown]
    assert kinds == [
        "SessionOpened",
        "RunStarted",
        "PromptGiven",
        "ModelRequested",
        "TextDelta",
        "ModelReplied",
        "RunEnded",
    ]


@pytest.mark.parametrize(("asked_s", "waits_s"), [(2.0, (2.0, 2.0)), (3600.0, (60.0, 60.0)), (None, (0.25, 0.5))])
def test_rows_44_to_46_a_wait_is_the_schedules_or_what_the_provider_asks_for_up_to_a_cap(
    asked_s: float | None, waits_s: tuple[float, float]
) -> None:
    async def story() -> float:
        agent, _ = agent_of([Overloaded("busy", retry_after_s=asked_s), "never"])
        run = agent.start("go", RunOptions(retry=RetryPolicy(base_s=0.5, retry_after_cap_s=60.0)))
        waited_s = -1.0
        async for item in run:
            if isinstance(item, Event) and isinstance(item.body, ev.ModelFailed):
                assert item.body.retry_at is not None
                assert item.at is not None
                waited_s = (item.body.retry_at - item.at).total_seconds()
                run.cancel("seen enough")
        await run
        return waited_s

    least_s, most_s = waits_s
    # The event is recorded a moment after its instant was computed.
    assert least_s - 0.2 <= go(story()) <= most_s + 0.01


def test_row_47_arguments_that_are_no_json_run_nothing_and_the_model_is_told() -> None:
    ran: list[str] = []

    @tool
    async def note(value: str) -> str:
        """Note. value: what."""
        ran.append(value)
        return "noted"

    bad = Reply(content=(ToolUse("call_1", Raw("note", '{"value": a}')),))
    watching = Watching()
    agent = Agent(model=ScriptedModel([bad, call("note", value="b"), "done"]), tools=[note])
    result = go(agent.run("go", RunOptions(strategies=[watching])))
    assert (ran, result.output) == (["b"], "done")
    assert [one.refusal and one.refusal.kind for one in _results(result)] == [RefusalKind.NOT_RUN]
    # Row 14, overruled: each call has a result and every exit passes a boundary, so the strategy is asked here too.
    assert [one.tool_results[0].is_error for one in watching.asked[:2]] == [True, False]


def test_row_49_a_tool_that_times_out_is_an_error_naming_seconds_and_the_run_goes_on() -> None:
    @tool(timeout_s=0.01)
    async def hang() -> str:
        """Hangs."""
        await asyncio.Event().wait()
        raise AssertionError

    result = go(Agent(model=ScriptedModel([call("hang"), "done"]), tools=[hang]).run("go"))
    (told,) = _results(result)
    assert "0.01 seconds" in str(told.content)
    assert (told.is_error, told.refusal and told.refusal.kind) == (True, RefusalKind.OUTCOME_UNKNOWN)
    assert result.output == "done"


@pytest.mark.parametrize("delta", [TextDelta(0, "half a"), ThinkingDelta(0, "half a")])
def test_rows_61_and_63_nothing_of_a_response_that_was_cut_off_is_kept(delta: TextDelta | ThinkingDelta) -> None:
    async def story() -> RunResult:
        model = Streaming([delta], None)
        run = Agent(model=model).start("go")
        await model.has_streamed.wait()
        run.cancel("enough")
        return await run

    result = go(story())
    assert result.end_reason is EndReason.CANCELLED
    blocks = [block for message in result.transcript.body for block in message.content]
    assert not any(
        isinstance(block, Thinking) or (isinstance(block, Text) and "half" in block.text) for block in blocks
    )


def test_row_72_ten_thousand_deltas_are_not_ten_thousand_writes() -> None:
    appends = []
    for count in (1, 10_000):
        journal = Counting()
        model = Streaming([TextDelta(0, "x")] * count, "done")
        result = go(Agent(model=model).run("go", RunOptions(journal=journal)))
        assert result.output == "done"
        appends.append(journal.appends)
    assert appends[0] == appends[1]


# Results


def test_rows_75_and_76_a_large_result_is_cut_and_its_details_and_the_end_it_makes_are_kept() -> None:
    @tool(is_terminal=True)
    async def finish() -> ToolOutput:
        """Ends with a lot."""
        return ToolOutput({"rows": ["x" * 50] * 50}, details={"count": 50})

    shown = []
    for shelf in (MemoryShelf(), None):
        agent = Agent(model=ScriptedModel([call("finish")]), tools=[finish])
        options = RunOptions(shelf=shelf, result_limits=ResultLimits(max_bytes=200, max_lines=5))
        result = go(agent.run("go", options))
        finished = next(event.body for event in _events(result) if isinstance(event.body, ev.ToolFinished))
        assert (result.end_reason, finished.details) == (EndReason.TOOL_FINISHED, {"count": 50})
        assert len(str(_results(result)[0].content)) < 1000
        shown.append(shelf)
    assert shown[0] is not None
    assert "x" * 50 in (shown[0].find("call_1") or "")


def test_row_77_details_survive_a_restart(tmp_path: Any) -> None:
    @tool
    async def count() -> ToolOutput:
        """Counts."""
        return ToolOutput("many", details={"count": 7})

    agent = Agent(model=ScriptedModel([call("count"), "done"]), tools=[count])
    result = go(agent.run("go", RunOptions(journal=FileJournal(tmp_path))))
    again = asyncio.run(FileJournal(tmp_path).read(result.session.id))
    details = [event.body.details for event in again if isinstance(event.body, ev.ToolFinished)]
    assert details == [{"count": 7}]


def test_rows_86_and_87_within_the_limits_a_result_is_left_as_it_is_and_no_reader_is_offered() -> None:
    text = "line\n" * 1500

    @tool
    async def long() -> str:
        """A long text."""
        return text

    model = ScriptedModel([call("long"), "done"])
    result = go(Agent(model=model, tools=[long]).run("go"))
    assert _results(result)[0].content == text
    assert READER not in [offered.name for offered in model.requests[0].tools]


# Who is never reached


def test_row_143_a_call_of_an_unknown_tool_reaches_neither_hook_nor_approver() -> None:
    reached: list[object] = []
    hooks = (Hook(name="look", ask=reached.append),)
    result, _ = played([call("nothing", x=1), "done"], hooks=hooks, approver=reached.append)
    assert (reached, result.output) == ([], "done")
    assert "There is no tool 'nothing' here" in str(_results(result)[0].content)


def test_row_50_a_tool_that_is_not_offered_is_not_run() -> None:
    result, _ = played([call("change", value="a"), "done"], tools=("probe",))
    (told,) = _results(result)
    assert (told.refusal and told.refusal.kind, result.output) == (RefusalKind.NOT_RUN, "done")


# Whoever watches


def test_row_115_a_watcher_that_breaks_disturbs_neither_run_nor_approvals() -> None:
    from handrail import Approve

    done: list[str] = []

    @tool(destructive=True)
    async def wipe(place: str) -> str:
        """Wipe. place: which."""
        done.append(place)
        return "wiped"

    async def story() -> RunResult:
        agent = Agent(model=ScriptedModel([call("wipe", place="disk"), "done"]), tools=[wipe])
        run = agent.start("go", RunOptions(approver=lambda request: Approve()))

        async def breaks() -> None:
            async for _ in run:
                raise OSError("the pipe is gone")

        with pytest.raises(OSError, match="pipe"):
            await breaks()
        return await run

    assert (go(story()).output, done) == ("done", ["disk"])


def test_row_136_runs_that_are_watched_together_keep_each_its_own_order() -> None:
    seen: dict[str, list[int]] = {}

    async def watched(name: str) -> None:
        agent, _ = agent_of([call("probe", value="a"), call("probe", value="b"), "done"])
        run = agent.start("go")
        async for item in run:
            if isinstance(item, Event):
                seen.setdefault(name, []).append(item.seq)

    async def story() -> None:
        await asyncio.gather(*(watched(name) for name in "abc"))

    go(story())
    assert all(seqs == list(range(1, len(seqs) + 1)) for seqs in seen.values())
    assert len(seen) == 3


# Runs of one session


def test_row_137_a_second_run_has_brackets_of_its_own_sees_the_first_and_follows_a_failed_one_too() -> None:
    async def story() -> tuple[list[str], ScriptedModel]:
        script: list[Item] = ["one", Overloaded("busy"), "never reached by the second", "three"]
        agent, model = agent_of(script)
        options = RunOptions(retry=RetryPolicy(retries=0))
        session = (await agent.run("first", options)).session
        with pytest.raises(RunFailed):
            await agent.run("second", options, session=session)
        await agent.run("third", options, session=session)
        events = await session.journal.read(session.id)
        brackets = [event.body for event in events if isinstance(event.body, ev.RunStarted | ev.RunEnded)]
        return [f"{type(one).__name__}" for one in brackets], model

    kinds, model = go(story())
    assert kinds == ["RunStarted", "RunEnded"] * 3
    assert said(model.requests[-1].messages) == ["user: first", "assistant: one", "user: second", "user: third"]


def test_row_138_an_abandoned_path_is_out_of_the_next_request_and_an_unknown_place_is_refused() -> None:
    async def story() -> ScriptedModel:
        agent, model = agent_of(["one", "two", "three"])
        session = (await agent.run("first")).session
        await agent.run("second", session=session)
        with pytest.raises(IndexError, match="none at 9"):
            await rewind(session, 9)
        await rewind(session, 1)
        await agent.run("third", session=session)
        return model

    assert said(go(story()).requests[-1].messages) == ["user: first", "assistant: one", "user: third"]


def test_row_140_a_run_can_be_awaited_as_often_as_one_likes() -> None:
    async def story() -> list[Any]:
        agent, _ = agent_of(["yes"])
        run = agent.start("go")
        return [await run, await run, run.last_result]

    first, second, kept = go(story())
    assert first is second
    assert (kept.output, kept.end_reason) == (first.output, first.end_reason)


def test_a_result_is_shown_in_short_whatever_was_said() -> None:
    result, _ = played([call("probe", value="x" * 10_000), "done"])
    assert "output='done', end_reason='answered'" in repr(result)
    assert len(repr(result)) < 300


def test_row_148_what_one_agent_has_no_other_is_offered() -> None:
    async def story() -> list[list[str]]:
        models = [ScriptedModel(["done"]), ScriptedModel(["done"])]
        journal = MemoryJournal()
        one, other = Agent(model=models[0], tools=TOOLS), Agent(model=models[1], tools=TOOLS[:1])
        await asyncio.gather(
            *(agent.run("go", session=Session(name, journal)) for name, agent in [("a", one), ("b", other)])
        )
        return [[offered.name for offered in model.requests[0].tools] for model in models]

    assert go(story()) == [[one.name for one in TOOLS], ["probe"]]


# Steering (J 78)


def test_j_78_a_steer_rides_with_the_results_once_and_no_two_deliveries_stand_in_a_row() -> None:
    async def story() -> ScriptedModel:
        inside, leave = asyncio.Event(), asyncio.Event()

        @tool
        async def hold(context: ToolContext) -> str:
            """Waits."""
            inside.set()
            await leave.wait()
            return "held"

        model = ScriptedModel([call("hold"), call("probe", value="a"), "done"])
        run = Agent(model=model, tools=[hold, *TOOLS]).start("go")
        await inside.wait()
        run.steer("the other file")
        leave.set()
        await run
        return model

    model = go(story())
    last = model.requests[-1].messages
    assert [message.role for message in last] == ["user", "assistant", "user", "assistant", "user"]
    words = [block.text for message in last for block in message.content if isinstance(block, Text)]
    assert words.count("the other file") == 1
    assert said(last)[2] == "user: [held] the other file"


def test_rows_48_and_12_what_a_plain_tool_raises_in_its_thread_is_an_error_result_and_the_run_goes_on() -> None:
    threads: list[str] = []

    @tool
    def fail() -> str:
        """Fails."""
        threads.append(threading.current_thread().name)
        raise ValueError("no luck")

    result = go(Agent(model=ScriptedModel([call("fail"), "done"]), tools=[fail]).run("go"))
    assert (_results(result)[0].is_error, result.output) == (True, "done")
    assert threads != [threading.main_thread().name]


def test_a_token_that_a_tool_cancelled_is_heard_before_the_next_request() -> None:
    token = CancellationToken()

    @tool
    async def ends() -> str:
        """Cancels the run it is part of, then returns as if nothing had happened."""
        token.cancel("from inside")
        return "done"

    model = ScriptedModel([call("ends"), "never"])
    result = go(Agent(model=model, tools=[ends]).run("go", RunOptions(cancellation=token)))
    assert (result.end_reason, result.detail, len(model.requests)) == (EndReason.CANCELLED, "from inside", 1)
    assert len(_results(result)) == 1
