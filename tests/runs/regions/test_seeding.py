"""What regions begin with: files of one workspace, commands with permission, and marks where something is missing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from handrail.blueprints.regions import CommandSeed, FilesSeed, GlobSeed, LiteralSeed, Region, Seed
from handrail.journal.vocabulary import RegionEntry
from handrail.runs.regions.blocks import tokens_of
from handrail.runs.regions.contents import taint_of
from handrail.runs.regions.drafts import Origin
from handrail.runs.regions.filling import Piece, filled
from handrail.runs.regions.seeding import Ground, SeedFailed, seeded
from handrail.runs.regions.writing import changed
from handrail.transcripts.model import Taint
from handrail.workspace.sandbox import NoSandbox, Sandbox
from tests.agents.tools.running import run

from .build import PRIVATE, SIZE, AddItems, Checklist, Keyed, MarkItems, Pinned, texts

PLAN = Pinned(name="plan", max_tokens=200)


def permits(answer: bool) -> Callable[[CommandSeed], Awaitable[bool]]:
    async def permit(seed: CommandSeed) -> bool:
        return answer

    return permit


def begun(
    root: Path, seed: Seed, region: Region = PLAN, *, task: str | None = None, may_run: bool | None = None
) -> tuple[RegionEntry, ...]:
    """What ``region`` holds once it begins with ``seed`` in the workspace ``root``."""
    permit = None if may_run is None else permits(may_run)
    ground = Ground(workspace=root, task=task, permit=permit, sandbox=NoSandbox("not here"))
    return run(seeded(region, seed, ground, SIZE))


def test_a_region_begins_with_the_task_or_with_nothing(tmp_path: Path) -> None:
    assert (RegionEntry("Mend it."),) == begun(tmp_path, "task", task="Mend it.")
    assert () == begun(tmp_path, "task")
    assert (RegionEntry("Look."),) == begun(tmp_path, LiteralSeed(literal="Look."))
    assert () == begun(tmp_path, LiteralSeed(literal=" \n"))


def test_files_stand_under_their_paths_in_the_order_they_are_named(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_bytes(b"a \xff\n")
    (tmp_path / "b.md").write_text("b\n")
    got = begun(tmp_path, FilesSeed(files=("b.md", "docs/a.md", "b.md")))
    assert [("b.md", "b\n"), ("docs/a.md", "a \ufffd\n")] == [(entry.key, entry.text) for entry in got]
    assert PRIVATE == taint_of(got)


def test_files_of_a_pattern_stand_in_the_order_of_their_paths(tmp_path: Path) -> None:
    for name in ("c.md", "a.md", "b.txt"):
        (tmp_path / name).write_text(name)
    assert ["a.md", "c.md"] == [entry.key for entry in begun(tmp_path, GlobSeed(glob="*.md"), Keyed(name="files"))]
    assert () == begun(tmp_path, GlobSeed(glob="*.rst"))


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A workspace with a link to a secret beside it, a link to its own file, and a file that is no text."""
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.md").write_text("SECRET")
    (root / "own.md").write_text("own")
    (root / "evil.md").symlink_to("../secret.md")
    (root / "link.md").symlink_to("own.md")
    (root / "null.md").write_bytes(b"a\0b")
    return root


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("evil.md", "outside the workspace"),
        ("../secret.md", "outside the workspace"),
        ("/etc/hostname", "outside the workspace"),
        ("none.md", "No such file"),
        (".", "is a folder"),
        ("null.md", "no text"),
        ("a\0b", "no path"),
    ],
)
def test_a_file_that_cannot_be_had_fails_the_seed_and_names_it(outside: Path, path: str, said: str) -> None:
    with pytest.raises(SeedFailed, match=said) as raised:
        begun(outside, FilesSeed(files=("own.md", path)))
    assert path in str(raised.value)


def test_a_link_within_the_workspace_is_its_file(outside: Path) -> None:
    assert ["own"] == texts(begun(outside, FilesSeed(files=("link.md",))))


def test_a_pattern_leaves_out_what_leads_outside_and_says_so(outside: Path) -> None:
    got = begun(outside, GlobSeed(glob="*.md"), Pinned(name="all"))
    assert ["link.md", "own.md"] == [entry.key for entry in got[:-1]]
    assert "evil.md (evil.md is outside the workspace); null.md (it is no text)" in got[-1].text
    assert "SECRET" not in "".join(texts(got))


def test_a_long_file_is_cut_and_says_how_much_of_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("y" * 1_000_000)
    (entry,) = begun(tmp_path, FilesSeed(files=("long",)))
    start = len(entry.text.partition("\n")[0])
    assert entry.text.endswith(f"\n[cut: the first {start} of 1000000 bytes are here]")
    assert 190 <= tokens_of(PLAN, (entry,), SIZE.estimate) <= 200


def test_files_without_room_are_counted(tmp_path: Path) -> None:
    for at in range(30):
        (tmp_path / f"{at:02}").write_text("z" * 200)
    for region in (PLAN, Keyed(name="files", max_tokens=200), Keyed(name="files", max_entries=3)):
        got = begun(tmp_path, GlobSeed(glob="*"), region)
        cut = sum("[cut: " in entry.text for entry in got)
        whole = len(got) - 1 - cut
        assert got[-1].text == f"[left out: {30 - whole - cut} more had no room]"
        assert tokens_of(region, got, SIZE.estimate) <= region.budget_tokens(None)


def test_the_lines_of_a_text_are_the_items_of_a_checklist(tmp_path: Path) -> None:
    steps = Checklist(name="steps", max_tokens=60)
    assert [(1, "a"), (2, "b")] == [
        (entry.number, entry.text) for entry in begun(tmp_path, LiteralSeed(literal="a\n\n  b\n"), steps)
    ]
    many = begun(tmp_path, LiteralSeed(literal="\n".join(f"item {at}" for at in range(100))), steps)
    assert (101, True) == (many[-1].number, many[-1].is_done)
    assert f"[left out: {101 - len(many)} more had no room]" == many[-1].text
    ticked = changed(steps, many, MarkItems((1, 2)), SIZE, Origin()).entries
    assert (102,) == changed(steps, ticked, AddItems(("new",)), SIZE, Origin()).numbers


def test_where_not_even_a_start_fits_the_seed_fails(tmp_path: Path) -> None:
    with pytest.raises(SeedFailed, match="no room for even the start"):
        begun(tmp_path, LiteralSeed(literal="x" * 100), Pinned(name="tiny", max_tokens=5))


# A command


@pytest.mark.parametrize("may_run", [None, False])
def test_a_command_without_permission_is_not_run(tmp_path: Path, may_run: bool | None) -> None:
    with pytest.raises(SeedFailed, match="was not permitted"):
        begun(tmp_path, CommandSeed(command=("touch", "made")), may_run=may_run)
    assert [] == list(tmp_path.iterdir())


def test_what_a_permitted_command_prints_is_private(tmp_path: Path) -> None:
    (entry,) = begun(tmp_path, CommandSeed(command=("pwd",)), may_run=True)
    assert (f"{tmp_path}\n", Taint(private=True)) == (entry.text, entry.taint)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (("sh", "-c", "echo out; echo err >&2; exit 3"), "out\nerr\n[exit code 3]"),
        (("printf", "%s", "$(pwd); rm *"), "$(pwd); rm *"),
    ],
)
def test_how_a_command_ended_is_said_and_no_shell_reads_it(tmp_path: Path, command: tuple[str, ...], text: str) -> None:
    assert [text] == texts(begun(tmp_path, CommandSeed(command=command), may_run=True))


@pytest.mark.parametrize("is_found", [False, True])
def test_a_command_runs_in_the_sandbox_where_there_is_one(tmp_path: Path, is_found: bool) -> None:
    program = tmp_path / "bwrap"
    program.write_text('#!/bin/sh\necho "confined: $*"\n')
    program.chmod(0o700)
    sandbox = None if is_found else Sandbox(program=str(program))
    ground = Ground(workspace=tmp_path, permit=permits(True), sandbox=sandbox, environment={"PATH": str(tmp_path)})
    (entry,) = run(seeded(PLAN, CommandSeed(command=("touch", "made")), ground, SIZE))
    assert (True, True) == (entry.text.startswith("confined: "), entry.text.endswith("-- touch made\n"))
    assert not (tmp_path / "made").exists()


def test_a_command_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    (entry,) = begun(tmp_path, CommandSeed(command=("sleep", "600"), timeout_s=0.05), may_run=True)
    assert "[stopped after 0.05 seconds]" == entry.text


@pytest.mark.parametrize("command", [("no such program",), ("echo", "a\0b")])
def test_a_command_that_cannot_be_started_fails_the_seed(tmp_path: Path, command: tuple[str, ...]) -> None:
    with pytest.raises(SeedFailed, match="could not be started"):
        begun(tmp_path, CommandSeed(command=command), may_run=True)


def test_an_endless_command_fills_the_region_and_no_more(tmp_path: Path) -> None:
    (entry,) = begun(tmp_path, CommandSeed(command=("head", "-c", "50000000", "/dev/zero")), may_run=True)
    assert tokens_of(PLAN, (entry,), SIZE.estimate) <= 200


def test_what_could_not_be_had_is_named_up_to_a_handful() -> None:
    (mark,) = filled(PLAN, (), SIZE, Origin(), left_out=[f"file {at}" for at in range(9)])
    assert mark.text.endswith("file 4; and 4 more that could not be had]")


def test_a_text_of_which_only_the_start_was_read_is_marked_although_it_fits() -> None:
    (entry,) = filled(PLAN, (Piece(text="start", name="f", whole_bytes=999),), SIZE, Origin())
    assert "start\n[cut: the first 5 of 999 bytes are here]" == entry.text
