"""Stages and edges: rows H.10 of the blueprint catalogue, bounds, being stuck, fail-over, outputs, owed regions."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import MemoryJournal, RunFailed, ScriptedModel, tool
from handrail.journal import events as ev
from handrail.journal.port import number
from handrail.journal.vocabulary import DRIVER, EndReason
from handrail.models.errors import BadKey, Overloaded
from handrail.models.port import ModelRequest
from handrail.models.retry import RetryPolicy
from handrail.models.scripted import Item, call
from handrail.runs.stages import progress_of
from handrail.runs.stages.choosing import named
from handrail.runs.stages.measuring import visit_of
from handrail.transcripts.model import Message, Meta, ToolUse, Write

from .playing import ANN, POINT, Play, blueprint, go, host_words, look, note, scribble, stage

ANSWERED, FAILED = EndReason.ANSWERED, EndReason.FAILED
Edges = list[dict[str, Any]]
END: Edges = [{"to": "end"}]
CHOICES: Edges = [
    {"to": "fix-it", "when": "model", "hint": "something is broken"},
    {"to": "ship", "when": "model", "hint": "all is well", "is_default": True},
]


def routed(*script: Item) -> tuple[list[str], Play]:
    """A stage whose model names the next one, played to its end: the stages, and the play."""

    async def story() -> tuple[list[str], Play]:
        stages = (stage("test", edges=CHOICES), stage("fix-it", edges=END), stage("ship", edges=END))
        play = Play(blueprint(*stages), script)
        await play.start()
        return await play.path(), play

    return go(story())


def test_141_a_list_is_gone_through_and_then_the_run_is_over() -> None:
    async def story() -> tuple[list[str], EndReason | None, Any]:
        play = Play(blueprint(stage("one"), stage("two"), stage("three")), ["1", "2", "3"])
        result = await play.start()
        return await play.path(), play.ended, result.output

    assert (["one", "two", "three"], ANSWERED, "3") == go(story())


def test_each_stage_has_its_own_instructions_and_the_conversation_goes_on() -> None:
    async def story() -> list[tuple[str, int]]:
        play = Play(blueprint(stage("one"), stage("two")), ["1", "2"])
        await play.start()
        return [(request.instructions.split("\n")[0], len(request.messages)) for request in play.requests]

    assert [("This is one.", 1), ("This is two.", 3)] == go(story())


def test_the_model_is_told_which_stage_it_is_in_by_the_host() -> None:
    async def story() -> list[str]:
        play = Play(blueprint(stage("one"), stage("two", description="Do the second thing.")), ["1", "2"])
        await play.start()
        return host_words(play.requests[-1])

    assert ["You are in the stage 'two' now. Do the second thing."] == go(story())


# Which edge --------------------------------------------------------------------------------------------------


def test_code_decides_first_in_the_order_of_the_list() -> None:
    async def story() -> tuple[list[str], int]:
        edges = [
            {"to": "never", "when": "output", "contains": "nothing of the kind"},
            {"to": "broken", "when": "tool", "tool": "look", "matches": "*seen*"},
            {"to": "later", "when": "always"},
            {"to": "never", "when": "model", "is_default": True},
        ]
        stages = [stage("test", edges=edges, tools=["look"])]
        stages += [stage(name, edges=END) for name in ("broken", "later", "never")]
        play = Play(blueprint(*stages), [call("look"), "tested", "mended"], tools=[look])
        await play.start()
        return await play.path(), len(play.requests)

    assert (["test", "broken"], 3) == go(story())


def test_a_region_decides_by_what_it_holds() -> None:
    async def story(text: str) -> list[str]:
        edges = [{"to": "more", "when": "region", "region": "plan", "contains": "open"}, {"to": "end"}]
        stages = (stage("plan", tools=["scribble"], edges=edges), stage("more", edges=END))
        play = Play(blueprint(*stages), [call("scribble", text=text), "so", "more"], tools=[scribble])
        await play.start()
        return await play.path()

    assert ["plan", "more"] == go(story("one is open"))
    assert ["plan"] == go(story("all is done"))


def test_142_the_model_is_asked_once_no_other_edge_fits_in_one_round_without_tools() -> None:
    path, play = routed("all green", "ship", "shipped")
    assert ["test", "ship"] == path
    asked = play.requests[1]
    assert "none" == asked.tool_choice
    assert "- fix-it: something is broken\n- ship: all is well" in host_words(asked)[0]


def test_143_the_end_may_be_one_of_the_choices() -> None:
    async def story() -> tuple[list[str], EndReason | None]:
        edges = [{"to": "end", "when": "model"}, {"to": "more", "when": "model", "is_default": True}]
        play = Play(blueprint(stage("test", edges=edges), stage("more")), ["tested", "end"])
        await play.start()
        return await play.path(), play.ended

    assert (["test"], ANSWERED) == go(story())


NAMINGS = (
    "name",
    "case",
    "marks",
    "145-last-line",
    "first-line",
    "144-prose",
    "part",
    "146-hyphen",
    "half",
    "two",
    "last",
    "empty",
)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("ship", "ship"),
        ("SHIP.", "ship"),
        ("**ship**", "ship"),
        ("We have seen enough of it.\n\nship", "ship"),
        ("ship\nbecause all of the tests went through", "ship"),
        ("I think we should ship it now", None),
        ("shipping", None),
        ("fix-it", "fix-it"),
        ("fix", None),
        ("fix-it or ship", None),
        ("ship?\nfix-it!", "fix-it"),
        ("", None),
    ],
    ids=[
        "name",
        "case",
        "marks",
        "145-last-line",
        "first-line",
        "144-prose",
        "part",
        "146-hyphen",
        "half",
        "two",
        "last-wins",
        "empty",
    ],
)
def test_144_145_146_a_name_is_a_whole_word_on_a_short_line(reply: str, expected: str | None) -> None:
    assert expected == named(reply, ("fix-it", "ship"))


def test_147_a_reply_that_names_nothing_is_asked_about_once_more_then_the_default_is_taken() -> None:
    path, play = routed("tested", "hard to say", "really hard to say", "shipped")
    assert ["test", "ship"] == path
    assert "none of the names" in host_words(play.requests[2])[0]
    path, _ = routed("tested", "hard to say", "fix-it", "fixed")
    assert ["test", "fix-it"] == path


def test_a_call_in_the_place_of_a_name_is_not_run() -> None:
    path, _ = routed("tested", call("look"), "fix-it", "fixed")
    assert ["test", "fix-it"] == path


def test_148_visits_that_are_used_up_are_no_way_out_and_without_any_it_is_an_error() -> None:
    async def story(*more: dict[str, Any]) -> tuple[list[str], EndReason, str | None]:
        edges = [{"to": "end", "when": "output", "equals": "never said"}, {"to": "work"}, *more]
        play = Play(blueprint(stage("work", max_visits=2, edges=edges), stage("mend")), ["1", "2", "3"])
        try:
            result = await play.start()
        except RunFailed as failed:
            result = failed.result
        return await play.path(), result.end_reason, result.detail

    path, reason, detail = go(story())
    assert (["work", "work"], FAILED) == (path, reason)
    assert "no way out" in (detail or "")
    assert ["work", "work", "mend"] == go(story({"to": "mend", "when": "error"}))[0]


def test_a_goto_to_a_stage_whose_visits_are_used_up_fails_instead_of_going_elsewhere() -> None:
    async def story() -> tuple[list[str], str | None]:
        point = {**POINT, "options": [*POINT["options"], "Again"], "goto": {"Again": "plan"}}
        play = Play(blueprint(stage("plan", points=[point], max_visits=1), stage("build")), ["plan"])
        await play.start()
        with pytest.raises(RunFailed) as raised:
            await play.reply(option="again")
        return await play.path(), raised.value.result.detail

    path, detail = go(story())
    assert (["plan"], "stage plan may not be entered once more") == (path, detail)


# Bounds ------------------------------------------------------------------------------------------------------


def test_149_a_bound_of_the_stage_takes_its_edge_and_the_next_stage_is_told() -> None:
    async def story() -> tuple[list[str], list[str]]:
        edges = [{"to": "end"}, {"to": "report", "when": "limit", "bounds": ["max_rounds"]}]
        stages = (stage("work", limits={"max_rounds": 2}, tools=["look"], edges=edges), stage("report"))
        play = Play(blueprint(*stages), [call("look"), call("look"), "reported"], tools=[look])
        await play.start()
        return await play.path(), host_words(play.requests[-1])

    path, told = go(story())
    assert ["work", "report"] == path
    assert "max_rounds" in told[-1]


def test_a_bound_of_the_stage_without_an_edge_ends_the_run_and_claims_no_answer() -> None:
    async def story() -> tuple[list[str], EndReason | None]:
        stages = (stage("work", limits={"max_rounds": 1}, tools=["look"]), stage("report"))
        play = Play(blueprint(*stages), [call("look"), "never"], tools=[look])
        await play.start()
        return await play.path(), play.ended

    assert (["work"], EndReason.MAX_ROUNDS) == go(story())


def test_a_bound_of_the_run_ends_it_whatever_edges_there_are() -> None:
    async def story() -> tuple[list[str], EndReason | None]:
        edges = [{"to": "end"}, {"to": "report", "when": "limit"}]
        stages = (stage("work", tools=["look"], edges=edges), stage("report"))
        play = Play(blueprint(*stages, limits={"max_rounds": 2}), [call("look"), call("look"), "never"], tools=[look])
        await play.start()
        return await play.path(), play.ended

    assert (["work"], EndReason.MAX_ROUNDS) == go(story())


def test_limits_are_of_each_visit_and_of_each_revision() -> None:
    async def story() -> tuple[EndReason | None, int]:
        limits = {"max_rounds": 2}
        plan = stage("plan", points=[POINT], limits=limits, tools=["look"])
        play = Play(blueprint(plan), [call("look"), "A", call("look"), "B", call("look"), "C"], tools=[look])
        await play.start()
        for answer in ("revise", "revise", "approve"):
            await play.reply(option=answer)
        return play.ended, len(play.requests)

    assert (ANSWERED, 6) == go(story())


def test_what_a_person_lets_pass_at_a_bound_counts_as_done() -> None:
    async def story() -> list[str]:
        edges = [{"to": "build"}, {"to": "salvage", "when": "limit"}]
        plan = stage("plan", points=[POINT], limits={"max_rounds": 1}, tools=["look"], edges=edges)
        script: list[Item] = [["half a plan", call("look")], "built"]
        play = Play(blueprint(plan, stage("build", edges=END), stage("salvage")), script, tools=[look])
        await play.start()
        await play.reply(option="approve")
        return await play.path()

    assert ["plan", "build"] == go(story())


# Being stuck -------------------------------------------------------------------------------------------------


def stuck_play(edges: Edges, script: list[Item], **more: Any) -> Play:
    work = stage("work", tools=["look"], edges=edges, **more)
    return Play(blueprint(work, stage("help", edges=[{"to": "work"}, {"to": "end"}])), script, tools=[look])


def test_149_a_stage_that_is_stuck_takes_its_edge_and_151_once_a_visit() -> None:
    async def story() -> tuple[list[str], list[str]]:
        edges: Edges = [{"to": "end"}, {"to": "help", "when": "stuck", "tool_calls": 2}]
        play = stuck_play(edges, [call("look"), call("look"), "helped", "done"], max_visits=2)
        await play.start()
        reasons = [str(body.reason) for body in await play.events(ev.StageLeft)]
        return await play.path(), reasons

    path, reasons = go(story())
    assert ["work", "help", "work"] == path
    assert "2 tool calls (stuck at 2)" in reasons[0]


def test_150_without_a_way_out_that_is_open_a_stuck_stage_goes_on() -> None:
    async def story() -> tuple[list[str], EndReason | None]:
        edges: Edges = [{"to": "end"}, {"to": "work", "when": "stuck", "tool_calls": 1}]
        play = stuck_play(edges, [call("look"), call("look"), "done"], max_visits=1)
        await play.start()
        return await play.path(), play.ended

    assert (["work"], ANSWERED) == go(story())


def test_edits_of_one_file_are_counted_when_they_succeeded() -> None:
    uses = tuple(ToolUse(str(at), Write("a.py" if at < 3 else "b.py", "x")) for at in range(4))
    bodies: list[ev.Known] = [
        ev.SessionOpened(Meta(id="s")),
        ev.RunStarted(run="r", blueprint="d"),
        ev.StageEntered(stage="work"),
        ev.ModelRequested(request=1, round=1),
        ev.ModelReplied(message=Message(role="assistant", content=uses)),
        *(ev.ToolFinished(call=use.id, is_error=use.id == "0") for use in uses),
    ]
    progress = progress_of(number(bodies, after=0, by=DRIVER))
    assert progress.visit is not None
    assert 2 == visit_of(progress, progress.visit).same_file_edits


# Models ------------------------------------------------------------------------------------------------------


def test_a_provider_that_fails_for_good_hands_the_same_round_to_the_next_model() -> None:
    async def story() -> tuple[list[str], int, Any]:
        other = ScriptedModel(["from the other"], name="other")
        one = stage("one", models=["scripted", "other"])
        play = Play(blueprint(one), [BadKey("no key")], models=[other])
        result = await play.start()
        asked = await play.events(ev.ModelRequested)
        return [str(body.model) for body in asked], asked[-1].round, (result.output, result.rounds)

    models, last_round, result = go(story())
    assert (["scripted:scripted", "scripted:other"], 1, ("from the other", 1)) == (models, last_round, result)


def test_the_next_model_has_its_own_retries_and_the_last_one_fails_the_stage() -> None:
    async def story() -> tuple[EndReason, int]:
        other = ScriptedModel([Overloaded("busy"), BadKey("no key either")], name="other")
        one = stage("one", models=["scripted", "other"])
        play = Play(blueprint(one), [BadKey("no key")], models=[other], retry=RetryPolicy(base_s=0))
        with pytest.raises(RunFailed) as raised:
            await play.start()
        return raised.value.result.end_reason, len(other.requests)

    assert (FAILED, 2) == go(story())


def test_the_next_visit_begins_with_the_first_model_again() -> None:
    async def story() -> list[str]:
        other = ScriptedModel(["a"], name="other")
        one = stage("one", models=["scripted", "other"])
        play = Play(blueprint(one, stage("two")), [BadKey("no key"), "b", "c"], models=[other])
        await play.start()
        return [str(body.model) for body in await play.events(ev.ModelRequested)]

    assert ["scripted:scripted", "scripted:other", "scripted:scripted"] == go(story())


def test_a_model_a_tool_or_a_strategy_that_nobody_offers_is_said_before_anything_starts() -> None:
    async def story(**more: Any) -> tuple[str, int]:
        play = Play(blueprint(stage("one", **more)), ["never"])
        with pytest.raises(LookupError) as raised:
            await play.start()
        return str(raised.value), len(await play.events())

    for more in ({"models": ["claude-99"]}, {"tools": ["Teleport"]}, {"strategies": ["wishful"]}):
        told, events = go(story(**more))
        assert str(next(iter(more.values()))[0]) in told
        assert 0 == events


# What a stage owes -------------------------------------------------------------------------------------------

VERDICT = {"type": "object", "properties": {"verdict": {"type": "string"}}, "required": ["verdict"]}


def test_a_typed_output_decides_is_kept_in_its_region_and_is_the_result() -> None:
    async def story() -> tuple[list[str], str, Any, Any]:
        edges = [{"to": "end", "when": "output", "field": "verdict", "equals": "pass"}, {"to": "fix", "when": "always"}]
        output = {"schema": VERDICT, "region": "plan"}
        stages = (stage("verify", output=output, edges=edges), stage("fix"))
        script = [call("Answer", verdict=7), call("Answer", verdict="pass")]
        play = Play(blueprint(*stages), script)
        result = await play.start()
        first = (await play.events(ev.ToolFinished))[0]
        return await play.path(), await play.plan(), result.output, first.is_error

    assert (["verify"], '{"verdict":"pass"}', {"verdict": "pass"}, True) == go(story())


def test_155_a_stage_that_ends_without_the_output_it_owes_fails() -> None:
    async def story() -> tuple[EndReason, str | None]:
        play = Play(blueprint(stage("verify", output={"schema": VERDICT})), ["no"] * 9)
        with pytest.raises(RunFailed) as raised:
            await play.start()
        return raised.value.result.end_reason, raised.value.result.detail

    assert (FAILED, "the stage ended without its output") == go(story())


def test_154_a_required_region_that_is_empty_sends_the_stage_round_again_and_fails_it_at_the_cap() -> None:
    async def story(script: list[Item]) -> tuple[EndReason, int, list[str]]:
        region = {"kind": "pinned", "name": "plan", "required": True, "required_message": "Write the plan down."}
        play = Play(blueprint(stage("plan", tools=["scribble"]), regions=[region]), script, tools=[scribble])
        try:
            result = await play.start()
        except RunFailed as failed:
            result = failed.result
        told = [words for request in play.requests for words in host_words(request)]
        return result.end_reason, len(play.requests), told

    mended: list[Item] = ["done", call("scribble", text="x"), "done"]
    assert (ANSWERED, 3, ["Write the plan down."]) == go(story(mended))
    assert (FAILED, 4, ["Write the plan down."] * 3) == go(story(["done"] * 9))


def test_what_a_tool_wrote_is_still_the_document_when_the_stage_was_sent_round_for_something_else() -> None:
    async def story() -> str | None:
        regions = [{"kind": "pinned", "name": "plan"}, {"kind": "pinned", "name": "notes", "required": True}]
        plan = stage("plan", points=[POINT], tools=["scribble", "note"])
        script: list[Item] = [call("scribble", text="the plan"), "done", call("note", text="a note"), "done too"]
        play = Play(blueprint(plan, regions=regions), script, tools=[scribble, note])
        await play.start()
        return (await play.ask()).shown

    assert "the plan" == go(story())


def test_156_a_run_paused_where_a_stage_ends_leaves_it_when_it_is_resumed() -> None:
    async def story() -> tuple[list[str], list[str]]:
        journal = MemoryJournal()

        async def pausing(request: ModelRequest) -> str:
            await journal.post("s1", ev.PauseRequested(), ANN, "p")
            return "one"

        play = Play(blueprint(stage("one"), stage("two")), [pausing, "two"], journal=journal)
        await play.start()
        before = await play.path()
        await journal.post("s1", ev.ResumeRequested(), ANN, "r")
        await play.resume()
        return before, await play.path()

    assert (["one"], ["one", "two"]) == go(story())


def test_157_a_run_that_is_cancelled_while_the_model_chooses_stays_cancelled() -> None:
    async def story() -> tuple[EndReason | None, list[str]]:
        journal = MemoryJournal()

        async def cancelled(request: ModelRequest) -> str:
            await journal.post("s1", ev.CancelRequested(), ANN, "c")
            return "ship"

        stages = (stage("test", edges=CHOICES), stage("fix-it"), stage("ship"))
        play = Play(blueprint(*stages), ["tested", cancelled], journal=journal)
        await play.start()
        return play.ended, await play.path()

    assert (EndReason.CANCELLED, ["test"]) == go(story())


def test_two_tools_of_one_name_are_said_before_anything_starts() -> None:
    @tool(name="Answer")
    async def answer() -> str:
        """Another tool of that name."""
        return "mine"

    async def story() -> int:
        play = Play(blueprint(stage("one", output={"schema": VERDICT}, tools=["Answer"])), ["x"], tools=[answer])
        with pytest.raises(ValueError, match="two tools are called 'Answer'"):
            await play.start()
        return len(await play.events())

    assert 0 == go(story())


def test_what_is_asked_at_points_can_be_named_by_the_beginning_of_its_id() -> None:
    async def story() -> list[str]:
        play = Play(blueprint(stage("plan", points=[POINT])), ["A", "B", "C"])
        await play.start()
        for _ in range(2):
            await play.reply(option="revise")
        return [asked.ask[:8] for asked in await play.events(ev.AskOpened)]

    assert 3 == len(set(go(story())))
