"""Child processes: fed, read, bounded and ended."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from handrail.agents.process import Ran, kill_group, run_process
from tests.agents.tools.running import run


def _ran(code: str, tmp_path: Path, **more: object) -> Ran:
    argv = [sys.executable, "-S", "-c", code]
    return run(run_process(argv, cwd=tmp_path, **more))  # type: ignore[arg-type]


def test_output_and_errors_are_kept_apart_and_the_exit_code_with_them(tmp_path: Path) -> None:
    code = "import sys; print('out'); sys.stderr.write('err'); sys.exit(3)"
    assert _ran(code, tmp_path) == Ran(exit_code=3, output="out\n", errors="err")


def test_a_large_input_is_read_and_one_that_nobody_reads_does_no_harm(tmp_path: Path) -> None:
    data = b"x" * 1_000_000
    assert _ran("import sys; print(len(sys.stdin.buffer.read()))", tmp_path, stdin=data).output == "1000000\n"
    assert _ran("pass", tmp_path, stdin=data).exit_code == 0


def test_a_signal_is_a_negative_exit_code_and_our_own_kill_is_none(tmp_path: Path) -> None:
    assert _ran("import os; os.kill(os.getpid(), 15)", tmp_path).exit_code == -15
    ran = _ran("import time; time.sleep(1000)", tmp_path, timeout_s=0.2)
    assert (ran.exit_code, ran.is_timed_out) == (None, True)


def test_what_is_written_is_shown_as_it_comes_with_characters_whole(tmp_path: Path) -> None:
    shown: list[str] = []
    code = """
import os, sys
for byte in "é√".encode():
    os.write(1, bytes([byte]))
"""
    ran = _ran(code, tmp_path, emit=shown.append)
    assert ran.output == "é√"
    assert "".join(shown) == "é√"


def test_a_grandchild_outside_the_group_does_not_hold_the_call_up(tmp_path: Path) -> None:
    code = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    time.sleep(3)
    os._exit(0)
print("done")
"""
    assert _ran(code, tmp_path, timeout_s=20) == Ran(exit_code=0, output="done\n", errors="")


def test_a_program_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run(run_process([str(tmp_path / "gone")], cwd=tmp_path))


def test_an_empty_group_is_no_error() -> None:
    kill_group(2**22 + 1)
