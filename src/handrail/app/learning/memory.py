"""What the loop remembers: the stores of one folder, opened together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from handrail.app.learning.places import learning_folder
from handrail.learning.proposals.store import ProposalStore
from handrail.learning.reflecting.store import LessonStore
from handrail.learning.rules.store import RuleStore


class Memory(Struct, frozen=True):
    """Lessons, rules and proposals in ``folder``. Opening and reading create nothing."""

    folder: Path
    lessons: LessonStore
    rules: RuleStore
    proposals: ProposalStore


def open_memory(environment: Mapping[str, str]) -> Memory:
    """The memory of this person; ``StoreError`` where there is no home."""
    return memory_in(learning_folder(environment))


def memory_in(folder: Path) -> Memory:
    return Memory(folder, LessonStore(folder), RuleStore(folder), ProposalStore(folder))
