"""What a workspace contributes, made into tools, hooks, a policy and taint."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from handrail.agents.contributions import (
    contributed_hooks,
    contributed_policy,
    contributed_taint,
    contributed_tools,
    skill_tool,
)
from handrail.agents.guard import GUARD
from handrail.agents.hooks import HookCall, HookEvent, run_hook
from handrail.agents.permissions import READ_ONLY, Asked, Policy, Rule, Verdict, judge
from handrail.agents.tool import tool
from handrail.agents.tools import built_in_tools
from handrail.journal.vocabulary import HookVerdict
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Taint
from handrail.workspace.context import ContextFile
from handrail.workspace.declared import DeclaredHook, DeclaredRule, DeclaredTool, WorkspaceError
from handrail.workspace.discovery import Workspace
from handrail.workspace.skills import Skill
from tests.agents.tools.running import output, run

DECLARED = DeclaredTool(name="hello", description="d", input_schema={"type": "object"}, command=("echo", "hi"))
MINE = Skill(name="mine", description="for this", text="do this", path="/mine")
THEIRS = Skill(name="theirs", description="for that", text="do that", path="/theirs", is_trusted=False)


def _workspace(root: Path = Path("/"), **found: object) -> Workspace:
    return Workspace(root=root, is_trusted=True, **found)  # type: ignore[arg-type]


def test_declared_tools_run(tmp_path: Path) -> None:
    (made,) = contributed_tools(_workspace(tools=(DECLARED,)), {}, built_in_tools())
    assert output(made, tmp_path).content == "hi\n"


@pytest.mark.parametrize("name", ["Bash", "spawn"])
def test_a_declared_tool_cannot_take_the_name_of_another(name: str) -> None:
    @tool(name="spawn")
    def spawn() -> None:
        """Spawn."""

    taken = DeclaredTool(name=name, description="d", input_schema={}, command=("x",))
    with pytest.raises(WorkspaceError, match=name):
        contributed_tools(_workspace(tools=(taken,)), {}, (*built_in_tools(), spawn))


def test_a_declared_tool_with_a_schema_that_is_none_is_an_error() -> None:
    odd = DeclaredTool(name="odd", description="d", input_schema={"type": "array"}, command=("x",))
    with pytest.raises(WorkspaceError, match="'odd' cannot be used"):
        contributed_tools(_workspace(tools=(odd,)), {}, ())


def test_declared_hooks_judge_calls(tmp_path: Path) -> None:
    code = 'print(\'{"decision": "deny", "reason": "no"}\')'
    declared = DeclaredHook(name="h", command=(sys.executable, "-S", "-c", code), tools=("Bash",), timeout_ms=20_000)
    (hook,) = contributed_hooks(_workspace(tmp_path, hooks=(declared,)), {})
    call = HookCall(event=HookEvent.PRE_TOOL_USE, tool="Bash", input={}, call_id="c", workspace=tmp_path)
    assert hook.tools == ("Bash",)
    assert run(run_hook(hook, call)).verdict is HookVerdict.DENY


def test_inside_a_hook_no_hook_is_set_off_again() -> None:
    declared = DeclaredHook(name="h", command=("x",))
    assert contributed_hooks(_workspace(hooks=(declared,)), {GUARD: "h"}) == ()
    assert len(contributed_hooks(_workspace(hooks=(declared,)), {})) == 1


def test_rules_of_the_trusted_count_as_ones_own_and_those_of_others_only_tighten() -> None:
    workspace = _workspace(
        rules=(DeclaredRule(verdict="allow", tool="Bash"),),
        tightening=(DeclaredRule(verdict="allow", tool="Write"), DeclaredRule(verdict="deny", tool="Bash")),
    )
    own = Policy(rules=(Rule(Verdict.DENY, "Edit"),), consequential=Verdict.ASK)
    policy = contributed_policy(workspace, own)

    def verdict(name: str) -> Verdict:
        return judge(policy, Asked(tool=name, input={}, traits=ToolTraits(destructive=True))).verdict

    assert [verdict(name) for name in ("Bash", "Write", "Edit")] == [Verdict.DENY, Verdict.ASK, Verdict.DENY]
    assert contributed_policy(_workspace(), READ_ONLY) == READ_ONLY


def test_a_skill_is_read_by_its_name_and_a_strangers_counts_as_words_from_outside() -> None:
    made = skill_tool([MINE, THEIRS])
    assert made.spec.description.endswith("There are:\n- mine: for this\n- theirs: for that")
    mine, theirs = output(made, name="mine"), output(made, name="theirs")
    assert (mine.content, mine.is_external) == ("[/mine]\ndo this", False)
    assert (theirs.content, theirs.is_external) == ("[/theirs]\ndo that", True)
    assert made.traits == ToolTraits(untrusted=True)
    assert skill_tool([MINE]).traits == ToolTraits()
    assert output(made, name="nope").content == "no skill is called 'nope'; there are: mine, theirs"


def test_skills_bring_a_tool_to_read_them_with() -> None:
    assert [made.name for made in contributed_tools(_workspace(skills=(MINE,)), {}, ())] == ["Skill"]


@pytest.mark.parametrize(
    ("workspace", "taint"),
    [
        (_workspace(), Taint()),
        (_workspace(skills=(MINE,)), Taint()),
        (_workspace(skills=(THEIRS,)), Taint(untrusted=True)),
        (
            _workspace(context=(ContextFile(path="/a", scope="workspace", text="x", is_trusted=False),)),
            Taint(untrusted=True),
        ),
    ],
)
def test_a_strangers_words_taint_the_conversation_before_it_begins(workspace: Workspace, taint: Taint) -> None:
    assert contributed_taint(workspace) == taint
