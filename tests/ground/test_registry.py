"""One discovery: names without imports, members by name, strangers by entry point."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.errors import UnknownName
from handrail.registry import member, names

_SEEN = iter(range(1_000_000))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Path]]:
    """A fresh package on the path, under a name no other test has used."""
    name = f"rooms_{next(_SEEN)}"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield name, tmp_path
    for module in [module for module in sys.modules if module.split(".")[0] == name]:
        del sys.modules[module]


def _entry_point(folder: Path, group: str, name: str, value: str) -> None:
    info = folder / f"stranger_{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: stranger-{name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n")


def test_every_public_module_is_a_member_and_nothing_is_imported(package: tuple[str, Path]) -> None:
    name, folder = package
    for module in ("beta", "alpha", "_private"):
        (folder / name / f"{module}.py").write_text("raise RuntimeError('imported')")
    for inner in ("gamma", "families"):
        (folder / name / inner).mkdir()
        (folder / name / inner / "__init__.py").write_text("")
    assert names(name) == ("alpha", "beta", "gamma")


def test_a_member_is_its_constant(package: tuple[str, Path]) -> None:
    name, folder = package
    (folder / name / "alpha.py").write_text("THING = 'the thing'")
    assert member(name, "alpha", "THING") == "the thing"


def test_an_unknown_name_says_what_is_known(package: tuple[str, Path]) -> None:
    name, folder = package
    (folder / name / "alpha.py").write_text("THING = 1")
    with pytest.raises(UnknownName) as caught:
        member(name, "beta", "THING")
    assert caught.value.hint == "known: alpha"
    assert isinstance(caught.value, LookupError)


def test_a_stranger_joins_by_an_entry_point(package: tuple[str, Path]) -> None:
    name, folder = package
    (folder / name / "alpha.py").write_text("THING = 1")
    (folder / f"stranger_of_{name}.py").write_text("THING = 'theirs'")
    _entry_point(folder, name, "whole", f"stranger_of_{name}")
    _entry_point(folder, name, "object", f"stranger_of_{name}:THING")
    assert names(name) == ("alpha", "object", "whole")
    assert member(name, "whole", "THING") == member(name, "object", "THING") == "theirs"


def test_ours_wins_over_a_stranger_of_the_same_name(package: tuple[str, Path]) -> None:
    name, folder = package
    (folder / name / "alpha.py").write_text("THING = 'ours'")
    _entry_point(folder, name, "alpha", "nowhere")
    assert member(name, "alpha", "THING") == "ours"


@pytest.mark.parametrize("value", ["no_such_module_anywhere", "json:no_such_thing"])
def test_a_stranger_that_does_not_load_is_an_unknown_name(package: tuple[str, Path], value: str) -> None:
    name, folder = package
    _entry_point(folder, name, "broken", value)
    with pytest.raises(UnknownName, match="cannot be loaded"):
        member(name, "broken", "THING")
