"""doctor and repair on a machine: which file, what is refused, what is written, what is proved."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from msgspec.structs import replace

import handrail
from handrail import app
from handrail.errors import MalformedSession, SessionNotFound, StoreError
from handrail.files import OpenFile
from handrail.harnesses.claude_code.medic import ClaudeCodeMedic
from handrail.transcripts.repair import Diagnosis, Edit, Severity, Source, Wishes
from tests.doctor.files import SESSION, call, chain, header, lines, prompted, turn

WHOLE = lines(chain(4))
TORN = WHOLE + b'{"type":"user","mess'
DAY_S = 86_400


class Still:
    """A clock that stands."""

    def __init__(self, now_s: float) -> None:
        self._now = datetime.fromtimestamp(now_s, UTC)

    def now(self) -> datetime:
        return self._now

    def monotonic_s(self) -> float:
        return 0.0


def machine(root: Path) -> app.Machine:
    roots = {"claude_code": root / "projects", "codex": root / "sessions"}
    return app.open_machine(roots, only_given=True)


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def project(root: Path, data: bytes, name: str = SESSION) -> Path:
    return put(root / "projects" / "-srv-shop" / f"{name}.jsonl", data)


def codes(found: app.DoctorReport) -> list[str]:
    return [finding.code for checkup in found.sessions for finding in checkup.findings]


def test_a_session_is_found_by_id_by_prefix_and_by_path(tmp_path: Path) -> None:
    path = project(tmp_path, TORN)
    for text in (SESSION, SESSION[:8], str(path)):
        found = app.doctor(machine(tmp_path), text)
        assert (found.checked, found.damaged, codes(found)) == (1, 1, ["torn_tail"])
    with pytest.raises(SessionNotFound):
        app.doctor(machine(tmp_path), "nonesuch")


def test_all_sessions_are_looked_at_and_those_without_findings_only_counted(tmp_path: Path) -> None:
    project(tmp_path, WHOLE, "0f8fad5b-d9cb-469f-a165-708677289501")
    project(tmp_path, TORN)
    put(tmp_path / "sessions" / "2026" / "rollout-x.jsonl", lines([header(), *prompted("go")]))
    found = app.doctor(machine(tmp_path))
    assert (found.checked, found.damaged, found.unreadable, codes(found)) == (3, 1, 0, ["torn_tail"])


def test_a_finding_names_the_file_and_the_command_that_helps(tmp_path: Path) -> None:
    path = project(tmp_path / "a place", TORN)
    (finding,) = app.doctor(machine(tmp_path), str(path)).sessions[0].findings
    assert finding.file == str(path)
    assert finding.fix == f"handrail repair '{path}' --out {SESSION}.repaired.jsonl"


def test_a_file_of_nobody_is_unreadable(tmp_path: Path) -> None:
    for data in (b"", b"hello\n", b'{"a":1}\n'):
        found = app.doctor(machine(tmp_path), str(put(tmp_path / "x.jsonl", data)))
        assert (found.unreadable, found.sessions[0].severity) == (1, Severity.UNREADABLE)


def test_a_file_too_damaged_for_a_guess_is_still_diagnosed(tmp_path: Path) -> None:
    data = b"".join(bytes(9) + line[:-9] + b"\n" for line in WHOLE.splitlines(keepends=True)) + lines(chain(1))
    found = app.doctor(machine(tmp_path), str(put(tmp_path / "x.jsonl", data)))
    assert (found.sessions[0].source.harness, found.damaged) == ("claude_code", 1)


def test_what_is_no_plain_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", tmp_path, Path("/dev/null")):
        with pytest.raises(StoreError, match="no regular file"):
            app.doctor(machine(tmp_path), str(name))
        with pytest.raises(StoreError, match="no regular file"):
            app.repair(machine(tmp_path), str(name), str(tmp_path / "out"))


def test_a_harness_without_a_diagnosis_says_so(tmp_path: Path) -> None:
    path = put(tmp_path / "x.json", b"{}")
    with pytest.raises(MalformedSession, match="not diagnosed"):
        app.doctor(machine(tmp_path), str(path), harness="simple")


# What lies beside ----------------------------------------------------------------------------------------------


def spawned(agent: str) -> bytes:
    asked = turn("assistant", "u1", "u0", [call("t1")])
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
    return lines([*chain(1), asked, turn("user", "u2", "u1", [answer], toolUseResult={"agentId": agent})])


def test_a_missing_sub_agent_file_is_a_note_and_one_that_is_there_is_none(tmp_path: Path) -> None:
    path = project(tmp_path, spawned("a1"))
    found = app.doctor(machine(tmp_path), str(path))
    assert (found.damaged, codes(found)) == (0, ["missing_subagent"])
    put(path.with_suffix("") / "subagents" / "workflows" / "wf_1" / "agent-a1.jsonl", WHOLE)
    assert codes(app.doctor(machine(tmp_path), str(path))) == []


def test_a_sub_agent_whose_session_is_gone_is_a_note(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-srv-shop" / SESSION / "subagents" / "workflows" / "wf_1"
    path = put(folder / "agent-a1.jsonl", WHOLE)
    assert codes(app.doctor(machine(tmp_path), str(path))) == ["orphan_subagent"]
    project(tmp_path, WHOLE)
    assert codes(app.doctor(machine(tmp_path), str(path))) == []


@pytest.mark.parametrize(
    ("settings", "age_days", "is_told"),
    [
        (None, 1, False),
        (None, 24, True),
        (None, 40, True),
        ('{"cleanupPeriodDays": 99999}', 40, False),
        ('{"cleanupPeriodDays": 10}', 5, True),
        ("{", 24, True),
        ('{"cleanupPeriodDays": "x"}', 5, False),
    ],
)
def test_a_file_its_tool_will_delete_soon_is_a_note(
    tmp_path: Path, settings: str | None, age_days: int, is_told: bool
) -> None:
    path = project(tmp_path, WHOLE)
    if settings is not None:
        put(tmp_path / "settings.json", settings.encode())
    clock = Still(path.stat().st_mtime + age_days * DAY_S)
    found = app.doctor(machine(tmp_path), str(path), clock=clock)
    assert (found.damaged, codes(found)) == (0, ["soon_deleted"] if is_told else [])


# Writing a copy ------------------------------------------------------------------------------------------------


def test_a_copy_is_written_for_its_owner_only_and_the_original_stays(tmp_path: Path) -> None:
    path = project(tmp_path, TORN)
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    done = app.repair(machine(tmp_path), SESSION, str(tmp_path / "out.jsonl"))
    assert (tmp_path / "out.jsonl").read_bytes() == WHOLE
    assert stat.S_IMODE((tmp_path / "out.jsonl").stat().st_mode) == 0o600
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [(change.kind, change.start, change.end) for change in done.losses] == [("torn_tail", len(WHOLE), len(TORN))]
    assert done.size_bytes == len(WHOLE)


def test_a_copy_of_a_copy_has_the_same_bytes(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", lines([*chain(3), turn("assistant", "a", "gone", [call("t1")])]))
    app.repair(machine(tmp_path), str(path), str(tmp_path / "b.jsonl"))
    done = app.repair(machine(tmp_path), str(tmp_path / "b.jsonl"), str(tmp_path / "c.jsonl"))
    assert done.changes == ()
    assert (tmp_path / "c.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_the_session_itself_is_never_the_target(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", TORN)
    (tmp_path / "link.jsonl").symlink_to(path)
    (tmp_path / "hard.jsonl").hardlink_to(path)
    for name in ("a.jsonl", "link.jsonl", "hard.jsonl", "./x/../a.jsonl"):
        (tmp_path / "x").mkdir(exist_ok=True)
        with pytest.raises(StoreError, match="is the session itself"):
            app.repair(machine(tmp_path), str(path), str(tmp_path / name), force=True)
    assert path.read_bytes() == TORN


def test_an_existing_file_a_dangling_link_and_a_folder_are_no_targets(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", TORN)
    put(tmp_path / "there.jsonl", b"mine")
    (tmp_path / "dangling.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder").mkdir()
    for name in ("there.jsonl", "dangling.jsonl"):
        with pytest.raises(StoreError, match="exists already"):
            app.repair(machine(tmp_path), str(path), str(tmp_path / name))
    for name in ("folder", "new/"):
        with pytest.raises(StoreError, match="is a folder"):
            app.repair(machine(tmp_path), str(path), f"{tmp_path}/{name}", force=True)
    app.repair(machine(tmp_path), str(path), str(tmp_path / "there.jsonl"), force=True)
    assert (tmp_path / "there.jsonl").read_bytes() == WHOLE
    assert not (tmp_path / "nowhere").exists()


def test_a_link_as_target_is_replaced_and_what_it_names_is_left(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", TORN)
    other = put(tmp_path / "other", b"mine")
    (tmp_path / "link.jsonl").symlink_to(other)
    app.repair(machine(tmp_path), str(path), str(tmp_path / "link.jsonl"), force=True)
    assert (other.read_bytes(), (tmp_path / "link.jsonl").is_symlink()) == (b"mine", False)


@pytest.mark.parametrize("name", ["a\nb.jsonl", "-x.jsonl", "naïve \u202e.jsonl", "\udcff.jsonl", "x" * 300])
def test_hostile_names_are_taken_or_refused_and_never_break(tmp_path: Path, name: str) -> None:
    path = put(tmp_path / "a.jsonl", TORN)
    try:
        app.repair(machine(tmp_path), str(path), str(tmp_path / name))
    except StoreError as problem:
        assert "cannot write" in problem.message
    else:
        assert (tmp_path / name).read_bytes() == WHOLE


@pytest.mark.skipif(not Path("/proc/self/fdinfo").is_dir(), reason="only Linux says who has a file open")
def test_a_session_that_somebody_has_open_for_writing_is_refused(tmp_path: Path) -> None:
    path = project(tmp_path, TORN)
    with path.open("ab"), pytest.raises(StoreError, match="open for writing"):
        app.repair(machine(tmp_path), SESSION, str(tmp_path / "out.jsonl"))
    assert not (tmp_path / "out.jsonl").exists()
    with path.open("rb"):
        app.repair(machine(tmp_path), SESSION, str(tmp_path / "out.jsonl"))


@pytest.mark.skipif(not Path("/proc/self/fdinfo").is_dir(), reason="only Linux says who has a file open")
def test_what_is_missing_at_the_end_of_a_session_being_written_is_only_a_note(tmp_path: Path) -> None:
    path = project(tmp_path, TORN)
    with path.open("ab"):
        found = app.doctor(machine(tmp_path), SESSION)
    assert (found.damaged, codes(found)) == (0, ["torn_tail", "in_use"])


class Growing(ClaudeCodeMedic):
    """A medic under whose hands the session grows."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def edits(self, source: Source, wishes: Wishes) -> tuple[Edit, ...]:
        found = super().edits(source, wishes)
        with self._path.open("ab") as stream:
            stream.write(b"more")
        return found


def test_a_session_that_grows_while_it_is_repaired_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", TORN)
    with pytest.raises(StoreError, match="was written while it was read"):
        app.repair(_with_medic(tmp_path, Growing(path)), str(path), str(tmp_path / "out.jsonl"), harness="claude_code")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a.jsonl"]


class Careless(ClaudeCodeMedic):
    """A medic who heals nothing."""

    def edits(self, source: Source, wishes: Wishes) -> tuple[Edit, ...]:
        return ()


def test_a_copy_that_is_still_damaged_gets_no_name(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", TORN)
    with pytest.raises(MalformedSession, match="still damaged"):
        app.repair(_with_medic(tmp_path, Careless()), str(path), str(tmp_path / "out.jsonl"), harness="claude_code")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a.jsonl"]


def test_a_copy_that_is_still_damaged_reaches_nobody(tmp_path: Path) -> None:
    given: list[bytes] = []
    with pytest.raises(MalformedSession, match="still damaged"):
        app.repair(
            _with_medic(tmp_path, Careless()), "-", given.append, stdin=lambda: BytesIO(TORN), harness="claude_code"
        )
    assert given == []
    done = app.repair(machine(tmp_path), "-", given.append, stdin=lambda: BytesIO(TORN))
    assert (b"".join(given), done.out, list(tmp_path.iterdir())) == (WHOLE, None, [])


class Measured(BytesIO):
    """A stream that remembers the largest piece anybody asked for."""

    largest = 0

    def read(self, size: int | None = -1) -> bytes:
        assert size is not None
        assert size >= 0, "all of it was asked for at once"
        self.largest = max(self.largest, size)
        return super().read(size)


def test_a_stream_is_taken_in_stretches_and_what_lies_around_is_not_asked(tmp_path: Path) -> None:
    rows = [*chain(20_000), turn("user", "u", "u19999", "go on", toolUseResult={"agentId": "a1"})]
    stream = Measured(lines(rows))
    found = app.doctor(machine(tmp_path), "-", stdin=lambda: stream)
    assert (found.size_bytes, codes(found)) == (len(lines(rows)), [])
    assert 0 < stream.largest <= 1 << 20


def _with_medic(root: Path, medic: ClaudeCodeMedic) -> app.Machine:
    found = machine(root)
    return replace(found, infos={"claude_code": replace(handrail.harness("claude_code"), medic=medic)})


def test_a_file_that_is_cut_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", WHOLE)
    with OpenFile(path) as file:
        os.truncate(path, 10)
        with pytest.raises(StoreError, match="was cut while it was read"):
            list(file.chunks())


def test_a_medic_sees_a_file_in_stretches(tmp_path: Path) -> None:
    sizes: list[int] = []

    class Watching(ClaudeCodeMedic):
        def diagnose(self, chunks: Iterable[bytes]) -> Diagnosis:
            return super().diagnose(self._watched(chunks))

        def _watched(self, chunks: Iterable[bytes]) -> Iterable[bytes]:
            for chunk in chunks:
                sizes.append(len(chunk))
                yield chunk

    path = put(tmp_path / "a.jsonl", lines(chain(20_000)))
    app.doctor(_with_medic(tmp_path, Watching()), str(path), harness="claude_code")
    assert sum(sizes) == path.stat().st_size
    assert max(sizes) <= 1 << 20
