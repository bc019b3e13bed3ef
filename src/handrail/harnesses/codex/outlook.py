"""What is wrong with the rows of a rollout as a whole: the ground that doctor and repair share."""

from __future__ import annotations

from collections.abc import Iterable

from handrail.harnesses.codex.ledger import Entry, Ledger
from handrail.harnesses.codex.wire import EVENT, ITEM
from handrail.harnesses.families.pairing import Occurrence, Pairing, pair
from handrail.transcripts.repair import Edit

_RUN = 3
"""So many rows in a row that stood so before are history written again; fewer may be chance."""

_STOPS = frozenset({"bom", "nul", "glued", "cut_record", "not_strict"})


class Outlook:
    """One reading of a ledger. ``copies`` are rows that stand again, and what they copy, by row index."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.copies = _copies(ledger.entries)
        self.pairing: Pairing = self._pair()
        self.lost = self._unreadable()

    @property
    def known(self) -> int:
        """How many rows are such as Codex writes."""
        return sum(entry.is_known for entry in self.ledger.entries)

    @property
    def lacks_header(self) -> bool:
        """Whether no row says which session this is, without which Codex does not open it."""
        return self.known > 0 and not any(entry.session for entry in self.ledger.entries)

    def _pair(self) -> Pairing:
        calls: list[Occurrence] = []
        outputs: list[Occurrence] = []
        for index, entry in enumerate(self.ledger.entries):
            if index in self.copies:
                continue
            if entry.call is not None:
                calls.append(Occurrence(entry.call, entry.body, index))
            if entry.output is not None:
                outputs.append(Occurrence(entry.output, entry.body, index))
        return pair(calls, outputs)

    def _unreadable(self) -> list[int]:
        """The rows that Codex leaves out because their line is no JSON."""
        wounds = [wound for wound in self.ledger.examiner.wounds if wound.kind in _STOPS]
        return sorted(_touched(self.ledger.entries, wounds))

    def turns(self, indices: Iterable[int]) -> tuple[int, int]:
        """How many prompts and replies rows ``indices`` are, and how many of them prompts."""
        entries = self.ledger.entries
        prompts = sum(entries[index].is_prompt for index in indices)
        return prompts + sum(entries[index].is_reply for index in indices), prompts

    def end_of_response(self, call: int) -> int:
        """The last row of the calls and outputs that the call in row ``call`` was made with."""
        entries = self.ledger.entries
        last = call
        has_output = False
        for index in range(call + 1, len(entries)):
            entry = entries[index]
            if entry.type not in (ITEM, EVENT) or (entry.type == EVENT and entry.kind in _ENDS):
                break
            if entry.output is not None:
                has_output = True
                last = index
            elif entry.type == ITEM and (has_output or entry.call is None):
                if has_output or entry.kind == "message":
                    break
            elif entry.call is not None:
                last = index
        return last


_ENDS = frozenset(
    {
        "token_count",
        "user_message",
        "task_started",
        "turn_started",
        "task_complete",
        "turn_complete",
        "turn_aborted",
        "thread_rolled_back",
    }
)


def _touched(entries: list[Entry], wounds: list[Edit]) -> Iterable[int]:
    """The rows on whose lines a wound is. Both lists are in file order."""
    at = 0
    for wound in wounds:
        while at < len(entries) and entries[at].line_end < wound.start:
            at += 1
        index = at
        while index < len(entries) and entries[index].line_start <= wound.start:
            if wound.start < entries[index].line_end or wound.start == entries[index].end:
                yield index
            index += 1


def _copies(entries: list[Entry]) -> dict[int, int]:
    """Stretches that repeat an earlier one row by row, and rows that repeat the one right before them."""
    places: dict[int, int] = {}
    found: dict[int, int] = {}
    run: list[tuple[int, int]] = []
    for index, entry in enumerate(entries):
        earlier = places.setdefault(entry.digest, index)
        if run and entry.is_mark and entries[run[-1][1] + 1].is_mark:
            earlier = run[-1][1] + 1
        if run and (earlier == index or earlier != run[-1][1] + 1):
            found |= _kept_run(entries, run)
            run = []
        if earlier != index:
            run.append((index, earlier))
    found |= _kept_run(entries, run)
    last: int | None = None
    for index, entry in enumerate(entries):
        if index in found:
            continue
        if last is not None and entries[last].digest == entry.digest and entry.is_unique:
            found[index] = last
        else:
            last = index
    return found


def _kept_run(entries: list[Entry], run: list[tuple[int, int]]) -> dict[int, int]:
    """The run, when it is history written again.

    An item whose event comes right behind the run stays: without it the event would prove no prompt.
    """
    if run and run[-1][0] + 1 < len(entries) and entries[run[-1][0] + 1].is_submission:
        run = run[:-1]
    is_talk = any(_is_talk(entries[index]) for index, _ in run)
    return dict(run) if len(run) >= _RUN and is_talk else {}


def _is_talk(entry: Entry) -> bool:
    return entry.type == ITEM and entry.kind != "reasoning" and entry.is_unique
