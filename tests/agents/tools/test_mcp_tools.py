"""MCP servers through the official SDK, over standard streams and HTTP, on this machine only."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from msgspec.structs import replace

from handrail.agents.bindings.mcp import ServerFailure, ServerTools, server_tools, tool_name
from handrail.agents.tool import Tool, ToolOutput, by_name
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Json, Refusal, RefusalKind
from handrail.workspace.declared import DeclaredServer, DeclaredTraits
from tests.agents.tools import mcp_server
from tests.agents.tools.running import called, context, run

SCRIPT = str(Path(mcp_server.__file__))
STDIO = DeclaredServer(name="one", command=sys.executable, args=("-S", SCRIPT), env={"OWN": "1"})


class Handler(BaseHTTPRequestHandler):
    """The same answers, as the streamable HTTP transport has them, to whoever knows the token."""

    is_gone: ClassVar[bool] = False
    is_over: ClassVar[threading.Event]

    def do_POST(self) -> None:
        if self.is_gone:
            self._reply(503, None)
            return
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("Authorization") != "Bearer token":
            self._reply(401, None)
            return
        reply = mcp_server.answer(message)
        if reply is None and "id" in message:
            # A call that hangs, until the test is over.
            self.is_over.wait()
        self._reply(202 if reply is None else 200, reply)

    def do_GET(self) -> None:
        self._reply(405, None)

    def do_DELETE(self) -> None:
        self._reply(405, None)

    def _reply(self, status: int, reply: Json) -> None:
        body = b"" if reply is None else json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Stream(BaseHTTPRequestHandler):
    """The same answers over the older transport: what is posted is answered in the stream that ``GET`` opened."""

    answers: ClassVar[queue.SimpleQueue[Json]]

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self._tell("endpoint", "/messages")
        while (answer := self.answers.get()) is not None:
            self._tell("message", json.dumps(answer))

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        allowed = self.headers.get("Authorization") == "Bearer token"
        self.send_response(202 if allowed else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()
        if allowed and (reply := mcp_server.answer(message)) is not None:
            self.answers.put(reply)

    def _tell(self, event: str, data: str) -> None:
        self.wfile.write(f"event: {event}\ndata: {data}\n\n".encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def stream() -> Iterator[str]:
    Stream.answers = queue.SimpleQueue()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stream)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/sse"
    Stream.answers.put(None)
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def site() -> Iterator[str]:
    Handler.is_over = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/mcp"
    Handler.is_over.set()
    server.shutdown()
    thread.join()
    server.server_close()


async def _call(tools: dict[str, Tool], name: str, **input: Json) -> ToolOutput:
    return await called(tools[name], input, context())


def test_the_tools_of_a_command_are_listed_called_and_checked() -> None:
    async def main() -> tuple[ServerTools, dict[str, ToolOutput]]:
        async with server_tools([STDIO]) as found:
            tools = by_name(found.tools)
            outputs = {
                "fits": await _call(tools, "mcp__one__add", a=1, b=2),
                "faults": await _call(tools, "mcp__one__add", a="x"),
                "mixed": await _call(tools, "mcp__one__show"),
                "error": await _call(tools, tool_name("one", "fail.now")),
                "odd": await _call(tools, "mcp__one__odd"),
                "environment": await _call(tools, "mcp__one__environment"),
            }
        return found, outputs

    found, outputs = run(main())
    assert [tool.name for tool in found.tools] == [tool_name("one", str(tool["name"])) for tool in mcp_server.TOOLS]
    assert found.failures == ()
    assert outputs["fits"] == ToolOutput("3", details={"total": 3}, is_external=True)
    assert outputs["faults"].refusal == Refusal(RefusalKind.NOT_RUN, "validation")
    assert str(outputs["faults"].content).count("\n- ") == 2
    assert [part.get("text", part.get("data")) for part in outputs["mixed"].content] == [
        "a picture:",
        "AA==",
        "a resource",
        "[resource file:///l]",
        "[audio, which cannot be shown here]",
    ]
    assert (outputs["error"].content, outputs["error"].is_error) == ("it failed", True)
    assert "its schema cannot be used" in str(outputs["odd"].content)
    assert all(outputs[name].is_external for name in ("fits", "mixed", "error"))
    assert "OWN" in str(outputs["environment"].content).split()


def test_the_environment_is_not_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_OURS", "s")

    async def main() -> ToolOutput:
        async with server_tools([STDIO]) as found:
            return await _call(by_name(found.tools), "mcp__one__environment")

    assert "SECRET_OF_OURS" not in str(run(main()).content)


def test_the_tools_of_a_url_are_called_with_its_headers(site: str) -> None:
    server = DeclaredServer(name="web", url=site, headers={"Authorization": "Bearer token"})

    async def main() -> ToolOutput:
        async with server_tools([server]) as found:
            return await _call(by_name(found.tools), "mcp__web__add", a=1, b=2)

    assert run(main()).content == "3"


def test_the_tools_of_an_event_stream_are_called_with_its_headers(stream: str) -> None:
    server = DeclaredServer(name="old", type="sse", url=stream, headers={"Authorization": "Bearer token"})

    async def main() -> list[ToolOutput]:
        async with server_tools([server]) as found:
            tools = by_name(found.tools)
            return [
                await _call(tools, "mcp__old__add", a=1, b=2),
                await _call(tools, "mcp__old__show"),
                await _call(tools, tool_name("old", "fail.now")),
            ]

    added, shown, failed = run(main())
    assert (added.content, len(shown.content), failed.is_error) == ("3", 5, True)


def test_a_call_over_http_that_takes_too_long_ends_and_the_server_goes_on(site: str) -> None:
    server = DeclaredServer(name="web", url=site, headers={"Authorization": "Bearer token"})

    async def main() -> tuple[ToolOutput, ToolOutput]:
        async with server_tools([server]) as found:
            tools = by_name(found.tools)
            hang = replace(tools["mcp__web__hang"], timeout_s=0.1)
            return await called(hang, {}, context()), await _call(tools, "mcp__web__add", a=1, b=1)

    hung, after = run(main())
    assert hung.refusal == Refusal(RefusalKind.OUTCOME_UNKNOWN, "timeout")
    assert after.content == "2"


def test_a_site_that_is_gone_is_an_error_of_its_calls(site: str) -> None:
    server = DeclaredServer(name="web", url=site, headers={"Authorization": "Bearer token"})
    Handler.is_gone = False

    async def main() -> ToolOutput:
        async with server_tools([server]) as found:
            Handler.is_gone = True
            try:
                return await _call(by_name(found.tools), "mcp__web__add", a=1, b=1)
            finally:
                Handler.is_gone = False

    gone = run(main())
    assert gone.is_error
    assert str(gone.content).startswith("the server web gave no result")


def test_servers_that_do_not_start_are_failures_without_a_word_of_their_configuration(site: str) -> None:
    servers = [
        DeclaredServer(name="gone", command="/nowhere/secret-command"),
        replace(STDIO, name="ends", args=("-S", SCRIPT, "broken")),
        replace(STDIO, name="silent", args=("-S", SCRIPT, "silent")),
        DeclaredServer(name="locked", url=site, headers={"Authorization": "Bearer secret-token"}),
        DeclaredServer(name="closed", url="http://127.0.0.1:1/secret-path"),
        STDIO,
    ]

    async def main() -> ServerTools:
        async with server_tools(servers, start_s=3) as found:
            return found

    found = run(main())
    assert [failure.server for failure in found.failures] == ["gone", "ends", "silent", "locked", "closed"]
    assert found.failures[0] == ServerFailure(server="gone", reason="No such file or directory")
    assert "secret" not in str(found.failures)
    assert {tool.name.split("__")[1] for tool in found.tools} == {"one"}


def test_a_call_that_takes_too_long_has_an_unknown_outcome_and_the_server_goes_on() -> None:
    async def main() -> tuple[ToolOutput, ToolOutput]:
        async with server_tools([STDIO]) as found:
            tools = by_name(found.tools)
            hang = replace(tools["mcp__one__hang"], timeout_s=0.1)
            return await called(hang, {}, context()), await _call(tools, "mcp__one__add", a=1, b=1)

    hung, after = run(main())
    assert hung.refusal == Refusal(RefusalKind.OUTCOME_UNKNOWN, "timeout")
    assert after.content == "2"


def test_a_server_that_dies_takes_its_calls_with_it_and_nothing_else() -> None:
    async def main() -> list[ToolOutput]:
        async with server_tools([STDIO, replace(STDIO, name="two")]) as found:
            tools = by_name(found.tools)
            return [
                await _call(tools, "mcp__one__die"),
                await _call(tools, "mcp__one__add", a=1, b=1),
                await _call(tools, "mcp__two__add", a=1, b=1),
            ]

    died, after, other = run(main())
    assert [died.is_error, after.is_error, other.is_error] == [True, True, False]
    assert str(after.content).startswith("the server one gave no result")


def test_what_a_server_says_of_its_tools_can_only_be_widened() -> None:
    async def traits(server: DeclaredServer) -> dict[str, ToolTraits]:
        async with server_tools([server]) as found:
            return {tool.name: tool.traits for tool in found.tools}

    said = run(traits(STDIO))
    assert said["mcp__one__add"] == ToolTraits(untrusted=True)
    assert said["mcp__one__show"] == ToolTraits(untrusted=True, sends=True, destructive=True)
    wide = run(traits(replace(STDIO, traits=DeclaredTraits(private=True, destructive=True))))
    assert wide["mcp__one__add"] == ToolTraits(private=True, untrusted=True, destructive=True)
    assert wide["mcp__one__show"] == ToolTraits(private=True, untrusted=True, sends=True, destructive=True)


def test_a_tool_that_is_listed_twice_is_there_once_as_it_was_listed_first() -> None:
    async def main() -> ServerTools:
        async with server_tools([replace(STDIO, args=("-S", SCRIPT, "twice"))]) as found:
            return found

    found = run(main())
    assert by_name(found.tools)["mcp__one__add"].spec.description == "Add two numbers."


def test_a_server_whose_tools_have_the_names_of_anothers_is_left_out_and_said() -> None:
    async def main() -> ServerTools:
        async with server_tools([STDIO, STDIO]) as found:
            return found

    found = run(main())
    assert found.failures == (ServerFailure(server="one", reason="mcp__one__add is another server's tool already"),)
    assert len(by_name(found.tools)) == len(mcp_server.TOOLS)


def test_what_a_server_says_beside_the_protocol_is_not_printed() -> None:
    program = f"""
import asyncio, sys
from handrail.agents.bindings.mcp import server_tools
from handrail.workspace.declared import DeclaredServer

async def main():
    server = DeclaredServer(name="one", command=sys.executable, args=("-S", {SCRIPT!r}, "noisy"))
    async with server_tools([server]) as found:
        print(len(found.tools))

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"{len(mcp_server.TOOLS)}\n", "")


def test_names_are_what_every_provider_takes_and_stay_apart() -> None:
    assert tool_name("git", "log") == "mcp__git__log"
    odd = [tool_name("a b", "c"), tool_name("a.b", "c"), tool_name("a", "x" * 100), tool_name("a", "x" * 101)]
    assert len(set(odd)) == 4
    assert all(len(name) <= 64 and name.replace("_", "").isalnum() for name in odd)
