"""``serve`` as a process of its own that tells another program what waits, where it was said to, and else nobody."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.cli.program import run as program
from tests.cli.homes import empty_home
from tests.runs.webhooks.receiver import receiver

pytest.importorskip("pydantic")

BLUEPRINT = """
name = "paint"

[[stages]]
name = "choose"
instructions = "Choose."
limits = { max_rounds = 5 }

[[stages.points]]
name = "colour"
prompt = "Which colour?"
style = "multiple_choice"
options = ["Red", "Blue"]
"""


def test_a_server_tells_what_waits_from_runs_that_began_before_it(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "paint.toml").write_text(BLUEPRINT)
    (shop / "script.json").write_text(json.dumps(["red"]))
    environment = {**os.environ, **empty_home(tmp_path / "home"), "HANDRAIL_WEBHOOK_SECRET": "s" * 20}
    handrail = [sys.executable, "-m", "handrail"]
    run = [*handrail, "run", "paint", "--blueprint", "paint.toml", "--model", "scripted:script.json", "--json"]
    assert subprocess.run(run, cwd=shop, env=environment, capture_output=True, check=False).returncode == 7
    with receiver() as to:
        serve = [*handrail, "serve", "--json", "--webhook", to.url]
        with subprocess.Popen(serve, cwd=shop, env=environment, stdout=subprocess.PIPE) as server:
            sent = to.wait()
            server.send_signal(signal.SIGTERM)
            printed, _ = server.communicate(timeout=60)
    assert json.loads(sent.body)["ask"]["prompt"] == "Which colour?"
    assert [line["event"] for line in map(json.loads, printed.splitlines())][:1] == ["ready"]
    assert server.returncode == 0


def test_an_address_without_a_secret_is_refused_before_anything_is_carried(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    environment = {**os.environ, **empty_home(tmp_path)}
    environment.pop("HANDRAIL_WEBHOOK_SECRET", None)
    assert program(["serve", "--webhook", "https://here.example/hook"], environment) == 2
    assert "HANDRAIL_WEBHOOK_SECRET" in capfd.readouterr().err
