"""Disk: whole or not at all, private, never over a file unless told to."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from handrail.errors import StoreError
from handrail.files import home, lock, look_at, make_private_folder, read_bytes, state_folder, write_atomically


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def _python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``code`` in a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


# write_atomically -------------------------------------------------------------------------------------------


def test_what_was_written_is_there_and_private(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "deeper" / "session.jsonl"
    write_atomically(path, b"one\n")
    assert path.read_bytes() == b"one\n"
    assert _mode(path) == 0o600
    assert [_mode(folder) for folder in (path.parent, path.parent.parent)] == [0o700, 0o700]


def test_nothing_but_the_file_is_left(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", b"x")
    write_atomically(tmp_path / "a", b"y", replace=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_an_existing_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"theirs")
    with pytest.raises(StoreError, match="exists already") as caught:
        write_atomically(path, b"ours")
    assert caught.value.hint is not None
    assert path.read_bytes() == b"theirs"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_an_existing_file_is_replaced_when_told_to(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o644)
    write_atomically(path, b"new", replace=True)
    assert (path.read_bytes(), _mode(path)) == (b"new", 0o600)


def test_a_link_that_leads_nowhere_is_not_written_through(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError):
        write_atomically(link, b"x")
    write_atomically(link, b"x", replace=True)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("name", ["x" * 300, "a\x00b", "half-\ud83c", "no/such\x00/x"])
def test_a_name_no_disk_takes_is_a_store_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError) as caught:
        write_atomically(tmp_path / name, b"x")
    str(caught.value).encode()
    assert not [entry for entry in tmp_path.rglob("*") if entry.is_file()]


def test_the_longest_name_a_disk_takes_is_written(tmp_path: Path) -> None:
    name = "ü" * 127
    write_atomically(tmp_path / name, b"x")
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_a_file_where_a_folder_should_be_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(StoreError):
        write_atomically(tmp_path / "a" / "b", b"x")


def test_a_folder_where_the_file_should_be_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for replace in (False, True):
        with pytest.raises(StoreError):
            write_atomically(tmp_path / "a", b"x", replace=replace)


def test_of_many_writers_of_one_new_name_exactly_one_wins(tmp_path: Path) -> None:
    path = tmp_path / "a"

    def write(number: int) -> bool:
        try:
            write_atomically(path, b"%d" % number * 1000)
        except StoreError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(write, range(8)))
    assert won.count(True) == 1
    assert path.read_bytes() == b"%d" % won.index(True) * 1000
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("replace", ["", "replace"])
def test_a_disk_that_fills_up_leaves_what_was_there(tmp_path: Path, replace: str) -> None:
    """The limit on file sizes stands for a full disk: the write fails half way."""
    path = tmp_path / "a"
    if replace:
        path.write_bytes(b"old")
    done = _python(
        """
        import resource, signal, sys
        from pathlib import Path
        from handrail.errors import StoreError
        from handrail.files import write_atomically
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            write_atomically(Path(sys.argv[1]), b"x" * 5000, replace=bool(sys.argv[2]))
        except StoreError as problem:
            print(type(problem).__name__)
        """,
        str(path),
        replace,
    )
    assert done.stdout.strip() == "StoreError", done.stderr
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == ({"a": b"old"} if replace else {})


@pytest.mark.parametrize("replace", ["", "replace"])
def test_a_writer_killed_before_the_rename_leaves_what_was_there(tmp_path: Path, replace: str) -> None:
    """The size limit kills the process in the middle of its write, as a power cut would."""
    path = tmp_path / "a"
    if replace:
        path.write_bytes(b"old")
    done = _python(
        """
        import resource, signal, sys
        from pathlib import Path
        from handrail.files import write_atomically
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        write_atomically(Path(sys.argv[1]), b"x" * 5000, replace=bool(sys.argv[2]))
        """,
        str(path),
        replace,
    )
    assert done.returncode < 0
    assert (path.read_bytes() if path.exists() else None) == (b"old" if replace else None)
    write_atomically(path, b"again", replace=True)
    assert path.read_bytes() == b"again"


# folders, reading, locks ------------------------------------------------------------------------------------


def test_folders_that_exist_keep_their_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private_folder(tmp_path / "a" / "b")
    make_private_folder(tmp_path / "a" / "b")
    assert [_mode(tmp_path), _mode(tmp_path / "a"), _mode(tmp_path / "a" / "b")] == [0o755, 0o700, 0o700]


@pytest.mark.parametrize("name", ["absent", ".", "a\x00b"])
def test_what_cannot_be_read_is_a_store_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="cannot read"):
        read_bytes(tmp_path / name)


def test_what_stands_at_a_path_is_told_or_it_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    found = look_at(tmp_path / "file")
    assert found is not None and found.st_size == 1
    assert look_at(tmp_path / "absent") is None
    assert look_at(tmp_path / "file" / "below") is None
    with pytest.raises(StoreError, match="cannot look at"):
        look_at(tmp_path / ("n" * 300))


def test_a_store_error_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot read"):
        read_bytes(tmp_path / "absent")


def test_a_lock_lets_one_in_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "a"
    inside: list[int] = []
    most: list[int] = []

    def work(number: int) -> None:
        with lock(path):
            inside.append(number)
            most.append(len(inside))
            os.sched_yield()
            inside.remove(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(40)))
    assert (len(most), max(most)) == (40, 1)
    assert _mode(path) == 0o600


def test_a_lock_is_let_go_when_its_block_fails(tmp_path: Path) -> None:
    with pytest.raises(KeyError), lock(tmp_path / "a"):
        raise KeyError
    with lock(tmp_path / "a"):
        pass


def test_a_lock_of_a_process_that_died_is_free(tmp_path: Path) -> None:
    done = _python(
        """
        import os, sys
        from pathlib import Path
        from handrail.files import lock
        with lock(Path(sys.argv[1])):
            os._exit(9)
        """,
        str(tmp_path / "a"),
    )
    assert done.returncode == 9
    with lock(tmp_path / "a"):
        pass


def test_nowhere_to_lock_is_a_store_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot lock"), lock(tmp_path):
        pass


# places -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({}, None),
        ({"HOME": ""}, None),
        ({"HOME": "/home/ada"}, Path("/home/ada")),
        ({"HOME": "", "USERPROFILE": "/Users/ada"}, Path("/Users/ada")),
    ],
)
def test_home_is_what_the_environment_says(environment: Mapping[str, str], folder: Path | None) -> None:
    assert home(environment) == folder


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({}, None),
        ({"HOME": "/home/ada"}, Path("/home/ada/.local/state/handrail")),
        ({"HOME": "/home/ada", "XDG_STATE_HOME": "/var/state"}, Path("/var/state/handrail")),
        ({"HOME": "/home/ada", "XDG_STATE_HOME": "relative"}, Path("/home/ada/.local/state/handrail")),
        ({"HANDRAIL_HOME": "/srv/h", "XDG_STATE_HOME": "/var/state"}, Path("/srv/h")),
    ],
)
def test_the_state_folder_follows_the_environment(environment: Mapping[str, str], folder: Path | None) -> None:
    assert state_folder(environment) == folder
