"""Where the files of the loop stand, and where a run or a session stands as far as rules are concerned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from handrail import files
from handrail.errors import StoreError
from handrail.learning.rules.scope import Place
from handrail.workspace.repository import repository_of

FOLDER = "learning"
OWN_HARNESS = "handrail"


def find_learning_folder(environment: Mapping[str, str]) -> Path | None:
    """The folder that holds lessons, rules and measurements, there or not; None where there is no home."""
    state = files.state_folder(environment)
    return None if state is None else state / FOLDER


def learning_folder(environment: Mapping[str, str]) -> Path:
    """``find_learning_folder``; ``StoreError`` where there is no home."""
    folder = find_learning_folder(environment)
    if folder is None:
        raise StoreError("there is no home folder to keep rules in", hint="set HOME or HANDRAIL_HOME")
    return folder


def place_of_run(workspace: Path, tools: Iterable[str]) -> Place:
    """Where a run of ours is about to be: its repository, and all the tools it has."""
    return Place(repository=str(repository_of(workspace)), tools=tuple(tools), harness=OWN_HARNESS)
