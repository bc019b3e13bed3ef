"""Codex: one JSONL file a session, two interleaved logs in it, forks and sub-agents in files of their own."""

from __future__ import annotations

import os
from pathlib import Path

from handrail.harnesses.codex.codec import CodexCodec
from handrail.harnesses.codex.instructions import instructions
from handrail.harnesses.codex.medic import CodexMedic
from handrail.harnesses.codex.recognise import recognises
from handrail.harnesses.codex.store import CodexStore, default_roots
from handrail.harnesses.codex.tools import TOOLS
from handrail.transcripts.codec import Counting, HarnessInfo


def open_store(root: Path | str | None = None) -> CodexStore:
    """The store at ``root``, or where this machine's environment says Codex keeps its sessions."""
    return CodexStore((Path(root),) if root is not None else default_roots(os.environ))


_CODEC = CodexCodec()

HARNESS = HarnessInfo(
    name="codex",
    title="Codex",
    codec=_CODEC,
    store=open_store,
    aliases=("codex-cli", "openai-codex"),
    status="supported",
    resume=("codex", "resume", "{id}"),
    tools=TOOLS,
    recognises=recognises,
    medic=CodexMedic(),
    extend=_CODEC.extend,
    counting=Counting(input_holds_cache=True),
    instructions=instructions,
)
