"""Simple: a session as one neutral JSON document, for moving it by hand; no tool writes it and no folder holds it."""

from __future__ import annotations

from handrail.harnesses.simple.codec import SimpleCodec, check_document
from handrail.harnesses.simple.document import recognises
from handrail.transcripts.codec import HarnessInfo

HARNESS = HarnessInfo(
    name="simple",
    title="Simple JSON",
    codec=SimpleCodec(),
    store=None,
    aliases=("simple_json", "simple-json"),
    status="supported",
    recognises=recognises,
)

__all__ = ["HARNESS", "SimpleCodec", "check_document"]
