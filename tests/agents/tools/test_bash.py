"""Bash: timed, ended with all it started, limited, and plain about what confines it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from handrail.agents.cancellation import CancellationToken
from handrail.agents.environment import handed_on
from handrail.agents.paging import MemoryShelf
from handrail.agents.process import run_process
from handrail.agents.tool import Tool, ToolOutput
from handrail.agents.tools import built_in
from handrail.agents.tools.bash import shell_tool
from handrail.transcripts.model import Refusal, RefusalKind
from handrail.workspace.sandbox import NoSandbox, Sandbox, find_sandbox
from tests.agents.tools.running import called, context, is_gone, output, run

BASH = built_in("bash")
FOUND = find_sandbox(os.environ)
SANDBOX = FOUND if isinstance(FOUND, Sandbox) else Sandbox(program="bwrap")
needs_sandbox = pytest.mark.skipif(isinstance(FOUND, NoSandbox), reason="bubblewrap does not work here")


def test_output_and_errors_come_back_together(tmp_path: Path) -> None:
    got = output(BASH, tmp_path, command="echo out; echo err >&2; pwd")
    assert got.content == f"out\nerr\n{tmp_path}\n"
    assert got.details == {"exit_code": 0, "is_timed_out": False, "is_confined": False}


def test_an_exit_code_is_an_error_that_names_it(tmp_path: Path) -> None:
    got = output(BASH, tmp_path, command="echo no; exit 3")
    assert (got.content, got.is_error, got.refusal) == ("no\n[exit code 3]", True, None)


def test_keys_of_models_are_not_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("ORDINARY", "told")
    assert output(BASH, tmp_path, command="echo $OPENAI_API_KEY$ORDINARY").content == "told\n"


def test_a_key_that_was_passed_on_is_there(tmp_path: Path) -> None:
    environment = handed_on(os.environ | {"OPENAI_API_KEY": "k1", "GEMINI_API_KEY": "k2"}, ["GEMINI_API_KEY"])
    given = context(tmp_path, environment=environment)
    assert run(called(BASH, {"command": "echo $OPENAI_API_KEY$GEMINI_API_KEY"}, given)).content == "k2\n"


def test_there_is_no_input_to_wait_for(tmp_path: Path) -> None:
    assert output(BASH, tmp_path, command="cat").content == "[no output]"


def test_it_runs_in_a_folder_of_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert output(BASH, tmp_path, command="pwd", workdir="sub").content == f"{tmp_path / 'sub'}\n"
    assert output(BASH, tmp_path, command="pwd", workdir="..").content == ".. is outside the workspace"
    assert output(BASH, tmp_path, command="pwd", workdir="nope").is_error


def test_the_environment_is_the_one_that_was_given(tmp_path: Path) -> None:
    given = context(tmp_path, environment={"PATH": os.environ["PATH"], "ONLY": "this"})
    assert run(called(BASH, {"command": 'echo "$ONLY$HOME"'}, given)).content == "this\n"


def test_a_command_that_takes_too_long_is_ended_with_all_it_started_and_its_outcome_is_unknown(tmp_path: Path) -> None:
    command = "sleep 1000 & echo $! > child; echo $$ > leader; echo begun; wait"
    got = output(BASH, tmp_path, command=command, timeout_ms=1000)
    assert got.refusal == Refusal(RefusalKind.OUTCOME_UNKNOWN, "timeout")
    assert got.content == "begun\n[stopped after 1 seconds; whether it took effect is unknown]"
    assert all(is_gone(int((tmp_path / name).read_text())) for name in ("leader", "child"))


def test_what_a_command_leaves_behind_ends_with_it_and_does_not_hold_it_up(tmp_path: Path) -> None:
    assert output(BASH, tmp_path, command="sleep 1000 & echo $! > child; echo done").content == "done\n"
    assert is_gone(int((tmp_path / "child").read_text()))


def test_cancelling_ends_the_command_and_all_it_started(tmp_path: Path) -> None:
    async def main() -> ToolOutput:
        token = CancellationToken()
        given = context(
            tmp_path, cancellation=token, emit=lambda text: token.cancel("stop") if "ready" in text else None
        )
        return await called(BASH, {"command": "sleep 1000 & echo $! > child; echo ready; wait"}, given)

    got = run(main())
    assert got.refusal == Refusal(RefusalKind.INTERRUPTED, "cancellation", "stop")
    assert is_gone(int((tmp_path / "child").read_text()))


def test_long_output_is_cut_and_kept_whole(tmp_path: Path) -> None:
    shelf = MemoryShelf()
    got = run(called(BASH, {"command": "seq 10000"}, context(tmp_path, shelf=shelf)))
    assert str(got.content).startswith("1\n2\n")
    assert "[cut here, before line 2001 of 10001." in str(got.content)
    assert shelf.find("call_1") == "".join(f"{number}\n" for number in range(1, 10001))


def test_endless_output_takes_bounded_memory_and_says_what_was_dropped(tmp_path: Path) -> None:
    async def main() -> str:
        ran = await run_process(["bash", "-c", "seq 100000"], cwd=tmp_path, kept_bytes=1000)
        return ran.output

    text = run(main())
    assert text.startswith("1\n2\n")
    assert text.endswith("\n100000\n")
    assert len(text) < 1100
    assert "bytes dropped here]" in text


def test_a_command_that_no_line_can_hold_is_an_error(tmp_path: Path) -> None:
    assert "could not be started" in str(output(BASH, tmp_path, command="a\0b").content)


@pytest.mark.parametrize("timeout", [0, 600_001, -5])
def test_a_timeout_has_bounds(tmp_path: Path, timeout: int) -> None:
    got = output(BASH, tmp_path, command="true", timeout_ms=timeout)
    assert got.refusal == Refusal(RefusalKind.NOT_RUN, "validation")


# Confinement ------------------------------------------------------------------------------------------------


def test_without_a_sandbox_the_tool_says_so_and_counts_as_sending() -> None:
    made = shell_tool(NoSandbox("bubblewrap (bwrap) is not installed"))
    assert "NOT confined (bubblewrap (bwrap) is not installed)" in made.spec.description
    assert made.traits.sends


def test_confinement_that_is_required_and_missing_runs_nothing(tmp_path: Path) -> None:
    made = shell_tool(NoSandbox("not installed"), wants="required")
    got = output(made, tmp_path, command="touch ran")
    assert (got.is_error, (tmp_path / "ran").exists()) == (True, False)
    assert "not installed. Nothing was run." in str(got.content)


def test_a_sandbox_without_network_sends_nothing_and_one_with_it_does() -> None:
    assert not shell_tool(Sandbox(program="bwrap")).traits.sends
    assert shell_tool(Sandbox(program="bwrap", has_network=True)).traits.sends
    assert "without any network" in shell_tool(Sandbox(program="bwrap")).spec.description


def test_a_missing_program_is_no_sandbox(tmp_path: Path) -> None:
    assert find_sandbox({"PATH": str(tmp_path)}) == NoSandbox("bubblewrap (bwrap) is not installed")


def test_a_program_that_does_not_work_is_no_sandbox(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho no namespaces >&2\nexit 1\n")
    broken.chmod(0o755)
    assert find_sandbox({"PATH": str(tmp_path)}) == NoSandbox("bubblewrap does not work here: no namespaces")


@pytest.fixture
def shell() -> Tool:
    return shell_tool(SANDBOX)


@needs_sandbox
def test_a_confined_command_writes_the_workspace_and_nothing_else(tmp_path: Path, shell: Tool) -> None:
    root = tmp_path / "work"
    root.mkdir()
    (root / ".git").mkdir()
    lines = ["echo in > inside", f"echo out > {tmp_path}/outside", "echo x > .git/config", "echo t > /tmp/mine", "ls"]
    got = output(shell, root, command="; ".join(lines))
    assert got.details == {"exit_code": 0, "is_timed_out": False, "is_confined": True}
    assert (root / "inside").read_text() == "in\n"
    assert not (tmp_path / "outside").exists()
    assert not (root / ".git" / "config").exists()
    assert str(got.content).rstrip().endswith("inside")


@needs_sandbox
def test_a_confined_command_has_no_network(tmp_path: Path, shell: Tool) -> None:
    got = output(shell, tmp_path, command="cat /proc/net/dev | tail -n +3 | cut -d: -f1")
    assert str(got.content).split() == ["lo"]


@needs_sandbox
def test_a_confined_command_that_takes_too_long_is_ended(tmp_path: Path, shell: Tool) -> None:
    async def main() -> ToolOutput:
        return await asyncio.wait_for(
            called(shell, {"command": "echo begun; sleep 1000", "timeout_ms": 1000}, context(tmp_path)), 20
        )

    assert run(main()).refusal == Refusal(RefusalKind.OUTCOME_UNKNOWN, "timeout")
