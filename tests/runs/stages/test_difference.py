"""What is shown of a blueprint that changed under a run."""

from __future__ import annotations

import pytest

from handrail.blueprints import Blueprint, Output, Stage
from handrail.runs.stages.starting import difference


@pytest.mark.parametrize("allowed", [["pass", "fail"], ["pass", None]])
def test_what_differs_is_shown_line_by_line_also_where_toml_has_no_word_for_it(allowed: list[str | None]) -> None:
    output = Output(schema={"enum": [*allowed]})
    old, new = (
        Blueprint(name="b", stages=[Stage(name="a", instructions=text, output=output)])
        for text in ("Do it.", "Do more.")
    )
    changed = [line for line in difference(old, new).splitlines() if line[:1] in "+-" and "instructions" in line]
    assert [("Do it." in line, "Do more." in line) for line in changed] == [(True, False), (False, True)]


def test_the_order_of_keys_is_no_difference() -> None:
    old, new = (
        Blueprint(name="b", stages=[Stage(name="a", output=Output(schema=dict.fromkeys(keys, True)))])
        for keys in (("readOnly", "deprecated"), ("deprecated", "readOnly"))
    )
    assert difference(old, new) == ""
