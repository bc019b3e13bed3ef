"""The runs that a corpus of journals is made of: each a coroutine that fills an empty journal, in public words.

Together they come to as many kinds of events as runs can be brought to here; ``samples`` has every kind. Those whose
names begin with ``open`` leave a run behind that is to be gone on with.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from handrail import (
    HOLD,
    Agent,
    Effort,
    Hook,
    Limits,
    MemoryJournal,
    Message,
    Meta,
    Pool,
    RoundContext,
    RoundDecision,
    RunFailed,
    RunOptions,
    ScriptedModel,
    Session,
    Taint,
    Text,
    ToolUse,
    Transcript,
    Usage,
    call,
    continued,
    resume_blueprint,
    rewind,
    start_blueprint,
)
from handrail.agents.hooks import HookCall, Rewrite
from handrail.agents.strategy import Continue, RoundAdjustment
from handrail.blueprints.model import Blueprint
from handrail.journal import events as ev
from handrail.journal.board import JournalWithBoard
from handrail.journal.vocabulary import Actor, ActorKind, AskOutcome
from handrail.models.errors import Overloaded
from handrail.models.retry import RetryPolicy
from handrail.models.scripted import Reply
from handrail.runs.asks.replies import Reply as Choice
from handrail.runs.desk import Desk
from handrail.runs.fan_out import fan_out_tool
from handrail.testing.drill.carriers import Scene, change, look, options_of, run_of, write
from handrail.testing.drill.faults import NoFaults
from handrail.testing.drill.notes import Notes
from handrail.testing.drill.people import attend
from handrail.testing.drill.stories import SESSION, Story, staged_story, whole_story
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import Author, Json

Play = Callable[[JournalWithBoard, Path], Awaitable[None]]
"""Fills a journal; the path is a file that may be used meanwhile."""

PLACE = Path("/home/ada/shelves")
ADA = Actor(ActorKind.PERSON, "ada")
USAGE = Usage(input_tokens=40, output_tokens=10)


def options(journal: JournalWithBoard, **more: Any) -> RunOptions:
    """Nobody in this process answers, and nothing waits for them."""
    return RunOptions(journal=journal, workspace=PLACE, approver=HOLD, answerer=HOLD, parks=True, by=ADA, **more)


def agent(*script: Any, **more: Any) -> Agent:
    """An agent that plays ``script`` with the tools of the drill."""
    replies = [Reply(content=(one,), usage=USAGE, cost=0.01) if isinstance(one, str) else one for one in script]
    return Agent(model=ScriptedModel(replies), tools=(look, write, change), name="agent", **more)


# Stories of the drill ---------------------------------------------------------------------------------------


async def _told(story: Story, journal: JournalWithBoard, notes: Path, *, goes_on: bool = True) -> None:
    scene = Scene(story=story, journal=journal, faults=NoFaults(), notes=Notes(notes, "play"), folder=notes.parent)
    run = await run_of(scene, replace(options_of(scene, parks=not goes_on), workspace=PLACE))
    if run is None:
        raise RuntimeError("the story is over already")
    await asyncio.gather(_ended(run), *([attend(story, journal, scene.notes)] if goes_on else []))
    scene.notes.close()


async def _ended(run: Awaitable[Any]) -> None:
    await run


async def whole(journal: JournalWithBoard, notes: Path) -> None:
    """Calls of every sort, approvals, a question, a sub-agent, a steer, a follow-up, a strategy."""
    await _told(whole_story(), journal, notes)


async def staged(journal: JournalWithBoard, notes: Path) -> None:
    """Stages with a point: revised, edited, approved."""
    await _told(staged_story(), journal, notes)


async def open_approval(journal: JournalWithBoard, notes: Path) -> None:
    """A run that waits for a yes, which stands in the inbox already."""
    await _told(whole_story(), journal, notes, goes_on=False)
    asks = [event.body for event in await journal.read(SESSION) if isinstance(event.body, ev.AskOpened)]
    yes = ev.AskClosed(ask=asks[-1].ask, outcome=AskOutcome.ANSWERED, is_allowed=True)
    await journal.post(SESSION, yes, ADA, "yes")


async def open_point(journal: JournalWithBoard, notes: Path) -> None:
    """A run that waits at its point."""
    await _told(staged_story(), journal, notes, goes_on=False)


# What people wish -------------------------------------------------------------------------------------------


async def wishes(journal: JournalWithBoard, notes: Path) -> None:
    """Paused, gone on with, steered, stopped, interrupted, cancelled; entries that come too late."""
    session = Session("wishes", journal)
    held = agent(call("change", place="shelf"), "done")
    await held.run("go", options(journal, title="What people wish"), session=session)
    for key, body in (
        ("pause", ev.PauseRequested("wait a moment")),
        ("steer", ev.InputReceived(input="s1", via="steer", content=(Text("Mind the vase.", Author.PERSON),))),
        ("later", ev.InputReceived(input="f1", via="follow_up", content=(Text("And then?", Author.PERSON),))),
    ):
        await journal.post(session.id, body, ADA, key)
    await held.resume(session, options(journal))
    await journal.post(session.id, ev.ResumeRequested("go on"), ADA, "resume")
    await journal.post(session.id, ev.StopRequested("that will do"), ADA, "stop")
    await held.resume(session, options(journal))
    await journal.post(session.id, ev.StopRequested("too late"), ADA, "late")
    for name, wish in (("interrupted", ev.Interrupted("not that")), ("cancelled", ev.CancelRequested("enough"))):
        again, other = agent(call("change", place="box"), "done"), Session(name, journal)
        await again.run("once more", options(journal), session=other)
        await journal.post(other.id, wish, ADA, "wish")
        await again.resume(other, options(journal))
    await agent("well").run("and now?", options(journal), session=session)


async def died(journal: JournalWithBoard, notes: Path) -> None:
    """A run whose driver died in the middle of a call that may not run twice, gone on with by another."""
    session, elsewhere = Session("died", journal), MemoryJournal()
    twice = agent(call("write", place="book"), "done")
    await twice.run("go", options(elsewhere), session=Session(session.id, elsewhere))
    events = await elsewhere.read(session.id)
    started = next(event.seq for event in events if isinstance(event.body, ev.ToolStarted))
    await journal.append(session.id, 0, await journal.take_over(session.id), events[:started])
    await twice.resume(session, options(journal))


async def open_paused(journal: JournalWithBoard, notes: Path) -> None:
    """A run that is paused while it waits for a yes."""
    session = Session("paused", journal)
    held = agent(call("change", place="shelf"), "done")
    await held.run("go", options(journal), session=session)
    await journal.post(session.id, ev.PauseRequested("wait"), ADA, "pause")
    await held.resume(session, options(journal))


# What runs come up against ----------------------------------------------------------------------------------


class Adjusting:
    """Another model, less thinking and other bounds from the first round on."""

    async def on_round(self, ctx: RoundContext) -> RoundDecision | None:
        if ctx.decisions:
            return RoundDecision.proceed()
        limits = Limits(max_rounds=20, max_seconds=900)
        return Continue(RoundAdjustment(limits=limits).with_reasoning(Effort.LOW).with_tools("look", "write"))


async def trouble(journal: JournalWithBoard, notes: Path) -> None:
    """A model that fails and is asked again, a hook that rewrites, an adjustment, bounds, taint."""

    async def rewritten(shown: HookCall) -> Rewrite:
        return Rewrite({"place": "the book of shelves"})

    session = Session("trouble", journal)
    given = options(
        journal,
        hooks=(Hook(name="rewrite", ask=rewritten, tools=("write",)),),
        strategies=(Adjusting(),),
        retry=RetryPolicy(base_s=0.0, cap_s=0.0),
        max_tool_calls=2,
    )
    script = (Overloaded("busy"), call("look", place="shelf"), call("write", place="book"), call("look", place="box"))
    await agent(*script, "done", taint=Taint(private=True)).run("go", given, session=session)
    spent = Pool(max_tokens=10)
    spent.charge(20, 0.0)
    await agent("never").run("and the pool?", options(journal, pools=(spent,)), session=session)
    with suppress(RunFailed):
        await agent(Overloaded("gone")).run("fail", options(journal, retry=RetryPolicy(retries=0)), session=session)


async def compacted(journal: JournalWithBoard, notes: Path) -> None:
    """A context that is summed up, and one that could not be."""
    session = Session("compacted", journal)
    script = (call("look", place="shelf"), Overloaded("no summary"), call("look", place="box"), "A summary.", "done")
    replies = [Reply(content=(one,), usage=USAGE) if not isinstance(one, Overloaded) else one for one in script]
    await agent(*replies).run("go", options(journal, compact_at=30), session=session)


async def inherited(journal: JournalWithBoard, notes: Path) -> None:
    """The history of another harness, gone on with and gone back in."""
    looked = (Text("Looking.", Author.MODEL), ToolUse("c1", parse_call("Bash", {"command": "ls"})))
    body = (
        Message(role="user", content=(Text("what is here?", Author.PERSON),)),
        Message(role="assistant", content=looked, stop_reason="tool_use", usage=USAGE),
    )
    meta = Meta(id="before", cwd=str(PLACE), title="Before", harness="claude_code")
    session = await continued(Transcript(meta, body), journal, id="inherited")
    await agent("nothing").run("and now?", options(journal), session=session)
    await rewind(session, 2)
    await agent("less").run("or else?", options(journal), session=session)


# Stages -----------------------------------------------------------------------------------------------------


async def chosen(journal: JournalWithBoard, notes: Path) -> None:
    """A model that names the next stage, and a point that two people have to approve."""
    blueprint = Blueprint.model_validate(
        {
            "name": "chosen",
            "stages": [
                {
                    "name": "test",
                    "instructions": "Test.",
                    "edges": [
                        {"to": "fix", "when": "model", "hint": "something is broken"},
                        {"to": "ship", "when": "model", "hint": "all is well", "is_default": True},
                    ],
                },
                {"name": "fix", "instructions": "Fix.", "edges": [{"to": "end"}]},
                {
                    "name": "ship",
                    "instructions": "Ship.",
                    "points": [
                        {
                            "name": "leave",
                            "prompt": "May it leave?",
                            "style": "multiple_choice",
                            "options": ["Approve", "Abort"],
                            "abort_options": ["Abort"],
                            "approvers": ["ada", "ben"],
                            "quorum": 2,
                        }
                    ],
                },
            ],
        }
    )
    session = Session("chosen", journal)
    playing = agent("tested", "ship", "shipped")
    given = options(journal)
    await start_blueprint(blueprint, "go", playing, replace(given, by=Actor(ActorKind.HOST)), session=session)
    desk = Desk(journal)
    for name in ("ada", "ben"):
        row = (await journal.asks())[0]
        await desk.answer(row.ask, Choice(option="Approve"), by=Actor(ActorKind.PERSON, name))
    await (await resume_blueprint(session, playing, given))


def _splitting(*script: Any) -> Agent:
    """An agent that hands two items to workers, each of which plays ``script``."""
    model = ScriptedModel(list(script), name="worker", repeats=True)
    worker = Agent(model=model, tools=(look, change), name="worker")
    items: list[Json] = [{"id": name, "context": f"see to {name}"} for name in ("left", "right")]
    return Agent(
        model=ScriptedModel([call("FanOut", items=items), "done"]), tools=(fan_out_tool(worker),), name="agent"
    )


async def split(journal: JournalWithBoard, notes: Path) -> None:
    """Work that is split into items, for workers side by side."""
    await _splitting(call("look", place="shelf"), "seen to").run(
        "go", options(journal), session=Session("split", journal)
    )


async def open_split(journal: JournalWithBoard, notes: Path) -> None:
    """A run whose workers wait for a yes each."""
    await _splitting(call("change", place="shelf"), "seen to").run(
        "go", options(journal), session=Session("split", journal)
    )


PLAYS: tuple[Play, ...] = (
    whole,
    staged,
    wishes,
    died,
    trouble,
    compacted,
    inherited,
    chosen,
    split,
    open_split,
    open_approval,
    open_point,
    open_paused,
)
