"""Rules that ride in our own runs: at the end of the instructions, few, recorded, and left out when told to be."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("pydantic")

from handrail.agents.agent import Agent
from handrail.agents.options import RunOptions
from handrail.agents.result import Session
from handrail.app.learning.places import learning_folder
from handrail.app.outfitting import Outfit, Wish, fitted_out
from handrail.journal.events import RunStarted
from handrail.journal.memory import MemoryJournal
from handrail.learning.delivery.managed import Wanted, with_block
from handrail.learning.rules.block import HEADING, without_block
from handrail.learning.rules.model import Life, Rule, RuleBook, RuleScope
from handrail.learning.rules.store import RuleStore
from handrail.models.scripted import ScriptedModel

Environment = dict[str, str]


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return {"HANDRAIL_HOME": str(tmp_path / "home"), "HANDRAIL_CONFIG_DIR": str(tmp_path / "config"), "PATH": ""}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


def _rule(id: str, text: str, life: Life = Life.ACTIVE, **scope: tuple[str, ...]) -> Rule:
    return Rule(id=id, text=text, life=life, scope=RuleScope(**scope))


def _keep(environment: Environment, *rules: Rule, own: str = "") -> RuleStore:
    store = RuleStore(learning_folder(environment))
    store.update(lambda _: RuleBook(rules))
    if own:
        store.own.write_text(own)
    return store


def _outfit(environment: Environment, wish: Wish) -> Outfit:
    async def story() -> Outfit:
        async with fitted_out(wish, environment) as outfit:
            return outfit

    return asyncio.run(story())


def test_rules_of_this_place_stand_at_the_end_of_the_instructions(environment: Environment, shop: Path) -> None:
    here, elsewhere = str(shop), str(shop.parent / "bank")
    _keep(
        environment,
        _rule("ra", "Run the tests.", repositories=(here,), harnesses=("handrail",)),
        _rule("rb", "Not here.", repositories=(elsewhere,)),
        _rule("rc", "Not in this harness.", harnesses=("codex",)),
        _rule("rd", "With a tool that is there.", tools=("Bash",)),
        _rule("re", "With a tool that is not.", tools=("Teleport",)),
        _rule("rf", "Only proposed.", Life.CANDIDATE),
    )

    outfit = _outfit(environment, Wish(workspace=shop / "src"))

    assert outfit.rules.rules == ("ra", "rd")
    assert outfit.instructions.endswith("\n- Run the tests.\n- With a tool that is there.")


def test_a_rule_about_a_tool_does_not_ride_where_the_tool_is_left_out(environment: Environment, shop: Path) -> None:
    _keep(environment, _rule("ra", "Ask before you delete.", tools=("Bash",)))

    assert _outfit(environment, Wish(workspace=shop, is_read_only=True)).rules.rules == ()


def test_the_owners_own_come_first_and_need_no_learned_one(environment: Environment, shop: Path) -> None:
    _keep(environment, own="# Mine\n- Use tabs.\n")

    assert _outfit(environment, Wish(workspace=shop)).instructions.endswith("\n- Use tabs.")


def test_the_prompt_before_the_block_is_the_same_bytes_with_rules_and_without(
    environment: Environment, shop: Path
) -> None:
    plain = _outfit(environment, Wish(workspace=shop)).instructions
    _keep(environment, _rule("ra", "Run the tests."), own="Use tabs.")

    with_rules = _outfit(environment, Wish(workspace=shop)).instructions

    assert with_rules.startswith(f"{plain}\n\n{HEADING}")
    assert without_block(with_rules) == plain  # J 45


def test_no_rules_ride_when_told_so(environment: Environment, shop: Path) -> None:
    _keep(environment, _rule("ra", "Run the tests."), own="Use tabs.")

    outfit = _outfit(environment, Wish(workspace=shop, has_rules=False))

    assert HEADING not in outfit.instructions
    assert outfit.rules.rules == ()


def test_a_store_that_is_not_there_is_not_made_by_a_run(environment: Environment, shop: Path) -> None:
    assert HEADING not in _outfit(environment, Wish(workspace=shop)).instructions  # D.4
    assert not Path(environment["HANDRAIL_HOME"]).exists()


def test_a_line_that_is_no_rule_is_told_of_and_costs_only_itself(environment: Environment, shop: Path) -> None:
    store = _keep(environment, _rule("ra", "Run the tests."))
    store.file.write_bytes(b'{"id":\n' + store.file.read_bytes())

    outfit = _outfit(environment, Wish(workspace=shop))

    assert outfit.rules.rules == ("ra",)
    assert any("lines 1 of rules.jsonl" in notice for notice in outfit.notices)


def test_rules_without_room_are_named(environment: Environment, shop: Path) -> None:
    _keep(environment, *(_rule(f"r{number:02}", f"Rule number {number}.") for number in range(14)))

    outfit = _outfit(environment, Wish(workspace=shop))

    assert len(outfit.rules.rules) == 12
    assert any("r12, r13" in notice for notice in outfit.notices)


def test_a_run_records_what_rode_and_what_its_agent_was_told() -> None:
    journal = MemoryJournal()
    agent = Agent(model=ScriptedModel(["Done."]), instructions="Be brief.")

    async def story() -> list[RunStarted]:
        session = Session("s1", journal)
        await agent.run("go", RunOptions(rules=("ra",), rules_digest="d"), session=session)
        return [event.body for event in await journal.read("s1") if isinstance(event.body, RunStarted)]

    (started,) = asyncio.run(story())
    assert (started.rules, started.rules_digest, started.instructions) == (("ra",), "d", "Be brief.")


def test_none_rode_and_nobody_recorded_it_are_told_apart() -> None:
    assert RunStarted(run="r").rules is None
    assert RunStarted(run="r", rules=()).rules == ()


def test_a_block_for_other_tools_is_not_read_twice(environment: Environment, shop: Path) -> None:
    _keep(environment, _rule("ra", "Run the tests."))
    synced = with_block(b"# Ours\nTabs.\n", (Wanted("r0a0a0a", "Run the tests."),))
    (shop / "AGENTS.md").write_bytes(synced)

    told = _outfit(environment, Wish(workspace=shop)).instructions
    alone = _outfit(environment, Wish(workspace=shop, has_rules=False)).instructions

    assert told.count("Run the tests.") == 1
    assert "Tabs." in alone
    assert "Run the tests." not in alone


def test_a_torn_block_for_other_tools_is_left_as_it_is(environment: Environment, shop: Path) -> None:
    (shop / "AGENTS.md").write_text("Tabs.\n<!-- handrail:rules end -->\n")

    assert "Tabs.\n<!-- handrail:rules end -->" in _outfit(environment, Wish(workspace=shop)).instructions
