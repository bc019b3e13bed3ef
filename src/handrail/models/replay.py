"""A model that answers as it did before: it plays a recorded session and tells where today's run goes another way.

A reply is chosen by how many the run has had, as a script's is. What the model was told in the recording before
that reply is held against what it is told now; where the two differ, that is a ``Divergence``, and the recorded
reply is given all the same: what comes after it may still agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from handrail.models.errors import ScriptEnded
from handrail.models.playing import played
from handrail.models.port import Cancellation, ModelInfo, ModelReply, ModelRequest, Streamed
from handrail.models.position import replies_in, replies_of_run
from handrail.transcripts.calls import call_name
from handrail.transcripts.model import (
    Artifact,
    Block,
    Common,
    Image,
    Json,
    Message,
    Text,
    ToolResult,
    ToolUse,
    Transcript,
)

DivergenceKind: TypeAlias = Literal["delivery", "result", "tool_gone", "past_end", "not_reached"]


class Divergence(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One difference between the recording and today.

    ``reply`` is the index of the recorded reply, from 0, that it was found before. ``delivery``: other words or
    pictures were put in. ``result``: the call ``call`` came to something else. ``tool_gone``: the reply calls the
    tool ``recorded``, which is not offered any more. ``past_end``: the run asked for more than was recorded.
    ``not_reached``: the run ended before this reply. ``recorded`` and ``given`` are both sides as JSON values.
    """

    reply: int
    kind: DivergenceKind
    call: str | None = None
    recorded: Json = None
    given: Json = None


class ReplayModel:
    """Answers from ``session``. ``divergences`` grows while it does; ``report`` adds what was never asked for."""

    def __init__(self, session: Transcript[Common]) -> None:
        self.info = ModelInfo(id=session.meta.model or "recorded", provider="replay")
        self.requests: list[ModelRequest] = []
        self.divergences: list[Divergence] = []
        self._recorded = session.body
        self._places = tuple(index for index, message in enumerate(session.body) if message.role == "assistant")
        self._asked: set[int] = set()
        self._firsts: dict[str | None, int] = {}
        self._front = 0

    def report(self) -> tuple[Divergence, ...]:
        """Every divergence, with the replies that the run never reached; to be read when the run is over."""
        missed = (index for index in range(len(self._places)) if index not in self._asked)
        rest = (Divergence(reply=index, kind="not_reached") for index in missed)
        return (*self.divergences, *rest)

    async def stream(self, request: ModelRequest, cancellation: Cancellation | None = None) -> Streamed:
        """See ``Model``. Raises ``ScriptEnded`` past the end of the recording."""
        if cancellation is not None:
            cancellation.raise_if_cancelled()
        self.requests.append(request)
        index = self._first(request) + replies_of_run(request)
        if index >= len(self._places):
            self.divergences.append(Divergence(reply=index, kind="past_end"))
            raise ScriptEnded(f"the recording holds {len(self._places)} replies and the run asked for one more")
        reply = self._recorded[self._places[index]]
        self._front = index + 1
        if index not in self._asked:
            self._asked.add(index)
            self.divergences += _differences(index, self._told_before(index), _told_last(request.messages))
            self.divergences += _tools_gone(index, reply, request)
        for item in played(ModelReply(message=replace(reply, uid="", uids=(), timestamp=None, taint=None))):
            yield item

    def _first(self, request: ModelRequest) -> int:
        """Where the run begins: after the replies of the session's earlier runs, which were played too."""
        if request.run not in self._firsts:
            earlier = replies_in(request.messages) - replies_of_run(request)
            self._firsts[request.run] = max(self._front, earlier)
        return self._firsts[request.run]

    def _told_before(self, index: int) -> Sequence[Message]:
        start = self._places[index - 1] + 1 if index else 0
        return self._recorded[start : self._places[index]]


def _told_last(messages: Sequence[Message]) -> Sequence[Message]:
    """What was delivered since the last response."""
    start = len(messages)
    while start > 0 and messages[start - 1].role == "user":
        start -= 1
    return messages[start:]


def _differences(index: int, recorded: Sequence[Message], given: Sequence[Message]) -> Iterable[Divergence]:
    before, now = _results(recorded), _results(given)
    for call in dict.fromkeys((*before, *now)):
        if before.get(call) != now.get(call):
            yield Divergence(reply=index, kind="result", call=call, recorded=before.get(call), given=now.get(call))
    said, says = _words(recorded), _words(given)
    if said != says:
        yield Divergence(reply=index, kind="delivery", recorded=said, given=says)


def _results(messages: Iterable[Message]) -> Mapping[str, Json]:
    """What each call came to, as a model is shown it."""
    results = (block for message in messages for block in message.content if type(block) is ToolResult)
    return {one.tool_use_id: {"content": one.content, "is_error": one.is_error} for one in results}


def _words(messages: Iterable[Message]) -> list[Json]:
    """All else that was put in; who said it and by which way it came is nothing to a model.

    A summary was not put in: it made room, which a replay has enough of.
    """
    shown = (_shown(block) for message in messages for block in message.content)
    return [one for one in shown if one is not None]


def _shown(block: Block) -> Json:
    match block:
        case Text():
            return block.text
        case Image():
            return {"image": block.url or block.data}
        case Artifact():
            return {"artifact": block.name, "text": block.text, "data": block.data, "path": block.path}
        case _:
            return None


def _tools_gone(index: int, reply: Message, request: ModelRequest) -> Iterable[Divergence]:
    offered = {tool.name for tool in request.tools}
    called = dict.fromkeys(call_name(block.call) for block in reply.content if type(block) is ToolUse)
    return [Divergence(reply=index, kind="tool_gone", recorded=name) for name in called if name not in offered]
