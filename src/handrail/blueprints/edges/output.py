"""Taken by what the stage gave as its output."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import StringConstraints

from handrail.blueprints.edges import EdgeBase, Visit
from handrail.blueprints.predicates import RequiredPredicate
from handrail.transcripts.model import Json

FieldPath = Annotated[str, StringConstraints(pattern=r"^[^.]+(\.[^.]+)*$", max_length=500)]
"""Keys with dots between them."""


class OnOutput(EdgeBase, RequiredPredicate):
    """On when the output passes the test, or the part of it that ``field`` names (``"verdict"``, ``"tests.failed"``).

    Without a declared output that is the text of the stage's answer. A part that is not there is empty.
    """

    when: Literal["output"] = "output"
    field: FieldPath | None = None

    def fits(self, visit: Visit) -> bool:
        """When the output, or the named part of it, is as asked."""
        return self.holds(part_of(visit.output, self.field))


def part_of(value: Json, field: str | None) -> Json:
    """The part of ``value`` that the dotted ``field`` names, itself for None; None where there is no such part."""
    for key in field.split(".") if field else ():
        value = value.get(key) if isinstance(value, dict) else None
    return value


EDGE = OnOutput
