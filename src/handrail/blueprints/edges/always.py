"""Taken whenever the stage's work is done and no edge before it fits."""

from __future__ import annotations

from typing import Literal

from handrail.blueprints.edges import EdgeBase, Visit


class Always(EdgeBase):
    """On, whatever the visit came to."""

    when: Literal["always"] = "always"

    def fits(self, visit: Visit) -> bool:
        """Always."""
        return True


EDGE = Always
