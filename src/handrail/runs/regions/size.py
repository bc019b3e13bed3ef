"""How large things are: tokens estimated from bytes, and the window they have to fit into.

No tokenizer is asked: which one a provider uses is its own business, and it tells how many tokens it counted. The
estimate starts at four bytes a token and follows what was reported.
"""

from __future__ import annotations

import math

from msgspec import Struct

START_BYTES_PER_TOKEN = 4.0
"""What prose and code in Latin script come to, roughly, with the tokenizers of the large providers."""

_LEAST, _MOST = 1.0, 8.0
_STEP = 0.25
"""The estimate moves in such steps only: what is shown of a conversation must not shift with every response."""

_ENOUGH_BYTES = 4_000
"""Below it, what a provider adds on its own account weighs too much to learn from."""


class Estimate(Struct, frozen=True, gc=False):
    """How many bytes of UTF-8 are one token."""

    bytes_per_token: float = START_BYTES_PER_TOKEN

    def of_bytes(self, count: int) -> int:
        """The tokens of ``count`` bytes; never none, since every piece costs something around it."""
        return int(count / self.bytes_per_token) + 1

    def of(self, text: str) -> int:
        """The tokens of ``text``."""
        return self.of_bytes(size_bytes(text))


def size_bytes(text: str) -> int:
    """The bytes of ``text`` in UTF-8; half characters count as if they could be written."""
    return len(text.encode("utf-8", "surrogatepass"))


def calibrated(reported_tokens: int, sent_bytes: int) -> Estimate:
    """The estimate by which ``sent_bytes`` come to what a provider counted for them, cautiously rounded.

    Too little to learn from, or a figure that cannot be (a provider that reports nothing), leaves it as it starts.
    """
    if reported_tokens <= 0 or sent_bytes < _ENOUGH_BYTES:
        return Estimate()
    measured = sent_bytes / reported_tokens
    # Rounded down: an estimate that is too high wastes room, one that is too low overruns the window.
    stepped = math.floor(measured / _STEP) * _STEP
    return Estimate(min(max(stepped, _LEAST), _MOST))


class Size(Struct, frozen=True, gc=False):
    """The model's ``window`` in tokens (None: not known), and how its tokens are estimated."""

    window: int | None = None
    estimate: Estimate = Estimate()
