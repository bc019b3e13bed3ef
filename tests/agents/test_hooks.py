"""Hooks: pass, block, rewrite; whatever goes wrong blocks."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from handrail.agents.admission import Gate, admit
from handrail.agents.guard import GUARD, is_inside_hook
from handrail.agents.hooks import (
    Block,
    Hook,
    HookCall,
    HookEvent,
    HookOutcome,
    Pass,
    Reply,
    Rewrite,
    blocked_call,
    command_hook,
    hooks_for,
    output_after,
    run_hook,
)
from handrail.agents.permissions import Policy, Rule, Verdict
from handrail.agents.taint import CLEAN
from handrail.agents.tool import ToolOutput
from handrail.agents.tools import built_in
from handrail.journal.vocabulary import HookVerdict
from handrail.transcripts.model import Refusal, RefusalKind
from tests.agents.tools.running import run

PRE = HookCall(
    event=HookEvent.PRE_TOOL_USE, tool="Bash", input={"command": "ls"}, call_id="call_1", workspace=Path("/")
)
POST = replace(PRE, event=HookEvent.POST_TOOL_USE, output=ToolOutput("secret", is_external=True))


def _hook(reply: Any, **more: Any) -> Hook:
    return Hook(name="guard", ask=lambda call: reply, **more)


def _said(hook: Hook, call: HookCall = PRE) -> HookOutcome:
    return run(run_hook(hook, call))


# Python callables -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", [None, Pass()])
def test_nothing_against_it_lets_the_call_pass(reply: Reply) -> None:
    assert _said(_hook(reply)) == HookOutcome(hook="guard", verdict=HookVerdict.ALLOW)


def test_a_block_carries_its_reason() -> None:
    outcome = _said(_hook(Block("not here")))
    assert (outcome.verdict, outcome.reason, outcome.is_blocking) == (HookVerdict.DENY, "not here", True)


def test_a_rewrite_carries_the_new_input() -> None:
    outcome = _said(_hook(Rewrite({"command": "ls -a"}, "show all")))
    assert (outcome.verdict, outcome.becomes, outcome.is_blocking) == (HookVerdict.REWRITE, {"command": "ls -a"}, False)


def test_an_async_hook_is_awaited() -> None:
    async def ask(call: HookCall) -> Reply:
        return Block(call.tool)

    assert _said(Hook(name="guard", ask=ask)).reason == "Bash"


def _raise(call: HookCall) -> Reply:
    raise KeyError("lost")


def _leave(call: HookCall) -> Reply:
    raise SystemExit(1)


async def _hang(call: HookCall) -> Reply:
    await asyncio.Event().wait()
    return None


@pytest.mark.parametrize(
    "hook",
    [
        Hook(name="guard", ask=_raise),
        Hook(name="guard", ask=_leave),
        Hook(name="guard", ask=_hang, timeout_s=0.01),
        _hook(True),
        _hook("allow"),
        _hook(Rewrite("no object")),
        _hook(Rewrite(["no object"])),
    ],
)
def test_whatever_goes_wrong_with_a_hook_blocks(hook: Hook) -> None:
    outcome = _said(hook)
    assert (outcome.verdict, outcome.is_blocking, outcome.becomes) == (HookVerdict.ERROR, True, UNSET)
    assert (outcome.reason or "").startswith("the hook failed: ")


def test_a_hook_that_changes_what_it_is_shown_changes_nothing() -> None:
    def sly(call: HookCall) -> Reply:
        call.input["command"] = "rm -rf /"
        return None

    _said(Hook(name="sly", ask=sly))
    assert PRE.input == {"command": "ls"}


def test_hooks_are_asked_about_their_tools_and_their_event_in_their_order() -> None:
    hooks = [
        _hook(None, tools=("Bash",)),
        replace(_hook(None), name="all"),
        _hook(None, tools=("Ba",)),
        replace(_hook(None, tools=("mcp__*",)), name="servers"),
        replace(_hook(None, event=HookEvent.POST_TOOL_USE), name="after"),
    ]
    assert [hook.name for hook in hooks_for(hooks, HookEvent.PRE_TOOL_USE, "Bash")] == ["guard", "all"]
    assert [hook.name for hook in hooks_for(hooks, HookEvent.PRE_TOOL_USE, "mcp__a__b")] == ["all", "servers"]
    assert [hook.name for hook in hooks_for(hooks, HookEvent.POST_TOOL_USE, "Bash")] == ["after"]


def test_a_blocked_call_is_typed_with_the_hooks_name_and_reason() -> None:
    output = blocked_call(_said(_hook(Block("not here"))), "Bash")
    assert output.content == "Bash was not run, blocked by the hook guard: not here"
    assert output.refusal == Refusal(RefusalKind.BLOCKED, "hook:guard", "not here")


def test_a_rewrite_is_judged_again_by_the_policy() -> None:
    outcome = _said(_hook(Rewrite({"command": "rm x"})))
    gate = Gate(policy=Policy(rules=(Rule(Verdict.ALLOW, "Bash"), Rule(Verdict.DENY, "Bash", {"command": "rm *"}))))
    bash, root = built_in("bash"), Path("/")
    assert admit(gate, bash, PRE.input, turn=CLEAN, root=root).verdict is Verdict.ALLOW
    assert admit(gate, bash, outcome.becomes, turn=CLEAN, root=root).verdict is Verdict.DENY


def test_a_rewrite_that_does_not_fit_the_tool_runs_nothing() -> None:
    outcome = _said(_hook(Rewrite({"cmd": "x"})))
    assert admit(Gate(), built_in("bash"), outcome.becomes, turn=CLEAN, root=Path("/")).verdict is Verdict.DENY


# After the call ---------------------------------------------------------------------------------------------


def test_a_hook_after_the_call_may_leave_rewrite_or_withhold_the_result() -> None:
    output = POST.output
    assert output is not None
    post = HookEvent.POST_TOOL_USE
    left, rewritten, withheld = (
        output_after(_said(_hook(reply, event=post), POST), output, "Bash")
        for reply in (None, Rewrite("[cut]"), Block("a key is in it"))
    )
    assert left == output
    assert (rewritten.content, rewritten.is_external, rewritten.is_error) == ("[cut]", True, False)
    assert "secret" not in str(withheld.content)
    assert (withheld.is_error, withheld.is_external) == (True, True)
    assert withheld.refusal == Refusal(RefusalKind.OUTCOME_UNKNOWN, "hook:guard", "a key is in it")


def test_a_hook_that_fails_after_the_call_withholds_the_result() -> None:
    outcome = _said(Hook(name="guard", ask=_raise, event=HookEvent.POST_TOOL_USE), POST)
    assert "secret" not in str(output_after(outcome, ToolOutput("secret"), "Bash").content)


# Commands ---------------------------------------------------------------------------------------------------


def _command(tmp_path: Path, code: str, *, timeout_s: float = 20.0, event: HookEvent = HookEvent.PRE_TOOL_USE) -> Hook:
    script = tmp_path / "hook.py"
    script.write_text(textwrap.dedent(code))
    argv = [sys.executable, "-S", str(script)]
    return command_hook("script", argv, cwd=tmp_path, environment={"A": "1"}, timeout_s=timeout_s, event=event)


def test_a_command_gets_the_call_as_json_and_its_answer_counts(tmp_path: Path) -> None:
    hook = _command(
        tmp_path,
        """
        import json, os, sys
        call = json.load(sys.stdin)
        call["environment"] = sorted(name for name in os.environ if name in ("A", "HANDRAIL_HOOK"))
        call["folder"] = os.getcwd()
        print(json.dumps({"decision": "modify", "input": call}))
        """,
    )
    outcome = _said(hook)
    assert outcome.verdict is HookVerdict.REWRITE
    assert outcome.becomes == {
        "hook_schema": 1,
        "event": "pre_tool_use",
        "workspace": "/",
        "agent_id": None,
        "tool_call_id": "call_1",
        "tool_name": "Bash",
        "input": {"command": "ls"},
        "environment": ["A", GUARD],
        "folder": str(tmp_path),
    }


def test_a_command_after_the_call_sees_the_output_and_may_rewrite_it(tmp_path: Path) -> None:
    hook = _command(
        tmp_path,
        """
        import json, sys
        output = json.load(sys.stdin)["output"]
        print(json.dumps({"decision": "modify", "output": output["content"].upper()}))
        """,
        event=HookEvent.POST_TOOL_USE,
    )
    assert _said(hook, POST).becomes == "SECRET"


def test_why_a_command_gave_no_answer_is_said_in_words_alone(tmp_path: Path) -> None:
    assert _said(_command(tmp_path, "")).reason == "the hook failed: it printed nothing"
    assert _said(_command(tmp_path, "raise SystemExit(3)")).reason == "the hook failed: exit code 3"


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ({"decision": "allow"}, HookVerdict.ALLOW),
        ({"decision": "deny", "reason": "no"}, HookVerdict.DENY),
        ({"decision": "modify"}, HookVerdict.ERROR),
        ({"decision": "modify", "input": 3}, HookVerdict.ERROR),
        ({"decision": "maybe"}, HookVerdict.ERROR),
        ({}, HookVerdict.ERROR),
        ([], HookVerdict.ERROR),
    ],
)
def test_an_answer_is_one_of_three_words_or_blocks(tmp_path: Path, answer: Any, verdict: HookVerdict) -> None:
    assert _said(_command(tmp_path, f"print({json.dumps(answer)!r})")).verdict is verdict


@pytest.mark.parametrize(
    "code",
    [
        "",
        "print('junk')",
        'import sys; print(\'{"decision": "allow"}\'); sys.exit(1)',
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    ],
)
def test_a_command_that_breaks_blocks(tmp_path: Path, code: str) -> None:
    assert _said(_command(tmp_path, code)).verdict is HookVerdict.ERROR


def test_a_command_that_is_not_there_blocks(tmp_path: Path) -> None:
    hook = command_hook("gone", [str(tmp_path / "gone")], cwd=tmp_path, environment={})
    assert _said(hook).verdict is HookVerdict.ERROR


def test_a_command_that_hangs_blocks_and_is_ended(tmp_path: Path) -> None:
    argv = ["sh", "-c", "echo $$ > pid; exec sleep 1000"]
    hook = command_hook("slow", argv, cwd=tmp_path, environment={"PATH": os.environ["PATH"]}, timeout_s=1)
    assert _said(hook).verdict is HookVerdict.ERROR
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_process_that_a_hook_started_knows_it() -> None:
    assert is_inside_hook({GUARD: "script"})
    assert not is_inside_hook({})
