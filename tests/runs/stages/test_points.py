"""Interaction points in a run: rows H.2 to H.4 of the blueprint catalogue, numbered as there."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import MemoryJournal, RunFailed
from handrail.journal import events as ev
from handrail.journal.port import number
from handrail.journal.vocabulary import Actor, ActorKind, AskKind, AskOutcome, EndReason, RegionEntry
from handrail.models.adapter.telling import told
from handrail.models.port import ModelRequest
from handrail.models.scripted import Item, call
from handrail.runs.asks.replies import Reply
from handrail.runs.stages.notes import EDITED, RECHECK
from handrail.transcripts.model import Author, Decision, Text

from .playing import (
    ABORT,
    ANN,
    APPROVE,
    DIRECTIVE,
    EDIT,
    POINT,
    REVISE,
    Play,
    blueprint,
    go,
    host_words,
    look,
    planned,
    scribble,
    stage,
)

WAITING, ANSWERED, CANCELLED, FAILED = EndReason.WAITING, EndReason.ANSWERED, EndReason.CANCELLED, EndReason.FAILED


# H.2 what is asked -------------------------------------------------------------------------------------------


def test_17_and_23_a_choice_shows_its_options_the_document_and_where_it_stands() -> None:
    async def story() -> ev.AskOpened:
        play = Play(planned(), ["# Plan A"])
        await play.start()
        return await play.ask()

    asked = go(story())
    assert ("# Plan A", "markdown") == (asked.shown, asked.body_format)
    assert (APPROVE, REVISE, EDIT, ABORT) == asked.options
    assert ("plan", "plan_approval", 1, 0, "plan") == (asked.stage, asked.point, asked.visit, asked.round, asked.region)
    assert {APPROVE: "approve", REVISE: "revise", EDIT: "edit", ABORT: "abort"} == asked.effects


def test_18_a_confirmation_offers_yes_and_no() -> None:
    async def story() -> ev.AskOpened:
        point = {"name": "go", "prompt": "Go?", "style": "confirm"}
        play = Play(blueprint(stage("plan", points=[point])), ["a"])
        await play.start()
        return await play.ask()

    assert ("Yes", "No") == go(story()).options


def test_19_an_optional_point_says_so_and_20_no_document_shows_none() -> None:
    async def story() -> ev.AskOpened:
        point = {"name": "note", "prompt": "Anything?", "required": False}
        play = Play(blueprint(stage("plan", points=[point])), [""])
        await play.start()
        return await play.ask()

    asked = go(story())
    assert (False, None, None, True) == (asked.is_required, asked.shown, asked.digest, asked.may_type)


def test_21_and_22_every_opening_has_an_id_and_a_key_of_its_own() -> None:
    async def story() -> list[ev.AskOpened]:
        edges = [{"to": "plan", "when": "output", "contains": "again"}, {"to": "end"}]
        play = Play(blueprint(stage("plan", points=[POINT], edges=edges, max_visits=2)), ["again", "done"])
        await play.start()
        await play.reply(option="approve")
        await play.reply(option="approve")
        return await play.events(ev.AskOpened)

    first, second = go(story())
    assert (1, 0, 2, 0) == (first.visit, first.round, second.visit, second.round)
    assert first.ask != second.ask
    assert first.key != second.key


# H.3 when it is asked ----------------------------------------------------------------------------------------


def test_24_the_point_opens_before_the_stage_may_leave_and_25_it_leaves_once_it_was_answered() -> None:
    async def story() -> tuple[list[str], list[str], EndReason | None]:
        play = Play(planned(), ["plan", "built"])
        await play.start()
        before = await play.path()
        await play.reply(option="approve")
        return before, await play.path(), play.ended

    assert (["plan"], ["plan", "build"], ANSWERED) == go(story())


def test_26_a_stage_without_points_just_leaves() -> None:
    async def story() -> list[str]:
        play = Play(blueprint(stage("one"), stage("two")), ["1", "2"])
        await play.start()
        return await play.path()

    assert ["one", "two"] == go(story())


def test_28_a_paused_run_asks_nothing_until_it_is_resumed() -> None:
    async def story() -> tuple[int, int]:
        journal = MemoryJournal()

        async def pausing(request: ModelRequest) -> str:
            await journal.post("s1", ev.PauseRequested("lunch"), ANN, "p1")
            return "plan"

        play = Play(planned(), [pausing], journal=journal)
        await play.start()
        while_paused = len(await play.asks())
        await play.journal.post("s1", ev.ResumeRequested(), ANN, "r1")
        await play.resume()
        return while_paused, len(await play.asks())

    assert (0, 1) == go(story())


def test_31_each_presentation_replaces_the_region_and_33_without_one_none_is_written() -> None:
    async def story(point: dict[str, Any]) -> tuple[str, list[str]]:
        play = Play(planned(point=point), ["plan A", "plan B"])
        await play.start()
        await play.reply(option="revise")
        return await play.plan(), [body.region for body in await play.events(ev.RegionWritten)]

    assert ("plan B", ["plan", "plan"]) == go(story({}))
    assert ("", []) == go(story({"document_region": None}))


def test_32_a_blank_document_leaves_the_region_alone() -> None:
    async def story() -> tuple[str, str | None]:
        seeds = {"plan": {"literal": "the old plan"}}
        play = Play(blueprint(stage("plan", points=[POINT], seeds=seeds)), ["  \n "])
        await play.start()
        return await play.plan(), (await play.ask()).shown

    assert ("the old plan", "the old plan") == go(story())


def test_34_an_edit_is_shown_next_marked_as_a_persons_and_only_until_the_model_makes_another() -> None:
    async def story() -> tuple[list[str | None], RegionEntry]:
        play = Play(planned(), ["plan A", "plan C"])
        await play.start()
        await play.reply(option="edit")
        await play.reply(edited="plan B, by hand")
        entry = (await play.progress()).regions["plan"][0]
        await play.reply(option="revise")
        asked = await play.events(ev.AskOpened)
        return [one.shown for one in asked if one.kind is AskKind.POINT], entry

    shown, entry = go(story())
    assert ["plan A", "plan B, by hand", "plan C"] == shown
    assert entry.by == ANN


@pytest.mark.parametrize("unattended", ["hold", "approve"])
def test_35_and_36_unattended_it_approves_only_where_the_point_says_so_and_says_who_decided(unattended: str) -> None:
    async def story() -> tuple[EndReason | None, list[ev.AskClosed], list[ev.PointRouted], int]:
        play = Play(planned(point={"unattended": unattended}), ["plan", "built"], is_unattended=True)
        await play.start()
        return play.ended, await play.events(ev.AskClosed), await play.events(ev.PointRouted), len(await play.asks())

    ended, closed, routed, open_asks = go(story())
    if unattended == "hold":
        assert (WAITING, [], [], 1) == (ended, closed, routed, open_asks)
    else:
        assert (ANSWERED, 0) == (ended, open_asks)
        assert (AskOutcome.AUTO, APPROVE) == (closed[0].outcome, closed[0].choice)
        assert routed[0].why is not None


def test_unattended_holds_by_default_however_long() -> None:
    async def story() -> EndReason | None:
        play = Play(planned(), ["plan"], is_unattended=True)
        await play.start()
        return (await play.resume()).end_reason

    assert WAITING == go(story())


def test_37_an_error_takes_its_edge_and_asks_nobody() -> None:
    async def story() -> tuple[list[str], int, list[str]]:
        edges = [{"to": "build"}, {"to": "mend", "when": "error"}]
        stages = (stage("plan", points=[POINT], edges=edges), stage("build"), stage("mend"))
        play = Play(blueprint(*stages), [ValueError("dead"), "mended"])
        await play.start()
        return await play.path(), len(await play.events(ev.AskOpened)), host_words(play.requests[-1])

    path, asked, told = go(story())
    assert (["plan", "mend"], 0) == (path, asked)
    assert "failed: dead" in told[0]


def test_37_without_an_error_edge_the_run_fails_and_says_why() -> None:
    async def story() -> RunFailed:
        play = Play(planned(), [ValueError("dead")])
        with pytest.raises(RunFailed) as raised:
            await play.start()
        return raised.value

    failed = go(story())
    assert (FAILED, "dead") == (failed.result.end_reason, failed.result.detail)


def test_38_at_a_bound_the_prompt_says_so_and_names_the_version() -> None:
    async def story() -> ev.AskOpened:
        limits = {"max_rounds": 1}
        play = Play(
            blueprint(stage("plan", points=[POINT], limits=limits, tools=["look"])),
            [["the plan so far", call("look")]],
            tools=[look],
        )
        await play.start()
        return await play.ask()

    asked = go(story())
    assert "max_rounds" in asked.prompt
    assert "version 1" in asked.prompt
    assert "the plan so far" == asked.shown


def test_39_a_document_larger_than_its_region_holds_and_leaves_the_region_as_it_is() -> None:
    async def story() -> tuple[list[str], str, ev.AskOpened, list[str]]:
        region = {"kind": "pinned", "name": "plan", "max_tokens": 20}
        play = Play(planned(regions=[region]), ["small plan", "word " * 100, "shorter"])
        await play.start()
        await play.reply(option="revise")
        kept, asked = await play.plan(), await play.ask()
        await play.reply(option="approve")
        return await play.routes(), kept, asked, await play.path()

    routes, kept, asked, path = go(story())
    assert "small plan" == kept
    assert "cannot be approved" in asked.prompt
    assert (["directed", "held"], ["plan"]) == (routes, path)


# H.4 what the answer does ------------------------------------------------------------------------------------


def test_41_an_approval_stands_in_the_conversation_and_the_run_goes_on() -> None:
    async def story() -> list[Any]:
        play = Play(planned(), ["plan", "built"])
        await play.start()
        await play.reply(option="approve")
        return [block for block in play.requests[-1].messages[-1].content if isinstance(block, Decision)]

    (decision,) = go(story())
    assert (APPROVE, "approve") == (decision.choice, decision.effect)


def test_42_points_are_put_in_order_one_at_a_time_over_the_same_document() -> None:
    async def story() -> list[tuple[str | None, int | None, str | None]]:
        second = {**POINT, "name": "cost_approval"}
        play = Play(blueprint(stage("plan", points=[POINT, second])), ["plan"])
        await play.start()
        assert 1 == len(await play.asks())
        await play.reply(option="approve")
        return [(one.point, one.round, one.shown) for one in await play.events(ev.AskOpened)]

    assert [("plan_approval", 0, "plan"), ("cost_approval", 0, "plan")] == go(story())


def test_44_after_a_revision_the_model_is_told_to_check_what_it_concluded() -> None:
    async def story(*answers: str) -> list[str]:
        play = Play(planned(), ["plan A", "plan B", "built"])
        await play.start()
        for answer in answers:
            await play.reply(option=answer)
        return host_words(play.requests[-1])

    assert RECHECK in go(story("revise", "approve"))
    assert RECHECK not in go(story("approve"))


def test_45_a_directive_goes_in_with_the_choice_and_the_stage_runs_again_in_place() -> None:
    async def story() -> tuple[list[str], list[Any], ev.AskOpened, int]:
        play = Play(planned(), ["plan A", "plan B"])
        await play.start()
        await play.reply(option="revise", comment="make it shorter")
        return await play.path(), list(play.requests[-1].messages[-1].content), await play.ask(), len(play.requests)

    path, content, asked, requests = go(story())
    assert (["plan"], 2, 1, "plan B") == (path, requests, asked.round, asked.shown)
    decision, told = content
    assert (REVISE, "make it shorter", "revise") == (decision.choice, decision.comment, decision.effect)
    assert DIRECTIVE == told.text


def test_46_three_directives_and_an_approval_are_three_reruns_and_a_transition() -> None:
    async def story() -> tuple[int, list[str], list[str]]:
        play = Play(planned(), ["A", "B", "C", "D", "built"])
        await play.start()
        for answer in ("revise", "revise", "revise", "approve"):
            await play.reply(option=answer)
        return len(play.requests), await play.path(), await play.routes()

    assert (5, ["plan", "build"], ["directed", "directed", "directed", "approved"]) == go(story())


@pytest.mark.parametrize(
    ("at_cap", "ended"), [("hold", WAITING), ("abort", CANCELLED), ("fail", FAILED)], ids=["hold", "abort", "fail"]
)
def test_47_a_revision_beyond_the_cap_never_goes_on(at_cap: str, ended: EndReason) -> None:
    async def story() -> tuple[EndReason, list[str], list[ev.PointRouted], int]:
        play = Play(planned(point={"revisions": 1, "at_cap": at_cap}), ["A", "B"])
        await play.start()
        await play.reply(option="revise")
        try:
            result = await play.reply(option="revise")
        except RunFailed as failed:
            result = failed.result
        return result.end_reason, await play.path(), await play.events(ev.PointRouted), len(play.requests)

    reason, path, routed, requests = go(story())
    assert (ended, ["plan"], 2) == (reason, path, requests)
    assert "revisions" in (routed[-1].why or "")


def test_47_a_point_held_at_its_cap_can_still_be_approved_and_says_what_it_takes() -> None:
    async def story() -> tuple[str, EndReason | None]:
        play = Play(planned(point={"revisions": 0}), ["A", "built"])
        await play.start()
        prompt = (await play.ask()).prompt
        await play.reply(option="revise")
        await play.reply(option="approve")
        return prompt, play.ended

    prompt, ended = go(story())
    assert "revisions are used" in prompt
    assert ANSWERED == ended


def test_48_and_49_an_edit_needs_no_model_is_shown_again_and_is_what_later_stages_build_on() -> None:
    async def story() -> tuple[int, list[tuple[str, int | None, str | None]], str, str, Any]:
        play = Play(planned(), ["plan A", "built"])
        await play.start()
        await play.reply(option="edit")
        await play.reply(edited="plan B")
        asked = [(one.kind.value, one.round, one.shown) for one in await play.events(ev.AskOpened)]
        requests, plan = len(play.requests), await play.plan()
        await play.reply(option="approve")
        return requests, asked, plan, play.requests[-1].instructions, play.requests[-1].messages[-1].content

    requests, asked, plan, instructions, content = go(story())
    assert (1, "plan B") == (requests, plan)
    assert [("point", 0, "plan A"), ("edit", 0, "plan A"), ("point", 1, "plan B")] == asked
    assert "plan B" in instructions
    assert Decision("Approve the plan?", content[0].by, EDIT, None, "plan A", "plan B", "edit") == content[0]
    assert EDITED == content[1].text


def test_49_the_edited_text_is_the_output_of_the_stage_and_of_the_run() -> None:
    async def story() -> Any:
        play = Play(blueprint(stage("plan", points=[POINT])), ["plan A"])
        await play.start()
        await play.reply(option="edit")
        await play.reply(edited="plan B")
        return (await play.reply(option="approve")).output

    assert "plan B" == go(story())


def test_50_an_edit_that_changes_nothing_shows_the_same_document_and_uses_up_no_revision() -> None:
    async def story() -> tuple[list[str | None], list[str], int]:
        play = Play(planned(point={"revisions": 1}), ["plan A", "plan B"])
        await play.start()
        await play.reply(option="edit")
        await play.reply(edited="plan A")
        await play.reply(option="revise")
        shown = [one.shown for one in await play.events(ev.AskOpened) if one.kind is AskKind.POINT]
        return shown, await play.routes(), len(play.requests)

    assert (["plan A", "plan A", "plan B"], ["edited", "held", "directed"], 2) == go(story())


def test_50_an_edit_that_was_taken_back_puts_the_point_again() -> None:
    async def story() -> tuple[AskKind, int | None]:
        play = Play(planned(), ["plan A"])
        await play.start()
        await play.reply(option="edit")
        await play.desk.withdraw((await play.ask()).ask, "changed my mind", by=ANN)
        await play.resume()
        asked = await play.ask()
        return asked.kind, asked.round

    assert (AskKind.POINT, 1) == go(story())


@pytest.mark.parametrize(("at_cap", "ended"), [("hold", WAITING), ("abort", CANCELLED)])
def test_51_an_edit_at_the_cap_is_kept_and_the_cap_has_its_way(at_cap: str, ended: EndReason) -> None:
    async def story() -> tuple[EndReason | None, list[ev.DocumentEdited], str | None]:
        play = Play(planned(point={"revisions": 1, "at_cap": at_cap}), ["plan A"])
        await play.start()
        for text in ("plan B", "plan C"):
            await play.reply(option="edit")
            await play.reply(edited=text)
        asks = await play.asks()
        return play.ended, await play.events(ev.DocumentEdited), asks[0].shown if asks else None

    reason, edits, shown = go(story())
    assert (ended, ["plan B", "plan C"]) == (reason, [edit.after for edit in edits])
    assert shown == ("plan C" if at_cap == "hold" else None)


def test_52_an_abort_ends_the_run_with_no_further_request_and_no_transition() -> None:
    async def story() -> tuple[Any, int, list[Any], list[Any]]:
        play = Play(planned(), ["plan", "never said"])
        await play.start()
        result = await play.reply(option="abort", comment="not this quarter")
        return result, len(play.requests), await play.events(ev.StageLeft), list(result.transcript.body[-1].content)

    result, requests, left, content = go(story())
    assert (CANCELLED, 1, []) == (result.end_reason, requests, left)
    assert "plan_approval" in result.detail
    assert (ABORT, "abort", "not this quarter") == (content[-1].choice, content[-1].effect, content[-1].comment)


def test_54_a_question_that_was_withdrawn_fails_the_stage_and_names_the_point() -> None:
    async def story() -> str | None:
        play = Play(planned(), ["plan"])
        await play.start()
        await play.desk.withdraw((await play.ask()).ask, "nobody is here", by=ANN)
        with pytest.raises(RunFailed) as raised:
            await play.resume()
        return raised.value.result.detail

    assert "plan_approval" in (go(story()) or "")


def test_56_and_57_an_answer_for_a_run_that_is_over_changes_nothing() -> None:
    async def story() -> tuple[EndReason | None, list[str]]:
        play = Play(planned(), ["plan"])
        await play.start()
        asked = await play.ask()
        await play.journal.post("s1", ev.CancelRequested("enough"), ANN, "c1")
        await play.desk.answer(asked.ask, Reply(option="approve"))
        await play.resume()
        return play.ended, await play.path()

    assert (CANCELLED, ["plan"]) == go(story())


def test_62_a_document_that_changed_after_its_approval_is_asked_about_again_from_the_first_point() -> None:
    async def story(**on_change: str) -> list[tuple[str | None, str | None]]:
        second = {**POINT, "name": "cost_approval"}
        play = Play(blueprint(stage("plan", points=[{**POINT, **on_change}, second])), ["plan A", "plan B"])
        await play.start()
        await play.reply(option="approve")
        await play.reply(option="revise")
        return [(one.point, one.shown) for one in await play.events(ev.AskOpened)]

    both = [("plan_approval", "plan A"), ("cost_approval", "plan A")]
    assert [*both, ("plan_approval", "plan B")] == go(story())
    assert [*both, ("cost_approval", "plan B")] == go(story(on_change="keep"))


def test_an_approval_of_a_document_that_is_another_one_by_now_is_void_and_asked_for_again() -> None:
    async def story() -> tuple[list[str], str | None, list[str]]:
        play = Play(planned(), ["plan A", "built"])
        await play.start()
        state = await play.state()
        written = ev.RegionWritten(region="plan", entries=(RegionEntry("plan A, and more"),), stage="plan")
        epoch = await play.journal.take_over("s1")
        took = ev.DriverTookOver(epoch)
        by_hand = number((took, written), after=state.seq, by=Actor(ActorKind.TOOL, "elsewhere"))
        await play.journal.append("s1", state.seq, epoch, by_hand)
        await play.reply(option="approve")
        return await play.routes(), (await play.ask()).shown, await play.path()

    assert (["held"], "plan A, and more", ["plan"]) == go(story())


def test_62_a_tool_that_writes_the_approved_region_voids_the_approval_too() -> None:
    async def story() -> list[tuple[str | None, str | None]]:
        second = {**POINT, "name": "cost_approval", "document_region": None}
        plan = stage("plan", points=[POINT, second], tools=["scribble"])
        play = Play(blueprint(plan), ["plan A", call("scribble", text="plan Z"), "see the region"], tools=[scribble])
        await play.start()
        await play.reply(option="approve")
        await play.reply(option="revise")
        return [(one.point, one.shown) for one in await play.events(ev.AskOpened)]

    assert [("plan_approval", "plan A"), ("cost_approval", "plan A"), ("plan_approval", "plan Z")] == go(story())


def test_an_approved_document_is_read_only_for_the_tools_of_later_stages() -> None:
    async def story() -> tuple[str, list[ev.ToolFinished]]:
        stages = (stage("plan", points=[POINT]), stage("build", tools=["scribble"]))
        play = Play(blueprint(*stages), ["plan A", call("scribble", text="mine now"), "built"], tools=[scribble])
        await play.start()
        await play.reply(option="approve")
        return await play.plan(), await play.events(ev.ToolFinished)

    plan, (finished,) = go(story())
    assert ("plan A", True) == (plan, finished.is_error)


def test_an_approved_document_may_be_written_once_its_own_stage_is_entered_again() -> None:
    async def story() -> str:
        edges = [{"to": "plan", "when": "output", "contains": "back"}, {"to": "end"}]
        plan = stage("plan", points=[POINT], tools=["scribble"], edges=[{"to": "build"}])
        script: list[Item] = ["plan A", "back", call("scribble", text="plan B"), "look"]
        play = Play(blueprint(plan, stage("build", edges=edges)), script, tools=[scribble])
        await play.start()
        await play.reply(option="approve")
        return await play.plan()

    assert "plan B" == go(story())


def test_63_a_stage_that_is_entered_again_asks_again_from_the_first_round() -> None:
    async def story() -> list[tuple[int | None, int | None]]:
        edges = [{"to": "plan", "when": "output", "contains": "back"}, {"to": "end"}]
        stages = (stage("plan", points=[POINT], edges=[{"to": "build"}]), stage("build", edges=edges))
        play = Play(blueprint(*stages), ["A", "B", "back", "C"])
        await play.start()
        for answer in ("revise", "approve"):
            await play.reply(option=answer)
        return [(one.visit, one.round) for one in await play.events(ev.AskOpened)]

    assert [(1, 0), (1, 1), (2, 0)] == go(story())


def test_64_no_never_approves() -> None:
    async def story() -> tuple[EndReason | None, list[str]]:
        point = {"name": "go", "prompt": "Go?", "style": "confirm"}
        play = Play(blueprint(stage("plan", points=[point]), stage("build")), ["plan", "built"])
        await play.start()
        await play.reply(is_yes=False)
        return play.ended, await play.path()

    assert (CANCELLED, ["plan"]) == go(story())


def test_65_an_option_with_a_goto_takes_that_way_whatever_the_edges_say() -> None:
    async def story() -> tuple[list[str], list[str], int]:
        point = {**POINT, "options": [*POINT["options"], "Ship it"], "goto": {"Ship it": "ship"}}
        edges = [{"to": "build", "when": "model", "is_default": True}, {"to": "ship", "when": "model"}]
        stages = (stage("plan", points=[point], edges=edges), stage("build"), stage("ship"))
        play = Play(blueprint(*stages), ["plan", "shipped"])
        await play.start()
        await play.reply(option="ship-it")
        return await play.path(), [left.edge for left in await play.events(ev.StageLeft)], len(play.requests)

    path, edges, requests = go(story())
    assert (["plan", "ship"], "goto", 2) == (path, edges[0], requests)


def test_66_a_comment_that_is_needed_reaches_the_model_with_the_decision() -> None:
    async def story() -> list[Any]:
        play = Play(planned(point={"comments": [REVISE]}), ["A", "B"])
        await play.start()
        with pytest.raises(ValueError, match="comment"):
            await play.reply(option="revise")
        await play.reply(option="revise", comment="cheaper")
        return list(play.requests[-1].messages[-1].content)

    assert "cheaper" == go(story())[0].comment


def test_the_words_of_a_free_answer_are_the_persons_and_route_nowhere_by_themselves() -> None:
    async def story() -> tuple[list[Any], list[str]]:
        point = {"name": "hint", "prompt": "What should be minded?"}
        play = Play(blueprint(stage("plan", points=[point]), stage("build")), ["plan", "built"])
        await play.start()
        await play.reply(words="Abort")
        return list(play.requests[-1].messages[-1].content), await play.path()

    content, path = go(story())
    assert ("Abort", "person") == (content[0].text, content[0].author.value)
    assert ["plan", "build"] == path


def test_an_interrupt_while_a_point_is_open_ends_nothing() -> None:
    async def story() -> tuple[EndReason | None, list[str], list[str]]:
        play = Play(planned(), ["plan", "built"])
        await play.start()
        await play.journal.post("s1", ev.Interrupted(), ANN, "i1")
        await play.reply(option="approve")
        return play.ended, await play.path(), [body.why for body in await play.events(ev.EntryRefused)]

    ended, path, why = go(story())
    assert (ANSWERED, ["plan", "build"]) == (ended, path)
    assert "waits for an answer" in why[0]


def test_an_optional_point_left_unanswered_is_skipped_and_recorded_so() -> None:
    async def story() -> tuple[list[str], EndReason | None]:
        point = {"name": "note", "prompt": "Anything?", "required": False}
        play = Play(blueprint(stage("plan", points=[point])), ["plan"])
        await play.start()
        await play.reply()
        return await play.routes(), play.ended

    assert (["skipped"], ANSWERED) == go(story())


def test_43_a_skip_puts_nothing_into_the_conversation() -> None:
    async def story() -> list[object]:
        point = {"name": "note", "prompt": "Anything?", "required": False}
        play = Play(blueprint(stage("plan", points=[point]), stage("build")), ["plan", "built"])
        await play.start()
        await play.reply()
        return [said for block in play.requests[-1].messages[-1].content for said in told(block)]

    assert ["You are in the stage 'build' now."] == go(story())


def test_a_steer_while_a_point_is_open_answers_nothing_and_goes_with_the_next_request() -> None:
    async def story() -> tuple[tuple[int, int], list[str]]:
        play = Play(planned(), ["plan", "built"])
        await play.start()
        words = (Text("approve it all", Author.PERSON),)
        await play.journal.post("s1", ev.InputReceived(input="i1", via="steer", content=words), ANN, "i1")
        await play.resume()
        still_open = len(await play.asks()), len(play.requests)
        await play.reply(option="approve")
        texts = [block.text for block in play.requests[-1].messages[-1].content if isinstance(block, Text)]
        return still_open, texts

    still_open, texts = go(story())
    assert (1, 1) == still_open
    assert "approve it all" in texts
