"""The whole story at a terminal: steer, deny with a reason, stop, go on, and see it all in ``handrail moments``."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from handrail.testing.wire import openai_chat
from handrail.testing.wire.server import WireServer
from handrail.testing.wire.turns import Turn, says
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import Json, ToolUse
from tests.cli.homes import empty_home
from tests.cli.shell import handrail
from tests.cli.terminal import Terminal

pytest.importorskip("pydantic_ai")

WAITS = ("Bash", {"command": "printf 'is %s' waiting; cat gate"})
"""A call that says that it ``is waiting`` and goes on until the test writes into the pipe ``gate``."""

NOTES = ("Write", {"file_path": "notes.md", "content": "# notes\nfirst"})
OTHER = ("Write", {"file_path": "other.md", "content": "# other"})
REPLIES: tuple[tuple[str, dict[str, Json]] | str, ...] = (WAITS, NOTES, OTHER, "All is written down.")


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return empty_home(tmp_path / "home") | {"HANDRAIL_CONFIG_DIR": str(tmp_path / "config")}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    os.mkfifo(folder / "gate")
    return folder


def _open_gate(work: Path) -> None:
    (work / "gate").write_text("the gate is open\n")


def _scripted(work: Path, replies: Sequence[Any] = REPLIES) -> tuple[str, ...]:
    """The options that name a script of ``replies``."""
    script = [item if isinstance(item, str) else {"call": item[0], "input": item[1]} for item in replies]
    (work.parent / "script.json").write_text(json.dumps(script))
    return ("--model", f"scripted:{work.parent / 'script.json'}")


@contextmanager
def _served() -> Iterator[tuple[str, ...]]:
    """The options that name a server on the loopback that speaks Chat Completions and gives ``REPLIES``."""
    turns = [_turn(item, number) for number, item in enumerate(REPLIES)]
    up = threading.Event()
    stop: list[Any] = []
    urls: list[str] = []

    async def serve() -> None:
        over = asyncio.Event()
        stop.extend((asyncio.get_running_loop(), over))
        async with WireServer([openai_chat.spell(turn) for turn in turns]) as server:
            urls.append(server.url)
            up.set()
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert up.wait(timeout=60)
    try:
        yield ("--model", f"openai:{openai_chat.MODEL}", "--base-url", f"{urls[0]}/v1")
    finally:
        loop, over = stop
        loop.call_soon_threadsafe(over.set)
        thread.join(timeout=60)


def _turn(item: tuple[str, dict[str, Json]] | str, number: int) -> Turn:
    if isinstance(item, str):
        return says(item)
    return Turn(content=(ToolUse(f"call_of_{number}", parse_call(*item)),), stop_reason="tool_use")


def _session(terminal: Terminal) -> str:
    terminal.sees("session ")
    return terminal.shown.split("session ")[1].split()[0]


def _tell_the_story(home: dict[str, str], work: Path, model: tuple[str, ...]) -> str:
    """Steer while a command runs, deny the next call, stop at the third, and go on in another process."""
    with Terminal(home, work, "run", "write it down", *model) as terminal:
        session = _session(terminal)
        terminal.sees("May Bash run?")
        terminal.type("y")
        terminal.sees("is waiting")
        terminal.type("use the other file")
        terminal.sees("(queued)")
        _open_gate(work)
        terminal.sees("use the other file  (delivered with round 2)")
        terminal.sees("May Write run?")
        terminal.type("n notes are kept elsewhere")
        terminal.sees("Write denied by person: notes are kept elsewhere")
        terminal.sees("May Write run?")
        terminal.type("/stop lunch")
        terminal.sees("stop requested: lunch")
        assert terminal.ends() == 6
    with Terminal(home, work, "run", "go on", "--session", session[:13], *model) as terminal:
        terminal.sees("All is written down.")
        terminal.sees("answered")
        assert terminal.ends() == 0
    return session


def _check_the_story(home: dict[str, str], work: Path, session: str) -> None:
    assert list(work.glob("*.md")) == []
    found = handrail(home, "moments", session, "--all", "--json").value
    told = [(one["trigger"], one["words"]) for one in found["moments"]]
    assert ("steer", "use the other file") in told
    assert ("denial", "notes are kept elsewhere") in told
    assert found["summary"]["by_trigger"] == {"steer": 1, "denial": 1}
    shown = handrail(home, "show", session).text
    assert "[user steer]\nuse the other file" in shown
    assert "denied by person" in shown
    assert "[user]\ngo on" in shown


def test_a_scripted_agent_is_steered_denied_stopped_and_gone_on_with(home: dict[str, str], work: Path) -> None:
    _check_the_story(home, work, _tell_the_story(home, work, _scripted(work)))


def test_the_same_works_with_a_server_that_speaks_chat_completions(home: dict[str, str], work: Path) -> None:
    with _served() as model:
        session = _tell_the_story(home, work, model)
    _check_the_story(home, work, session)


def test_a_call_is_run_with_the_arguments_a_person_made_of_it(home: dict[str, str], work: Path) -> None:
    with Terminal(home, work, "run", "write", *_scripted(work, (NOTES, "Done."))) as terminal:
        session = _session(terminal)
        terminal.sees("content: # notes")
        terminal.type("e not json")
        terminal.sees("that is no JSON")
        terminal.type('e {"file_path":"mine.md","content":"mine"}')
        terminal.sees("runs instead")
        assert terminal.ends() == 0
    assert [path.name for path in work.glob("*.md")] == ["mine.md"]
    found = handrail(home, "moments", session, "--json").value
    assert [one["trigger"] for one in found["moments"]] == ["edit"]


def test_an_interrupt_with_words_ends_what_runs_and_goes_on_with_them(home: dict[str, str], work: Path) -> None:
    with Terminal(home, work, "run", "wait", *_scripted(work, (WAITS, "Gladly.")), "--allow", "Bash") as terminal:
        terminal.sees("is waiting")
        terminal.type("/interrupt leave it")
        terminal.sees("Bash interrupted")
        terminal.sees("leave it  (delivered with round 2)")
        terminal.sees("Gladly.")
        assert terminal.ends() == 0


def test_ctrl_c_ends_the_run_with_130_and_everything_is_kept(home: dict[str, str], work: Path) -> None:
    with Terminal(home, work, "run", "wait", *_scripted(work), "--allow", "Bash") as terminal:
        session = _session(terminal)
        terminal.sees("is waiting")
        terminal.press("\x03")
        terminal.sees("stop requested: Ctrl-C")
        assert terminal.ends() == 130
    assert "interrupted" in handrail(home, "show", session).text


def test_a_run_whose_process_was_killed_is_gone_on_with(home: dict[str, str], work: Path) -> None:
    model = _scripted(work, (WAITS, "I have looked.", "And more."))
    with Terminal(home, work, "run", "wait", *model, "--allow", "Bash") as terminal:
        session = _session(terminal)
        terminal.sees("is waiting")
        terminal.kill()
    with Terminal(home, work, "run", "then more", "--session", session, *model) as terminal:
        terminal.sees("it is gone on with first")
        terminal.sees("Whether it took effect is unknown")
        terminal.sees("I have looked.")
        terminal.sees("follow-up: then more")
        terminal.sees("And more.")
        assert terminal.ends() == 0


def test_a_tool_asks_and_a_label_is_an_answer(home: dict[str, str], work: Path) -> None:
    asks = ("Ask", {"question": "Which colour?", "options": ["red", "green"]})
    with Terminal(home, work, "run", "paint", *_scripted(work, (asks, "Painted."))) as terminal:
        terminal.sees("2 green")
        terminal.type("2")
        terminal.sees("answered: green")
        terminal.sees("They answered: green")
        assert terminal.ends() == 0


def test_a_terminal_without_moves_gets_plain_lines(home: dict[str, str], work: Path) -> None:
    dumb = home | {"TERM": "dumb"}
    with Terminal(dumb, work, "run", "write", *_scripted(work, (NOTES, "Done."))) as terminal:
        terminal.sees("May Write run?")
        terminal.type("y")
        terminal.sees("Done.")
        assert terminal.ends() == 0
        assert not terminal.moved


def test_the_steps_of_the_readme_come_out_as_it_says(home: dict[str, str], work: Path) -> None:
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    (work / "script.json").write_text(readme.split("```json\n")[1].split("```")[0])
    model = ("--model", "scripted:script.json")
    with Terminal(home, work, "run", "write down what is here", *model) as terminal:
        session = _session(terminal)
        terminal.sees("May Bash run?")
        terminal.type("y")
        terminal.sees("counting ›")
        terminal.type("/interrupt keep it short")
        terminal.sees("keep it short  (delivered with round 2)")
        terminal.sees("May Write run?")
        terminal.type("n not into notes.md")
        terminal.sees("Write denied by person: not into notes.md")
        terminal.sees("May Write run?")
        terminal.type("/stop that is enough")
        terminal.sees(f"session {session}")
        assert terminal.ends() == 6
    with Terminal(home, work, "run", "go on", "--session", session, *model) as terminal:
        terminal.sees("Everything is written down.")
        assert terminal.ends() == 0
    found = handrail(home, "moments", "--json").value["moments"]
    assert {one["words"] for one in found} >= {"keep it short", "not into notes.md"}
