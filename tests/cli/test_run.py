"""``handrail run`` and ``handrail replay`` without a terminal: streams, exit codes, what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from handrail import files
from handrail.app import RunEvent, RunFinished
from handrail.cli.program import run as program
from handrail.cli.surface import Surface
from handrail.cli.views.run import RunLines
from handrail.journal.events import Event, ModelReplied, ToolFinished
from handrail.journal.vocabulary import Actor, ActorKind
from handrail.transcripts.model import Message, Raw, ToolUse
from tests.cli.homes import CLAUDE_ID, make_home

pytest.importorskip("pydantic")

WRITE = {"call": "Write", "input": {"file_path": "a.txt", "content": "a"}}
LIST = {"call": "List", "input": {"path": "."}}

Handrail = Callable[..., tuple[int, str, str]]
"""Runs a command here: its exit code, what it printed, what it said beside."""


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return make_home(tmp_path / "home") | {"HANDRAIL_CONFIG_DIR": str(tmp_path / "config"), "TZ": "UTC"}


@pytest.fixture
def handrail(
    home: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Handrail:
    work = tmp_path / "shop"
    work.mkdir()
    monkeypatch.chdir(work)
    for name, value in home.items():
        # Stores look for their roots in the environment of the process.
        monkeypatch.setenv(name, value)

    def call(*arguments: str, **more: str) -> tuple[int, str, str]:
        code = program(arguments, home | more)
        printed = capfd.readouterr()
        return code, printed.out, printed.err

    return call


def _model(tmp_path: Path, *script: Any) -> tuple[str, str]:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(script))
    return "--model", f"scripted:{path}"


def _session(err: str) -> str:
    return err.split("session ")[1].split()[0]


def test_the_answer_alone_goes_to_standard_output(handrail: Handrail, tmp_path: Path) -> None:
    code, out, err = handrail("run", "look", *_model(tmp_path, LIST, "It is empty."))
    assert (code, out) == (0, "It is empty.\n")
    assert "→ List" in err
    assert "answered  (2 rounds, 1 call)" in err


def test_without_a_terminal_nobody_is_asked_and_nobody_is_said_to_have_refused(
    handrail: Handrail, tmp_path: Path
) -> None:
    code, out, err = handrail("run", "write", *_model(tmp_path, WRITE, "It was refused."))
    assert (code, out) == (0, "It was refused.\n")
    assert "Write blocked by approval" in err
    assert not Path("a.txt").exists()
    _, shown, _ = handrail("show", _session(err))
    assert "denied" not in shown


def test_what_a_program_asked_for_is_not_a_persons_words(handrail: Handrail, tmp_path: Path) -> None:
    _, _, err = handrail("run", "look", *_model(tmp_path, "Yes."))
    assert (
        "[host program prompt]\nlook" in handrail("show", _session(err))[1]
        or "[host program]\nlook" in handrail("show", _session(err))[1]
    )


@pytest.mark.parametrize("rule", ["Write", "Write:a.txt", "Write:*.txt", "Write(file_path=a.txt)", "Wri*"])
def test_what_is_allowed_runs_without_a_question(handrail: Handrail, tmp_path: Path, rule: str) -> None:
    code, _, _ = handrail("run", "write", *_model(tmp_path, WRITE, "Done."), "--allow", rule)
    assert (code, Path("a.txt").read_text()) == (0, "a")


def test_a_pattern_allows_nothing_else(handrail: Handrail, tmp_path: Path) -> None:
    handrail("run", "write", *_model(tmp_path, WRITE, "Done."), "--allow", "Write:b.txt")
    assert not Path("a.txt").exists()


def test_read_only_wins_over_allow(handrail: Handrail, tmp_path: Path) -> None:
    _, _, err = handrail("run", "write", *_model(tmp_path, WRITE, "Done."), "--allow", "Write", "--read-only")
    assert "Write not run by policy" in err
    assert not Path("a.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "look"], "no model is named"),
        (["run", "look", "--model", "nobody:x"], "no model 'nobody:x'"),
        (["run", "--model", "SCRIPT"], "there is nothing to do"),
        (["run", "look", "--model", "SCRIPT", "--strategy", "nonesuch"], "no strategy is called 'nonesuch'"),
        (["run", "look", "--model", "SCRIPT", "--strategy", "wrap_up,nonesuch"], "no strategy is called 'nonesuch'"),
        (["run", "look", "--model", "SCRIPT", "--strategy", "require_tool"], "cannot be used"),
        (["run", "look", "--model", "SCRIPT", "--allow", "Nonesuch"], "no tool is called 'Nonesuch'"),
        (["run", "look", "--model", "SCRIPT", "--allow", "Nonesuch:x"], "needs the name of the argument"),
        (["run", "look", "--model", "SCRIPT", "--session", "a", "--from", "b"], "give one of them"),
        (["run", "look", "--model", "SCRIPT", "--max-rounds", "-1"], "is not in the range"),
    ],
)
def test_a_command_line_that_is_wrong_ends_with_2_and_leaves_no_session(
    handrail: Handrail, tmp_path: Path, home: dict[str, str], arguments: list[str], told: str
) -> None:
    script = _model(tmp_path, "Yes.")[1]
    code, out, err = handrail(*(script if word == "SCRIPT" else word for word in arguments))
    assert (code, out) == (2, "")
    assert told in err
    assert handrail("ls", "--harness", "handrail", "--json")[1].count('"short_id"') == 0


def test_the_model_can_be_named_by_the_environment(handrail: Handrail, tmp_path: Path) -> None:
    _, name = _model(tmp_path, "Yes.")
    assert handrail("run", "look", HANDRAIL_MODEL=name)[:2] == (0, "Yes.\n")


def test_a_bound_ends_a_run_with_6(handrail: Handrail, tmp_path: Path) -> None:
    code, _, err = handrail("run", "look", *_model(tmp_path, LIST, LIST, "Done."), "--max-rounds", "1")
    assert code == 6
    assert "max rounds" in err


def test_a_long_conversation_is_summed_up(handrail: Handrail, tmp_path: Path) -> None:
    full = {"content": [LIST], "usage": {"input_tokens": 90, "output_tokens": 10}}
    model = _model(tmp_path, full, "What was done.", "Done.")
    _, out, err = handrail("run", "look", *model, "--compact-at", "100")
    assert (out, "the conversation was compacted" in err) == ("Done.\n", True)


def test_a_run_that_fails_ends_with_1_and_is_kept(handrail: Handrail, tmp_path: Path) -> None:
    code, out, err = handrail("run", "look", *_model(tmp_path, LIST))
    assert (code, out) == (1, "")
    assert "was asked for one more" in err
    assert handrail("show", _session(err))[0] == 0


def test_strategies_are_asked(handrail: Handrail, tmp_path: Path) -> None:
    model = _model(tmp_path, "Nothing here.", LIST, "It is empty.")
    code, out, err = handrail("run", "look", *model, "--strategy", "require_tool:List")
    assert (code, out) == (0, "It is empty.\n")
    assert "+ require_tool:List: Call the tool List" in err


def test_a_session_is_gone_on_with_by_the_beginning_of_its_id(handrail: Handrail, tmp_path: Path) -> None:
    model = _model(tmp_path, "One.", "Two.")
    session = _session(handrail("run", "first", *model)[2])
    code, out, err = handrail("run", "second", "--session", session[:20], *model)
    assert (code, out, _session(err)) == (0, "Two.\n", session)
    assert handrail("run", "third", "--session", "nonesuch", *model)[0] == 5


def test_a_session_that_another_process_runs_is_left_alone(
    handrail: Handrail, tmp_path: Path, home: dict[str, str]
) -> None:
    model = _model(tmp_path, "One.", "Two.")
    session = _session(handrail("run", "first", *model)[2])
    with files.lock(Path(home["HANDRAIL_HOME"], "sessions", f"{session}.driver")):
        code, out, err = handrail("run", "second", "--session", session, *model)
    assert (code, out) == (4, "")
    assert "another process" in err


def _kept_as_a_file(handrail: Handrail, home: dict[str, str], session: str) -> str:
    """The session as releases before the database kept theirs, which is where it is from now on."""
    folder = Path(home["HANDRAIL_HOME"], "sessions")
    _, shown, _ = handrail("convert", session, "--to", "handrail")
    for path in folder.glob("journal.sqlite*"):
        path.unlink()
    (folder / f"{session}.jsonl").write_text(shown)
    return session


def test_a_session_that_is_kept_as_a_file_goes_on_there(
    handrail: Handrail, tmp_path: Path, home: dict[str, str]
) -> None:
    model = _model(tmp_path, "One.", "Two.")
    session = _kept_as_a_file(handrail, home, _session(handrail("run", "first", *model)[2]))
    code, out, _ = handrail("run", "second", "--session", session, *model)
    assert (code, out) == (0, "Two.\n")
    assert b"Two." in Path(home["HANDRAIL_HOME"], "sessions", f"{session}.jsonl").read_bytes()


def test_damage_in_the_inbox_of_a_file_is_said_in_a_line_and_the_run_goes_on(
    handrail: Handrail, tmp_path: Path, home: dict[str, str]
) -> None:
    model = _model(tmp_path, "One.", "Two.")
    session = _kept_as_a_file(handrail, home, _session(handrail("run", "first", *model)[2]))
    inbox = Path(home["HANDRAIL_HOME"], "sessions", f"{session}.inbox")
    inbox.write_bytes(b"nonsense\n")
    warning = f"warning: {inbox}: bytes 0-8 are no entry of an inbox and count for nothing"
    code, _, err = handrail("ps", "--all")
    assert (code, err.count(warning), "Warning" in err) == (0, 1, False)
    code, out, err = handrail("run", "second", "--session", session, *model)
    assert (code, out, err.count(warning)) == (0, "Two.\n", 1)
    assert inbox.read_bytes() == b"nonsense\n"


def test_a_damaged_session_is_not_gone_on_with_and_the_way_on_is_said(
    handrail: Handrail, tmp_path: Path, home: dict[str, str]
) -> None:
    script = _model(tmp_path, LIST, "It is empty.", "And now?")
    session = _kept_as_a_file(handrail, home, _session(handrail("run", "look", *script)[2]))
    (path,) = Path(home["HANDRAIL_HOME"]).rglob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join((*lines[:4], b"?" * (len(lines[4]) - 1) + b"\n", *lines[5:])))
    code, out, err = handrail("run", "more", "--session", session, *script)
    assert (code, out) == (4, "")
    assert "--from begins a copy of the rest" in err
    assert handrail("run", "more", "--from", session, *script)[:2] == (0, "It is empty.\n")


def test_a_result_of_a_call_that_another_process_began_is_told_by_its_tool() -> None:
    finished = Event(seq=9, by=Actor(ActorKind.TOOL, "Read"), body=ToolFinished(call="call_1", content="x"))
    assert RunLines(Surface({"NO_COLOR": "1"})).render(finished) == ["← Read: x"]


@pytest.mark.parametrize(
    "text", ["x" * 10_000, "\x1b\n" * 10_000, f"x{' ' * 10_000}x"], ids=["long", "control", "blank"]
)
def test_of_a_long_argument_the_beginning_is_shown_and_that_it_is_not_all(text: str) -> None:
    message = Message(role="assistant", content=(ToolUse("call_1", Raw("probe", {"value": text})),))
    replied = Event(seq=9, by=Actor(ActorKind.MODEL), body=ModelReplied(message=message))
    (shown,) = RunLines(Surface({"NO_COLOR": "1"})).render(replied)
    assert shown.startswith("→ probe {")
    assert shown.endswith("…")
    assert len(shown) < 400


def test_a_folder_that_is_gone_is_an_error_in_words(handrail: Handrail, tmp_path: Path) -> None:
    Path.cwd().rmdir()
    code, _, err = handrail("run", "look", *_model(tmp_path, "Yes."))
    assert (code, err) == (4, "error: the folder this was started in is gone: No such file or directory\n")


def test_a_copy_of_another_harnesss_session_is_gone_on_with(
    handrail: Handrail, tmp_path: Path, home: dict[str, str]
) -> None:
    before = {path: path.read_bytes() for path in Path(home["HOME"]).rglob("*.jsonl")}
    code, out, err = handrail("run", "go on", "--from", CLAUDE_ID, *_model(tmp_path, "Gladly."))
    assert (code, out) == (0, "Gladly.\n")
    shown = handrail("show", _session(err))[1]
    assert "Archived." in shown
    assert "Gladly." in shown
    assert {path: path.read_bytes() for path in before} == before


def test_a_prompt_template_is_filled_in(handrail: Handrail, tmp_path: Path) -> None:
    folder = Path(".handrail", "templates")
    folder.mkdir(parents=True)
    (folder / "review.md").write_text("---\ndescription: reviews\n---\nReview $1 with care.\n")
    _, _, err = handrail("run", "/review parser", *_model(tmp_path, "Done."), "--trust")
    assert "Review parser with care." in handrail("show", _session(err))[1]


def test_what_a_repository_nobody_vouched_for_offers_is_withheld_and_said(handrail: Handrail, tmp_path: Path) -> None:
    Path(".handrail").mkdir()
    Path(".handrail", "permissions.toml").write_text('schema = 1\n[[rules]]\nverdict = "allow"\ntool = "Write"\n')
    model = _model(tmp_path, WRITE, "Done.")
    assert "withheld: the rule allow Write" in handrail("run", "write", *model)[2]
    assert not Path("a.txt").exists()
    handrail("run", "write", *model, "--trust")
    assert Path("a.txt").exists()


def test_as_json_each_line_is_one_event_that_fits_its_schema(handrail: Handrail, tmp_path: Path) -> None:
    code, out, err = handrail("run", "look", *_model(tmp_path, LIST, "It is empty."), "--json")
    assert (code, err) == (0, "")
    events = [msgspec.json.decode(line, type=RunEvent) for line in out.splitlines()]
    assert {event.schema_version for event in events} == {1}
    kinds = [json.loads(line)["event"] for line in out.splitlines()]
    assert (kinds[0], kinds[-1]) == ("session", "result")
    last = events[-1]
    assert isinstance(last, RunFinished)
    assert (last.output, last.rounds, last.end_reason) == ("It is empty.", 2, "answered")
    recorded = [json.loads(line)["record"]["seq"] for line in out.splitlines() if '"event":"happened"' in line]
    assert recorded == list(range(1, len(recorded) + 1))


def test_as_json_a_failed_run_tells_its_end_and_then_the_error(handrail: Handrail, tmp_path: Path) -> None:
    code, out, err = handrail("run", "look", *_model(tmp_path, LIST), "--json")
    assert code == 1
    assert json.loads(out.splitlines()[-1])["end_reason"] == "failed"
    assert json.loads(err)["error"]["code"] == "run_failed"


def test_a_replay_of_what_has_not_changed_finds_nothing(handrail: Handrail, tmp_path: Path) -> None:
    session = _session(handrail("run", "look", *_model(tmp_path, LIST, WRITE, "Done."), "--allow", "Write")[2])
    Path("a.txt").unlink()
    code, out, _ = handrail("replay", session)
    assert code == 0
    assert "3 replies, 1 call run, 1 answered from the recording, 0 divergences" in out
    assert not Path("a.txt").exists()


def test_a_replay_says_where_a_call_comes_to_something_else(handrail: Handrail, tmp_path: Path) -> None:
    session = _session(handrail("run", "look", *_model(tmp_path, LIST, "Done."))[2])
    Path("new.txt").write_text("new")
    code, out, _ = handrail("replay", session, "--json")
    found = json.loads(out)["divergences"]
    assert (code, [(one["reply"], one["kind"]) for one in found]) == (8, [(1, "result")])
    assert "new.txt" in found[0]["given"]["content"]


def test_base_installs_are_told_which_extra_to_install(home: dict[str, str], tmp_path: Path) -> None:
    code = "import sys; sys.modules['pydantic'] = None; from handrail.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "run", "look"], env=home, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "pip install 'handrail[agents]'" in done.stderr
