"""Taken when the model names its target: only where declared, and with a declared default for when it names none."""

from __future__ import annotations

from typing import Literal

from handrail.blueprints.edges import EdgeBase, Visit


class ByModel(EdgeBase):
    """On when the model chooses ``to``; ``hint`` tells it when. One of a stage's is the default, ``is_default``."""

    when: Literal["model"] = "model"
    hint: str = ""
    is_default: bool = False

    def fits(self, visit: Visit) -> bool:
        """Never by code: the model is asked once no other edge fits."""
        return False


EDGE = ByModel
