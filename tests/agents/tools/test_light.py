"""What the parts of a call load, and what is said when an extra is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"pydantic", "jsonschema", "mcp", "httpx2"}


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    "module",
    ["tool", "cancellation", "execution", "approval", "permissions", "hooks", "taint", "admission", "paging", "tools"],
)
def test_judging_and_running_calls_loads_nothing_heavy(module: str) -> None:
    code = f"import handrail.agents.{module}, sys; print(*sorted(set(sys.modules) & {HEAVY!r}))"
    assert _run(code) == ""


def test_names_of_built_ins_are_known_without_importing_one() -> None:
    code = """
import sys
from handrail.agents import tools
print('ask' in tools.built_in_names(), 'pydantic' in sys.modules)
"""
    assert _run(code) == "True False"


def test_workspaces_are_read_without_the_extra() -> None:
    code = f"import handrail.workspace.discovery, sys; print(*sorted(set(sys.modules) & {HEAVY | {'asyncio'}!r}))"
    assert _run(code) == ""


def test_a_missing_extra_is_named() -> None:
    code = """
import sys
sys.modules["pydantic"] = None
from handrail.agents.tool import tool
from handrail.errors import MissingExtra
try:
    tool(lambda: None)
except MissingExtra as problem:
    print(problem, "|", problem.hint)
"""
    assert _run(code) == "tools need the extra 'agents' | pip install 'handrail[agents]'"
