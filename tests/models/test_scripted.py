"""A scripted model answers by where a run stands."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.agents.cancellation import CancellationToken, Cancelled
from handrail.models.errors import BadKey, Overloaded, ScriptEnded
from handrail.models.port import ModelReply, ModelRequest, TextDelta, ThinkingDelta, ToolCallDelta, reply_to
from handrail.models.scripted import Call, Item, Reply, ScriptedModel, call
from handrail.transcripts.model import Author, Bash, Message, Raw, Text, Thinking, ToolUse, Usage
from tests.models.conversations import asked, call_ids, driven, said, text_of


def _words(model: ScriptedModel, request: ModelRequest) -> str:
    return text_of(asyncio.run(reply_to(model, request)).message)


def _answered(count: int, model: str = "scripted") -> tuple[Message, ...]:
    """A history with ``count`` replies."""
    reply = Message(role="assistant", content=(Text("…", Author.MODEL),), model=model)
    return (said("go"), *(message for _ in range(count) for message in (reply, said("on"))))


def test_the_reply_depends_on_the_history_and_not_on_how_often_it_was_asked() -> None:
    model = ScriptedModel(["one", "two", "three"])
    assert ["two", "two", "one", "three", "two"] == [
        _words(model, asked(*_answered(count), run="r")) for count in (1, 1, 0, 2, 1)
    ]


def test_a_resumed_run_gets_the_same_replies_from_a_fresh_model() -> None:
    script: list[Item] = [call("probe", value="a"), [call("probe", value="b"), call("probe", value="c")], "done"]
    whole = asyncio.run(driven(ScriptedModel(script), "go", run="r"))
    for replies, cut in ((1, 3), (2, 5)):
        fresh = ScriptedModel(script)
        reply = asyncio.run(reply_to(fresh, asked(*whole[:cut], run="r", replies=replies)))
        assert whole[cut] == reply.message


def test_a_second_run_with_a_history_of_its_own_goes_on_in_the_script() -> None:
    model = ScriptedModel([call("probe", value="a"), "first answer", call("probe", value="b"), "third answer"])
    first = asyncio.run(driven(model, "go", run="r1"))
    second = asyncio.run(driven(model, "go", run="r2"))
    assert ("first answer", "third answer") == (text_of(first[-1]), text_of(second[-1]))
    assert [["call_1"], ["call_1"]] == [call_ids(first), call_ids(second)]


def test_a_run_that_begins_when_the_script_is_used_up_begins_it_again() -> None:
    model = ScriptedModel(["one", "two"])
    assert ["one", "two", "one", "two", "one"] == [_words(model, asked(said("go"), run=f"r{n}")) for n in range(5)]


def test_a_second_run_of_a_session_stands_after_the_replies_of_the_first_in_another_process_too() -> None:
    script: list[Item] = [call("probe", value="a"), "first", call("probe", value="b"), "second"]
    first = asyncio.run(driven(ScriptedModel(script), "go", run="r1"))
    second = asyncio.run(driven(ScriptedModel(script), "more", run="r2", before=first))
    assert "second" == text_of(second[-1])


def test_replies_of_other_models_in_the_history_take_no_place_in_the_script() -> None:
    imported = _answered(5, model="another")
    assert "one" == _words(ScriptedModel(["one", "two"]), asked(*imported, run="r", replies=0))


def test_replies_that_were_compacted_away_still_count() -> None:
    assert "three" == _words(ScriptedModel(["one", "two", "three"]), asked(said("summary"), run="r", replies=2))


def test_repeats_starts_every_run_at_the_beginning() -> None:
    model = ScriptedModel(["one", "two"], repeats=True)
    assert ["one", "one", "two", "two"] == [
        _words(model, asked(*_answered(replies), run=run)) for replies in (0, 1) for run in ("a", "b")
    ]


def test_calls_are_numbered_through_a_run_and_anew_in_the_next() -> None:
    script: list[Item] = [[call("a"), call("b")], [call("c")], "done", call("d"), "done"]
    model = ScriptedModel(script)
    assert ["call_1", "call_2", "call_3"] == call_ids(asyncio.run(driven(model, "go", run="r1")))
    assert ["call_1"] == call_ids(asyncio.run(driven(model, "go", run="r2")))


def test_calls_are_typed_where_they_fit() -> None:
    script: list[Item] = [[call("Bash", command="ls"), call("probe", name="x"), Call("probe", "{not json")]]
    message = asyncio.run(reply_to(ScriptedModel(script), asked(said("go")))).message
    assert (
        ToolUse("call_1", Bash("ls")),
        ToolUse("call_2", Raw("probe", {"name": "x"})),
        ToolUse("call_3", Raw("probe", "{not json")),
    ) == message.content
    assert "tool_use" == message.stop_reason


def test_a_reply_in_full_keeps_usage_stop_reason_thinking_and_state() -> None:
    usage = Usage(input_tokens=10, output_tokens=2)
    full = Reply(content=("half",), thinking="hm", stop_reason="max_tokens", usage=usage, provider={"x": 1}, cost=0.5)
    reply = asyncio.run(reply_to(ScriptedModel([full]), asked(said("go"))))
    expected = Message(
        role="assistant",
        content=(Thinking("hm"), Text("half", Author.MODEL)),
        model="scripted",
        stop_reason="max_tokens",
        usage=usage,
        provider={"x": 1},
    )
    assert ModelReply(message=expected, cost=0.5) == reply


def test_an_exception_is_raised_once_before_the_reply_that_follows_it() -> None:
    model = ScriptedModel([Overloaded("busy"), Overloaded("still busy"), "one", "two"])
    for words in ("busy", "still busy"):
        with pytest.raises(Overloaded, match=f"^{words}$"):
            _words(model, asked(said("go"), run="r"))
    assert "one" == _words(model, asked(said("go"), run="r"))
    assert "two" == _words(model, asked(*_answered(1), run="r"))
    assert 4 == len(model.requests)


def test_an_exception_at_the_end_of_the_script_is_raised_for_good() -> None:
    model = ScriptedModel([BadKey("no")])
    for _ in range(3):
        with pytest.raises(BadKey):
            _words(model, asked(said("go"), run="r"))


def test_a_function_answers_from_the_request() -> None:
    async def later(request: ModelRequest) -> str:
        return f"async {len(request.messages)}"

    model = ScriptedModel([lambda request: f"plain {len(request.messages)}", later])
    assert "plain 1" == _words(model, asked(said("go"), run="r"))
    assert "async 3" == _words(model, asked(*_answered(1), run="r"))


def test_past_the_end_of_the_script_is_an_error_that_no_retry_mends() -> None:
    with pytest.raises(ScriptEnded) as caught:
        _words(ScriptedModel(["one"]), asked(*_answered(1), run="r"))
    assert not caught.value.is_retryable


def test_what_streams_is_what_the_reply_holds() -> None:
    script: list[Item] = [Reply(content=("word", call("probe", value="ä")), thinking="hm")]

    async def streamed() -> list[object]:
        return [item async for item in ScriptedModel(script).stream(asked(said("go")))]

    *deltas, reply = asyncio.run(streamed())
    assert [
        ThinkingDelta(0, "hm"),
        TextDelta(1, "word"),
        ToolCallDelta(2, "call_1", "probe", '{"value":"ä"}'),
    ] == deltas
    assert isinstance(reply, ModelReply)


def test_a_cancelled_token_gets_no_reply_and_records_no_request() -> None:
    model = ScriptedModel(["one"])
    token = CancellationToken()
    token.cancel("enough")
    with pytest.raises(Cancelled, match="enough"):
        asyncio.run(reply_to(model, asked(said("go")), token))
    assert [] == model.requests


_ITEMS = st.lists(
    st.sampled_from(
        ["an answer", call("probe", value="a"), (call("probe", value="b"), "and", call("probe", value="c"))]
    ),
    min_size=1,
    max_size=8,
)


@given(_ITEMS, st.data())
def test_requests_that_are_sent_again_and_processes_that_die_change_no_reply(
    script: list[Item], data: st.DataObject
) -> None:
    async def unbroken() -> list[Message]:
        model, messages = ScriptedModel(script), [said("go")]
        for replies in range(len(script)):
            request = asked(*messages, run="r", replies=replies)
            messages += [(await reply_to(model, request)).message, said("on")]
        return messages

    async def broken() -> list[Message]:
        model, messages = ScriptedModel(script), [said("go")]
        for replies in range(len(script)):
            request = asked(*messages, run="r", replies=replies)
            for is_new_process in data.draw(st.lists(st.booleans(), max_size=3)):
                model = ScriptedModel(script) if is_new_process else model
                await reply_to(model, request)
            messages += [(await reply_to(model, request)).message, said("on")]
        return messages

    assert asyncio.run(unbroken()) == asyncio.run(broken())
