"""The checks that hold in a run of ours: as hooks, as rules about asking, and as a strategy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from handrail.agents.hooks import Hook
from handrail.agents.permissions import Rule
from handrail.app.learning.places import find_learning_folder, place_of_run
from handrail.learning.checks.enforcing import HoldReplies, asking_rules, hooks_of
from handrail.learning.checks.force import in_force
from handrail.learning.rules.store import RuleStore


class Enforced(Struct, frozen=True, kw_only=True):
    """What checks bring into a run; ``asking`` rules only ever tighten. ``notices`` name checks that cannot be read."""

    hooks: tuple[Hook, ...] = ()
    asking: tuple[Rule, ...] = ()
    strategies: tuple[HoldReplies, ...] = ()
    notices: tuple[str, ...] = ()


def checks_enforced(environment: Mapping[str, str], workspace: Path, *, goes_on: bool = False) -> Enforced:
    """The checks that are in shadow or on for a run in ``workspace``; looking creates nothing.

    ``goes_on``: for a run that was begun before. It may have begun with checks of answers, so it is given the strategy
    even where none is in force any more. Raises ``StoreError`` for rules that cannot be read.
    """
    folder = find_learning_folder(environment)
    if folder is None:
        return Enforced(strategies=(HoldReplies(),) if goes_on else ())
    place = place_of_run(workspace, ())
    checks, bad = in_force(RuleStore(folder).load().book, place)
    replies = HoldReplies(checks)
    return Enforced(
        hooks=hooks_of(checks, place.repository),
        asking=asking_rules(checks),
        strategies=(replies,) if replies.checks or goes_on else (),
        notices=tuple(f"the check of rule {one.rule} cannot be read: {one.reason}" for one in bad),
    )
