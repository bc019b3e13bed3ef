"""The blueprint ``plan-build-verify`` that ships, played from the task to its end by every way it has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from handrail.agents.tools import built_in_tools
from handrail.blueprints.shelf import shipped_blueprint
from handrail.journal import events as ev
from handrail.journal.vocabulary import EndReason
from handrail.models.scripted import Item, call
from tests.runs.stages.playing import ABORT, APPROVE, EDIT, REVISE, Play, go, host_words

_BLUEPRINT = shipped_blueprint("plan-build-verify")


def verdict(word: str, *findings: str) -> Item:
    """The answer of a verification."""
    return call("Answer", verdict=word, summary="Ran the tests.", findings=list(findings))


PASS, FAIL = verdict("pass"), verdict("fail", "two tests fail")


def _play(workspace: Path, *script: Item) -> Play:
    return Play(_BLUEPRINT, script, tools=built_in_tools(), workspace=workspace)


@pytest.mark.parametrize(
    ("script", "path"),
    [
        (["The plan.", "Built it.", PASS], ["plan", "build", "verify"]),
        (["The plan.", "Built it.", FAIL, "Mended it.", PASS], ["plan", "build", "verify", "build", "verify"]),
    ],
    ids=["passes", "fails once"],
)
def test_an_approved_plan_is_built_and_verified_until_it_passes(
    tmp_path: Path, script: Sequence[Item], path: list[str]
) -> None:
    async def story() -> None:
        play = _play(tmp_path, *script)
        await play.start("add a flag")
        assert (play.ended, (await play.ask()).shown) == (EndReason.WAITING, "The plan.")
        await play.reply(option=APPROVE)
        assert (await play.path(), play.ended) == (path, EndReason.TOOL_FINISHED)

    go(story())


def test_the_plan_a_person_edited_is_what_the_builder_is_shown(tmp_path: Path) -> None:
    async def story() -> None:
        play = _play(tmp_path, "Use a class.", "Built it.", PASS)
        await play.start("add a flag")
        await play.reply(option=EDIT)
        await play.reply(edited="Use a function.")
        assert await play.plan() == "Use a function."
        await play.reply(option=APPROVE)
        builder = play.requests[1]
        assert "Use a function." in builder.instructions
        assert "Use a class." not in builder.instructions
        assert "add a flag" in builder.instructions

    go(story())


def test_a_revision_asks_what_to_change_and_comes_back_to_the_person(tmp_path: Path) -> None:
    async def story() -> None:
        play = _play(tmp_path, "Plan A.", "Plan B.", "Built it.", PASS)
        await play.start("add a flag")
        await play.reply(option=REVISE)
        assert any("Ask what to change, then plan again." in words for words in host_words(play.requests[1]))
        assert await play.plan() == "Plan B."
        await play.reply(option=APPROVE)
        assert await play.routes() == ["directed", "approved"]

    go(story())


def test_an_abort_ends_it_with_no_further_request(tmp_path: Path) -> None:
    async def story() -> None:
        play = _play(tmp_path, "The plan.")
        await play.start("add a flag")
        await play.reply(option=ABORT)
        assert (play.ended, len(play.requests)) == (EndReason.CANCELLED, 1)

    go(story())


def test_what_never_passes_comes_to_a_person_and_never_goes_round_for_ever(tmp_path: Path) -> None:
    async def story() -> None:
        visits = _BLUEPRINT.stage("build").max_visits or 0
        play = _play(tmp_path, "The plan.", *["Built it.", FAIL] * visits, "It fails because of X.")
        await play.start("add a flag")
        await play.reply(option=APPROVE)
        assert (await play.path())[-1] == "hand-over"
        assert (await play.path()).count("build") == visits
        await play.reply(option="Leave it as it is")
        assert play.ended is EndReason.ANSWERED

    go(story())


def test_findings_of_a_verification_are_shown_to_the_next_builder(tmp_path: Path) -> None:
    async def story() -> None:
        play = _play(tmp_path, "The plan.", "Built it.", FAIL, "Mended it.", PASS)
        await play.start("add a flag")
        await play.reply(option=APPROVE)
        assert "two tests fail" in play.requests[3].instructions
        (last,) = (await play.progress()).regions["findings"]
        assert '"pass"' in last.text

    go(story())


def test_no_stage_can_change_files_before_the_plan_is_approved(tmp_path: Path) -> None:
    async def story() -> None:
        play = _play(tmp_path, "The plan.", "Built it.", PASS)
        await play.start("add a flag")
        await play.reply(option=APPROVE)
        tools = [{spec.name for spec in request.tools} for request in play.requests]
        assert not tools[0] & {"Edit", "MultiEdit", "Write", "Bash"}
        assert {"Edit", "Write", "Bash"} <= tools[1]
        assert not tools[2] & {"Edit", "MultiEdit", "Write"}
        assert [body.stage for body in await play.events(ev.StageEntered)] == ["plan", "build", "verify"]

    go(story())
