"""What an import loads, looked at in a fresh process."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PRINT_LOADED = "import sys; print(*sorted(sys.modules), sep='\\n')"


def _loaded(statement: str) -> set[str]:
    """The modules that ``statement`` adds to those of a bare interpreter."""
    with_it, without = (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for code in (f"{statement}\n{_PRINT_LOADED}", _PRINT_LOADED)
    )
    return set(with_it.split()) - set(without.split())


def test_import_handrail_loads_almost_nothing() -> None:
    loaded = _loaded("import handrail")
    assert {name for name in loaded if name.startswith("handrail")} == {"handrail"}
    assert loaded.isdisjoint({"msgspec", "click", "json", "re", "pathlib", "asyncio", "datetime", "dataclasses"})
    assert len(loaded) < 15


def test_agents_are_imported_wherever_one_stands_even_where_the_folder_is_gone() -> None:
    pytest.importorskip("pydantic")
    code = """
import os, tempfile
gone = tempfile.mkdtemp()
os.chdir(gone)
os.rmdir(gone)
import handrail.cli.commands.run, handrail.cli.running, handrail.agents.spawn, handrail.app.outfitting
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_model_needs_no_harness_and_no_disk() -> None:
    loaded = _loaded("import handrail; handrail.Transcript, handrail.Span")
    assert "handrail.transcripts.model" in loaded
    assert not any(name.startswith(("handrail.harnesses", "handrail.files", "click")) for name in loaded)


def test_names_of_harnesses_are_known_without_importing_one() -> None:
    loaded = _loaded("import handrail; assert 'codex' in handrail.harness_names()")
    assert not any(name.startswith("handrail.harnesses.") for name in loaded)


@pytest.mark.parametrize("room", ["transcripts", "journal", "harnesses", "library", "learning", "app"])
def test_no_room_loads_the_command_line_or_the_test_kit(room: str) -> None:
    loaded = _loaded(f"import handrail.{room}")
    assert not any(name.split(".")[0] in {"click", "hypothesis", "pytest"} for name in loaded)
    assert not any(name.startswith(("handrail.cli", "handrail.testing")) for name in loaded)


def test_import_prints_nothing() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", "import handrail"], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
