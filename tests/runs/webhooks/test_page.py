"""The pages on workers and webhooks say what is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import pytest

from handrail.cli.program import program
from handrail.runs.webhooks import TOPICS, load_endpoints, sending, signature
from handrail.runs.webhooks.endpoints import SECRET_VARIABLE

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "webhooks.md").read_text()


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", ["worker.md", "webhooks.md"])
def test_the_examples_run_as_written(page: str) -> None:
    (block,) = blocks(page, "python")
    exec(block, {})


def test_the_check_of_the_page_takes_what_is_sent_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {}
    exec(blocks("webhooks.md", "python")[0], names)
    monkeypatch.setattr("time.time", lambda: 1000.0)
    secret, body = b"0123456789abcdef", b"{}"
    headers = {"Handrail-Signature": signature(secret, "990", body), "Handrail-Timestamp": "990"}
    assert names["is_ours"](secret, headers, body)
    assert not names["is_ours"](secret, headers, b"[]")


def test_the_file_of_the_page_names_an_address(tmp_path: Path) -> None:
    path = tmp_path / "webhooks.toml"
    path.write_text(blocks("webhooks.md", "toml")[0])
    (found,) = load_endpoints(path, {"MY_SECRET": "s" * 16})
    assert found.topics == ("ask.opened", "ask.due", "run.finished")


def test_the_page_names_every_topic_and_the_figures_of_the_tries() -> None:
    assert all(f"`{topic}`" in PAGE for topic in TOPICS)
    assert SECRET_VARIABLE in PAGE
    assert f"{sending.FIRST_PAUSE_S:g} s" in PAGE
    assert f"{sending.LONGEST_PAUSE_S / 60:g} minutes at most" in PAGE
    assert f"{sending.MAX_TRIES} times in all" in PAGE
    assert f"a timeout ({sending.TIMEOUT_S:g} s)" in PAGE


def test_the_page_on_workers_names_every_option_with_its_default() -> None:
    page = (DOCS / "worker.md").read_text()
    command = program.get_command(click.Context(program), "worker")
    assert command is not None
    for option in command.params:
        name = getattr(option, "opts", [""])[0]
        if name in ("--most", "--stalled-after"):
            assert re.search(rf"\| `{name} \w+` \| {option.default:g} \|", page), name
        elif name in ("--webhook", "--webhooks", "--database", "--json"):
            assert name in page
