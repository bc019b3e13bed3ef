"""A command that must succeed before the work counts as done."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from handrail.agents.process import run_process
from handrail.agents.strategy import RoundBoundary, RoundContext, RoundDecision

_SHOWN = 4000


class Verify:
    """Runs ``command`` (no shell) in ``cwd`` at every answer; while it fails its output goes back to the model.

    ``times`` failures are told; the answer after that stands, for the person to judge. ``timeout_s`` is for one run
    of the command, and one that takes longer has failed.
    """

    name = "verify"

    def __init__(
        self, command: str | Sequence[str], *, cwd: Path | None = None, times: int = 5, timeout_s: float = 600.0
    ) -> None:
        self.command = shlex.split(command) if isinstance(command, str) else list(command)
        if not self.command:
            raise ValueError("there is no command to verify with")
        self.cwd = cwd
        self.times = times
        self.timeout_s = timeout_s
        self._told = 0

    async def on_round(self, ctx: RoundContext) -> RoundDecision:
        """See ``RoundStrategy``."""
        is_answer = ctx.boundary is RoundBoundary.ASSISTANT_MESSAGE_COMMITTED
        if not is_answer or not ctx.can_continue or self._told >= self.times:
            return RoundDecision.proceed()
        where = self.cwd or Path.cwd()
        ran = await run_process(self.command, cwd=where, timeout_s=self.timeout_s, is_merged=True)
        if ran.exit_code == 0:
            return RoundDecision.proceed()
        self._told += 1
        how = "takes too long" if ran.is_timed_out else f"fails (exit code {ran.exit_code})"
        shown = ran.output.strip()[-_SHOWN:] or "(no output)"
        return RoundDecision.inject(f"It is not done: `{shlex.join(self.command)}` {how}:\n{shown}")


STRATEGY = Verify
