"""A receiver of webhooks on this machine: what it was sent, and what it answers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from typing import NamedTuple


class Sent(NamedTuple):
    """One request."""

    path: str
    headers: Mapping[str, str]
    body: bytes


class Receiver:
    """Answers with ``statuses`` in turn, then with 200. ``sent`` is what came so far; ``wait`` gives the next."""

    def __init__(self, url: str, statuses: Sequence[int], headers: Mapping[str, str]) -> None:
        self.url = url
        self.sent: list[Sent] = []
        self.statuses = list(statuses)
        self.headers = headers
        self._queue: SimpleQueue[Sent] = SimpleQueue()

    def take(self, sent: Sent) -> int:
        self.sent.append(sent)
        self._queue.put(sent)
        return self.statuses.pop(0) if self.statuses else 200

    def wait(self) -> Sent:
        return self._queue.get(timeout=60)


@contextlib.contextmanager
def receiver(*statuses: int, headers: Mapping[str, str] | None = None) -> Iterator[Receiver]:
    """A receiver that listens for the length of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            status = made.take(Sent(self.path, dict(self.headers.items()), body))
            self.send_response(status)
            for name, value in made.headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Receiver(f"http://127.0.0.1:{server.server_address[1]}/hook", statuses, headers or {})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
