"""The pages on points and asks say only what runs."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from handrail import InteractionPoint
from handrail.blueprints.point_faults import point_faults
from handrail.journal.vocabulary import AskKind, AskOutcome

DOCS = Path(__file__).parents[2] / "docs"


def _blocks(page: str, language: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE)
    assert found
    return found


@pytest.mark.parametrize("page", ["points.md", "asks.md"])
def test_every_example_runs_as_written(page: str) -> None:
    async def story() -> None:
        names: dict[str, Any] = {"__name__": "page"}
        for block in _blocks(page, "python"):
            code = compile(block, page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            done = eval(code, names)
            if inspect.isawaitable(done):
                await done

    asyncio.run(story())


def test_each_route_is_the_one_the_page_gives() -> None:
    (block,) = _blocks("points.md", "python")
    names: dict[str, Any] = {}
    exec(block, names)
    said = re.findall(r"^point\.route\((.*)\) +# (.*)$", block, re.MULTILINE)
    assert 4 == len(said)
    for answer, routed in said:
        exec("from handrail import Aborted, Approved, Directed, Edited", names)
        assert eval(routed, names) == names["point"].route(eval(answer))


def test_the_point_of_the_page_has_no_fault() -> None:
    (block,) = _blocks("points.md", "toml")
    (data,) = tomllib.loads(block)["stages"]["points"]
    assert () == point_faults(InteractionPoint.model_validate(data))


def test_the_page_names_every_field_with_its_default() -> None:
    rows = re.findall(r"^\| (`.*?) \| (.*?) \|", (DOCS / "points.md").read_text(), re.MULTILINE)
    named = [name for fields, _ in rows for name in re.findall(r"`(\w+)`", fields)]
    assert set(InteractionPoint.model_fields) == set(named)
    point = InteractionPoint(name="p", prompt="?")
    defaults = [text for _, text in rows if "`" in text]
    assert defaults
    for text in defaults:
        (value,) = re.findall(r"`(\w+)`", text)
        assert any(str(getattr(point, name)) == value for name in named)


def test_the_page_names_every_kind_and_every_end() -> None:
    page = (DOCS / "asks.md").read_text()
    assert {kind.value for kind in AskKind} == set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    ends = re.findall(r"^\| ([a-z ]+) \| (?!is )", page, re.MULTILINE)
    assert {outcome.value.replace("_", " ") for outcome in AskOutcome} == set(ends) - {"end", "kind"}
