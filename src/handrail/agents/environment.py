"""What the commands that a run starts see of the environment: all but the keys of models.

A key that stands in the environment of whoever starts a run is there for the run's model. A command that a model
wrote, a test it runs or a tool it calls has no use for it, and could carry it away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from handrail.models.endpoints import PROVIDERS

KEYS = frozenset(name for provider in PROVIDERS.values() for name in provider.keys)
"""The variables that hold keys of models."""


def handed_on(environment: Mapping[str, str], keep: Iterable[str] = ()) -> dict[str, str]:
    """``environment`` without the keys of models, but for those that ``keep`` names."""
    left_out = KEYS.difference(keep)
    return {name: value for name, value in environment.items() if name not in left_out}
