"""What this machine holds: the harnesses Handrail knows and the stores it can open."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from handrail.errors import HandrailError, UnknownHarness
from handrail.harnesses import harness, harness_names
from handrail.harnesses.handrail.store import HandrailStore
from handrail.learning.corrections import Correction
from handrail.learning.interventions import Scorer, shipped_scorer
from handrail.library import Catalog, Unread, discover
from handrail.runs.journals.session_table import NAME, SqliteSessions
from handrail.transcripts.codec import HarnessInfo, Store

SCHEMA_VERSION = 1
"""Of every object a command prints with ``--json``; raised when a field changes its meaning or goes."""

_BROKEN = (HandrailError, ImportError, SyntaxError, AttributeError, NameError, TypeError, ValueError)
"""What importing a harness raises when its module, which others may have written, is wrong."""


class Judging(Struct, frozen=True):
    """How moments are judged: the ``scorer`` of follow-ups (None: each is a candidate only), and the person's own word
    on moments by id, which is final.
    """

    scorer: Scorer | None = shipped_scorer
    corrections: Mapping[str, Correction] = {}


class Machine(Struct, frozen=True):
    """The harnesses by name, the stores of those that have one, what could not be opened, and how to judge moments."""

    infos: Mapping[str, HarnessInfo]
    stores: Mapping[str, Store[Any]]
    unread: tuple[Unread, ...] = ()
    judging: Judging = Judging()

    def info(self, name: str) -> HarnessInfo:
        """The harness of that name or alias (case does not matter), else ``UnknownHarness``."""
        wanted = name.strip().lower()
        for info in self.infos.values():
            if wanted == info.name or wanted in info.aliases:
                return info
        raise UnknownHarness(f"no harness is called {name!r}", hint=f"known: {', '.join(self.infos)}")

    def catalog(self) -> Catalog:
        """Every session in every store, newest first, with all that could not be read."""
        found = discover(self.stores)
        return Catalog(found.sessions, self.unread + found.unread)


def open_machine(
    roots: Mapping[str, Path] | None = None, *, only_given: bool = False, judging: Judging | None = None
) -> Machine:
    """The stores of all harnesses: at ``roots`` (by harness name or alias) where given, else where each keeps them.

    With ``only_given`` no other store is opened. A harness that cannot be opened is reported in ``unread``; a
    name in ``roots`` that is no harness raises ``UnknownHarness``.
    """
    given = {harness(name).name: root for name, root in (roots or {}).items()}
    infos: dict[str, HarnessInfo] = {}
    stores: dict[str, Store[Any]] = {}
    unread: list[Unread] = []
    for name in harness_names():
        try:
            info = harness(name)
            infos[name] = info
            if info.store is not None and (name in given or not only_given):
                stores[name] = _with_table(info.store(given.get(name)))
        except _BROKEN as problem:
            message = f"{type(problem).__name__}: {problem}"
            unread.append(Unread(harness=name, where=f"the {name} store", message=message))
    return Machine(infos, stores, tuple(unread), judging or Judging())


def _with_table(store: Store[Any]) -> Store[Any]:
    """Handrail's own store with the sessions of its database, which stands in the store's folder."""
    if not isinstance(store, HandrailStore) or store.root is None:
        return store
    return store.with_table(SqliteSessions(store.root / NAME))
