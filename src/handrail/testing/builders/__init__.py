"""Small writers of native sessions, row by row as the tools themselves write them.

They know the formats from real files, not from our codecs, so that a codec is never tried on its own idea of a
format only. A builder is given words and calls in the order they happened; ids and times follow from the session's
id, so the same story gives the same bytes.
"""

from handrail.testing.builders.claude_code import ClaudeCodeSession
from handrail.testing.builders.codex import CodexSession

__all__ = ["ClaudeCodeSession", "CodexSession"]
