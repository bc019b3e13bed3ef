"""What both builders share: instants that tick by themselves and ids that follow from the session's."""

from __future__ import annotations

from datetime import datetime, timedelta

from handrail.ids import short_hash, stable_uuid


class Ticking:
    """Hands out instants, each ``step_s`` seconds after the last, and ids that depend on the session and a count."""

    def __init__(self, session_id: str, start: datetime, step_s: float) -> None:
        self._session_id = session_id
        self._now = start
        self._step = timedelta(seconds=step_s)
        self._count = 0

    def tick(self) -> str:
        """The next instant as both tools write it: UTC, milliseconds, ``Z``."""
        spelled = self._now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self._now.microsecond // 1000:03d}Z"
        self._now += self._step
        return spelled

    def wait(self, seconds: float) -> None:
        """Let ``seconds`` pass before the next instant."""
        self._now += timedelta(seconds=seconds)

    def uuid(self) -> str:
        """The next UUID of this session."""
        self._count += 1
        return stable_uuid(self._session_id, self._count)

    def named(self, prefix: str, name: str) -> str:
        """The id that ``name`` stands for in this session, as providers write them."""
        return prefix + short_hash(self._session_id, prefix, name) + short_hash(name, self._session_id)
