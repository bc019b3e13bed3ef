"""Handrail's own sessions: one JSONL file a session, one event of the journal a line."""

from __future__ import annotations

from handrail.harnesses.handrail.codec import HandrailCodec
from handrail.harnesses.handrail.recognise import recognises
from handrail.harnesses.handrail.store import open_store
from handrail.transcripts.codec import HarnessInfo, ToolTraits

_READS = ToolTraits(private=True)
_CHANGES = ToolTraits(destructive=True)
_CHANGES_SEEN = ToolTraits(private=True, destructive=True)

HARNESS = HarnessInfo(
    name="handrail",
    title="Handrail",
    codec=HandrailCodec(),
    store=open_store,
    aliases=("hr",),
    status="supported",
    tools={
        "Read": _READS,
        "List": _READS,
        "Glob": _READS,
        "Grep": _READS,
        "Write": _CHANGES,
        "Edit": _CHANGES_SEEN,
        "MultiEdit": _CHANGES_SEEN,
        "Bash": ToolTraits(private=True, untrusted=True, sends=True, destructive=True),
        "Fetch": ToolTraits(untrusted=True, sends=True),
        "Todo": ToolTraits(),
        "Ask": ToolTraits(),
        "Spawn": ToolTraits(private=True, untrusted=True),
    },
    recognises=recognises,
)
