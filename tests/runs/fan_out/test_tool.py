"""Work that a model splits: every item is done once, reported once, and asked about under the root."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from handrail import Agent, EndReason, RunOptions, RunResult, ScriptedModel, Session, call, tool
from handrail.agents.approval import HOLD, PERSON
from handrail.agents.tool import ResultLimits
from handrail.journal import events as ev
from handrail.journal.memory import MemoryJournal
from handrail.journal.vocabulary import AskOutcome
from handrail.models.port import ModelRequest
from handrail.models.scripted import Item
from handrail.runs.asks.replies import Reply
from handrail.runs.desk import Desk
from handrail.runs.fan_out import fan_out_tool
from handrail.transcripts.model import Text, ToolResult
from tests.agents.stage import go, said

ROOT = "root"


def item(id: str, context: str = "look") -> dict[str, Any]:
    return {"id": id, "context": context}


def items(*ids: str) -> list[dict[str, Any]]:
    return [item(id) for id in ids]


def told(request: ModelRequest) -> str:
    """Which item a worker was given."""
    first = request.messages[0].content[0]
    return first.text.splitlines()[0] if isinstance(first, Text) else ""


def does(request: ModelRequest) -> str:
    return f"did {told(request)}"


def worker(*script: Item, **more: Any) -> Agent:
    return Agent(model=ScriptedModel(script or (does,), name="worker", repeats=True), name="worker", **more)


class World:
    """A boss that splits its work once, as ``input`` says, and then is done."""

    def __init__(self, worker: Agent, *turn: Any, limits: ResultLimits | None = None, **terms: Any) -> None:
        self.journal = MemoryJournal()
        self.desk = Desk(self.journal, PERSON)
        self._worker, self._turn, self._terms = worker, turn, terms
        self._limits = limits or ResultLimits()
        self.model = ScriptedModel([list(turn), "done"])

    def boss(self) -> Agent:
        self.model = ScriptedModel([list(self._turn), "done"])
        return Agent(model=self.model, tools=[fan_out_tool(self._worker, **self._terms)])

    def options(self, **more: Any) -> RunOptions:
        held = {"approver": HOLD, "answerer": HOLD, "parks": True, "journal": self.journal}
        return RunOptions(**{**held, "result_limits": self._limits, **more})

    async def start(self, **more: Any) -> RunResult:
        return await self.boss().start("go", self.options(**more), session=Session(ROOT, self.journal))

    async def resume(self) -> RunResult:
        return await self.boss().resume(Session(ROOT, self.journal), self.options())

    async def bodies(self, kind: type[Any], session: str = ROOT) -> list[Any]:
        return [event.body for event in await self.journal.read(session) if isinstance(event.body, kind)]


def results(result: RunResult) -> list[ToolResult]:
    return [block for message in result.transcript.body for block in message.content if isinstance(block, ToolResult)]


def words(result: ToolResult) -> str:
    return result.content if isinstance(result.content, str) else said_in(result.content)


def said_in(blocks: Sequence[Any]) -> str:
    return "".join(block.text for block in blocks if isinstance(block, Text))


# H 179
def test_every_item_is_done_by_a_worker_and_the_call_has_one_result() -> None:
    async def story() -> tuple[RunResult, list[Any], list[Any]]:
        world = World(worker(), call("FanOut", items=items("a", "b", "c")))
        result = await world.start()
        return result, await world.bodies(ev.FanOutPlanned), await world.bodies(ev.ChildSpawned)

    result, planned, spawned = go(story())
    (only,) = results(result)
    assert words(only) == (
        "3 done, 0 failed\n\n## a (done)\ndid Item a:\n\n## b (done)\ndid Item b:\n\n## c (done)\ndid Item c:"
    )
    assert said(result.transcript.body)[-1] == "assistant: done"
    assert [one.id for plan in planned for one in plan.items] == ["a", "b", "c"]
    assert sorted(one.item for one in spawned) == ["a", "b", "c"]


# H 171
def test_a_split_beside_another_call_is_refused_and_the_run_goes_on() -> None:
    @tool
    async def look() -> str:
        """Look."""
        return "seen"

    async def story() -> tuple[RunResult, list[Any]]:
        world = World(worker(), call("FanOut", items=items("a")), call("look"))
        boss = world.boss()
        boss = Agent(model=boss.model, tools=[*boss.toolbox, look])
        result = await boss.start("go", world.options(), session=Session(ROOT, world.journal))
        return result, await world.bodies(ev.ChildSpawned)

    result, spawned = go(story())
    refused, seen = results(result)
    assert "has to be the only call of its turn" in words(refused)
    assert refused.is_error
    assert words(seen) == "seen"
    assert (result.end_reason, spawned) == (EndReason.ANSWERED, [])


# H 171, "once per turn"
def test_two_splits_in_one_turn_are_refused_both() -> None:
    async def story() -> RunResult:
        return await World(worker(), call("FanOut", items=items("a")), call("FanOut", items=items("b"))).start()

    assert [one.is_error for one in results(go(story()))] == [True, True]


# H 172
def test_no_items_is_a_split_like_any_other() -> None:
    async def story() -> RunResult:
        return await World(worker(), call("FanOut", items=[])).start()

    result = go(story())
    assert [(words(one), one.is_error) for one in results(result)] == [("0 done, 0 failed", False)]
    assert result.output == "done"


@pytest.mark.parametrize(
    ("wanted", "terms", "most"),
    [
        pytest.param(0, {"max_workers": 0}, 5, id="H 173: 0 is all at once"),
        pytest.param(0, {"max_workers": 2}, 2, id="as many as the host allows"),
        pytest.param(1, {"max_workers": 3}, 1, id="fewer where the model says so"),
        pytest.param(9, {"max_workers": 2}, 2, id="never more than the host allows"),
    ],
)
def test_so_many_workers_are_at_it_at_once(wanted: int, terms: dict[str, int], most: int) -> None:
    async def story() -> tuple[int, int]:
        at_once: set[str] = set()
        seen: list[int] = []

        async def works(request: ModelRequest) -> str:
            at_once.add(told(request))
            seen.append(len(at_once))
            for _ in range(200):
                await asyncio.sleep(0)
            at_once.discard(told(request))
            return "did it"

        most_at_once = terms["max_workers"]
        split = call("FanOut", items=items(*"abcde"), max_workers=wanted)
        world = World(worker(works), split, max_workers=most_at_once)
        await world.start()
        return max(seen), len(seen)

    assert go(story()) == (most, 5)


def fails_at(id: str) -> Item:
    def answer(request: ModelRequest) -> str:
        if f"Item {id}:" == told(request):
            raise ValueError("no such thing")
        return does(request)

    return answer


def test_an_item_that_fails_is_reported_beside_those_that_were_done() -> None:
    async def story() -> RunResult:
        return await World(worker(fails_at("b")), call("FanOut", items=items("a", "b", "c"))).start()

    (only,) = results(go(story()))
    assert words(only).startswith("2 done, 1 failed\n\n## a (done)\ndid Item a:\n\n## b (failed)\n")
    assert not only.is_error


# H 174, mid-stage
def test_one_failure_fails_the_whole_split_where_that_was_said() -> None:
    async def story() -> tuple[RunResult, list[Any]]:
        split = call("FanOut", items=items("a", "b", "c"), max_workers=1)
        world = World(worker(fails_at("b")), split, on_failure="fail")
        return await world.start(), await world.bodies(ev.ChildSpawned)

    result, spawned = go(story())
    (only,) = results(result)
    assert only.is_error
    assert words(only).startswith("1 done, 2 failed")
    assert "another one failed" in words(only)
    assert [one.item for one in spawned] == ["a", "b"]


# H 176
def test_a_report_that_is_too_long_is_cut_alike_and_names_every_item() -> None:
    async def story() -> RunResult:
        long = worker(lambda request: told(request) + " word" * 2000)
        split = call("FanOut", items=items(*(f"item-{number}" for number in range(20))))
        return await World(long, split, limits=ResultLimits(max_bytes=10_000)).start()

    (only,) = results(go(story()))
    text = words(only)
    assert len(text.encode()) <= 10_000
    sections = text.split("## ")[1:]
    assert [section.split(" ")[0] for section in sections] == [f"item-{number}" for number in range(20)]
    assert all("[cut: " in section and len(section) >= 200 for section in sections)


def test_every_fault_of_a_split_is_told_at_once() -> None:
    async def story() -> RunResult:
        faults = [item("a"), item("a"), {"id": "", "context": "x"}, {"id": "c"}, "d"]
        return await World(worker(), call("FanOut", items=faults, max_workers=-1, who="me"), max_items=4).start()

    (only,) = results(go(story()))
    assert only.is_error
    for fault in (
        "who: there is no such parameter",
        "max_workers: must be a whole number",
        "5 are too many",
        "2 are called 'a'",
        "items[2].id",
        "items[3].context",
        "items[4]: must be an object",
    ):
        assert fault in words(only)


# People -----------------------------------------------------------------------------------------------------


@tool(destructive=True)
async def change(place: str) -> str:
    """Change a place."""
    return f"{place} is changed"


def asking_worker() -> Agent:
    return worker(call("change", place="shelf"), does, tools=[change])


def test_what_workers_ask_stands_under_the_root_with_their_item_and_is_answered_in_any_order() -> None:
    async def story() -> tuple[list[tuple[str, ...]], list[EndReason], RunResult, int]:
        world = World(asking_worker(), call("FanOut", items=items("a", "b", "c")))
        ends = [(await world.start()).end_reason]
        asks = await world.journal.asks(root=ROOT)
        for ask in reversed(asks):
            await world.desk.answer(ask.ask, Reply(option="approve"))
            result = await world.resume()
            ends.append(result.end_reason)
        return [ask.opened.origin for ask in asks], ends, result, len(await world.bodies(ev.ChildSpawned))

    origins, ends, result, spawned = go(story())
    assert sorted(origins) == [("worker: a",), ("worker: b",), ("worker: c",)]
    assert ends == [EndReason.WAITING] * 3 + [EndReason.ANSWERED]
    assert words(results(result)[0]).startswith("3 done, 0 failed")
    assert spawned == 3


def test_workers_that_wait_hold_no_place_for_ever_and_the_rest_begins_as_they_are_answered() -> None:
    async def story() -> tuple[int, int, RunResult]:
        world = World(asking_worker(), call("FanOut", items=items("a", "b", "c"), max_workers=1))
        await world.start()
        before = len(await world.bodies(ev.ChildSpawned))
        result = None
        for _ in range(3):
            (ask,) = await world.journal.asks(root=ROOT)
            await world.desk.answer(ask.ask, Reply(option="approve"))
            result = await world.resume()
        assert result is not None
        return before, len(await world.bodies(ev.ChildSpawned)), result

    before, after, result = go(story())
    assert (before, after) == (1, 3)
    assert result.end_reason is EndReason.ANSWERED


# H 178
def test_a_split_that_is_cancelled_ends_its_workers_and_withdraws_what_they_asked() -> None:
    async def story() -> tuple[RunResult, list[AskOutcome], int]:
        world = World(asking_worker(), call("FanOut", items=items("a", "b")))
        await world.start()
        asks = await world.journal.asks(root=ROOT)
        await world.journal.post(ROOT, ev.CancelRequested("enough"), PERSON, "cancel")
        result = await world.resume()
        rows = await world.journal.asks(root=ROOT, is_open=False)
        return result, [row.closed.outcome for row in rows if row.closed is not None], len(asks)

    result, outcomes, asked = go(story())
    assert (result.end_reason, asked) == (EndReason.CANCELLED, 2)
    assert outcomes == [AskOutcome.WITHDRAWN, AskOutcome.WITHDRAWN]


# H 177
def test_no_worker_begins_while_the_run_is_paused() -> None:
    async def story() -> tuple[list[str], list[str], RunResult]:
        begun: list[str] = []
        world = World(worker(), call("FanOut", items=items("a", "b", "c"), max_workers=1))

        def works(request: ModelRequest) -> str:
            begun.append(told(request))
            return "did it"

        async def first(request: ModelRequest) -> str:
            if not begun:
                await world.journal.post(ROOT, ev.PauseRequested("wait"), PERSON, "pause")
            return works(request)

        world = World(worker(first), call("FanOut", items=items("a", "b", "c"), max_workers=1))
        paused = await world.start()
        assert paused.end_reason is EndReason.WAITING
        meanwhile = list(begun)
        await world.journal.post(ROOT, ev.ResumeRequested(), PERSON, "resume")
        result = await world.resume()
        return meanwhile, begun, result

    meanwhile, begun, result = go(story())
    assert meanwhile == ["Item a:"]
    assert begun == ["Item a:", "Item b:", "Item c:"]
    assert result.end_reason is EndReason.ANSWERED


class Died(Exception):
    """What drove the run is gone."""


class Dying(MemoryJournal):
    """Dies at the ``death``-th append, before it is written or after, and stays so until it is revived."""

    def __init__(self, death: int, *, is_written: bool) -> None:
        super().__init__()
        self.appends = 0
        self._death, self._is_written = death, is_written
        self.is_dead = False

    async def append(self, session: str, expected_seq: int, epoch: int, events: Sequence[ev.Event]) -> None:
        if self.is_dead:
            raise Died
        self.appends += 1
        self.is_dead = self.appends == self._death
        if not self.is_dead or self._is_written:
            await super().append(session, expected_seq, epoch, events)
        if self.is_dead:
            raise Died


# H 134, 179
@pytest.mark.parametrize("is_written", [False, True])
def test_wherever_the_driver_dies_no_item_is_begun_twice_and_all_are_reported_once(is_written: bool) -> None:
    async def lived(death: int) -> tuple[int, list[str], list[str], list[str], str]:
        world = World(worker(), call("FanOut", items=items("a", "b", "c")))
        dying = world.journal = Dying(death, is_written=is_written)
        try:
            result = await world.start()
        except Died:
            dying.is_dead = False
            begun = await dying.read(ROOT)
            is_open = bool(begun) and not any(isinstance(event.body, ev.RunEnded) for event in begun)
            if not is_open:
                return dying.appends, [], [], [], ""
            result = await world.resume()
        spawned = [one.item for one in await world.bodies(ev.ChildSpawned)]
        ended = [one.child for one in await world.bodies(ev.ChildEnded)]
        prompts = []
        for session in await dying.sessions():
            prompts += [session for _ in await world.bodies(ev.PromptGiven, session)]
        return dying.appends, spawned, ended, prompts, words(results(result)[0])

    async def story() -> None:
        whole, *_ = await lived(10_000)
        for death in range(1, whole + 1):
            _, spawned, ended, prompts, report = await lived(death)
            if not report:
                continue
            assert sorted(spawned) == ["a", "b", "c"], death
            assert len(ended) == len(set(ended)) == 3, death
            assert len(prompts) == len(set(prompts)) == 4, death
            assert report.count("(done)") == 3, death

    go(story())
