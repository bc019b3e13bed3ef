"""Turns: what a person submits and everything up to the agent's last word on it.

Codex marks where a turn begins and ends since 0.104. Words submitted into a turn that runs steer it.
"""

from __future__ import annotations


class Turns:
    """Where the present turn stands, and where each turn of the line began (as indices into the drafts)."""

    __slots__ = ("_begun", "_prompts", "_starts", "is_open")

    def __init__(self) -> None:
        self.is_open = False
        self._prompts = 0
        self._starts: list[int] = []
        self._begun: int | None = None

    def begin(self, at: int) -> None:
        """A turn begins with the draft ``at``."""
        self.is_open = True
        self._prompts = 0
        self._begun = at

    def end(self) -> None:
        """The turn is over."""
        self.is_open = False
        self._prompts = 0

    def count(self) -> None:
        """One more text was submitted in this turn."""
        self._prompts += 1

    @property
    def is_running(self) -> bool:
        """Whether what is submitted now is a steer: the turn is open and has its prompt."""
        return self.is_open and self._prompts > 0

    def prompt(self, at: int) -> None:
        """The draft ``at`` is the prompt of a turn; what the harness put before it belongs to the same turn."""
        self._starts.append(at if self._begun is None else self._begun)
        self._begun = None

    def roll_back(self, count: int) -> int | None:
        """Where the last ``count`` turns began, which are now undone; None when there is nothing to undo."""
        starts = self._starts
        if count < 1 or not starts:
            return None
        start = starts[-min(count, len(starts))]
        del starts[-count:]
        return start
