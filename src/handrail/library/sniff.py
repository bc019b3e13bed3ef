"""Whose file is this? Asked of every harness, answered from evidence only its own format gives.

Rows with roles are written by everyone; each harness says for itself how sure it is (``HarnessInfo.recognises``).
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from handrail.errors import MalformedSession
from handrail.transcripts.codec import HarnessInfo

CONFIDENT = 0.5
"""Below this share of evidence a file is nobody's."""


class Guess(Struct, frozen=True, gc=False):
    """A harness and how sure it is, from 0 (not its file) to 1."""

    harness: str
    confidence: float


def guess_harness(data: bytes, infos: Iterable[HarnessInfo], name: str = "the input") -> Guess:
    """The harness that wrote ``data``; ``MalformedSession`` when none is sure enough or two are equally sure.

    ``name`` is what the error calls the file.
    """
    guesses = [Guess(info.name, info.recognises(data)) for info in infos if info.recognises is not None]
    guesses.sort(key=lambda guess: guess.confidence, reverse=True)
    hint = "say which harness wrote it with --from"
    if not guesses or guesses[0].confidence < CONFIDENT:
        raise MalformedSession(f"{name} is no session that any known harness recognises", hint=hint)
    if len(guesses) > 1 and guesses[1].confidence == guesses[0].confidence:
        raise MalformedSession(
            f"{name} could be a session of {guesses[0].harness} or of {guesses[1].harness}", hint=hint
        )
    return guesses[0]
