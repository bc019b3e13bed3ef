"""The strategies that ship: one module each, found by the registry by the constant ``STRATEGY``.

Each stands on the public seam only, so each is also an example of how to write one.
"""

from __future__ import annotations

from handrail import registry


def strategy_names() -> tuple[str, ...]:
    """The names of all strategies that can be asked for by name, sorted; nothing is imported for it."""
    return registry.names(__name__)
