"""What happens in a run as data, for programs that read it line by line."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from handrail.agents.result import RunResult
from handrail.agents.run import Happening, Relayed
from handrail.agents.work import Progress
from handrail.app.machine import SCHEMA_VERSION
from handrail.journal.events import Event
from handrail.journal.vocabulary import EndReason
from handrail.journal.wire import encode_event
from handrail.models.port import Restarted, TextDelta, ThinkingDelta, ToolCallDelta
from handrail.transcripts.model import Json, Usage


class RunBegan(Struct, frozen=True, kw_only=True, tag_field="event", tag="session"):
    """The session that is written, and what is not as one may expect."""

    schema_version: int = SCHEMA_VERSION
    session: str
    model: str
    notices: tuple[str, ...]


class RunHappened(Struct, frozen=True, kw_only=True, tag_field="event", tag="happened"):
    """A recorded event, as it stands in the journal. ``origin`` are the sessions of the sub-agents it came through."""

    schema_version: int = SCHEMA_VERSION
    origin: tuple[str, ...]
    record: Json


class RunStreamed(Struct, frozen=True, kw_only=True, tag_field="event", tag="streamed"):
    """What is not recorded: more of a response (``block`` is its index there), a restart, what a tool shows."""

    schema_version: int = SCHEMA_VERSION
    origin: tuple[str, ...]
    kind: Literal["text", "thinking", "call", "restarted", "progress"]
    text: str
    block: int | None = None
    call: str | None = None


class RunFinished(Struct, frozen=True, kw_only=True, tag_field="event", tag="result"):
    """How the run ended; the fields are those of ``RunResult``. ``waits_for`` are the ids of its open questions."""

    schema_version: int = SCHEMA_VERSION
    session: str
    run: str
    end_reason: EndReason
    detail: str | None
    output: Json
    question: str | None
    rounds: int
    requests: int
    tool_calls: int
    usage: Usage
    cost: float | None
    elapsed_s: float
    waits_for: tuple[str, ...] = ()


RunEvent: TypeAlias = RunBegan | RunHappened | RunStreamed | RunFinished
"""What ``handrail run --json`` prints, one a line."""


def run_event(happening: Happening, origin: tuple[str, ...] = ()) -> RunHappened | RunStreamed:
    """``happening`` as data."""
    match happening:
        case Relayed():
            return run_event(happening.item, happening.origin)
        case Event():
            return RunHappened(origin=origin, record=msgspec.json.decode(encode_event(happening)))
        case Progress():
            return RunStreamed(origin=origin, kind="progress", text=happening.text, call=happening.call)
        case TextDelta():
            return RunStreamed(origin=origin, kind="text", text=happening.text, block=happening.block)
        case ThinkingDelta():
            return RunStreamed(origin=origin, kind="thinking", text=happening.text, block=happening.block)
        case ToolCallDelta():
            text = happening.name + happening.input
            return RunStreamed(origin=origin, kind="call", text=text, block=happening.block, call=happening.id)
        case Restarted():
            return RunStreamed(origin=origin, kind="restarted", text=happening.error)


def run_finished(result: RunResult) -> RunFinished:
    """``result`` as data."""
    return RunFinished(
        session=result.session.id,
        run=result.run,
        end_reason=result.end_reason,
        detail=result.detail,
        output=result.output,
        question=result.question,
        rounds=result.rounds,
        requests=result.requests,
        tool_calls=result.tool_calls,
        usage=result.usage,
        cost=result.cost,
        elapsed_s=result.elapsed_s,
        waits_for=tuple(opened.ask for opened in result.waits_for),
    )
