"""Whether the loop is alive: every way in which it can look as if it worked, and does not."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from handrail.app.learning.checkup import Grade, LoopCheckup, loop_checkup
from handrail.app.learning.delivering import SyncOrder, sync
from handrail.app.learning.memory import Memory, memory_in
from handrail.learning.probes.ledger import Arm
from handrail.learning.probes.store import LedgerStore
from handrail.learning.proposals.model import Proposal
from handrail.learning.rules.model import Life, Rule, RuleBook, RuleScope
from handrail.testing.clock import ManualClock
from tests.cli.shell import handrail
from tests.learning.probes.test_ledger import AT, row

Environment = dict[str, str]


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return {"HANDRAIL_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": ""}


@pytest.fixture
def memory(environment: Environment) -> Memory:
    return memory_in(Path(environment["HANDRAIL_HOME"]) / "learning")


def _keep(memory: Memory, *rules: Rule) -> None:
    memory.rules.update(lambda _: RuleBook(rules))


def _rule(id: str = "ra00000", life: Life = Life.ACTIVE, **scope: Any) -> Rule:
    return Rule(id=id, text=f"Rule {id}.", life=life, by="owner", scope=RuleScope(**scope))


def _look(environment: Environment) -> LoopCheckup:
    return loop_checkup(environment, clock=ManualClock(AT))


def _codes(environment: Environment) -> list[tuple[str, str]]:
    return [(one.code, one.about) for one in _look(environment).findings if one.grade is Grade.PROBLEM]


def test_a_loop_that_is_well_has_nothing_wrong_and_looking_creates_nothing(environment: Environment) -> None:
    assert _look(environment).findings == ()
    assert not Path(environment["HANDRAIL_HOME"]).exists()


def test_a_rule_that_every_run_can_load_is_well(environment: Environment, memory: Memory, tmp_path: Path) -> None:
    _keep(memory, _rule(), _rule("rb00000", repositories=(str(tmp_path),), harnesses=("handrail",)))

    assert _codes(environment) == []


@pytest.mark.parametrize(
    "scope",
    [{"repositories": ()}, {"repositories": ("/nonesuch/shop",)}, {"harnesses": ("teletype",)}, {"paths": ()}],
)
def test_a_rule_that_no_run_can_load_is_told_of(
    environment: Environment, memory: Memory, scope: dict[str, Any]
) -> None:
    _keep(memory, _rule(**scope), _rule("rb00000", Life.RETIRED, **scope), _rule("rc00000", Life.CANDIDATE, **scope))

    assert _codes(environment) == [("dark_rule", "ra00000")]


def test_a_rule_for_another_tool_is_well_only_once_it_stands_in_a_file_of_it(
    environment: Environment, memory: Memory, tmp_path: Path
) -> None:
    shop = tmp_path.resolve() / "shop"
    (shop / ".git").mkdir(parents=True)
    _keep(memory, _rule(harnesses=("claude_code",), repositories=(str(shop),)))
    assert _codes(environment) == [("undelivered_rule", "ra00000")]

    sync(memory, SyncOrder(folder=shop, targets=("claude",)))
    assert _codes(environment) == []
    sync(memory, SyncOrder(folder=shop, targets=("claude",), removes=True))
    assert _codes(environment) == [("undelivered_rule", "ra00000")]


def test_rules_without_room_are_told_of(environment: Environment, memory: Memory, tmp_path: Path) -> None:
    many = (Rule(id=f"r{n:06}", text=f"Rule {n}.", life=Life.ACTIVE) for n in range(13))
    placed = Rule(id="rz00000", text="Here.", life=Life.TRIAL, scope=RuleScope(repositories=(str(tmp_path),)))
    _keep(memory, *many, placed)

    assert ("no_room", "rz00000") in _codes(environment)


def test_rules_of_every_repository_without_room_are_told_of(environment: Environment, memory: Memory) -> None:
    _keep(memory, *(Rule(id=f"r{n:06}", text=f"Rule {n}.", life=Life.ACTIVE) for n in range(13)))

    assert ("no_room", "r000012") in _codes(environment)


def test_a_proposal_that_nobody_looks_at_is_told_of_after_a_week(environment: Environment, memory: Memory) -> None:
    with memory.proposals.writing():
        memory.proposals.put(Proposal(id="pold", created_at=AT - timedelta(days=7)))
        memory.proposals.put(Proposal(id="pnew", created_at=AT - timedelta(days=6)))

    assert _codes(environment) == [("proposal_waits", "pold")]


def test_what_cannot_be_read_or_is_read_by_nobody_is_told_of(environment: Environment, memory: Memory) -> None:
    _keep(memory, _rule())
    for name in ("rules.jsonl", "lessons.jsonl", "probes.jsonl", "delivered.jsonl"):
        with (memory.folder / name).open("ab") as stream:
            stream.write(b"{torn\n")
    (memory.folder / "behaviour.rules.toml").write_text("x")  # I.6: a file name with a slip in it
    (memory.folder / "proposals").mkdir()
    (memory.folder / "proposals" / "pbad.json").write_text("{")

    assert sorted(_codes(environment)) == [
        ("bad_lines", "delivered.jsonl"),
        ("bad_lines", "lessons.jsonl"),
        ("bad_lines", "probes.jsonl"),
        ("bad_lines", "rules.jsonl"),
        ("bad_proposal", "pbad.json"),
        ("stray_file", "behaviour.rules.toml"),
    ]


def test_what_rides_and_was_never_measured_is_a_note(environment: Environment, memory: Memory) -> None:
    _keep(memory, Rule(id="r1", text="One.", life=Life.TRIAL), Rule(id="r2", text="Two.", life=Life.TRIAL))
    LedgerStore(memory.folder).add([row("m", Arm.FAILED, Arm.PASSED)])

    found = _look(environment)

    assert [(one.code, one.about) for one in found.findings] == [("never_probed", "r2")]
    assert not found.has_problems


def test_the_command_ends_with_3_where_something_is_wrong(environment: Environment, memory: Memory) -> None:
    assert handrail(environment, "doctor", "--loop").code == 0
    _keep(memory, _rule(repositories=()))

    ended = handrail(environment, "doctor", "--loop", "--json")

    assert ended.code == 3
    assert [one["code"] for one in ended.value["findings"]] == ["dark_rule"]
    assert handrail(environment, "doctor", "x", "--loop").code == 2
