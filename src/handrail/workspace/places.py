"""One place that contributes to runs, read: a person's configuration folder, or a workspace."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from handrail.workspace.confined import Confined
from handrail.workspace.declared import (
    DeclaredHook,
    DeclaredRule,
    DeclaredServer,
    DeclaredTool,
    WorkspaceError,
    parse_hooks,
    parse_rules,
    parse_servers,
    parse_tools,
)
from handrail.workspace.skills import Skill, parse_skill
from handrail.workspace.templates import Template, parse_template


class Place(Struct, frozen=True, kw_only=True):
    """Where to read: ``folder`` holds our files, ``servers`` is the file of MCP servers.

    ``confined`` says what may be reached: links in a workspace must not lead out of it, a person may link their own
    configuration from anywhere. ``base`` is where relative folders in the files are meant from. Without an
    ``environment`` variables are left as they are written.
    """

    folder: Path
    servers: Path
    confined: Confined
    base: Path
    environment: Mapping[str, str] | None
    is_trusted: bool = True


class Contents(Struct, frozen=True, kw_only=True):
    """What a place holds."""

    skills: tuple[Skill, ...] = ()
    templates: tuple[Template, ...] = ()
    tools: tuple[DeclaredTool, ...] = ()
    hooks: tuple[DeclaredHook, ...] = ()
    servers: tuple[DeclaredServer, ...] = ()
    rules: tuple[DeclaredRule, ...] = ()


def read_place(place: Place) -> Contents:
    """Everything ``place`` holds. ``WorkspaceError`` for a file that does not fit its format, ``OSError`` as usual."""
    hooks = [hook for path, data in _either(place, "hooks") for hook in parse_hooks(data, path)]
    rules = [rule for path, data in _either(place, "permissions") for rule in parse_rules(data, path)]
    servers = _bytes(place, place.servers)
    return Contents(
        skills=tuple(_skills(place)),
        templates=tuple(_templates(place)),
        tools=_tools(place),
        hooks=tuple(hooks),
        rules=tuple(rules),
        servers=()
        if servers is None
        else parse_servers(servers, place.servers, base=place.base, environment=place.environment),
    )


def _either(place: Place, stem: str) -> Iterator[tuple[Path, bytes]]:
    """The TOML and the JSON form of a file, as far as they are there."""
    for suffix in (".toml", ".json"):
        path = place.folder / f"{stem}{suffix}"
        if (data := _bytes(place, path)) is not None:
            yield path, data


def _bytes(place: Place, path: Path) -> bytes | None:
    try:
        return place.confined.read(str(path))
    except FileNotFoundError:
        return None


def _text(place: Place, path: Path) -> str | None:
    data = _bytes(place, path)
    return None if data is None else data.decode("utf-8", "replace")


def _tools(place: Place) -> tuple[DeclaredTool, ...]:
    found: dict[str, DeclaredTool] = {}
    for path, data in _either(place, "tools"):
        for tool in parse_tools(data, path, base=place.base, environment=place.environment):
            if tool.name in found:
                raise WorkspaceError(f"{path}: a second tool is called {tool.name!r}")
            found[tool.name] = tool
    return tuple(found.values())


def _skills(place: Place) -> Iterator[Skill]:
    folder = place.folder / "skills"
    found: set[str] = set()
    with contextlib.suppress(FileNotFoundError):
        for entry in place.confined.entries(str(folder)):
            path = folder / entry.name / "SKILL.md"
            text = _text(place, path) if entry.is_folder or entry.is_link else None
            if text is None:
                continue
            skill = parse_skill(text, folder=entry.name, path=str(path), is_trusted=place.is_trusted)
            if skill.name in found:
                raise WorkspaceError(f"{path}: a second skill is called {skill.name!r}")
            found.add(skill.name)
            yield skill


def _templates(place: Place) -> Iterator[Template]:
    folder = place.folder / "templates"
    with contextlib.suppress(FileNotFoundError):
        above = "/".join(place.confined.locate(str(folder)))
        for reached in place.confined.walk(str(folder)):
            inner = reached.removeprefix(f"{above}/")
            if not inner.endswith(".md"):
                continue
            path = folder / inner
            text = _text(place, path) or ""
            name = inner.removesuffix(".md").replace("/", ":")
            yield parse_template(text, name=name, path=str(path), is_trusted=place.is_trusted)
