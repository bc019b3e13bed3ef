"""Tools, hooks, MCP servers and rules that files declare: their formats, checked, and nothing of them run.

Errors name the file and the key that is wrong, never a value: values hold secrets.
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from handrail import jsonio
from handrail.errors import HandrailError
from handrail.transcripts.model import Json
from handrail.workspace.variables import filled

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

Milliseconds = Annotated[int, Meta(gt=0)]


class WorkspaceError(HandrailError, ValueError):
    """A file that a repository or a person wrote for agents does not say what its format asks for."""

    code = "workspace"
    exit_code = 2


class DeclaredTool(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A command that is a tool. ``cwd`` is absolute once loaded; None is the workspace.

    ``side_effect``: ``none`` looks only, ``process`` changes things here, ``external`` reaches out. The other flags
    add to what that says.
    """

    description: str
    input_schema: dict[str, Json]
    command: Annotated[tuple[str, ...], Meta(min_length=1)]
    name: str = ""
    cwd: str | None = None
    env: dict[str, str] = {}
    timeout_ms: Milliseconds = 120_000
    side_effect: Literal["none", "process", "external"] = "process"
    private: bool = False
    untrusted: bool = False
    sends: bool = False
    destructive: bool = False
    parallel: bool = False
    twice_is_safe: bool = False


class DeclaredHook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A command that judges calls. Its failure always denies; ``on_failure`` may say so and nothing else."""

    name: str
    command: Annotated[tuple[str, ...], Meta(min_length=1)]
    event: Literal["pre_tool_use", "post_tool_use"] = "pre_tool_use"
    tools: tuple[str, ...] = ()
    timeout_ms: Milliseconds = 5_000
    on_failure: Literal["deny"] = "deny"


class DeclaredTraits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person says that a server's tools can do, beyond what the server says itself."""

    private: bool = False
    untrusted: bool = False
    sends: bool = False
    destructive: bool = False


class DeclaredServer(Struct, frozen=True, kw_only=True):
    """An MCP server: a command to talk to over its standard streams, or a URL. Keys of other tools are passed over."""

    name: str = ""
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    type: str | None = None
    disabled: bool = False
    traits: DeclaredTraits = DeclaredTraits()


class DeclaredRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A permission rule, as ``agents.permissions`` reads it."""

    verdict: Literal["allow", "ask", "deny"]
    tool: str
    where: dict[str, str] = {}
    reason: str | None = None


class _ToolsFile(Struct, frozen=True, forbid_unknown_fields=True):
    schema: Literal[1]
    tools: dict[str, DeclaredTool] = {}


class _HooksFile(Struct, frozen=True, forbid_unknown_fields=True):
    schema: Literal[1]
    hooks: tuple[DeclaredHook, ...] = ()


class _RulesFile(Struct, frozen=True, forbid_unknown_fields=True):
    schema: Literal[1]
    rules: tuple[DeclaredRule, ...] = ()


class _ServersFile(Struct, frozen=True, rename="camel"):
    mcp_servers: dict[str, DeclaredServer] = {}


Shape = TypeVar("Shape", bound=Struct)


def _parse(data: bytes, path: PurePath, shape: type[Shape]) -> Shape:
    """``data`` in ``shape``, read as TOML or JSON by the name of ``path``."""
    kind = "TOML" if path.suffix == ".toml" else "JSON"
    try:
        plain: Any = tomllib.loads(data.decode()) if kind == "TOML" else msgspec.json.decode(data)
    except (tomllib.TOMLDecodeError, msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise WorkspaceError(f"{path} is no {kind}: {_place(str(problem))}") from problem
    except RecursionError as problem:
        raise WorkspaceError(f"{path} is {jsonio.MAX_DEPTH_ERROR}") from problem
    try:
        return msgspec.convert(plain, shape)
    except msgspec.ValidationError as problem:
        raise WorkspaceError(f"{path}: {_without_values(str(problem))}") from problem


def _place(message: str) -> str:
    found = re.search(r"at line \d+, column \d+|at end of document|byte \d+|position \d+", message)
    return found[0] if found else "it cannot be read"


def _without_values(message: str) -> str:
    # "Invalid enum value 'x'" quotes what stands in the file; the rest of msgspec's words are types and keys.
    return re.sub(r"(Invalid enum value) .*?( - at |$)", r"\1\2", message)


def parse_tools(
    data: bytes, path: PurePath, *, base: PurePath, environment: Mapping[str, str] | None
) -> tuple[DeclaredTool, ...]:
    """The tools of a tools file, variables in ``env`` filled in, folders taken from ``base``."""
    found = _parse(data, path, _ToolsFile).tools
    for name in found:
        if not _TOOL_NAME.fullmatch(name) or name.startswith("mcp__"):
            raise WorkspaceError(
                f"{path}: a tool cannot be called {name!r}",
                hint="1 to 64 letters, digits, '_' and '-'; names that start with mcp__ are for MCP servers",
            )
    with _named_variables(path):
        return tuple(
            replace(tool, name=name, env=_filled(tool.env, environment), cwd=_absolute(tool.cwd, base))
            for name, tool in found.items()
        )


def parse_hooks(data: bytes, path: PurePath) -> tuple[DeclaredHook, ...]:
    """The hooks of a hooks file, in their order."""
    return _parse(data, path, _HooksFile).hooks


def parse_rules(data: bytes, path: PurePath) -> tuple[DeclaredRule, ...]:
    """The rules of a permissions file."""
    return _parse(data, path, _RulesFile).rules


def parse_servers(
    data: bytes, path: PurePath, *, base: PurePath, environment: Mapping[str, str] | None
) -> tuple[DeclaredServer, ...]:
    """The servers of an ``.mcp.json`` that are not disabled, variables filled in, folders taken from ``base``."""
    found = {
        name: server for name, server in _parse(data, path, _ServersFile).mcp_servers.items() if not server.disabled
    }
    for name, server in found.items():
        if (server.command is None) == (server.url is None):
            raise WorkspaceError(f"{path}: the server {name!r} needs either a command or a url")
    with _named_variables(path):
        return tuple(_server(name, server, base, environment) for name, server in found.items())


def _server(name: str, server: DeclaredServer, base: PurePath, environment: Mapping[str, str] | None) -> DeclaredServer:
    return replace(
        server,
        name=name,
        command=None if server.command is None else filled(server.command, environment),
        url=None if server.url is None else filled(server.url, environment),
        args=tuple(filled(text, environment) for text in server.args),
        env=_filled(server.env, environment),
        headers=_filled(server.headers, environment),
        cwd=_absolute(server.cwd, base),
    )


def _filled(texts: Mapping[str, str], environment: Mapping[str, str] | None) -> dict[str, str]:
    return {key: filled(text, environment) for key, text in texts.items()}


@contextlib.contextmanager
def _named_variables(path: PurePath) -> Iterator[None]:
    try:
        yield
    except LookupError as problem:
        raise WorkspaceError(f"{path}: {problem.args[0]}") from problem


def _absolute(folder: str | None, base: PurePath) -> str | None:
    return None if folder is None else str(base / folder)
