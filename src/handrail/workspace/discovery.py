"""What a workspace and the person's own configuration contribute to a run, found and read, nothing of it started.

Nearer wins over wider. A repository that nobody vouched for can tighten and never loosen: its words are marked, its
denying and asking rules count, and what would run its code or widen what may be done is withheld, by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from handrail import files
from handrail.workspace.confined import Confined
from handrail.workspace.context import ContextFile, find_context
from handrail.workspace.declared import DeclaredHook, DeclaredRule, DeclaredServer, DeclaredTool, WorkspaceError
from handrail.workspace.places import Contents, Place, read_place
from handrail.workspace.skills import Skill
from handrail.workspace.templates import Template

FOLDER = ".handrail"
"""The folder of a workspace that is ours."""


class Workspace(Struct, frozen=True, kw_only=True):
    """All that was found. ``rules`` may do anything, ``tightening`` only tighten; ``withheld`` says what was not taken.

    Hooks stand in the order they are asked: the person's own before the repository's.
    """

    root: Path
    is_trusted: bool
    context: tuple[ContextFile, ...] = ()
    skills: tuple[Skill, ...] = ()
    templates: tuple[Template, ...] = ()
    tools: tuple[DeclaredTool, ...] = ()
    hooks: tuple[DeclaredHook, ...] = ()
    servers: tuple[DeclaredServer, ...] = ()
    rules: tuple[DeclaredRule, ...] = ()
    tightening: tuple[DeclaredRule, ...] = ()
    withheld: tuple[str, ...] = ()


def config_folder(environment: Mapping[str, str]) -> Path | None:
    """Where a person keeps what holds for all their runs: ``HANDRAIL_CONFIG_DIR``, else XDG's configuration folder."""
    if own := environment.get("HANDRAIL_CONFIG_DIR"):
        return Path(own)
    if (config := environment.get("XDG_CONFIG_HOME")) and Path(config).is_absolute():
        return Path(config) / "handrail"
    home = files.home(environment)
    return home / ".config" / "handrail" if home else None


def discover(root: Path, *, config: Path | None, environment: Mapping[str, str], is_trusted: bool) -> Workspace:
    """Read what ``root`` and ``config`` contribute. ``is_trusted`` says that the person vouches for the repository.

    Raises ``WorkspaceError`` for a file that is there and not as its format asks, ``OSError`` for one that cannot
    be read. In an untrusted repository such a file is withheld instead.
    """
    withheld: list[str] = []
    own = _own(config, environment)
    here = _here(root, environment, is_trusted=is_trusted, withheld=withheld)
    context = tuple(find_context(root, config, is_trusted=is_trusted, withheld=withheld))
    if not is_trusted:
        withheld.extend(_names_of_code(here))
    code = here if is_trusted else Contents()
    # What comes later wins: a stranger's words must not take the place of the person's own.
    nearer = (own, here) if is_trusted else (here, own)
    return Workspace(
        root=root,
        is_trusted=is_trusted,
        context=context,
        skills=tuple({skill.name: skill for place in nearer for skill in place.skills}.values()),
        templates=tuple({item.name: item for place in nearer for item in place.templates}.values()),
        tools=tuple({tool.name: tool for tool in (*own.tools, *code.tools)}.values()),
        hooks=(*own.hooks, *code.hooks),
        servers=tuple({server.name: server for server in (*own.servers, *code.servers)}.values()),
        rules=(*own.rules, *code.rules),
        tightening=() if is_trusted else tuple(rule for rule in here.rules if rule.verdict != "allow"),
        withheld=tuple(withheld),
    )


def _own(config: Path | None, environment: Mapping[str, str]) -> Contents:
    if config is None:
        return Contents()
    everywhere = Confined(Path(config.absolute().anchor))
    return read_place(
        Place(
            folder=config.absolute(),
            servers=config.absolute() / "mcp.json",
            confined=everywhere,
            base=config.absolute(),
            environment=environment,
        )
    )


def _here(root: Path, environment: Mapping[str, str], *, is_trusted: bool, withheld: list[str]) -> Contents:
    top = root.absolute()
    place = Place(
        folder=top / FOLDER,
        servers=top / ".mcp.json",
        confined=Confined(top),
        base=top,
        # A repository nobody vouched for is not shown the environment.
        environment=environment if is_trusted else None,
        is_trusted=is_trusted,
    )
    try:
        return read_place(place)
    except (WorkspaceError, OSError) as problem:
        if is_trusted:
            raise
        withheld.append(f"everything in {FOLDER}: {problem}")
        return Contents()


def _names_of_code(here: Contents) -> Iterator[str]:
    for kind, names in (
        ("tool", [tool.name for tool in here.tools]),
        ("hook", [hook.name for hook in here.hooks]),
        ("MCP server", [server.name for server in here.servers]),
        ("rule", [f"allow {rule.tool}" for rule in here.rules if rule.verdict == "allow"]),
    ):
        yield from (f"the {kind} {name} of an untrusted repository" for name in names)
