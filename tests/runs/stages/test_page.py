"""The page on runs of blueprints says only what runs."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[3] / "docs" / "stages.md"


def test_every_example_of_the_page_runs_as_written() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert 2 == len(blocks)

    async def story() -> None:
        names: dict[str, Any] = {"__name__": "page"}
        for block in blocks:
            code = compile(block, str(PAGE), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            done = eval(code, names)
            if inspect.isawaitable(done):
                await done

    asyncio.run(story())
