"""The built-in tools: one module each, found by the registry, with a constant ``TOOL``.

Their names and inputs are those of the canonical model, so that what they did reads like any other harness's work.
"""

from __future__ import annotations

from collections.abc import Iterable

from handrail import registry
from handrail.agents.tool import Tool
from handrail.errors import UnknownName

ASKING = ("ask_user_choice", "ask_user_confirm", "ask_user_text", "edit_document", "present_for_review")
"""The tools a stage of a blueprint asks the person by. They are offered where they are named, and where somebody can
be asked; a run that names no tools has ``Ask``."""

REGIONAL = (
    "checklist_add",
    "checklist_done",
    "checklist_note",
    "context_append",
    "context_delete",
    "context_read",
    "context_write",
)
"""The tools for context regions. They are offered where they are named, and to a stage that sees regions."""


def built_in_names() -> tuple[str, ...]:
    """The module names of all built-in tools, sorted; nothing is imported for it."""
    return registry.names(__name__)


def everyday_names() -> tuple[str, ...]:
    """The module names of the built-in tools that a run is given when it names none."""
    return tuple(name for name in built_in_names() if name not in (*ASKING, *REGIONAL))


def built_in(name: str) -> Tool:
    """The built-in tool in the module ``name`` or called ``name``, else ``UnknownName``."""
    if name in built_in_names():
        return _member(name)
    for known in built_in_names():
        if _member(known).name == name:
            return _member(known)
    raise UnknownName(f"no built-in tool is called {name!r}", hint=f"known: {', '.join(built_in_names())}")


def built_in_tools(names: Iterable[str] | None = None) -> tuple[Tool, ...]:
    """The built-in tools of those names, in that order; all of them when none are named."""
    return tuple(built_in(name) for name in (built_in_names() if names is None else names))


def _member(name: str) -> Tool:
    found = registry.member(__name__, name, "TOOL")
    if not isinstance(found, Tool):
        raise UnknownName(f"the module of the tool {name!r} has no TOOL")
    return found
