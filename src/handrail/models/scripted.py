"""A model that says what it was told to say: for tests, examples and benchmarks, with no key and no network.

The script is a line of replies. A run finds its place in it by how many replies it has had, so a request that is
sent again, or a run that is resumed by another process, gets the same reply. A run that begins goes on where the
script stands: after the replies of the session's earlier runs, else after what this object has given to others,
and at the beginning again when the script is used up. ``repeats=True`` starts every run at the beginning, for one
model shared by runs that know nothing of one another; a sub-agent wants a model of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from handrail.models.errors import ScriptEnded
from handrail.models.playing import played
from handrail.models.port import Cancellation, ModelInfo, ModelReply, ModelRequest, Streamed
from handrail.models.position import calls_of_run, replies_before_run, replies_of_run
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import Author, Block, Json, Message, Text, Thinking, ToolUse, Usage


class Call(Struct, frozen=True):
    """A call the script makes; its id is given when it is played."""

    tool: str
    input: Json


def call(tool: str, /, **input: Json) -> Call:
    """A scripted call of ``tool``. For an input that no keywords can spell, make a ``Call``."""
    return Call(tool, input)


Said: TypeAlias = str | Call | Block


class Reply(Struct, frozen=True, kw_only=True):
    """A reply in full. ``stop_reason`` None means what follows from the content.

    A ``ToolUse`` in ``content`` keeps its own id, so that broken histories can be played.
    """

    content: tuple[Said, ...] = ()
    thinking: str | None = None
    stop_reason: str | None = None
    usage: Usage | None = None
    provider: Json = None
    cost: float | None = None


Answer: TypeAlias = str | Call | Reply | Sequence[Said]
"""Words, one call, several calls in one response, or a reply in full."""

Item: TypeAlias = Answer | BaseException | Callable[[ModelRequest], "Answer | Awaitable[Answer]"]
"""An answer, an exception to raise once before the next answer, or a function that makes an answer of the request."""


class _Slot(Struct, frozen=True):
    """One place of the script: what is raised before its answer is given, and the answer (None at the very end)."""

    failures: tuple[BaseException, ...]
    answer: Any


class _Seat:
    """Where one run sits: its first slot, and how its calls were numbered, by replies had."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.calls: dict[int, int] = {}


class ScriptedModel:
    """Plays ``script``. ``requests`` holds every request it was sent, failed ones too, in order."""

    def __init__(
        self, script: Sequence[Item], *, name: str = "scripted", provider: str = "scripted", repeats: bool = False
    ) -> None:
        self.info = ModelInfo(id=name, provider=provider)
        self.requests: list[ModelRequest] = []
        self._slots = _slots(script)
        self._repeats = repeats
        self._seats: dict[str | None, _Seat] = {}
        self._raised: dict[tuple[str | None, int], int] = {}
        self._front = 0

    async def stream(self, request: ModelRequest, cancellation: Cancellation | None = None) -> Streamed:
        """See ``Model``. Raises what the script says, and ``ScriptEnded`` past its end."""
        if cancellation is not None:
            cancellation.raise_if_cancelled()
        self.requests.append(request)
        replies = replies_of_run(request)
        seat = self._seat(request)
        answer = self._answer(request, seat.first + replies)
        if callable(answer):
            answer = answer(request)
            if inspect.isawaitable(answer):
                answer = await (answer if cancellation is None else cancellation.guard(answer))
        first = seat.calls[replies] if replies in seat.calls else calls_of_run(request)
        reply = _reply(answer, self.info, first + 1)
        seat.calls[replies + 1] = first + _calls_in(reply)
        for item in played(reply):
            yield item

    def _seat(self, request: ModelRequest) -> _Seat:
        seat = self._seats.get(request.run)
        if seat is None:
            seat = self._seats[request.run] = _Seat(0 if self._repeats else self._next(request))
        return seat

    def _next(self, request: ModelRequest) -> int:
        """The slot a run that is not known yet begins at."""
        first = replies_before_run(request, self.info.id)
        if first == 0 and replies_of_run(request) == 0:
            first = self._front
        if first < len(self._slots):
            return first
        self._raised.clear()
        return 0

    def _answer(self, request: ModelRequest, index: int) -> Any:
        if index >= len(self._slots):
            raise ScriptEnded(
                f"the script of {self.info.name} holds {len(self._slots)} replies and was asked for one more",
                hint="add what it should say next",
            )
        slot = self._slots[index]
        owner = (request.run if self._repeats else None, index)
        raised = self._raised.get(owner, 0)
        if raised < len(slot.failures):
            self._raised[owner] = raised + 1
            raise slot.failures[raised]
        if slot.answer is None:
            raise slot.failures[-1]
        self._front = index + 1
        return slot.answer


def _slots(script: Sequence[Item]) -> tuple[_Slot, ...]:
    slots: list[_Slot] = []
    failures: list[BaseException] = []
    for item in script:
        if isinstance(item, BaseException):
            failures.append(item)
        else:
            slots.append(_Slot(tuple(failures), item))
            failures.clear()
    if failures:
        slots.append(_Slot(tuple(failures), None))
    return tuple(slots)


def _reply(answer: Answer, info: ModelInfo, first_call: int) -> ModelReply:
    """``answer`` as a reply whose calls are numbered from ``first_call``."""
    if not isinstance(answer, Reply):
        answer = Reply(content=(answer,) if isinstance(answer, str | Call) else tuple(answer))
    content: list[Block] = [] if answer.thinking is None else [Thinking(answer.thinking)]
    number = first_call
    for said in answer.content:
        if isinstance(said, Call):
            content.append(ToolUse(f"call_{number}", parse_call(said.tool, said.input)))
            number += 1
        else:
            content.append(Text(said, Author.MODEL) if isinstance(said, str) else said)
    stop_reason = answer.stop_reason
    if stop_reason is None:
        stop_reason = "tool_use" if any(type(block) is ToolUse for block in content) else "end_turn"
    message = Message(
        role="assistant",
        content=tuple(content),
        model=info.id,
        stop_reason=stop_reason,
        usage=answer.usage,
        provider=answer.provider,
    )
    return ModelReply(message=message, cost=answer.cost)


def _calls_in(reply: ModelReply) -> int:
    return sum(1 for block in reply.message.content if type(block) is ToolUse)
