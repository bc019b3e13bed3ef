"""The bundled sample home: what the builders write, what the harnesses read of it, and that it is the committed one."""

from __future__ import annotations

from pathlib import Path

import pytest

import handrail
from handrail.blueprints.shelf import shipped_names
from handrail.journal.events import BlueprintFrozen
from handrail.journal.wire import decode_event
from handrail.testing.sample import sample_home, write_sample

_HOME = Path(handrail.__file__).parent / "app" / "sample" / "home"
_FILES = sample_home()
_HOMES = {".claude/": "claude_code", ".codex/": "codex", ".local/state/handrail/": "handrail"}


def _harness_of(name: str) -> handrail.HarnessInfo:
    (harness,) = (harness for prefix, harness in _HOMES.items() if name.startswith(prefix))
    return handrail.harness(harness)


def _moments(name: str) -> tuple[handrail.Intervention, ...]:
    codec = _harness_of(name).codec
    native = codec.parse(_FILES[name])
    return handrail.find_interventions(codec.to_common(native), branches=codec.branches(native))


def test_the_committed_home_is_what_the_builders_write(tmp_path: Path) -> None:
    write_sample(tmp_path)
    committed = {str(path.relative_to(_HOME)): path.read_bytes() for path in _HOME.rglob("*") if path.is_file()}
    built = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert sorted(committed) == sorted(built)
    assert committed == built


@pytest.mark.parametrize("name", sorted(_FILES))
def test_every_file_goes_through_its_codec_and_the_other(name: str) -> None:
    info = _harness_of(name)
    native = info.codec.parse(_FILES[name])
    assert info.codec.render(native) == _FILES[name]
    assert dict(info.codec.unknown(native)) == {}
    session = info.codec.to_common(native)
    assert session.body
    session.tool_pairs()
    for target in handrail.harness_names():
        handrail.convert(session, to=target)


def test_one_file_is_damaged_and_no_other() -> None:
    faults = {
        name: _harness_of(name).codec.faults(_harness_of(name).codec.parse(data)) for name, data in _FILES.items()
    }
    assert [len(found) for found in faults.values() if found] == [1]


@pytest.mark.parametrize("trigger", list(handrail.Trigger))
def test_every_trigger_shows(trigger: handrail.Trigger) -> None:
    assert any(moment.trigger == trigger for name in _FILES for moment in _moments(name))


@pytest.mark.parametrize("harness", [".claude", ".codex"])
def test_each_harness_shows_people_stepping_in(harness: str) -> None:
    shown = {
        moment.trigger for name in _FILES if name.startswith(harness) for moment in _moments(name) if moment.is_stepin
    }
    assert {"steer", "denial", "interrupt", "rewind"} <= shown


def test_there_is_a_refusal_with_words_and_one_without() -> None:
    refusals = [
        block.refusal.reason is not None
        for name, data in _FILES.items()
        for message in _harness_of(name).codec.to_common(_harness_of(name).codec.parse(data)).body
        for block in message.content
        if isinstance(block, handrail.ToolResult) and block.refusal and block.refusal.kind == "denied"
    ]
    assert set(refusals) == {True, False}


def test_there_is_a_compaction_and_a_line_that_was_left() -> None:
    for prefix in (".claude", ".codex"):
        codecs = [(_harness_of(name).codec, data) for name, data in _FILES.items() if name.startswith(prefix)]
        natives = [(codec, codec.parse(data)) for codec, data in codecs]
        blocks = [b for codec, native in natives for m in codec.to_common(native).body for b in m.content]
        assert any(isinstance(block, handrail.Compaction) for block in blocks)
        assert any(branch.human_turns for codec, native in natives for branch in codec.branches(native))


def test_the_sub_agent_belongs_to_the_call_that_started_it() -> None:
    (main,) = (name for name in _FILES if name.endswith("1003.jsonl"))
    (side,) = (name for name in _FILES if "/subagents/" in name)
    codec = _harness_of(main).codec
    stem = main.rsplit("/", 1)[0] + "/"
    native = codec.parse({name.removeprefix(stem): _FILES[name] for name in (main, side)})
    (child,) = codec.children(native)
    calls = {b.id for m in codec.to_common(native).body for b in m.content if isinstance(b, handrail.ToolUse)}
    assert child.call in calls
    assert child.session is not None
    assert not any(
        block.author == "person" for m in child.session.body for block in m.content if isinstance(block, handrail.Text)
    )


def test_a_fork_counts_nothing_of_what_it_copied() -> None:
    (fork,) = (name for name in _FILES if name.endswith("d10003.jsonl"))
    assert [moment.text for moment in _moments(fork)] == ["Use the same check for the morning buses."]


def test_both_blueprints_that_ship_were_run_and_a_plan_was_sent_back() -> None:
    journals = [data for name, data in _FILES.items() if name.startswith(".local/state/handrail/")]
    events = [decode_event(line).body for data in journals for line in data.splitlines()]
    assert set(shipped_names()) == {body.name for body in events if isinstance(body, BlueprintFrozen)}
    revisions = {moment.text for name in _FILES for moment in _moments(name) if moment.trigger == "revision"}
    assert "screws, not nails: the boxes are opened every winter" in revisions
