"""What a file holds, line by line, against what Claude Code shows of it: the ground that doctor and repair share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from handrail.harnesses.claude_code.ledger import Ledger
from handrail.harnesses.claude_code.line import Lines, OtherLine, find_lines
from handrail.harnesses.claude_code.resume import Resume, response_of, resume
from handrail.harnesses.claude_code.said import is_aside
from handrail.harnesses.claude_code.spine import ids_of
from handrail.harnesses.claude_code.view import View, make_view, pair_calls
from handrail.harnesses.families.pairing import Pairing


@dataclass(frozen=True)
class Turns:
    """How many turns some rows are: responses and prompts, ``persons`` of them typed by a person."""

    count: int
    persons: int


class Outlook:
    """One reading of a ledger.

    ``wanted`` are the rows a resume should show: the live line, and lines cut off from it.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.view: View = make_view(ledger)
        self.pairing: Pairing = pair_calls(ledger, self.view)
        self.lines: Lines = find_lines(self.view.rows)
        self.resumed: Resume = self._resume()
        self.stranded: list[OtherLine] = []
        self.left: list[OtherLine] = []
        self._sort_others()
        self.wanted = {index for index in self.lines.live if not self.view.is_gone(index)}
        for other in self.stranded:
            self.wanted |= {*other.rows, *other.stem}

    def _resume(self) -> Resume:
        """What the tool shows, by the rows as they are."""
        stops_at = self.ledger.examiner.stops_at
        entries = self.ledger.entries
        end = len(entries)
        if stops_at is not None:
            end = next((index for index, entry in enumerate(entries) if entry.end > stops_at), end)
        return resume(self.ledger.rows, end)

    def is_turn(self, index: int) -> bool:
        """Whether row ``index`` is a prompt or part of a response."""
        row = self.view.rows[index]
        if row.type == "assistant":
            return True
        if row.type != "user" or row.isMeta or row.isCompactSummary:
            return False
        return not ids_of(row, "tool_result") and not is_aside(row)

    def lost(self, resumed: Resume) -> list[int]:
        """The turns of the wanted line that the resume ``resumed`` does not show."""
        shown = resumed.shown
        responses = {response_of(self.view.rows[index]) for index in shown}
        return [
            index
            for index in sorted(self.wanted)
            if index not in shown
            and self.view.rows[index].uuid is not None
            and self.is_turn(index)
            and (response_of(self.view.rows[index]) or index) not in responses
        ]

    def turns(self, indices: Iterable[int]) -> Turns:
        """The turns among rows ``indices``."""
        keys: set[str | int] = set()
        persons = 0
        for index in indices:
            if self.view.rows[index].uuid is not None and self.is_turn(index):
                keys.add(response_of(self.view.rows[index]) or index)
                persons += self.ledger.is_person(index)
        return Turns(len(keys), persons)

    def _sort_others(self) -> None:
        for other in self.lines.others:
            turns = self.turns(other.rows)
            if turns.persons:
                (self.stranded if self._is_cut_off(other) else self.left).append(other)
            elif turns.count and self._is_beside_a_hook(other):
                self.stranded.append(other)

    def _is_beside_a_hook(self, other: OtherLine) -> bool:
        """Whether the line is a reply that a record of the harness pushed aside: both hang on the same row."""
        rows = self.view.rows
        fork = rows[other.leaves_at].uuid if other.leaves_at >= 0 else None
        siblings = [rows[index] for index in self.lines.live if fork is not None and rows[index].parentUuid == fork]
        return any(row.type == "system" for row in siblings) and not any(row.is_talk for row in siblings)

    def _is_cut_off(self, other: OtherLine) -> bool:
        """Whether nobody left this line: what the live one goes on with was written in between or came from a queue.

        Who goes back does so at the prompt, and what was written before stays before.
        """
        rows = self.ledger.rows
        first, last = other.rows[0], other.rows[-1]
        after = [index for index in self.lines.live if index > max(first, other.leaves_at) and self._is_said(index)]
        if any(index < last for index in after):
            return True
        following = next(iter(after), None)
        if following is None:
            return False
        if rows[following].promptSource == "queued":
            return True
        before = next((rows[index] for index in range(following - 1, last, -1) if rows[index].uuid is None), None)
        return before is not None and before.operation in ("dequeue", "remove")

    def _is_said(self, index: int) -> bool:
        return self.view.rows[index].uuid is not None and self.is_turn(index)
