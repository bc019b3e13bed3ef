"""A session as its native body: the bytes, the rows, and one reading of them that is remembered."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from handrail.harnesses.claude_code.head import Head, read_head, read_meta, read_setting
from handrail.harnesses.claude_code.line import Lines, find_lines
from handrail.harnesses.claude_code.speech import Setting
from handrail.harnesses.claude_code.wire import Row, read_rows
from handrail.harnesses.families.jsonl import JsonlFiles, Rows
from handrail.transcripts.codec import Parts
from handrail.transcripts.model import Meta


def main_part(parts: Parts) -> str:
    """The name of the session's own file among its parts: the one that lies in no folder and is no sub-agent's."""
    names = sorted(parts, key=lambda name: (name.count("/"), name.rpartition("/")[2].startswith("agent-"), name))
    return next((name for name in names if not name or name.endswith(".jsonl")), "")


class Session(JsonlFiles[Row]):
    """The native body of a Claude Code session, its sub-agents' files among the parts."""

    def __init__(self, given: bytes | Parts, known: Mapping[str, Rows[Row]] | None = None) -> None:
        super().__init__(given, read_rows, known)

    @cached_property
    def part(self) -> str:
        """The part that holds the session."""
        return main_part(self.parts)

    @cached_property
    def main(self) -> Rows[Row]:
        """The session's rows."""
        return self.rows(self.part)

    @cached_property
    def head(self) -> Head:
        """What the first rows say of the session."""
        return read_head(self.main)

    @cached_property
    def meta(self) -> Meta:
        """The session's metadata."""
        return read_meta(self.main, self.head)

    @cached_property
    def setting(self) -> Setting:
        """How the prompts were written."""
        return read_setting(self.main.rows, self.head)

    @cached_property
    def lines(self) -> Lines:
        """The live line and those that were left."""
        return find_lines(self.main.rows)
