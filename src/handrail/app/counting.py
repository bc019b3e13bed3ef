"""Moments as surfaces show them, and the figures over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from handrail.learning.provenance import EvidenceKind


class MomentRow(Struct, frozen=True, kw_only=True):
    """One moment. ``message`` is its number (from 1) in the session's live line, or in the line ``branch``.

    ``at`` is when it happened (aware UTC), ``text`` what the person said or, where they said nothing, what they
    acted on; ``words`` is what they said and nothing else. ``context`` is what the agent was doing, ``aftermath``
    how it went on. ``actor`` is ``person``, or ``unknown`` where nobody's words prove one.
    ``is_candidate``: no step-in, but worth a look. ``reasons`` speak for a step-in and ``doubts`` against;
    ``likelihood`` (0 to 1) is the scorer's. Only follow-ups have the last two. ``evidence`` is how much of it a
    lesson may be drawn from: all of it, or the person's words only, where words from outside may have entered.
    """

    id: str
    harness: str
    session: str
    short_id: str
    title: str | None
    project: str | None
    message: int
    branch: str | None
    at: datetime | None
    trigger: str
    text: str
    words: str
    actor: str
    context: str
    aftermath: str
    tools_before: tuple[str, ...]
    tools_after: tuple[str, ...]
    is_stepin: bool
    reasons: tuple[str, ...]
    is_candidate: bool = False
    doubts: tuple[str, ...] = ()
    likelihood: float | None = None
    evidence: EvidenceKind = EvidenceKind.USER_TURNS


class DamagedSession(Struct, frozen=True, kw_only=True, gc=False):
    """A session that was read without what was damaged in it: at how many ``places``, and the command that tells."""

    harness: str
    session: str
    short_id: str
    places: int
    see: str


class Mined(Struct, frozen=True, kw_only=True):
    """What one session gave: its moments, its rounds, and what could not be read of it."""

    harness: str
    session: str
    project: str | None
    rounds: int
    rows: tuple[MomentRow, ...]
    damaged: DamagedSession | None = None


class ProjectCount(Struct, frozen=True, kw_only=True, gc=False):
    """Sessions, rounds and step-ins of one project; ``per_100_rounds`` is None where there were no rounds."""

    project: str | None
    sessions: int
    rounds: int
    stepins: int
    per_100_rounds: float | None


class MomentSummary(Struct, frozen=True, kw_only=True):
    """Counts over every session that was read, before any limit cut the list. A round is one model response."""

    sessions: int
    rounds: int
    stepins: int
    candidates: int
    per_100_rounds: float | None
    by_trigger: dict[str, int]
    by_project: tuple[ProjectCount, ...]


def summarise(mined: Sequence[Mined]) -> MomentSummary:
    """Step-ins per 100 rounds, by trigger and by project, the most step-ins first."""
    rows = [row for session in mined for row in session.rows]
    triggers = Counter(row.trigger for row in rows if row.is_stepin)
    projects: dict[str | None, list[Mined]] = {}
    for session in mined:
        projects.setdefault(session.project, []).append(session)
    by_project = [_project(name, sessions) for name, sessions in projects.items()]
    by_project.sort(key=lambda count: (-count.stepins, count.project or ""))
    whole = _project(None, mined)
    return MomentSummary(
        sessions=whole.sessions,
        rounds=whole.rounds,
        stepins=whole.stepins,
        candidates=sum(row.is_candidate for row in rows),
        per_100_rounds=whole.per_100_rounds,
        by_trigger=dict(triggers.most_common()),
        by_project=tuple(by_project),
    )


def per_100(stepins: int, rounds: int) -> float | None:
    """Step-ins per 100 rounds to one decimal; None without rounds."""
    return round(100 * stepins / rounds, 1) if rounds else None


def _project(name: str | None, mined: Iterable[Mined]) -> ProjectCount:
    sessions = list(mined)
    rounds = sum(session.rounds for session in sessions)
    stepins = sum(row.is_stepin for session in sessions for row in session.rows)
    return ProjectCount(
        project=name,
        sessions=len(sessions),
        rounds=rounds,
        stepins=stepins,
        per_100_rounds=per_100(stepins, rounds),
    )
