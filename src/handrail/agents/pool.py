"""A purse that several runs spend from."""

from __future__ import annotations

import threading


class Pool:
    """Tokens and money shared by runs, from any thread; None is no bound.

    Charged with every reply, so an overshoot is at most one reply for each run that draws on it at the time.
    """

    def __init__(self, *, max_tokens: int | None = None, max_cost: float | None = None) -> None:
        self.max_tokens = max_tokens
        self.max_cost = max_cost
        self._lock = threading.Lock()
        self._tokens = 0
        self._cost = 0.0

    def charge(self, tokens: int, cost: float) -> None:
        """Take ``tokens`` and ``cost`` out."""
        with self._lock:
            self._tokens += tokens
            self._cost += cost

    @property
    def tokens(self) -> int:
        """How many tokens were spent."""
        return self._tokens

    @property
    def cost(self) -> float:
        """How much money was spent."""
        return self._cost

    @property
    def spent_bound(self) -> str | None:
        """The bound that is spent, in words; None while something is left of both."""
        if self.max_tokens is not None and self._tokens >= self.max_tokens:
            return f"{self._tokens} of {self.max_tokens} tokens are spent"
        if self.max_cost is not None and self._cost >= self.max_cost:
            return f"{self._cost:g} of {self.max_cost:g} are spent"
        return None
