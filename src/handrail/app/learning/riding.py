"""The rules that ride in a run of ours: the owner's own, and those that count where the run is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from handrail.app.learning.places import find_learning_folder, place_of_run
from handrail.learning.delivery.managed import BlockFault, without_block
from handrail.learning.rules.block import Block, block_of, rules_for
from handrail.learning.rules.store import RuleStore
from handrail.workspace.context import ContextFile

NO_RULES = block_of((), ())
"""What rides where nothing does."""


class Riding(Struct, frozen=True, kw_only=True):
    """The block for the end of the instructions; ``notices`` say in sentences what of it is not as one may expect."""

    block: Block = NO_RULES
    notices: tuple[str, ...] = ()


def without_synced(context: Iterable[ContextFile]) -> tuple[ContextFile, ...]:
    """``context`` without the blocks that ``sync`` wrote for other tools: which rules ride here is decided here, and
    recorded. A block whose marks are torn stays as it is."""
    return tuple(map(_without_block, context))


def _without_block(file: ContextFile) -> ContextFile:
    try:
        text = without_block(file.text.encode()).decode()
    except BlockFault:
        return file
    return file if text == file.text else replace(file, text=text)


def rules_riding(environment: Mapping[str, str], workspace: Path, tools: Iterable[str]) -> Riding:
    """What rides in a run in ``workspace`` with ``tools``; looking creates nothing, and no store is no rules.

    Raises ``StoreError`` for a file that is there and cannot be read: a run without the owner's rules, and without a
    word of it, would look like one that ignores them.
    """
    folder = find_learning_folder(environment)
    if folder is None:
        return Riding()
    store = RuleStore(folder)
    loaded = store.load()
    block = block_of(store.owners(), rules_for(loaded.book, place_of_run(workspace, tools)))
    notices = []
    if loaded.bad:
        lines = ", ".join(str(one.line) for one in loaded.bad)
        notices.append(
            f"lines {lines} of {store.file.name} are no rules and are left out; handrail rules lint tells more"
        )
    if block.left_out:
        listed = ", ".join(block.left_out)
        notices.append(f"no room in the prompt for the rules {listed}; handrail rules retire makes some")
    return Riding(block=block, notices=tuple(notices))
