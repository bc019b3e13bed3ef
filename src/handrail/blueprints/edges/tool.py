"""Taken by what a tool gave back in this visit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from handrail.agents.permissions import matches
from handrail.blueprints.edges import EdgeBase, Visit
from handrail.blueprints.predicates import OptionalPredicate


class OnTool(EdgeBase, OptionalPredicate):
    """On when the last result of ``tool`` (a name, or a pattern with ``*``) passes the test.

    ``is_error`` asks whether that result was an error. Without it and without a test it is enough that the tool was
    called and answered. The test is put to the text of the result.
    """

    when: Literal["tool"] = "tool"
    tool: Annotated[str, Field(min_length=1)]
    is_error: bool | None = None

    def fits(self, visit: Visit) -> bool:
        """When the tool's last result in this visit is as asked."""
        last = next((one for one in reversed(visit.results) if matches(self.tool, one.tool)), None)
        if last is None or (self.is_error is not None and last.is_error is not self.is_error):
            return False
        return self.holds(last.text)


EDGE = OnTool
