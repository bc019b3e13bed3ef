"""What a model sees: blocks and turns, cut where it does no harm."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.runs.regions.size import Estimate, Size
from handrail.runs.regions.turns import Turn, message_bytes, turns_of, without_orphans
from handrail.runs.regions.view import View, overfull, view_of
from handrail.testing.strategies import conversations
from handrail.transcripts.model import (
    Command,
    Common,
    Compaction,
    Image,
    Message,
    Text,
    ToolResult,
    ToolUse,
    Transcript,
)
from handrail.transcripts.spans import tool_pairs

from .build import AddItems, Checklist, Pinned, RegionEntry, Sliding, Write, after
from .talk import call, prompt, reply, results, rounds, said

WIDE = Size(window=1_000_000)
LEFT_OUT = "[Earlier turns of this conversation are left out here.]"


def shown(messages: list[Message], size: Size = WIDE, stage_from: int = 0, **region: object) -> View:
    declared = Sliding.model_validate({"name": "conversation", **region})
    return view_of((declared,), {}, "Be kind.", messages, size, stage_from=stage_from)


def test_a_turn_is_a_response_with_its_results_or_a_delivery() -> None:
    messages = [prompt("a"), call("1", "2"), results("1"), results("2"), reply("b"), prompt("c"), call("3")]
    assert (Turn(0, 1), Turn(1, 4), Turn(4, 5), Turn(5, 6), Turn(6, 7)) == turns_of(messages)
    assert () == turns_of([])


def test_calls_that_reach_into_one_another_are_one_turn() -> None:
    messages = [call("1"), call("2"), results("1"), results("2"), reply("b")]
    assert (Turn(0, 4), Turn(4, 5)) == turns_of(messages)


# H 169
def test_neither_half_of_a_call_is_sent_alone() -> None:
    messages = [prompt("a"), results("0"), call("1", "2"), results("2"), reply("b"), call("3")]
    sent = without_orphans(messages)
    assert ["a", "call 1 2", "results 2", "b"] == said(sent)
    assert ["2"] == [block.id for block in sent[1].content if isinstance(block, ToolUse)]


def test_of_an_id_used_twice_the_nearest_halves_belong_together() -> None:
    messages = [call("1"), call("1"), results("1"), results("1")]
    assert ([Turn(0, 1), Turn(1, 3), Turn(3, 4)], 2) == (list(turns_of(messages)), len(without_orphans(messages)))


def test_what_is_whole_is_sent_as_it_is() -> None:
    messages = rounds(3)
    view = view_of((), {}, "Be kind.", messages, WIDE)
    assert (("Be kind.", tuple(messages)), 4) == ((view.instructions, view.messages), view.turns)
    assert all(one is other for one, other in zip(messages, view.messages, strict=True))


# H 161: as many turns as D.1 says, by the newest.
@pytest.mark.parametrize(
    ("strategy", "counts"),
    [
        ("per_item", [1, 2, 3, 4, 4, 4, 4, 4, 4, 4]),
        ("bulk", [1, 2, 3, 4, 5, 6, 4, 5, 6, 4]),
        ("compact", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    ],
)
def test_as_many_turns_are_shown_as_the_strategy_says(strategy: str, counts: list[int]) -> None:
    views = [shown(rounds(at), max_items=4, overflow=2, strategy=strategy) for at in range(10)]
    assert counts == [view.shown_turns for view in views]
    assert list(range(1, 11)) == [view.turns for view in views]


def test_a_command_that_a_person_ran_is_no_call_that_lacks_its_result() -> None:
    command = Message(role="user", content=(ToolUse("1", Command("/clear")),), uid="command")
    assert (command,) == without_orphans([command])


# H 160
def test_a_call_and_its_results_leave_together() -> None:
    view = shown(rounds(5), max_items=2, strategy="per_item")
    assert [LEFT_OUT, "call c3", "results c3", "call c4", "results c4"] == said(view.messages)
    assert tool_pairs(view.messages) == [(1, 2), (3, 4)]


def test_a_conversation_that_was_cut_begins_with_a_user_s_turn_and_says_so() -> None:
    view = shown([*rounds(3), prompt("and now?")], max_items=1, strategy="per_item")
    (first,) = view.messages
    assert [LEFT_OUT, "and now?"] == [block.text for block in first.content if isinstance(block, Text)]
    assert ["[Begin.]"] == said(shown([]).messages)
    assert [LEFT_OUT, "b"] == said(shown([reply("b")]).messages)


def test_a_stage_that_begins_anew_sees_nothing_from_before_it() -> None:
    messages = [*rounds(2), reply("planned"), prompt("build it"), call("x"), results("x")]
    view = shown(messages, stage_from=6, since="stage")
    assert ["build it", "call x", "results x"] == said(view.messages)
    assert (6, 2) == (view.turns, view.shown_turns)


def test_a_summary_of_the_whole_session_is_never_cut_off() -> None:
    summary = Message(role="user", content=(Compaction("All so far."),), uid="summary")
    view = shown([summary, *rounds(5)], max_items=1, strategy="per_item")
    assert ["summary", "call c4", "results c4"] == said(view.messages)
    assert LEFT_OUT == view.messages[0].content[0].text  # type: ignore[union-attr]


def test_a_conversation_is_cut_to_its_budget_a_good_piece_at_a_time() -> None:
    size = Size(window=10_000, estimate=Estimate(4.0))
    firsts = []
    for count in range(1, 60):
        view = shown(rounds(count, size=400), size, max_items=1000, budget="20%")
        shown_turns = (
            view.messages[1:] if view.messages[0].role == "user" and not view.messages[0].uid else view.messages
        )
        tokens = sum(size.estimate.of_bytes(message_bytes(message)) for message in shown_turns)
        assert tokens <= 2000
        firsts.append(view.turns - view.shown_turns)
    moves = sum(one != other for one, other in pairwise(firsts))
    assert sorted(firsts) == firsts
    assert 0 < moves < 20


def test_the_newest_turn_is_shown_however_large_it_is() -> None:
    view = shown([prompt("a"), call("1"), results("1", size=100_000)], Size(window=1_000), budget="5%")
    assert [LEFT_OUT, "call 1", "results 1"] == said(view.messages)


def test_without_a_budget_of_its_own_a_conversation_gets_what_the_regions_leave() -> None:
    plan = Pinned(name="plan", max_tokens=100_000)
    conversation = Sliding(name="conversation", max_items=1000)
    size = Size(window=40_000, estimate=Estimate(4.0))
    held = {"plan": after(plan, Write("x" * 80_000), size=size)}
    alone = view_of((conversation,), {}, "", rounds(100, size=2_000), size)
    beside = view_of((plan, conversation), held, "", rounds(100, size=2_000), size)
    assert 20 < beside.shown_turns < alone.shown_turns - 20
    assert beside.sent_bytes / 4 < 36_000


def test_a_picture_counts_for_what_a_model_sees_of_it() -> None:
    picture = Message(role="user", content=(Image("image/png", "A" * 4_000_000),), uid="picture")
    assert 2 == shown([picture, reply("nice")], Size(window=10_000)).shown_turns


def test_a_word_more_in_a_region_does_not_move_the_start_of_the_conversation() -> None:
    plan, conversation = Pinned(name="plan"), Sliding(name="conversation", max_items=1000)
    size = Size(window=20_000)
    messages = rounds(800, size=20)
    starts = set()
    for words in range(0, 200, 4):
        held = {"plan": after(plan, Write("word " * (20 + words)), size=size)}
        starts.add(view_of((plan, conversation), held, "", messages, size).shown_turns)
    assert 1 <= len(starts) <= 2


# H 165
def test_a_hidden_region_is_not_shown_and_comes_back_with_what_it_holds() -> None:
    plan, steps = Pinned(name="plan"), Checklist(name="steps")
    held = {"plan": after(plan, Write("Look.")), "steps": after(steps, AddItems(("mend",)))}
    hidden = view_of((steps,), held, "Be kind.", [], WIDE).instructions
    back = view_of((plan, steps), held, "Be kind.", [], WIDE).instructions
    assert ("Look." in hidden, "Look." in back, "mend" in hidden, "mend" in back) == (False, True, True, True)


def test_instructions_come_first_and_the_blocks_after_them() -> None:
    plan, steps = Pinned(name="plan"), Checklist(name="steps")
    told = view_of((steps, plan), {"plan": (RegionEntry("Look."),)}, "Be kind.", [], WIDE).instructions
    assert told.startswith("Be kind.\n\nWhat follows in <region> marks")
    assert told.endswith('<region name="plan">\nLook.\n</region>\n\n<region name="steps"/>')


@settings(deadline=None, max_examples=60)
@given(conversations(), st.integers(1, 6), st.sampled_from(["per_item", "bulk"]), st.integers(100, 4_000))
def test_no_view_parts_a_call_from_its_result_and_the_same_gives_the_same(
    session: Transcript[Common], most: int, strategy: str, window: int
) -> None:
    body = list(session.body)
    view = shown(body, Size(window=window), max_items=most, overflow=2, strategy=strategy)
    uses = [block for message in view.messages for block in message.content if isinstance(block, ToolUse)]
    calls = [use.id for use in uses if not isinstance(use.call, Command)]
    answered = [
        block.tool_use_id for message in view.messages for block in message.content if isinstance(block, ToolResult)
    ]
    assert sorted(calls) == sorted(answered)
    assert len(tool_pairs(view.messages)) == len(calls)
    assert view.messages[0].role == "user"
    assert all(message.content for message in view.messages)
    assert view == shown(body, Size(window=window), max_items=most, overflow=2, strategy=strategy)


# H 166
def test_a_stage_whose_regions_leave_no_room_says_which_are_the_largest() -> None:
    size = Size(window=1_000, estimate=Estimate(4.0))
    plan, steps = Pinned(name="plan", max_tokens=2_000), Checklist(name="steps", max_tokens=2_000)
    held = {
        "plan": after(plan, Write("x" * 3_200), size=size),
        "steps": after(steps, AddItems(("y" * 400,)), size=size),
    }
    why = overfull((steps, plan), held, "Be kind.", size)
    assert why is not None
    assert "window leaves 900 for them; the largest regions: plan 801, steps 102" in why
    assert None is overfull((steps,), held, "Be kind.", size)
    assert None is overfull((steps, plan), held, "Be kind.", Size())
    assert "no region holds anything" in str(overfull((), {}, "z" * 4_000, size))
