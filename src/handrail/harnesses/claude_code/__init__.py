"""Claude Code: one JSONL file a session, a tree of rows inside, sub-agents in files beside it."""

from __future__ import annotations

import os
from pathlib import Path

from handrail.harnesses.claude_code.codec import ClaudeCodeCodec
from handrail.harnesses.claude_code.medic import ClaudeCodeMedic
from handrail.harnesses.claude_code.recognise import recognises
from handrail.harnesses.claude_code.store import ClaudeCodeStore, default_roots, gather_parts
from handrail.harnesses.claude_code.tools import TOOLS
from handrail.transcripts.codec import Counting, HarnessInfo


def open_store(root: Path | str | None = None) -> ClaudeCodeStore:
    """The store at ``root``, or where this machine's environment says Claude Code keeps its sessions."""
    return ClaudeCodeStore((Path(root),) if root is not None else default_roots(os.environ))


_CODEC = ClaudeCodeCodec()

HARNESS = HarnessInfo(
    name="claude_code",
    title="Claude Code",
    codec=_CODEC,
    store=open_store,
    aliases=("claude", "claude-code", "cc"),
    status="supported",
    resume=("claude", "--resume", "{id}"),
    tools=TOOLS,
    recognises=recognises,
    medic=ClaudeCodeMedic(),
    gather=gather_parts,
    extend=_CODEC.extend,
    counting=Counting(response_ids=_CODEC.response_ids),
)
