"""The page on regions says what is so."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from handrail.agents.tools import REGIONAL, built_in
from handrail.blueprints.regions import Region
from handrail.runs.regions.blocks import render_block

from .build import PERSON, AddItems, Checklist, Compacting, Keyed, MarkItems, Pinned, RegionEntry, Sliding, after

PAGE = (Path(__file__).parents[3] / "docs" / "regions.md").read_text(encoding="utf-8")
KINDS: tuple[Any, ...] = (Pinned, Keyed, Checklist, Compacting, Sliding)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_the_example_declares_regions() -> None:
    (example,) = blocks("toml")
    declared: Any = TypeAdapter(tuple[Region, ...]).validate_python(tomllib.loads(example)["regions"])
    assert ["task", "plan", "steps", "conversation"] == [region.name for region in declared]


def test_what_it_looks_like_is_what_it_looks_like() -> None:
    plan = Pinned(name="plan", title="The plan")
    steps = Checklist(name="steps")
    held = after(steps, AddItems(("move parse", "run the tests")), MarkItems((1,)))
    shown = (
        render_block(plan, (RegionEntry("1. Move `parse` into its own module.", by=PERSON),)),
        render_block(steps, held),
    )
    assert "\n\n".join(shown) + "\n" in blocks("xml")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_and_every_key_is_on_the_page(kind: Any) -> None:
    assert f"| `{kind.model_fields['kind'].default}` |" in PAGE
    assert [] == [name for name in kind.model_fields if name != "kind" and f"`{name}" not in PAGE]


def test_every_tool_is_on_the_page_with_what_it_takes() -> None:
    rows = dict(re.findall(r"^\| `(\w+)\((.*?)\)` \|", PAGE, re.MULTILINE))
    expected = {built_in(module).name: set(_parameters(module)) for module in REGIONAL}
    assert expected == {name: set(re.findall(r"\w+", given)) for name, given in rows.items()}


def _parameters(module: str) -> list[str]:
    properties: Any = built_in(module).spec.input_schema["properties"]
    return list(properties)
