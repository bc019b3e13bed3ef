"""Checks in runs of ours: fitted out with them where their rules count, asked about, and gone on with."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("pydantic")

from handrail.agents.permissions import Asked, Verdict, judge
from handrail.app.learning.places import learning_folder
from handrail.app.outfitting import Outfit, Wish, fitted_out
from handrail.learning.checks.enforcing import STRATEGY, HoldReplies, hook_name
from handrail.learning.checks.spec import AskBefore, CallPattern, Check, Forbid, Reply, to_json
from handrail.learning.rules.model import Life, Rule, RuleBook, RuleScope
from handrail.learning.rules.store import RuleStore
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Json

Environment = dict[str, str]

PUSH = CallPattern(command="git push*")


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return {"HANDRAIL_HOME": str(tmp_path / "home"), "HANDRAIL_CONFIG_DIR": str(tmp_path / "config"), "PATH": ""}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


def _rule(id: str, check: Check | Json, enforced: str = "on", **scope: tuple[str, ...]) -> Rule:
    spec = check if isinstance(check, dict) else to_json(check)
    return Rule(id=id, text="Do it.", life=Life.ACTIVE, check=spec, enforced=enforced, scope=RuleScope(**scope))  # type: ignore[arg-type]


def _outfit(environment: Environment, wish: Wish, *rules: Rule) -> Outfit:
    if rules:
        RuleStore(learning_folder(environment)).update(lambda _: RuleBook(rules))

    async def story() -> Outfit:
        async with fitted_out(wish, environment) as outfit:
            return outfit

    return asyncio.run(story())


def test_a_run_has_the_checks_of_rules_that_count_where_it_is(environment: Environment, shop: Path) -> None:
    rules = (
        _rule("here", Forbid(call=PUSH), repositories=(str(shop),)),
        _rule("shadow", Forbid(call=PUSH), enforced="shadow"),
        _rule("off", Forbid(call=PUSH), enforced="off"),
        _rule("elsewhere", Forbid(call=PUSH), repositories=("/other",)),
        _rule("words", Reply(without=("great question",))),
    )

    outfit = _outfit(environment, Wish(workspace=shop), *rules)

    assert [hook.name for hook in outfit.hooks] == [hook_name("here"), hook_name("shadow")]
    (strategy,) = outfit.strategies
    assert [one.rule for one in strategy.checks] == ["words"]


def test_a_rule_about_asking_beats_what_was_allowed(environment: Environment, shop: Path) -> None:
    wish = Wish(workspace=shop, allow=("Bash:git push origin main",))

    outfit = _outfit(environment, wish, _rule("ask", AskBefore(call=PUSH)))

    call = Asked(tool="Bash", input={"command": "git push origin main"}, traits=ToolTraits(sends=True))
    judgement = judge(outfit.gate.policy, call)
    assert (judgement.verdict, judgement.reason) == (Verdict.ASK, "Do it.")


def test_a_run_without_rules_has_no_checks(environment: Environment, shop: Path) -> None:
    outfit = _outfit(environment, Wish(workspace=shop, has_rules=False), _rule("r", Forbid(call=PUSH)))

    assert (outfit.hooks, outfit.strategies) == ((), ())


@pytest.mark.parametrize("has_rules", [True, False])
def test_a_run_that_began_with_checks_of_answers_can_be_gone_on_with_when_they_are_gone(
    environment: Environment, shop: Path, has_rules: bool
) -> None:
    outfit = _outfit(environment, Wish(workspace=shop, goes_on=True, has_rules=has_rules))

    (strategy,) = outfit.strategies
    assert isinstance(strategy, HoldReplies)
    assert (strategy.name, strategy.checks) == (STRATEGY, ())


def test_a_check_that_cannot_be_read_is_said(environment: Environment, shop: Path) -> None:
    outfit = _outfit(environment, Wish(workspace=shop), _rule("bad", {"kind": "magic"}))

    assert outfit.hooks == ()
    assert any("bad" in notice for notice in outfit.notices)
