"""Every kind of edge the registry finds under the contract of edges, and one broken kind a rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import pytest
from pydantic import ConfigDict, model_serializer

from handrail.blueprints.edges import EdgeBase, Ended, Visit, edge_kinds
from handrail.testing.contracts.edge import EDGE_RULES, EdgeCase
from handrail.testing.contracts.rules import Rule
from handrail.transcripts.model import Json

FITTING: dict[str, tuple[Mapping[str, Json], ...]] = {
    "always": ({},),
    "error": ({},),
    "limit": ({}, {"bounds": ["max_rounds"]}),
    "model": ({"hint": "it is small"}, {"is_default": True}),
    "output": (
        {"equals": {"a": 1}},
        {"field": "a.b", "is_empty": True},
        {"contains": "x"},
        {"at_least": 1},
        {"one_of": [0, "done"]},
    ),
    "region": (
        {"region": "todo", "has_open_items": True},
        {"region": "plan", "at_most": 1},
        {"region": "no", "matches": "*"},
    ),
    "stuck": ({"rounds": 3}, {"same_file_edits": 2, "tool_calls": 9, "time": "1h"}),
    "tool": ({"tool": "Bash"}, {"tool": "*", "is_error": True, "contains": "\x00"}),
}


def test_every_kind_has_edges_that_fit() -> None:
    assert FITTING.keys() == edge_kinds().keys()


@pytest.mark.parametrize("rule", EDGE_RULES, ids=str)
@pytest.mark.parametrize("name", sorted(FITTING))
def test_each_kind_keeps_each_rule(name: str, rule: Rule[EdgeCase]) -> None:
    rule.check(EdgeCase(name, edge_kinds()[name], FITTING[name]))


class _Good(EdgeBase):
    when: Literal["good"] = "good"

    def fits(self, visit: Visit) -> bool:
        return visit.rounds > 0


class _Endless(_Good):
    ends: ClassVar[tuple[Ended, ...]] = ()


class _Open(_Good):
    model_config = ConfigDict(extra="ignore")


class _Loose(_Good):
    model_config = ConfigDict(frozen=False)


class _Silent(_Good):
    @model_serializer(mode="plain")
    def _plain(self) -> dict[str, str]:
        return {"to": self.to}


class _Vague(_Good):
    def fits(self, visit: Visit) -> bool:
        return visit.output  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("number", "name", "kind"),
    [
        (1, "other", _Good),
        (2, "good", _Endless),
        (3, "good", _Open),
        (4, "good", _Loose),
        (5, "good", _Silent),
        (6, "good", _Vague),
    ],
)
def test_each_rule_finds_the_kind_that_breaks_it(number: int, name: str, kind: type[EdgeBase]) -> None:
    (rule,) = (rule for rule in EDGE_RULES if rule.number == number)
    rule.check(EdgeCase("good", _Good, ({},)))
    with pytest.raises(AssertionError):
        rule.check(EdgeCase(name, kind, ({},)))
