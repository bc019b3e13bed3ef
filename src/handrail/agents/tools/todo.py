"""Todo: the plan as the model sees it. The last call of it is the list; nothing else keeps one."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from handrail.agents.tool import tool

_MARKS = {"pending": " ", "in_progress": ">", "completed": "x"}


class Item(Struct, frozen=True, forbid_unknown_fields=True):
    """One step of the plan."""

    content: str
    status: Literal["pending", "in_progress", "completed"] = "pending"


@tool(name="Todo", parallel=True, twice_is_safe=True)
async def todo(todos: list[Item]) -> str:
    """Write down the plan: the whole list each time, in order, each step pending, in_progress or completed.

    todos: all steps, done ones too
    """
    return "\n".join(f"[{_MARKS[item.status]}] {item.content}" for item in todos) or "[no steps]"


TOOL = todo
