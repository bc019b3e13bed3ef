"""Checks in our own runs: shadow notes and stops nothing, force refuses, asks or sends back, and nothing hangs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from handrail.agents.admission import Gate
from handrail.agents.agent import Agent
from handrail.agents.approval import ApproverLike, Deny
from handrail.agents.options import RunOptions
from handrail.agents.permissions import Policy
from handrail.agents.result import RunResult, Session
from handrail.agents.tool import Tool, tool
from handrail.journal import events as ev
from handrail.journal.memory import MemoryJournal
from handrail.journal.vocabulary import HookVerdict
from handrail.learning.checks.enforcing import HoldReplies, asking_rules, hook_name, hooks_of, rule_of_hook
from handrail.learning.checks.force import LET_PASS, MAX_REFUSALS, InForce, in_force
from handrail.learning.checks.spec import AskBefore, CallPattern, Check, Forbid, KeepWithin, Order, Reply, to_json
from handrail.learning.rules.model import Life, Rule, RuleScope
from handrail.learning.rules.scope import Place
from handrail.models.scripted import Item, ScriptedModel, call

PUSH = CallPattern(command="git push*")
TESTS = CallPattern(command="make test*")
COMMIT = CallPattern(command="git commit*")
HERE = Place(repository="/repo", harness="handrail", tools=("Bash",))


class _Shell:
    """A shell that runs nothing and remembers what it was given."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def tool(self) -> Tool:
        @tool(name="Bash")
        def bash(command: str) -> str:
            """Run a command."""
            self.ran.append(command)
            return "done"

        return bash


def _check(check: Check, *, is_enforced: bool = True) -> InForce:
    return InForce(rule="r1", text="Do it our way.", check=check, is_enforced=is_enforced)


def _run(
    shell: _Shell, said: list[Item], *checks: InForce, approver: ApproverLike | None = None
) -> tuple[RunResult, list[ev.Event]]:
    async def go() -> tuple[RunResult, list[ev.Event]]:
        journal = MemoryJournal()
        agent = Agent(model=ScriptedModel(said), tools=[shell.tool()])
        options = RunOptions(
            hooks=hooks_of(checks, "/repo"),
            gate=Gate(policy=Policy().tightened(asking_rules(checks))),
            strategies=(HoldReplies(checks),),
            workspace=Path("/"),
            approver=approver,
        )
        result = await agent.run("go", options, session=Session("s", journal))
        return result, list(await journal.read("s"))

    return asyncio.run(go())


def _hooked(events: list[ev.Event]) -> list[tuple[HookVerdict, str | None]]:
    return [(event.body.verdict, event.body.reason) for event in events if isinstance(event.body, ev.HookRan)]


def test_in_shadow_a_violation_is_recorded_and_the_call_runs() -> None:
    shell = _Shell()

    _, events = _run(shell, [call("Bash", command="git push"), "Done."], _check(Forbid(call=PUSH), is_enforced=False))

    assert shell.ran == ["git push"]
    assert _hooked(events) == [(HookVerdict.ALLOW, "would have been refused: Do it our way. (rule r1)")]


def test_in_force_a_violation_is_refused_with_the_rule_as_the_reason() -> None:
    shell = _Shell()

    _, events = _run(shell, [call("Bash", command="git push"), "Done."], _check(Forbid(call=PUSH)))

    assert shell.ran == []
    ((verdict, reason),) = _hooked(events)
    assert verdict is HookVerdict.DENY
    assert "Do it our way." in (reason or "")


def test_what_obeys_is_recorded_without_a_note() -> None:
    shell = _Shell()

    _, events = _run(shell, [call("Bash", command="git status"), "Done."], _check(Forbid(call=PUSH)))

    assert shell.ran == ["git status"]
    assert _hooked(events) == [(HookVerdict.ALLOW, None)]


def test_after_three_refusals_the_call_is_let_pass_and_that_is_recorded() -> None:
    # K.1: three hits of one rule let it pass, so that a wrong check cannot hang a run.
    shell = _Shell()
    insists: list[Item] = [call("Bash", command="git push")] * (MAX_REFUSALS + 1)

    _, events = _run(shell, [*insists, "Done."], _check(Forbid(call=PUSH)))

    assert shell.ran == ["git push"]
    verdicts = _hooked(events)
    assert [verdict for verdict, _ in verdicts] == [HookVerdict.DENY] * MAX_REFUSALS + [HookVerdict.ALLOW]
    assert (verdicts[-1][1] or "").startswith(LET_PASS)


def test_an_order_looks_back_over_the_conversation() -> None:
    shell = _Shell()
    said: list[Item] = [
        call("Bash", command="git commit -m x"),
        call("Bash", command="make test"),
        call("Bash", command="git commit -m x"),
        "Done.",
    ]

    _run(shell, said, _check(Order(call=COMMIT, first=TESTS)))

    assert shell.ran == ["make test", "git commit -m x"]


def test_what_is_asked_for_in_the_same_breath_did_not_come_first() -> None:
    shell = _Shell()

    _run(
        shell,
        [[call("Bash", command="make test"), call("Bash", command="git commit")], "Done."],
        _check(Order(call=COMMIT, first=TESTS)),
    )

    assert shell.ran == ["make test"]


def test_a_person_is_asked_where_a_rule_wants_it_and_their_no_holds() -> None:
    shell = _Shell()
    asked: list[str] = []

    async def approver(request: object) -> Deny:
        asked.append("asked")
        return Deny("not now")

    _run(
        shell,
        [call("Bash", command="git push"), call("Bash", command="ls"), "Done."],
        _check(AskBefore(call=PUSH)),
        approver=approver,
    )

    assert (asked, shell.ran) == (["asked"], ["ls"])


def test_asking_in_shadow_asks_nobody_and_notes_it() -> None:
    shell = _Shell()

    _, events = _run(shell, [call("Bash", command="git push"), "x"], _check(AskBefore(call=PUSH), is_enforced=False))

    assert shell.ran == ["git push"]
    assert _hooked(events) == [(HookVerdict.ALLOW, "a person would be asked: Do it our way. (rule r1)")]


def test_an_answer_that_a_rule_forbids_is_sent_back() -> None:
    result, _ = _run(_Shell(), ["Great question! Yes.", "Yes."], _check(Reply(without=("great question",))))

    assert result.text == "Yes."


def test_an_answer_is_sent_back_three_times_at_most() -> None:
    result, events = _run(_Shell(), ["Great question!"] * 9, _check(Reply(without=("great question",))))

    decided = [event.body for event in events if isinstance(event.body, ev.BoundaryDecided)]
    assert result.text == "Great question!"
    assert len(decided) == MAX_REFUSALS + 1
    assert (decided[-1].note or "").startswith(LET_PASS)


def test_an_answer_in_shadow_stands_and_is_noted() -> None:
    check = _check(Reply(words=1), is_enforced=False)
    result, events = _run(_Shell(), ["two words"], check)

    (decided,) = [event.body for event in events if isinstance(event.body, ev.BoundaryDecided)]
    assert (result.text, decided.note) == ("two words", check.noted)


def test_the_hook_of_a_rule_is_told_from_others() -> None:
    assert rule_of_hook(hook_name("r1")) == "r1"
    assert rule_of_hook("lint") is None


# Which hold


def _rule(id: str, check: Check | None = None, **more: object) -> Rule:
    spec = to_json(check or Forbid(call=PUSH))
    return Rule(**{"id": id, "text": "Do it.", "check": spec, "enforced": "on", "life": Life.ACTIVE, **more})


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (_rule("on"), True),
        (_rule("shadow", enforced="shadow"), False),
        (_rule("candidate", life=Life.CANDIDATE), False),
        (_rule("trial", life=Life.TRIAL), True),
        (_rule("here", scope=RuleScope(repositories=("/repo",), tools=("Write",))), True),
    ],
)
def test_a_check_refuses_only_where_it_is_on_and_its_rule_rides(rule: Rule, expected: bool) -> None:
    found, bad = in_force([rule], HERE)

    assert [one.is_enforced for one in found] == [expected]
    assert bad == ()


@pytest.mark.parametrize(
    "rule",
    [
        _rule("off", enforced="off"),
        _rule("retired", life=Life.RETIRED),
        _rule("elsewhere", scope=RuleScope(repositories=("/other",))),
        _rule("codex", scope=RuleScope(harnesses=("codex",))),
        _rule("dark", scope=RuleScope(tools=())),
    ],
)
def test_a_check_that_is_off_retired_or_elsewhere_does_not_hold(rule: Rule) -> None:
    assert in_force([rule], HERE) == ((), ())


def test_a_check_that_cannot_be_read_is_said_and_hides_no_other() -> None:
    unreadable = Rule(id="bad", text="x", life=Life.ACTIVE, enforced="on", check={"kind": "magic"})

    found, bad = in_force([unreadable, _rule("good")], HERE)

    assert [one.rule for one in found] == ["good"]
    assert [one.rule for one in bad] == ["bad"]


def test_a_hook_is_asked_only_about_tools_that_its_check_may_mean() -> None:
    checks = [
        _check(Forbid(call=CallPattern(tool="Bash", command="rm*"))),
        _check(KeepWithin(inside=("src/",))),
        _check(Forbid(call=PUSH)),
    ]

    assert [hook.tools for hook in hooks_of(checks, None)] == [
        ("Bash",),
        ("Edit", "MultiEdit", "NotebookEdit", "Write", "apply_patch"),
        (),
    ]
