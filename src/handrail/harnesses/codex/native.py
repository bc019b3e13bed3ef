"""A rollout as its native body: the bytes, the rows, and one reading of them that is remembered."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from handrail.harnesses.codex.bare import are_bare, is_bare, read_part, reader_of
from handrail.harnesses.codex.bare_reading import TABLE_BARE
from handrail.harnesses.codex.drafts import Draft
from handrail.harnesses.codex.events import TABLE_ALONE, has_items
from handrail.harnesses.codex.gathering import Cut, Gathering
from handrail.harnesses.codex.reading import read_rows
from handrail.harnesses.codex.sources import read_meta
from handrail.harnesses.codex.wire import Row, is_known, kind_of
from handrail.harnesses.families.jsonl import JsonlFiles, Rows
from handrail.transcripts.codec import Parts
from handrail.transcripts.model import Common, Message, Meta


class Rollout(JsonlFiles[Row]):
    """The native body of a Codex session. Of several parts the first rollout (by name) is the session."""

    def __init__(self, given: bytes | Parts, known: Mapping[str, Rows[Row]] | None = None) -> None:
        super().__init__(given, read_part, known)

    @cached_property
    def part(self) -> str:
        """The part that holds the session."""
        names = sorted(self.parts)
        return next((name for name in names if name.endswith(".jsonl")), names[0] if names else "")

    @cached_property
    def main(self) -> Rows[Row]:
        """The session's rows."""
        return self.rows(self.part)

    def grown_rows(self, more: bytes) -> Rows[Row]:
        """The rows of this body, which is one file, with ``more`` appended; its first record tells how all are read."""
        given = self.one_file
        if is_bare(given) is None or not given.endswith(b"\n"):
            return read_part(given + more)
        return self.rows().followed_by(reader_of(given).read(more))

    @cached_property
    def reading(self) -> Gathering:
        """The rows, read."""
        rows = self.main.rows
        table = TABLE_BARE if are_bare(rows) else None if has_items(rows) else TABLE_ALONE
        return read_rows(rows, self.main.raw, table)

    @cached_property
    def lines(self) -> Lines:
        """The live line and those that were rolled back."""
        return Lines(tuple(map(Draft.finish, self.reading.drafts)), self.reading.cuts)

    @cached_property
    def meta(self) -> Meta:
        """The session's metadata."""
        return read_meta(self.main.rows)

    def unknown(self) -> Mapping[str, int]:
        """How many rows of each kind are not known."""
        counts: dict[str, int] = {}
        for row in self.main.rows:
            if not is_known(row):
                kind = kind_of(row)
                counts[kind] = counts.get(kind, 0) + 1
        return counts


class Lines:
    """The lines of a session as lists of indices into its messages (in file order).

    ``live`` is what is left after all rollbacks; ``left`` holds for each rollback the line it cut short.
    """

    def __init__(self, messages: Common, cuts: list[Cut]) -> None:
        self.messages = messages
        self.live: list[int] = []
        self.left: list[list[int]] = []
        start = 0
        for cut in cuts:
            self.live += range(start, cut.end)
            self.left.append(list(self.live))
            self.live = [index for index in self.live if index < cut.start]
            start = cut.end
        self.live += range(start, len(messages))

    def body(self) -> Common:
        """The live messages."""
        if not self.left:
            return self.messages
        return tuple(self.messages[index] for index in self.live)

    def own(self, line: list[int]) -> tuple[int, tuple[Message, ...]]:
        """How many messages ``line`` shares with the live line, and the rest of it."""
        at = 0
        while at < min(len(line), len(self.live)) and line[at] == self.live[at]:
            at += 1
        return at, tuple(self.messages[index] for index in line[at:])
