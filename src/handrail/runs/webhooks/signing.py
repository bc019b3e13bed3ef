"""Signatures of what is sent: HMAC-SHA256 over the time and the exact bytes of the body."""

from __future__ import annotations

import hashlib
import hmac

VERSION = "v1"
"""The way of signing. Another one is sent beside this one, so that receivers have time to learn it."""


FRESH_S = 300.0
"""How old, in seconds, a notice may be for a receiver."""


def signature(secret: bytes, timestamp: str, body: bytes) -> str:
    """The value of the header ``Handrail-Signature`` for ``body``, sent at ``timestamp`` (seconds since 1970)."""
    digest = hmac.new(secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return f"{VERSION}={digest}"


def is_signed(
    secret: bytes, header: str, timestamp: str, body: bytes, *, now_s: float, within_s: float = 300.0
) -> bool:
    """Whether ``header`` signs ``body``, and it was sent within ``within_s`` seconds of ``now_s``; for receivers.

    One that was recorded and is sent again later is none.
    """
    try:
        is_fresh = abs(now_s - int(timestamp)) <= within_s
    except ValueError:
        return False
    expected = signature(secret, timestamp, body)
    given = (part.strip() for part in header.split(","))
    return is_fresh and any(hmac.compare_digest(expected.encode(), one.encode()) for one in given)
