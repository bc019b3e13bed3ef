"""The blueprint ``research-review`` that ships, played from the question to its end by every way it has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handrail.agents.tools import built_in_tools
from handrail.blueprints.shelf import shipped_blueprint
from handrail.journal import events as ev
from handrail.journal.vocabulary import EndReason
from handrail.models.port import ModelRequest
from handrail.models.scripted import call
from tests.runs.stages.playing import ABORT, EDIT, REVISE, Play, go, host_words

PARTS = [{"id": "cost", "context": "what it costs"}, {"id": "risk", "context": "what may go wrong"}]


def _says(request: ModelRequest) -> Any:
    """One model for all stages, told apart by their instructions."""
    shown = request.instructions or ""
    if "You cut the question into parts" in shown:
        return call("FanOut", items=PARTS)
    if "You look into one part" in shown:
        return call("Answer", answer="Little.", findings=[], open=[])
    return "# Report, revised" if any("Ask what to change" in words for words in host_words(request)) else "# Report"


def _play(workspace: Path) -> Play:
    return Play(shipped_blueprint("research-review"), [_says] * 30, tools=built_in_tools(), workspace=workspace)


def test_the_parts_of_a_question_are_looked_into_by_workers_and_the_report_is_put_to_a_person(tmp_path: Path) -> None:
    async def story() -> None:
        play = _play(tmp_path)
        await play.start("is it worth it?")
        asked = await play.ask()
        assert (asked.point, asked.shown, play.ended) == ("report_review", "# Report", EndReason.WAITING)
        assert len(await play.journal.sessions()) == 1 + len(PARTS)
        (evidence,) = (await play.progress()).regions["evidence"]
        assert all(f"## {part['id']} (done)" in evidence.text for part in PARTS)
        assert "is it worth it?" in play.requests[-1].instructions
        assert evidence.text in play.requests[-1].instructions
        await play.reply(option="Accept")
        assert (await play.path(), play.ended) == (["split", "write"], EndReason.ANSWERED)

    go(story())


@pytest.mark.parametrize(
    ("reply", "report", "path"),
    [
        ({"option": REVISE}, "# Report, revised", ["split", "write"]),
        ({"option": EDIT, "edited": "# Mine"}, "# Mine", ["split", "write"]),
        ({"option": "Research more"}, "# Report", ["split", "write", "split", "write"]),
    ],
    ids=["revise", "edit", "research more"],
)
def test_a_person_sends_the_report_back_changes_it_or_wants_more(
    tmp_path: Path, reply: dict[str, Any], report: str, path: list[str]
) -> None:
    async def story() -> None:
        play = _play(tmp_path)
        await play.start("is it worth it?")
        await play.reply(**reply)
        assert (await play.ask()).shown == report
        await play.reply(option="Accept")
        assert (await play.path(), play.ended) == (path, EndReason.ANSWERED)
        (kept,) = (await play.progress()).regions["report"]
        assert kept.text == report

    go(story())


def test_an_abort_ends_it_with_no_further_request(tmp_path: Path) -> None:
    async def story() -> None:
        play = _play(tmp_path)
        await play.start("is it worth it?")
        asked = len(play.requests)
        await play.reply(option=ABORT)
        assert (play.ended, len(play.requests)) == (EndReason.CANCELLED, asked)
        assert [body.stage for body in await play.events(ev.StageEntered)] == ["split", "write"]

    go(story())
