"""Fetch: the public web only, as text, a stranger's words."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from handrail.agents.cancellation import CancellationToken
from handrail.agents.tool import ToolOutput
from handrail.agents.tools import built_in
from handrail.agents.tools.families.markup import text_of
from handrail.agents.tools.families.web import is_public
from handrail.agents.tools.fetch import fetch_tool
from handrail.transcripts.model import RefusalKind
from tests.agents.tools.running import called, context, output, run

FETCH = fetch_tool(reaches_private=True)
PAGES: dict[str, tuple[int, dict[str, str], bytes]] = {
    "/text": (200, {"Content-Type": "text/plain; charset=latin-1"}, b"caf\xe9"),
    "/json": (200, {"Content-Type": "application/json"}, b'{"a": 1}'),
    "/html": (
        200,
        {"Content-Type": "text/html"},
        b"<h2>Head</h2><p>One <b>two</b></p><script>x()</script>",
    ),
    "/missing": (404, {"Content-Type": "text/plain"}, b"not here"),
    "/picture": (200, {"Content-Type": "image/png"}, b"\x89PNG"),
    "/moved": (302, {"Location": "/text"}, b""),
    "/loop": (302, {"Location": "/loop"}, b""),
    "/away": (302, {"Location": "file:///etc/passwd"}, b""),
    "/big": (200, {"Content-Type": "text/plain"}, b"x" * (6 * 1024 * 1024)),
    "/packed": (200, {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, gzip.compress(b"unpacked")),
    "/bomb": (
        200,
        {"Content-Type": "text/plain", "Content-Encoding": "gzip"},
        gzip.compress(b"x" * (20 * 1024 * 1024)),
    ),
    "/false": (200, {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, b"plain"),
    "/marked": (200, {"Content-Type": "text/html"}, b"<p>One</p><![if !odd]><p>two</p><![endif]>"),
    "/unmarked": (200, {"Content-Type": "text/html"}, b"<p>One</p><![odd x]><p>two</p>"),
    "/idna": (200, {"Content-Type": "text/plain; charset=idna"}, b"caf\xc3\xa9"),
    "/punycode": (200, {"Content-Type": "text/plain; charset=punycode"}, b"caf\xc3\xa9"),
    "/tangled": (200, {"Content-Type": "text/html"}, b"<a " * 100_000),
    "/query?q=a%20b": (200, {"Content-Type": "text/plain"}, b"asked"),
}


class Handler(BaseHTTPRequestHandler):
    """Answers from ``PAGES``; ``/hang`` says it is there and then nothing until the server ends."""

    ending = threading.Event()
    reached = threading.Event()

    def do_GET(self) -> None:
        if self.path == "/hang":
            self.reached.set()
            self.ending.wait(20)
            return
        status, headers, body = PAGES[self.path]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def _served() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        Handler.ending.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with _served() as url:
        yield url


def _fetch(url: str) -> ToolOutput:
    return output(FETCH, url=url)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/text", "café"),
        ("/json", '{"a": 1}'),
        ("/html", "## Head\n\nOne two"),
        ("/query?q=a b", "asked"),
        ("/packed", "unpacked"),
        ("/marked", "One\n\ntwo"),
        ("/unmarked", "One\n\ntwo"),
        ("/idna", "café"),
        ("/punycode", "café"),
    ],
)
def test_a_page_comes_as_text_and_counts_as_a_strangers_words(site: str, path: str, text: str) -> None:
    got = _fetch(site + path)
    assert got.content == f"[{site}{path} answered 200]\n{text}"
    assert (got.is_external, got.is_error) == (True, False)


def test_a_page_that_takes_the_reader_for_ever_is_given_up(site: str) -> None:
    got = output(fetch_tool(reaches_private=True, reading_s=0.1), url=f"{site}/tangled")
    assert (got.is_error, got.is_external) == (True, True)
    assert got.content == "the page could not be read as HTML: it took longer than 0.1 seconds"


def test_an_error_page_is_an_error_and_still_a_strangers_words(site: str) -> None:
    got = _fetch(f"{site}/missing")
    assert got.content == f"[{site}/missing answered 404]\nnot here"
    assert (got.is_error, got.is_external) == (True, True)


def test_a_redirect_is_followed_and_the_end_of_it_named(site: str) -> None:
    assert _fetch(f"{site}/moved").content == f"[{site}/text answered 200]\ncafé"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/loop", "more than 5 redirects"),
        ("/away", "only http and https"),
        ("/picture", "image/png, not text"),
        ("/false", "no gzip"),
    ],
)
def test_what_is_not_fetched_is_said(site: str, path: str, said: str) -> None:
    got = _fetch(site + path)
    assert got.is_error
    assert said in str(got.content)


@pytest.mark.parametrize("path", ["/big", "/bomb"])
def test_a_page_that_is_too_long_is_cut_and_says_so(site: str, path: str) -> None:
    assert str(_fetch(site + path).content).startswith(f"[{site}{path} answered 200, too long, cut]\nxxx")


@pytest.mark.parametrize(
    "url",
    ["", "text", "ftp://example.org", "file:///etc/passwd", "http://", "http://a:b@example.org", "http://x:port/"],
)
def test_what_is_no_web_address_is_refused(url: str) -> None:
    got = _fetch(url)
    assert (got.is_error, got.is_external) == (True, False)


def test_private_addresses_are_out_of_reach_unless_told_otherwise(site: str) -> None:
    got = output(built_in("fetch"), url=f"{site}/text")
    assert got.content == "127.0.0.1 is not on the public network, and only that may be fetched from"
    assert not got.is_external


@pytest.mark.parametrize(
    ("address", "is_so"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("10.0.0.1", False),
        ("169.254.169.254", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("100.64.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
    ],
)
def test_an_address_is_public_by_itself_and_by_what_it_carries(address: str, is_so: bool) -> None:
    assert is_public(address) is is_so


def test_cancelling_ends_the_wait_for_a_silent_server() -> None:
    async def main(url: str) -> ToolOutput:
        token = CancellationToken()
        watcher = threading.Thread(target=lambda: Handler.reached.wait(10) and token.cancel("enough"))
        watcher.start()
        got = await called(FETCH, {"url": url}, context(cancellation=token))
        watcher.join()
        return got

    Handler.ending.clear()
    with _served() as url:
        got = run(main(f"{url}/hang"))
    assert got.refusal is not None
    assert got.refusal.kind is RefusalKind.INTERRUPTED


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<ul><li>a<li>b</ul>", "- a\n- b"),
        ('<a href="https://e.org/x">there</a> <a href="#top">up</a>', "there (https://e.org/x) up"),
        ("a &amp; b<br>c", "a & b\nc"),
        ("<style>x</style>seen<noscript>not</noscript>", "seen"),
        ("<body><svg>lost</body>found", "found"),
        ("</a></p><<", "<<"),
    ],
)
def test_the_words_of_a_page_are_what_one_sees(html: str, text: str) -> None:
    assert text_of(html) == text
