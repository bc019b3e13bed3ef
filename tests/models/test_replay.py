"""A replaying model answers as recorded and tells where today differs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
from msgspec import Struct
from msgspec.structs import replace

from handrail.models.errors import ScriptEnded
from handrail.models.port import ModelRequest, reply_to
from handrail.models.replay import Divergence, ReplayModel
from handrail.models.scripted import Item, ScriptedModel, call
from handrail.transcripts.model import Common, Json, Message, Meta, ToolResult, Transcript
from tests.models.conversations import delivered, driven, said, text_of


class _Spec(Struct, frozen=True):
    name: str
    description: str = ""
    input_schema: Mapping[str, Json] = {}


_OFFERED = (_Spec("probe"),)


def _recording() -> Transcript[Common]:
    script: list[Item] = [call("probe", value="a"), [call("probe", value="b"), call("probe", value="c")], "done"]
    return Transcript(Meta(id="s", model="m"), asyncio.run(driven(ScriptedModel(script), "go")))


def _replayed(recording: Transcript[Common], told: Common, tools: tuple[_Spec, ...] = _OFFERED) -> ReplayModel:
    """A replay in which every reply follows the user messages of ``told`` that stand before it."""
    model = ReplayModel(recording)
    for index, message in enumerate(told):
        if message.role == "assistant":
            request = ModelRequest(messages=told[:index], tools=tools, run="r")
            assert message.content == asyncio.run(reply_to(model, request)).message.content
    return model


def test_a_run_that_goes_as_recorded_has_no_divergence() -> None:
    recording = _recording()
    assert () == _replayed(recording, recording.body).report()


def test_a_call_that_comes_to_something_else_is_told_with_both_sides() -> None:
    recording = _recording()
    told = list(recording.body)
    told[2] = delivered(ToolResult("call_1", "broken", is_error=True))
    expected = Divergence(
        reply=1,
        kind="result",
        call="call_1",
        recorded={"content": "result of call_1", "is_error": False},
        given={"content": "broken", "is_error": True},
    )
    assert (expected,) == _replayed(recording, tuple(told)).report()


def test_other_words_are_told_and_who_said_them_is_not() -> None:
    recording = _recording()
    other = _replayed(recording, (said("something else"), *recording.body[1:])).report()
    assert (Divergence(reply=0, kind="delivery", recorded=["go"], given=["something else"]),) == other
    anonymous = Message(role="user", content=tuple(replace(block, via=None) for block in said("go").content))
    assert () == _replayed(recording, (anonymous, *recording.body[1:])).report()


def test_a_tool_that_is_not_offered_any_more_is_told_once_a_reply() -> None:
    recording = _recording()
    gone = [Divergence(reply=reply, kind="tool_gone", recorded="probe") for reply in (0, 1)]
    assert tuple(gone) == _replayed(recording, recording.body, tools=()).report()


def test_replies_that_were_never_asked_for_are_told() -> None:
    recording = _recording()
    assert (Divergence(reply=2, kind="not_reached"),) == _replayed(recording, recording.body[:4]).report()


def test_past_the_end_is_an_error_and_told() -> None:
    recording = _recording()
    model = ReplayModel(recording)
    request = ModelRequest(messages=(*recording.body, said("more")), run="r")
    with pytest.raises(ScriptEnded):
        asyncio.run(reply_to(model, request))
    assert Divergence(reply=3, kind="past_end") in model.report()


def test_later_runs_of_the_session_are_played_after_the_first() -> None:
    first = asyncio.run(driven(ScriptedModel([call("probe", value="a"), "one"]), "go"))
    whole = asyncio.run(driven(ScriptedModel(["x", "y", "two"]), "more", before=first))
    model = ReplayModel(Transcript(Meta(model="m"), whole))
    again = asyncio.run(driven(model, "go", run="r1"))
    once_more = asyncio.run(driven(model, "more", run="r2", before=again))
    assert ("one", "two") == (text_of(again[-1]), text_of(once_more[-1]))
