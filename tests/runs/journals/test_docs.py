"""The page on journals says only what runs."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "journals.md"


def test_every_example_of_the_page_runs_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 4
    names: dict[str, Any] = {"__name__": "page"}

    async def story(block: str) -> None:
        code = compile(block, str(PAGE), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        done = eval(code, names)
        if inspect.isawaitable(done):
            await done

    # Each in a loop of its own: a journal is not bound to one, and the last example begins loops itself.
    for block in blocks[:-1]:
        asyncio.run(story(block))
    exec(blocks[-1], names)
    names["journal"].close()
