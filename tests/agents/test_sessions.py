"""Conversations that go on: resumed after a crash, forked, rewound, compacted, taken over from other harnesses."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from handrail import (
    Actor,
    ActorKind,
    Agent,
    Answer,
    Approve,
    Continue,
    CropError,
    Deny,
    Effort,
    EndReason,
    FileJournal,
    MemoryJournal,
    Question,
    ReasoningOptions,
    Reply,
    RoundAdjustment,
    RoundContext,
    RoundDecision,
    RunFailed,
    RunOptions,
    RunResult,
    ScriptedModel,
    Session,
    ToolContext,
    call,
    convert,
    find_interventions,
    harness,
    tool,
)
from handrail.agents.compacting import newest
from handrail.agents.opening import NotStartable
from handrail.agents.sessions import UNANSWERED, answered, continued, fork, rewind, transcript_of
from handrail.errors import HandrailError, SessionNotFound, UnknownName
from handrail.harnesses.handrail.store import open_store
from handrail.journal import events as ev
from handrail.journal.broken import NotDrivable
from handrail.journal.events import Event
from handrail.models.errors import Overloaded
from handrail.models.scripted import Item
from handrail.transcripts.model import (
    Author,
    Bash,
    Compaction,
    Message,
    Meta,
    RefusalKind,
    Text,
    ToolResult,
    ToolUse,
    Transcript,
    Usage,
)

from .stage import TOOLS, agent_of, go, said


class Crash(BaseException):
    """What takes a process down in the middle of a run."""


class Crashing(MemoryJournal):
    """A journal whose process dies at the append of a chosen kind of event; what was appended before stays.

    Nothing is appended any more until another process takes over.
    """

    def __init__(self, kind: type, *, is_written: bool) -> None:
        super().__init__()
        self._kind: type | None = kind
        self._is_written = is_written
        self._is_dead = False

    async def take_over(self, session: str) -> int:
        self._is_dead = False
        return await super().take_over(session)

    async def append(self, session: str, expected_seq: int, epoch: int, events: Any) -> None:
        if self._is_dead:
            raise Crash
        is_here = self._kind is not None and any(isinstance(event.body, self._kind) for event in events)
        if not is_here or self._is_written:
            await super().append(session, expected_seq, epoch, events)
        if is_here:
            self._kind = None
            self._is_dead = True
            raise Crash


def crashed(kind: type, script: list[Item], *, is_written: bool = True, **more: Any) -> tuple[Agent, Session]:
    """A session whose driver died at an event of ``kind``."""
    journal = Crashing(kind, is_written=is_written)
    agent = Agent(model=ScriptedModel(script), tools=TOOLS, **more)

    async def story() -> None:
        with pytest.raises(Crash):
            await agent.run("go", session=Session("s1", journal))

    go(story())
    return agent, Session("s1", journal)


SCRIPT: list[Item] = [[call("probe", value="a"), call("change", value="b")], "done"]
UNBROKEN = ["user: go", "assistant: ", "user: [seen a] [changed b]", "assistant: done"]


@pytest.mark.parametrize(
    ("kind", "is_written"),
    [
        *(
            (kind, is_written)
            for kind in (ev.ModelRequested, ev.ModelReplied, ev.ToolRequested)
            for is_written in (0, 1)
        ),
        (ev.RunEnded, False),
    ],
)
def test_a_run_whose_driver_died_goes_on_as_if_nothing_had_happened(kind: type, is_written: bool) -> None:
    agent, session = crashed(kind, SCRIPT, is_written=is_written)
    result = go(_resumed(agent, session))
    assert (said(result.transcript.body), result.end_reason) == (UNBROKEN, EndReason.ANSWERED)


async def _resumed(agent: Agent, session: Session, options: RunOptions | None = None) -> RunResult:
    return await agent.resume(session, options)


def test_row_62_a_call_that_was_running_is_said_to_be_unknown_and_not_run_again() -> None:
    agent, session = crashed(ev.ToolStarted, [call("change", value="b"), "done"])
    result = go(_resumed(agent, session))
    block = result.transcript.body[2].content[0]
    assert isinstance(block, ToolResult)
    assert (block.refusal and block.refusal.kind, block.is_error) == (RefusalKind.OUTCOME_UNKNOWN, True)
    assert result.output == "done"


@pytest.mark.parametrize(("is_twice_safe", "appends"), [(True, 1), (False, 2)])
def test_the_start_of_a_call_is_written_with_its_admission_only_where_twice_is_safe(
    is_twice_safe: bool, appends: int
) -> None:
    written: list[tuple[type, ...]] = []

    class Noting(MemoryJournal):
        async def append(self, session: str, expected_seq: int, epoch: int, events: Any) -> None:
            await super().append(session, expected_seq, epoch, events)
            written.append(tuple(type(event.body) for event in events))

    def look() -> str:
        """Look."""
        return "seen"

    looking = tool(twice_is_safe=is_twice_safe)(look)
    agent = Agent(model=ScriptedModel([call("look"), "done"]), tools=[looking])
    result = go(agent.run("go", session=Session("s1", Noting())))
    about = [kinds for kinds in written if {ev.ToolRequested, ev.ToolStarted} & set(kinds)]
    assert ([kind for kinds in about for kind in kinds], len(about)) == ([ev.ToolRequested, ev.ToolStarted], appends)
    assert result.output == "done"


def test_a_call_that_may_run_twice_is_run_again() -> None:
    ran: list[int] = []

    @tool(twice_is_safe=True)
    async def look() -> str:
        """Looks."""
        ran.append(1)
        return "seen"

    journal = Crashing(ev.ToolFinished, is_written=False)
    agent = Agent(model=ScriptedModel([call("look"), "done"]), tools=[look])

    async def story() -> RunResult:
        with pytest.raises(Crash):
            await agent.run("go", session=Session("s1", journal))
        return await agent.resume(Session("s1", journal))

    assert said(go(story()).transcript.body)[2] == "user: [seen]"
    assert len(ran) == 2


def test_row_34_an_injection_is_there_whole_or_not_at_all() -> None:
    for is_written, times in ((True, 1), (False, 2)):
        asked: list[int] = []

        async def once(ctx: RoundContext, asked: list[int] = asked) -> RoundDecision:
            asked.append(ctx.injections)
            return RoundDecision.inject("Again.") if ctx.injections == 0 else RoundDecision.proceed()

        journal = Crashing(ev.Injected, is_written=is_written)
        agent = Agent(model=ScriptedModel(["first", "second"]))
        options = RunOptions(strategies=[once])

        async def story(agent: Agent = agent, options: RunOptions = options, journal: Any = journal) -> RunResult:
            with pytest.raises(Crash):
                await agent.run("go", options, session=Session("s1", journal))
            return await agent.resume(Session("s1", journal), options)

        assert said(go(story()).transcript.body)[2:] == ["user: Again.", "assistant: second"]
        assert asked == [0] * times + [1]


def test_a_run_that_needs_a_strategy_resumes_only_when_it_is_passed_again() -> None:
    async def mine(ctx: RoundContext) -> RoundDecision:
        return RoundDecision.proceed()

    journal = Crashing(ev.ModelReplied, is_written=True)
    agent = Agent(model=ScriptedModel([call("probe", value="a"), "done"]), tools=TOOLS)

    async def story() -> RunResult:
        session = Session("s1", journal)
        with pytest.raises(Crash):
            await agent.run("go", RunOptions(strategies=[mine]), session=session)
        with pytest.raises(UnknownName, match="needs the strategy 'mine'"):
            await agent.resume(session)
        return await agent.resume(session, RunOptions(strategies=[mine]))

    assert go(story()).output == "done"


def test_row_60_without_an_open_run_there_is_nothing_to_resume() -> None:
    agent, _ = agent_of(["yes"])

    async def story() -> None:
        session = (await agent.run("go")).session
        with pytest.raises(NotStartable, match="no run"):
            await agent.resume(session)
        with pytest.raises(NotStartable, match="waits for an answer"):
            await agent.resume(session, answer="yes")

    go(story())


def test_a_session_with_an_open_run_takes_no_second_one() -> None:
    agent, session = crashed(ev.ModelReplied, SCRIPT)

    async def story() -> None:
        with pytest.raises(NotStartable, match="is open"):
            await agent.run("more", session=session)

    go(story())


def test_a_driver_that_was_taken_over_stops_and_writes_nothing_more() -> None:
    async def story() -> tuple[str, RunResult]:
        inside, leave = asyncio.Event(), asyncio.Event()

        @tool
        async def hold() -> str:
            """Holds."""
            inside.set()
            await leave.wait()
            return "held"

        session = Session("s1", MemoryJournal())
        agent = Agent(model=ScriptedModel([call("hold"), "done"], repeats=True), tools=[hold])
        frozen = agent.start("go", session=session)
        await inside.wait()
        second = await agent.resume(session)
        leave.set()
        with pytest.raises(HandrailError) as caught:
            await frozen
        return caught.value.code, second

    code, second = go(story())
    assert code == "stale_epoch"
    assert second.output == "done"


def test_a_journal_with_kinds_nobody_knows_is_not_driven() -> None:
    async def story() -> None:
        agent, _ = agent_of(["yes", "no"])
        session = (await agent.run("go")).session
        events = await session.journal.read(session.id)
        epoch = await session.journal.take_over(session.id)
        strange = Event(seq=len(events) + 1, by=Actor(ActorKind.HOST), body=ev.Unknown(type="new", v=1, fields={}))
        await session.journal.append(session.id, len(events), epoch, [strange])
        with pytest.raises(NotDrivable):
            await agent.run("more", session=session)

    go(story())


# Files


def test_a_run_in_a_file_is_a_session_every_command_reads_with_its_moments(tmp_path: Path) -> None:
    @tool(destructive=True)
    async def wipe() -> str:
        """Wipes."""
        raise AssertionError

    async def story() -> RunResult:
        journal = FileJournal(tmp_path)
        agent = Agent(model=ScriptedModel([call("wipe"), "done", "again"]), tools=[wipe])
        first = await agent.run("clean up", RunOptions(journal=journal, approver=lambda request: Deny("not now")))
        result = await agent.run("then not", session=first.session)
        journal.close()
        return result

    result = go(story())
    store = open_store(tmp_path)
    (ref,) = store.discover()
    common = harness("handrail").codec.to_common(store.load(ref))
    assert common.body == result.transcript.body
    assert next(one.trigger.value for one in find_interventions(common)) == "denial"


def test_a_run_goes_on_in_another_process_from_its_file(tmp_path: Path) -> None:
    async def story() -> RunResult:
        journal = FileJournal(tmp_path)
        agent, _ = agent_of([call("probe", value="a"), "one", "two"])
        first = await agent.run("go", RunOptions(journal=journal))
        journal.close()
        again = FileJournal(tmp_path)
        result = await agent.run("more", session=Session(first.session.id, again))
        again.close()
        return result

    assert said(go(story()).transcript.body)[-2:] == ["user: more", "assistant: two"]


# Forks, rewinds, other harnesses


async def _talk() -> tuple[Agent, Session]:
    agent, _ = agent_of([call("probe", value="a"), "one", "two", "three", "four"])
    first = await agent.run("go")
    return agent, (await agent.run("more", session=first.session)).session


def test_a_fork_begins_with_what_was_said_and_leaves_the_old_session_alone() -> None:
    async def story() -> tuple[Any, Any, RunResult]:
        agent, session = await _talk()
        before = await transcript_of(session)
        forked = await fork(session, 3)
        result = await agent.run("otherwise", session=forked)
        assert await transcript_of(session) == before
        return before, session, result

    before, session, result = go(story())
    assert said(result.transcript.body)[:-2] == said(before.body)[:4]
    assert said(result.transcript.body)[-2] == "user: otherwise"
    parent = result.transcript.meta.parent
    assert (parent and parent.session, parent and parent.kind) == (session.id, "fork")
    assert {message.origin for message in result.transcript.body[:4]} == {session.id}
    assert [message.uid for message in result.transcript.body[:4]] == [message.uid for message in before.body[:4]]


def test_a_fork_never_parts_a_call_from_its_result() -> None:
    async def story() -> None:
        _, session = await _talk()
        with pytest.raises(CropError) as caught:
            await fork(session, 1)
        assert caught.value.suggestion is not None

    go(story())


def test_a_rewind_makes_a_branch_of_what_came_later() -> None:
    async def story() -> tuple[list[str], list[str]]:
        agent, session = await _talk()
        before = await transcript_of(session)
        await rewind(session, 3)
        result = await agent.run("otherwise", session=session)
        return said(before.body), said(result.transcript.body)

    before, after = go(story())
    assert after == [*before[:4], "user: otherwise", after[-1]]


def test_a_session_that_is_not_there_is_not_found() -> None:
    with pytest.raises(SessionNotFound):
        go(transcript_of(Session("nobody", MemoryJournal())))


def test_a_session_of_another_harness_is_gone_on_with_and_its_open_calls_are_closed() -> None:
    theirs: Transcript[Any] = Transcript(
        Meta(id="old", cwd="/w"),
        (
            Message(role="user", content=(Text("list", Author.PERSON),), uid="u1"),
            Message(role="assistant", content=(ToolUse("t1", Bash("ls")), ToolUse("t2", Bash("pwd"))), uid="a1"),
            Message(role="user", content=(ToolResult("t1", "files"),), uid="u2"),
        ),
    )
    native, _ = convert(theirs, to="claude_code")
    common = harness("claude_code").codec.to_common(native)

    async def story() -> tuple[RunResult, ScriptedModel]:
        agent, model = agent_of(["gone on"])
        session = await continued(common, MemoryJournal())
        return await agent.run("go on", session=session), model

    result, model = go(story())
    assert said(model.requests[0].messages) == [
        "user: list",
        "assistant: ",
        f"user: [{UNANSWERED}] [files]",
        "user: go on",
    ]
    assert result.transcript.tool_pairs() == [(1, 2), (1, 2)]
    parent = result.transcript.meta.parent
    assert parent is not None
    assert parent.kind == "continued"


def test_calls_at_the_very_end_are_closed_too() -> None:
    messages = [Message(role="assistant", content=(ToolUse("t1", Bash("ls")),)), Message(role="assistant")]
    closed = list(answered(messages))
    assert [message.role for message in closed] == ["assistant", "user", "assistant"]
    assert [len(message.content) for message in answered(messages[:1])] == [1, 1]


# Compaction

FULL = Usage(input_tokens=900, output_tokens=10)


def _compacting(script: list[Item], **options: Any) -> tuple[RunResult, ScriptedModel]:
    agent, model = agent_of(script)

    async def story() -> RunResult:
        return await agent.run("Never touch the cellar.", RunOptions(compact_at=800, **options))

    return go(story()), model


def test_a_context_that_is_too_large_is_summed_up_and_the_history_stays() -> None:
    script: list[Item] = [Reply(content=(call("probe", value="a"),), usage=FULL), "the summary", "done"]
    result, model = _compacting(script)
    assert result.output == "done"
    assert model.requests[1].tool_choice == "none"
    sent = model.requests[2].messages
    assert [message.role for message in sent] == ["user", "assistant", "user"]
    assert isinstance(sent[0].content[0], Compaction)
    assert said(result.transcript.body)[:3] == ["user: Never touch the cellar.", "assistant: ", "user: [seen a]"]


def test_what_people_said_and_refused_stands_in_the_summary_word_for_word() -> None:
    @tool(destructive=True)
    async def wipe() -> str:
        """Wipes."""
        raise AssertionError

    script: list[Item] = [Reply(content=(call("wipe"),), usage=FULL), "the summary", "done"]
    model = ScriptedModel(script)
    agent = Agent(model=model, tools=[wipe])
    options = RunOptions(compact_at=800, approver=lambda request: Deny("leave the disk alone"))
    go(agent.run("Never touch the cellar.", options))
    summary = model.requests[2].messages[0].content[0]
    assert isinstance(summary, Compaction)
    assert summary.summary == (
        "the summary\n\nWhat people said, word for word:\n- Never touch the cellar.\n"
        "- (refused a call) leave the disk alone"
    )


def test_words_outlive_several_compactions() -> None:
    script: list[Item] = []
    for number in range(3):
        script += [Reply(content=(call("probe", value=str(number)),), usage=FULL), f"summary {number}"]
    _, model = _compacting([*script, "done"])
    summary = model.requests[-1].messages[0].content[0]
    assert isinstance(summary, Compaction)
    assert summary.summary is not None
    assert summary.summary.startswith("summary 2")
    assert "Never touch the cellar." in summary.summary


def test_row_139_a_summary_that_does_not_come_costs_nothing_but_the_try() -> None:
    script: list[Item] = [Reply(content=(call("probe", value="a"),), usage=FULL), Overloaded("busy"), "done"]
    result, model = _compacting(script)
    assert result.output == "done"
    assert len(model.requests[2].messages) == 3


def test_row_33_an_injection_is_still_the_hosts_after_a_compaction() -> None:
    async def once(ctx: RoundContext) -> RoundDecision:
        return RoundDecision.inject("From the house.") if ctx.injections == 0 else RoundDecision.proceed()

    script: list[Item] = [Reply(content=(call("probe", value="a"),), usage=FULL), "the summary", "done"]
    result, model = _compacting(script, strategies=[once])
    injected = [block for m in result.transcript.body for block in m.content if getattr(block, "by", None) == "once"]
    assert [block.author for block in injected if isinstance(block, Text)] == [Author.HOST]
    summary = model.requests[2].messages[0].content[0]
    assert isinstance(summary, Compaction)
    assert "From the house." not in str(summary.summary)


def test_what_a_summary_costs_counts() -> None:
    summary = Reply(content=("the summary",), usage=Usage(input_tokens=5000, output_tokens=1))
    script: list[Item] = [Reply(content=(call("probe", value="a"),), usage=FULL), summary, "never"]
    assert _compacting(script, max_tokens=5000)[0].end_reason is EndReason.MAX_TOKENS


def test_of_too_many_words_the_newest_are_kept() -> None:
    assert newest(["aaaa", "bbbb", "cc"], 6) == ["bbbb", "cc"]


def test_a_failed_run_can_be_gone_on_with() -> None:
    async def story() -> RunResult:
        agent, _ = agent_of([call("probe", value="a"), KeyError("x"), "done"])
        with pytest.raises(RunFailed) as caught:
            await agent.run("go")
        return await agent.run("go on", session=caught.value.result.session)

    assert said(go(story()).transcript.body)[-2:] == ["user: go on", "assistant: done"]


def test_a_question_that_was_open_when_the_driver_died_is_asked_again_and_its_answer_counts() -> None:
    asked: list[Any] = []

    @tool(destructive=True)
    async def wipe(place: str) -> str:
        """Wipe. place: which."""
        return f"wiped {place}"

    def approve(request: Any) -> Any:
        asked.append(request.input)
        return Approve()

    journal = Crashing(ev.AskOpened, is_written=True)
    agent = Agent(model=ScriptedModel([call("wipe", place="disk"), "done"]), tools=[wipe])

    async def story() -> RunResult:
        with pytest.raises(Crash):
            await agent.run("go", RunOptions(approver=approve), session=Session("s1", journal))
        assert asked == []
        return await agent.resume(Session("s1", journal), RunOptions(approver=approve))

    assert said(go(story()).transcript.body)[2] == "user: [wiped disk]"
    assert asked == [{"place": "disk"}]


def test_an_answer_that_holds_for_the_run_outlives_the_driver() -> None:
    asked: list[Any] = []

    @tool(destructive=True)
    async def wipe() -> str:
        """Wipe."""
        return "wiped"

    def approve(request: Any) -> Any:
        asked.append(request.input)
        return Approve("run")

    journal = Crashing(ev.ToolFinished, is_written=True)
    agent = Agent(model=ScriptedModel([call("wipe"), call("wipe"), "done"]), tools=[wipe])

    async def story() -> RunResult:
        with pytest.raises(Crash):
            await agent.run("go", RunOptions(approver=approve), session=Session("s1", journal))
        return await agent.resume(Session("s1", journal), RunOptions(approver=approve))

    assert go(story()).output == "done"
    assert len(asked) == 1


def test_adjustments_in_force_outlive_the_driver() -> None:
    async def once(ctx: RoundContext) -> RoundDecision:
        is_first = ctx.rounds_completed == 1
        return Continue(RoundAdjustment().with_reasoning(Effort.HIGH)) if is_first else RoundDecision.proceed()

    journal = Crashing(ev.Adjusted, is_written=True)
    model = ScriptedModel([call("probe", value="a"), "done"])
    agent = Agent(model=model, tools=TOOLS)
    options = RunOptions(strategies=[once])

    async def story() -> RunResult:
        with pytest.raises(Crash):
            await agent.run("go", options, session=Session("s1", journal))
        return await agent.resume(Session("s1", journal), options)

    go(story())
    assert [request.reasoning for request in model.requests] == [None, ReasoningOptions(Effort.HIGH)]


def test_a_question_of_a_tool_that_runs_again_is_the_one_it_asked_before() -> None:
    asked: list[str] = []

    @tool(twice_is_safe=True)
    async def decide(context: ToolContext) -> str:
        """Asks."""
        assert context.ask is not None
        return str((await context.ask(Question(prompt="Which?"))).text)

    def answer(question: Question) -> Answer:
        asked.append(question.prompt)
        return Answer(text="red")

    journal = Crashing(ev.AskOpened, is_written=True)
    agent = Agent(model=ScriptedModel([call("decide"), "done"]), tools=[decide])
    options = RunOptions(answerer=answer)

    async def story() -> tuple[RunResult, list[str]]:
        with pytest.raises(Crash):
            await agent.run("go", options, session=Session("s1", journal))
        result = await agent.resume(Session("s1", journal), options)
        closed = [event.body for event in await journal.read("s1") if isinstance(event.body, ev.AskClosed)]
        return result, [one.outcome.value for one in closed]

    result, outcomes = go(story())
    assert said(result.transcript.body)[2] == "user: [red] red"
    assert (asked, outcomes) == (["Which?"], ["answered"])
