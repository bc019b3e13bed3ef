"""One HTTP GET by the standard library, to public addresses only unless told otherwise.

The name is looked up once and the connection goes to the very address that was checked, so that a name which
points somewhere else a moment later gains nothing. Proxies of the environment are not used.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import zlib
from collections.abc import Callable
from urllib.parse import SplitResult, urljoin, urlsplit

from msgspec import Struct

from handrail.agents.tool import ToolError

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS = 5
_HEADERS = {
    "User-Agent": "handrail",
    "Accept": "text/*, application/json;q=0.9, */*;q=0.1",
    "Accept-Encoding": "identity",
    "Connection": "close",
}


class Wanted(Struct, frozen=True, kw_only=True):
    """What may be fetched: the time one step may take, how much is read, whether private addresses are reachable."""

    step_s: float = 20.0
    max_bytes: int = 5 * 1024 * 1024
    reaches_private: bool = False


class Fetched(Struct, frozen=True, kw_only=True):
    """What came back. ``is_cut`` says that more was to come."""

    url: str
    status: int
    content_type: str
    body: bytes
    is_cut: bool


def fetch_url(url: str, wanted: Wanted, on_connect: Callable[[socket.socket], object]) -> Fetched:
    """GET ``url``, following up to five redirects; ``ToolError`` when there is no answer.

    ``on_connect`` is given each socket, so that somebody else can shut it.
    """
    for _ in range(_MAX_REDIRECTS + 1):
        parts = _checked(url)
        connection = _connection(parts, wanted, on_connect)
        try:
            connection.request("GET", _target(parts), headers=_HEADERS)
            with connection.getresponse() as reply:
                target = reply.headers.get("Location") if reply.status in _REDIRECTS else None
                if target is None:
                    return _fetched(url, reply, wanted)
            url = urljoin(url, target)
        except (OSError, http.client.HTTPException, UnicodeError) as problem:
            raise ToolError(f"{parts.netloc} did not answer: {problem}", is_external=True) from problem
        finally:
            connection.close()
    raise ToolError(f"more than {_MAX_REDIRECTS} redirects")


def _fetched(url: str, reply: http.client.HTTPResponse, wanted: Wanted) -> Fetched:
    body = reply.read(wanted.max_bytes + 1)
    if reply.headers.get("Content-Encoding", "").strip().lower() == "gzip":
        # Not asked for; some servers send it all the same. No more of it is unpacked than would be read.
        body = _unpacked(body, wanted.max_bytes + 1)
    return Fetched(
        url=url,
        status=reply.status,
        content_type=reply.headers.get("Content-Type", ""),
        body=body[: wanted.max_bytes],
        is_cut=len(body) > wanted.max_bytes,
    )


def _unpacked(body: bytes, max_bytes: int) -> bytes:
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body, max_bytes)
    except zlib.error as problem:
        raise ToolError(f"the answer is no gzip, although it says so: {problem}", is_external=True) from problem


def _checked(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading it checks it
    except ValueError as problem:
        raise ToolError(f"{url!r} is no URL: {problem}") from problem
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ToolError(f"{url!r} cannot be fetched: only http and https URLs with a host can")
    if parts.username is not None or parts.password is not None:
        raise ToolError("a URL with a name or password in it is not fetched")
    return parts


def _target(parts: SplitResult) -> str:
    target = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    return "".join(char if "!" <= char <= "~" else _escaped(char) for char in target)


def _escaped(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))


def _connection(
    parts: SplitResult, wanted: Wanted, on_connect: Callable[[socket.socket], object]
) -> http.client.HTTPConnection:
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    address = _address(host, port, reaches_private=wanted.reaches_private)
    connection = http.client.HTTPConnection(host, port, timeout=wanted.step_s)
    try:
        # Closed with the connection, whatever happens from here on.
        connection.sock = socket.create_connection((address, port), timeout=wanted.step_s)
        on_connect(connection.sock)
        if parts.scheme == "https":
            connection.sock = ssl.create_default_context().wrap_socket(connection.sock, server_hostname=host)
            on_connect(connection.sock)
    except (OSError, ValueError) as problem:
        connection.close()
        raise ToolError(f"{parts.netloc} cannot be reached: {problem}") from problem
    return connection


def _address(host: str, port: int, *, reaches_private: bool) -> str:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        raise ToolError(f"{host} cannot be found: {problem}") from problem
    addresses = [str(item[4][0]) for item in found]
    usable = [address for address in addresses if reaches_private or is_public(address)]
    if not usable:
        raise ToolError(f"{host} is not on the public network, and only that may be fetched from")
    return usable[0]


def is_public(address: str) -> bool:
    """Whether ``address`` belongs to the public internet, by itself and by the IPv4 address it may carry."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        carried = parsed.ipv4_mapped or parsed.sixtofour or _translated(parsed)
        if carried is not None:
            return is_public(str(carried))
    return parsed.is_global and not parsed.is_multicast


def _translated(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that a NAT64 gateway would connect to (64:ff9b::/96)."""
    if address not in ipaddress.IPv6Network("64:ff9b::/96"):
        return None
    return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
