"""Claude Code: one JSONL file a session, sub-agents in files beside it."""

from __future__ import annotations

from handrail.harnesses.claude_code.codec import ClaudeCodeCodec

__all__ = ["ClaudeCodeCodec"]
