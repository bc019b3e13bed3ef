"""What checks did in runs of ours and in other hosts, in one list."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("pydantic")

from handrail.agents.agent import Agent
from handrail.agents.options import RunOptions
from handrail.agents.result import Session
from handrail.agents.tool import tool
from handrail.app import open_machine
from handrail.app.learning.fired import fired_checks
from handrail.app.learning.places import learning_folder
from handrail.journal.file import FileJournal
from handrail.learning.checks.enforcing import HoldReplies, hooks_of
from handrail.learning.checks.firing import Firing, FiringStore
from handrail.learning.checks.force import MAX_REFUSALS, InForce
from handrail.learning.checks.spec import CallPattern, Forbid, Reply
from handrail.models.scripted import Item, ScriptedModel, call

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@tool(name="Bash")
def shell(command: str) -> str:
    """Run a command."""
    return "done"


def _run(root: Path) -> None:
    """A session of ours in which three checks fire."""
    push = Forbid(call=CallPattern(command="git push*"))
    checks = (
        InForce(rule="r1", text="Ask first.", check=push, is_enforced=True),
        InForce(rule="r2", text="Not so fast.", check=Forbid(call=CallPattern(command="ls*"))),
        InForce(rule="r3", text="No praise.", check=Reply(without=("great question",)), is_enforced=True),
    )
    said = [call("Bash", command="git push")] * (MAX_REFUSALS + 1)
    script: list[Item] = [*said, call("Bash", command="ls"), "Great question!", "Done."]
    options = RunOptions(hooks=hooks_of(checks, None), strategies=(HoldReplies(checks),), workspace=root)

    async def story() -> None:
        session = Session("01900000-0000-7000-8000-000000000001", FileJournal(root))
        await Agent(model=ScriptedModel(script), tools=[shell]).run("go", options, session=session)

    asyncio.run(story())


def test_what_checks_did_in_runs_and_in_hosts_is_one_list(tmp_path: Path) -> None:
    environment = {"HANDRAIL_HOME": str(tmp_path / "home")}
    _run(tmp_path / "sessions")
    noted = Firing(at=NOW, host="codex", event="Stop", session="s", did="noted", rule="r3", what="Great question!")
    FiringStore(learning_folder(environment)).add(lambda _: [noted])
    machine = open_machine({"handrail": tmp_path / "sessions"}, only_given=True)

    found = fired_checks(machine, environment)

    counted = {one.rule: (one.refused, one.let_pass, one.noted) for one in found.rules}
    assert counted == {"r1": (MAX_REFUSALS, 1, 0), "r2": (0, 0, 1), "r3": (1, 0, 1)}
    assert {row.host for row in found.fired} == {"handrail", "codex"}
    assert found.unread == ()


def test_it_can_be_narrowed_to_rules_and_a_time(tmp_path: Path) -> None:
    environment = {"HANDRAIL_HOME": str(tmp_path)}
    rows = [
        Firing(at=NOW - timedelta(days=number), host="codex", event="Stop", session="s", did="noted", rule=f"r{number}")
        for number in range(3)
    ]
    FiringStore(learning_folder(environment)).add(lambda _: rows)
    machine = open_machine({"handrail": tmp_path / "none"}, only_given=True)

    assert [row.rule for row in fired_checks(machine, environment, ("r1",)).fired] == ["r1"]
    assert [row.rule for row in fired_checks(machine, environment, (), NOW - timedelta(days=1)).fired] == ["r0", "r1"]
