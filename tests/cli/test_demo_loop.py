"""``handrail demo`` goes round the loop once, and says so where it cannot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.homes import empty_home
from tests.cli.shell import handrail

_WITHOUT_EXTRA = """
import importlib.util, sys
known = importlib.util.find_spec
GONE = {"pydantic", "jsonschema"}
importlib.util.find_spec = lambda name, package=None: None if name in GONE else known(name, package)
from handrail.cli import main
sys.argv[1:] = ["demo", *sys.argv[1:]]
main()
"""


def test_a_correction_in_run_one_is_none_in_run_two(tmp_path: Path) -> None:
    pytest.importorskip("pydantic")

    shown = handrail(empty_home(tmp_path), "demo", "--json").value

    first, second = shown["runs"]
    assert (first["step_ins"], second["step_ins"]) == (1, 0)
    assert first["rules"] == []
    assert second["rules"] == [rule["id"] for rule in shown["rules"]]
    assert shown["probe"]["verdict"] == "improved"
    assert shown["interventions"][-1]["words"] == "Ask me before you delete anything."
    assert shown["missing"] is None


def test_the_demo_leaves_nothing_behind(tmp_path: Path) -> None:
    ended = handrail(empty_home(tmp_path) | {"TMPDIR": str(tmp_path)}, "demo")

    assert ended.code == 0, ended.err
    assert list(tmp_path.iterdir()) == []


def test_the_base_install_shows_the_moments_and_says_what_is_missing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_EXTRA],
        env={"TZ": "UTC", "PATH": "", **empty_home(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    assert "Where a person stepped in" in done.stdout
    assert "Not shown: running agents needs the extra 'agents' (not installed: pydantic, jsonschema)" in done.stdout
