"""Files of one workspace and no others, however the path is written and whoever swaps what in between."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.workspace.confined import MAX_WHOLE_BYTES, Confined, Entry, PathRefused
from handrail.workspace.patterns import compile_pattern


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    (made / "a" / "b").mkdir(parents=True)
    (made / "a" / "f").write_text("inside")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_text("secret")
    return made


@pytest.mark.parametrize("path", ["a/f", "./a/f", "a/b/../f", "a//f", "{root}/a/f", "way/f", "{root}/way/f"])
def test_a_file_inside_is_read_however_it_is_named(root: Path, path: str) -> None:
    (root / "way").symlink_to(root / "a")
    assert Confined(root).read(path.format(root=root)) == b"inside"


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../outside/f",
        "a/../../outside/f",
        "{root}/../outside/f",
        "/etc/passwd",
        "out/f",
        "file",
        "absolute",
        "chain",
        "{root}x/f",
        "a/f\0",
        "loop",
        "\udc80/../../outside/f",
    ],
)
def test_what_lies_outside_is_refused_however_it_is_named(root: Path, path: str) -> None:
    (root / "out").symlink_to("../outside")
    (root / "file").symlink_to("../outside/f")
    (root / "absolute").symlink_to(root.parent / "outside" / "f")
    (root / "chain").symlink_to("out/f")
    (root / "loop").symlink_to("loop")
    Path(f"{root}x").mkdir()
    (Path(f"{root}x") / "f").write_text("next door")
    confined = Confined(root)
    with pytest.raises(OSError):
        confined.read(path.format(root=root))
    with pytest.raises(OSError):
        confined.write(path.format(root=root), b"x")
    assert (root.parent / "outside" / "f").read_text() == "secret"


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with links inside and out, for all examples of one property."""
    made = tmp_path_factory.mktemp("fixed") / "work"
    (made / "a" / "b").mkdir(parents=True)
    (made / "way").symlink_to("a")
    (made / "out").symlink_to("..")
    return made


@given(path=st.lists(st.sampled_from(["..", ".", "a", "b", "way", "out", "f", "", "/"]), max_size=6).map("/".join))
def test_no_path_leads_out(fixed: Path, path: str) -> None:
    try:
        parts = Confined(fixed).locate(path)
    except PathRefused:
        return
    assert not {"..", ".", ""} & set(parts)
    assert Path(os.path.realpath(fixed.joinpath(*parts))).is_relative_to(os.path.realpath(fixed))


class Swapping(Confined):
    """Swaps a folder for a link between the look and the opening, as an attacker would."""

    def locate(self, path: str) -> tuple[str, ...]:
        parts = super().locate(path)
        (self.root / "a").rename(self.root / "was")
        (self.root / "a").symlink_to(self.root.parent / "outside")
        return parts


def test_a_folder_that_becomes_a_link_while_it_is_opened_is_refused(root: Path) -> None:
    with pytest.raises(PathRefused, match="changed into a link"):
        Swapping(root).read("a/f")


def test_a_folder_that_becomes_a_link_while_it_is_written_is_refused(root: Path) -> None:
    with pytest.raises(PathRefused, match="changed into a link"):
        Swapping(root).write("a/f", b"x")
    assert (root.parent / "outside" / "f").read_text() == "secret"


def test_a_write_is_whole_keeps_the_mode_and_leaves_nothing_behind(root: Path) -> None:
    (root / "a" / "f").chmod(0o640)
    confined = Confined(root)
    assert confined.write("a/f", b"new") is False
    assert confined.write("a/g/h", b"made") is True
    assert ((root / "a" / "f").read_text(), (root / "a" / "g" / "h").read_text()) == ("new", "made")
    assert stat.S_IMODE((root / "a" / "f").stat().st_mode) == 0o640
    assert sorted(path.name for path in (root / "a").iterdir()) == ["b", "f", "g"]


def test_a_write_through_a_link_inside_goes_to_where_it_leads(root: Path) -> None:
    (root / "way").symlink_to("a/f")
    Confined(root).write("way", b"new")
    assert ((root / "a" / "f").read_text(), (root / "way").is_symlink()) == ("new", True)


@pytest.mark.parametrize("path", [".", "a", "a/b"])
def test_a_folder_is_neither_read_nor_written(root: Path, path: str) -> None:
    with pytest.raises(IsADirectoryError):
        Confined(root).read(path)
    with pytest.raises(IsADirectoryError):
        Confined(root).write(path, b"x")


def test_what_is_no_ordinary_file_is_left_alone(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(PathRefused, match="no ordinary file"):
        Confined(root).read("pipe")
    with pytest.raises(PathRefused, match="no ordinary file"):
        Confined(root).write("pipe", b"x")


def test_a_folder_lists_names_kinds_and_sizes(root: Path) -> None:
    (root / "a" / "way").symlink_to("f")
    assert Confined(root).entries("a") == [
        Entry(name="b", is_folder=True, is_link=False, size_bytes=(root / "a" / "b").stat().st_size),
        Entry(name="f", is_folder=False, is_link=False, size_bytes=6),
        Entry(name="way", is_folder=False, is_link=True, size_bytes=1),
    ]


def test_a_walk_names_files_from_the_root_and_leaves_out_what_tools_made(root: Path) -> None:
    for folder in (".git", "node_modules", "a/b/.venv"):
        (root / folder).mkdir()
        (root / folder / "made").touch()
    (root / "a" / "b" / "z").touch()
    confined = Confined(root)
    assert list(confined.walk()) == ["a/f", "a/b/z"]
    assert list(confined.walk("a/b")) == ["a/b/z"]
    assert list(confined.walk("node_modules")) == ["node_modules/made"]


def test_a_file_that_is_too_large_is_not_read_whole(root: Path) -> None:
    with (root / "big").open("wb") as stream:
        stream.truncate(MAX_WHOLE_BYTES + 1)
    with pytest.raises(PathRefused, match="64 MiB"):
        Confined(root).read("big")


# Patterns ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "path", "does"),
    [
        ("*.py", "a/b/c.py", True),
        ("*.py", "c.py", True),
        ("./*.py", "c.py", True),
        ("a/*.py", "a/b/c.py", False),
        ("a/**/*.py", "a/c.py", True),
        ("a/**/*.py", "a/b/d/c.py", True),
        ("a/**", "a/b/c", True),
        ("a/**", "a", False),
        ("**/b/*", "a/b/c", True),
        ("a?c", "abc", True),
        ("x/a?c", "x/a/c", False),
        ("x/[ab].py", "x/a.py", True),
        ("x/[!ab].py", "x/a.py", False),
        ("x/[!a]y", "x//y", False),
        ("{a,b}/*.{py,md}", "b/x.md", True),
        ("{a,b}/*.{py,md}", "c/x.md", False),
        ("a+b.py", "a+b.py", True),
        ("a.py", "axpy", False),
        ("[", "[", True),
    ],
)
def test_a_path_pattern_means_what_it_usually_means(pattern: str, path: str, does: bool) -> None:
    assert (compile_pattern(pattern).fullmatch(path) is not None) is does


@given(st.text(alphabet="ab/*?.{},!", max_size=12))
def test_every_pattern_without_brackets_compiles(pattern: str) -> None:
    compile_pattern(pattern)
