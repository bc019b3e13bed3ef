"""A loopback HTTP server that answers what it is told and remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import TracebackType

from msgspec import Struct, field

from handrail import jsonio
from handrail.transcripts.model import Json


class Played(Struct, frozen=True, kw_only=True):
    """One HTTP response, its body sent chunk by chunk.

    ``is_cut`` breaks the connection before the body is whole; ``hangs`` keeps it open until the client goes.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    chunks: tuple[bytes, ...] = ()
    is_cut: bool = False
    hangs: bool = False


class Received(Struct, frozen=True, kw_only=True):
    """One request; names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Json


def failure(status: int, body: Json, **headers: str) -> Played:
    """An error response: ``body`` as JSON; underscores in names of headers stand for hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Played(status=status, headers={"content-type": "application/json", **named}, chunks=(jsonio.encode(body),))


class WireServer:
    """Serves ``answers`` in order, the last one again and again. An async context manager; ``url`` has no path."""

    def __init__(self, answers: Sequence[Played]) -> None:
        self.requests: list[Received] = []
        self.abandoned = asyncio.Event()
        """Set when a client went before its answer was whole."""
        self.url = ""
        self._answers = list(answers)
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> WireServer:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer requests on one connection until either side ends it."""
        try:
            while (request := await _read_request(reader)) is not None:
                self.requests.append(request)
                answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
                if not await self._answer(answer, reader, writer):
                    return
        except ConnectionError:
            self.abandoned.set()
        finally:
            writer.close()

    async def _answer(self, answer: Played, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Send ``answer``; whether the connection can be used again."""
        headers = {**answer.headers, "transfer-encoding": "chunked"}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {answer.status} Played\r\n{head}\r\n".encode())
        for chunk in answer.chunks:
            writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            await writer.drain()
        if answer.hangs:
            # Nothing more comes from a client that waits; the end of its side is the sign that it went.
            await reader.read()
            self.abandoned.set()
        elif not answer.is_cut:
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        return not (answer.hangs or answer.is_cut)


async def _read_request(reader: asyncio.StreamReader) -> Received | None:
    """The next request; None when the client has no more."""
    try:
        raw_head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    head = raw_head.decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ", 2)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)
    }
    if "chunked" in headers.get("transfer-encoding", ""):
        raw = await _read_chunks(reader)
    else:
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method=method, path=path, headers=headers, body=jsonio.decode(raw) if raw else None)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readline()
    return body
