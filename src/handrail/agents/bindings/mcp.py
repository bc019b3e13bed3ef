"""Tools of MCP servers, over standard streams and HTTP, through the official SDK.

Each server lives in a task of its own: one that dies takes its calls with it and nothing else. Its tools are called
``mcp__server__tool``. What it says its tools can do is taken as the protocol's defaults have it and may only be
widened by configuration; all it returns counts as words from outside.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from handrail.agents.bindings.json_schema import schema_check
from handrail.agents.taint import widen
from handrail.agents.tool import Tool, ToolContext, ToolError, ToolOutput, ToolSpec
from handrail.errors import MissingExtra
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Json
from handrail.workspace.declared import DeclaredServer, DeclaredTraits

if TYPE_CHECKING:
    import mcp
    import mcp.types

START_S = 30.0
"""How long a server may take until its tools are known."""

CALL_S = 300.0
"""How long a call may take."""

_MAX_NAME = 64
_MAX_PAGES = 100


class ServerFailure(Struct, frozen=True, kw_only=True):
    """A server whose tools are not there, and why (never with a value from its configuration)."""

    server: str
    reason: str


class ServerTools(Struct, frozen=True, kw_only=True):
    """The tools of all servers that answered, and those servers that did not."""

    tools: tuple[Tool, ...] = ()
    failures: tuple[ServerFailure, ...] = ()


@contextlib.asynccontextmanager
async def server_tools(servers: Sequence[DeclaredServer], *, start_s: float = START_S) -> AsyncIterator[ServerTools]:
    """The tools of ``servers`` as long as the block lasts; the servers are ended with it.

    They are started side by side. One that does not start, or not in time, is a failure and no error.
    """
    try:
        import mcp  # noqa: F401
    except ImportError as problem:
        raise MissingExtra("MCP servers need the extra 'agents'", hint="pip install 'handrail[agents]'") from problem
    _listen_to_sdk()
    connections = [_Connection(server) for server in servers]
    try:
        found = await asyncio.gather(*(connection.start(start_s) for connection in connections))
        yield _gathered(servers, found)
    finally:
        await asyncio.gather(*(connection.stop() for connection in connections))


def _listen_to_sdk() -> None:
    """Keep what the SDK logs for hosts that listen: with no listener at all it would be printed on the terminal, with
    the words of servers that do not keep to the protocol."""
    logger = logging.getLogger("mcp")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def _gathered(servers: Sequence[DeclaredServer], found: Sequence[tuple[Tool, ...] | ServerFailure]) -> ServerTools:
    """What ``servers`` gave; one whose tools would take the names of another's is left out whole."""
    tools: dict[str, Tool] = {}
    failures: list[ServerFailure] = []
    for server, given in zip(servers, found, strict=True):
        if isinstance(given, ServerFailure):
            failures.append(given)
        elif taken := next((tool.name for tool in given if tool.name in tools), None):
            failures.append(ServerFailure(server=server.name, reason=f"{taken} is another server's tool already"))
        else:
            tools |= {tool.name: tool for tool in given}
    return ServerTools(tools=tuple(tools.values()), failures=tuple(failures))


class _Connection:
    """One server and the task that owns its streams: they must be opened and closed by the same task."""

    def __init__(self, server: DeclaredServer) -> None:
        self._server = server
        self._closing = asyncio.Event()
        self._ready: asyncio.Future[tuple[Tool, ...]] = asyncio.get_running_loop().create_future()
        self._owner: asyncio.Task[None] | None = None

    async def start(self, within_s: float) -> tuple[Tool, ...] | ServerFailure:
        self._owner = asyncio.ensure_future(self._live())
        awaited: set[asyncio.Future[Any]] = {self._ready, self._owner}
        await asyncio.wait(awaited, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
        if self._ready.done():
            return self._ready.result()
        reason = f"no answer within {within_s:g} seconds"
        if self._owner.done() and (problem := self._owner.exception()) is not None:
            reason = _reason(problem)
        self._owner.cancel()
        return ServerFailure(server=self._server.name, reason=reason)

    async def stop(self) -> None:
        self._closing.set()
        if self._owner is not None:
            # What went wrong in a server has been reported by its calls; the end of it concerns nobody any more.
            await asyncio.wait({self._owner})
            _ = self._owner.cancelled() or self._owner.exception()

    async def _live(self) -> None:
        async with _client(self._server) as client:
            tools: dict[str, Tool] = {}
            for told in await _told(client):
                # A server may list a tool twice, by its pages or by mistake; the first one is meant.
                tool = _tool(client, self._server, told)
                tools.setdefault(tool.name, tool)
            self._ready.set_result(tuple(tools.values()))
            await self._closing.wait()


def _reason(problem: BaseException) -> str:
    """The innermost reason, by its type alone where its words could quote the configuration."""
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    return type(problem).__name__


@contextlib.asynccontextmanager
async def _client(server: DeclaredServer) -> AsyncIterator[mcp.Client]:
    import httpx2
    import mcp
    from mcp.client.sse import sse_client
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client

    async with contextlib.AsyncExitStack() as stack:
        if server.command is not None:
            # What a server says beside the protocol is for whoever debugs it, and can hold secrets.
            silence = stack.enter_context(contextlib.closing(Path(os.devnull).open("w")))  # noqa: SIM115 - the stack
            parameters = mcp.StdioServerParameters(
                command=server.command, args=list(server.args), env=dict(server.env), cwd=server.cwd
            )
            transport = stdio_client(parameters, errlog=silence)
        elif server.type == "sse":
            transport = sse_client(server.url or "", headers=dict(server.headers))
        else:
            timeout = httpx2.Timeout(START_S, read=CALL_S)
            http = httpx2.AsyncClient(headers=dict(server.headers), timeout=timeout)
            transport = streamable_http_client(server.url or "", http_client=await stack.enter_async_context(http))
        yield await stack.enter_async_context(mcp.Client(transport))


async def _told(client: mcp.Client) -> list[mcp.types.Tool]:
    """All tools a server lists, page by page."""
    page = await client.list_tools()
    found = list(page.tools)
    for _ in range(_MAX_PAGES):
        if page.next_cursor is None:
            break
        page = await client.list_tools(cursor=page.next_cursor)
        found += page.tools
    return found


def _tool(client: mcp.Client, server: DeclaredServer, told: mcp.types.Tool) -> Tool:
    name = tool_name(server.name, told.name)
    traits = traits_of(told.annotations, server.traits)

    async def run(input: Json, context: ToolContext) -> ToolOutput:
        from mcp import MCPError

        try:
            result = await client.call_tool(told.name, input, read_timeout_seconds=CALL_S)
        except (MCPError, RuntimeError, OSError) as problem:
            raise ToolError(f"the server {server.name} gave no result: {problem}", is_external=True) from problem
        return output_of(result)

    try:
        check = schema_check(told.input_schema)
    except ValueError as problem:
        check = _refuse_all(f"its schema cannot be used: {problem}")
    return Tool(
        spec=ToolSpec(name, told.description or told.title or told.name, told.input_schema),
        handler=run,
        check=check,
        traits=traits,
        is_parallel=is_read_only(told.annotations),
        is_twice_safe=is_read_only(told.annotations),
    )


def _refuse_all(problem: str) -> Any:
    return lambda input: (problem,)


def tool_name(server: str, tool: str) -> str:
    """``mcp__server__tool`` in characters every provider takes; a name that had to be changed ends in a hash of it."""
    plain = f"mcp__{server}__{tool}"
    name = re.sub(r"[^A-Za-z0-9_-]", "_", plain)
    if name == plain and len(name) <= _MAX_NAME:
        return name
    mark = hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: _MAX_NAME - 9]}_{mark}"


def is_read_only(annotations: mcp.types.ToolAnnotations | None) -> bool:
    """Whether a tool's server says that it only looks."""
    return annotations is not None and annotations.read_only_hint is True


def traits_of(annotations: mcp.types.ToolAnnotations | None, declared: DeclaredTraits) -> ToolTraits:
    """What a tool can do: what its server says (the protocol's defaults where it is silent), and what a person adds."""
    destroys = annotations is None or annotations.destructive_hint is not False
    is_open = annotations is None or annotations.open_world_hint is not False
    said = ToolTraits(untrusted=True, sends=is_open, destructive=destroys and not is_read_only(annotations))
    added = ToolTraits(
        private=declared.private,
        untrusted=declared.untrusted,
        sends=declared.sends,
        destructive=declared.destructive,
    )
    return widen(said, added)


def output_of(result: mcp.types.CallToolResult) -> ToolOutput:
    """A server's result: text as text, pictures as pictures, anything else named."""
    parts = [_part(block) for block in result.content]
    content: Json = parts
    if all(part["type"] == "text" for part in parts):
        content = "\n".join(part["text"] for part in parts)
    if not parts and result.structured_content is not None:
        content = result.structured_content
    return ToolOutput(content, is_error=result.is_error, details=result.structured_content, is_external=True)


def _part(block: Any) -> dict[str, Json]:
    match block.type:
        case "text":
            return {"type": "text", "text": block.text}
        case "image":
            return {"type": "image", "media_type": block.mime_type, "data": block.data}
        case "resource" if hasattr(block.resource, "text"):
            return {"type": "text", "text": block.resource.text}
        case "resource_link":
            return {"type": "text", "text": f"[resource {block.uri}]"}
        case other:
            return {"type": "text", "text": f"[{other}, which cannot be shown here]"}
