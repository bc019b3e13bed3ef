"""A journal, a model, a tool and a strategy that tell where they are: wrappers, so that nothing of ours is patched."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, aclosing

from msgspec.structs import replace

from handrail.agents.strategy import RoundContext, RoundDecision, RoundStrategy
from handrail.agents.tool import Tool, ToolContext, ToolOutput
from handrail.journal.events import AskClosed, Event
from handrail.journal.port import Entry, Journal, Posted, Wakes
from handrail.journal.vocabulary import Actor
from handrail.journal.wire import type_of
from handrail.models.port import Cancellation, Delta, Model, ModelInfo, ModelReply, ModelRequest, Streamed, TextDelta
from handrail.testing.drill.faults import Faults
from handrail.testing.drill.notes import Acknowledged, Asked, Notes, Ran
from handrail.testing.drill.notes import Posted as Sent
from handrail.transcripts.model import Json

TAKEN_OVER = "after take-over"


class WatchedJournal:
    """Fulfils ``Journal``: ``journal``, with a place before and after everything that changes it."""

    def __init__(self, journal: Journal, faults: Faults, notes: Notes) -> None:
        self._journal = journal
        self._faults = faults
        self._notes = notes

    @property
    def poll_s(self) -> float | None:
        return self._journal.poll_s

    async def append(self, session: str, expected_seq: int, epoch: int, events: Sequence[Event]) -> None:
        kinds = "+".join(type_of(event.body) for event in events)
        self._faults.reach(f"before append {kinds}")
        await self._journal.append(session, expected_seq, epoch, events)
        self._notes.add(Acknowledged(session, expected_seq + len(events)))
        self._faults.reach(f"after append {kinds}")

    async def read(self, session: str, after: int = 0) -> tuple[Event, ...]:
        return await self._journal.read(session, after)

    async def take_over(self, session: str) -> int:
        self._faults.reach("before take-over")
        epoch = await self._journal.take_over(session)
        self._faults.reach(TAKEN_OVER)
        return epoch

    async def post(self, session: str, body: Posted, by: Actor, key: str) -> Entry:
        what = "answer" if isinstance(body, AskClosed) else type_of(body)
        self._faults.reach(f"before post {what}")
        entry = await self._journal.post(session, body, by, key)
        self._notes.add(Sent(session, key, body.ask if isinstance(body, AskClosed) else None))
        self._faults.reach(f"after post {what}")
        return entry

    async def inbox(self, session: str, after: int = 0) -> tuple[Entry, ...]:
        return await self._journal.inbox(session, after)

    async def sessions(self) -> tuple[str, ...]:
        return await self._journal.sessions()


class WatchedWakingJournal(WatchedJournal):
    """``WatchedJournal`` of a journal that wakes those who wait."""

    def __init__(self, journal: Journal, wakes: Wakes, faults: Faults, notes: Notes) -> None:
        super().__init__(journal, faults, notes)
        self._wakes = wakes

    def listen(self, session: str) -> AbstractContextManager[Callable[[float], Awaitable[None]]]:
        return self._wakes.listen(session)


def watched_journal(journal: Journal, faults: Faults, notes: Notes) -> WatchedJournal:
    """``journal``, watched."""
    if isinstance(journal, Wakes):
        return WatchedWakingJournal(journal, journal, faults, notes)
    return WatchedJournal(journal, faults, notes)


class WatchedModel:
    """Fulfils ``Model``: ``model``, with a place before each request and round each piece of its stream."""

    def __init__(self, model: Model, faults: Faults, notes: Notes) -> None:
        self._model = model
        self._faults = faults
        self._notes = notes

    @property
    def info(self) -> ModelInfo:
        return self._model.info

    async def stream(self, request: ModelRequest, cancellation: Cancellation | None = None) -> Streamed:
        self._notes.add(Asked(request.session or "", request.run or "", request.replies or 0))
        self._faults.reach("after request")
        async with aclosing(self._model.stream(request, cancellation)) as stream:
            async for item in _in_pieces(stream):
                what = type(item).__name__
                self._faults.reach(f"before {what}")
                yield item
                self._faults.reach(f"after {what}")


async def _in_pieces(stream: Streamed) -> AsyncGenerator[Delta | ModelReply, None]:
    """``stream`` with each text in two pieces, so that a reply can be cut off in the middle of a block."""
    async for item in stream:
        for piece in _halves(item):
            yield piece


def _halves(item: Delta | ModelReply) -> Iterator[Delta | ModelReply]:
    if isinstance(item, TextDelta) and len(item.text) > 1:
        middle = len(item.text) // 2
        yield TextDelta(item.block, item.text[:middle])
        yield TextDelta(item.block, item.text[middle:])
    else:
        yield item


def watched_tool(tool: Tool, agent: str, faults: Faults, notes: Notes) -> Tool:
    """``tool`` with a note, on the disk, of each time it begins to work, and a place before and after."""

    async def run(input: Json, context: ToolContext) -> ToolOutput:
        faults.reach(f"before tool {tool.name}")
        notes.add(Ran(agent, tool.name, context.call_id), is_durable=True)
        faults.reach(f"in tool {tool.name}")
        output = await tool.run(input, context)
        faults.reach(f"after tool {tool.name}")
        return output

    return replace(tool, handler=run)


class WatchedStrategy:
    """Fulfils ``RoundStrategy``: ``strategy``, with a place before and after it is asked."""

    def __init__(self, strategy: RoundStrategy, faults: Faults) -> None:
        self._strategy = strategy
        self._faults = faults

    async def on_round(self, ctx: RoundContext) -> RoundDecision | None:
        self._faults.reach("before strategy")
        decision = await self._strategy.on_round(ctx)
        self._faults.reach("after strategy")
        return decision
