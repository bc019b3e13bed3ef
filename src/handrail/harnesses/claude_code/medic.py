"""What Claude Code files suffer from, and what is done about it: the harness's ``Medic``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from handrail import jsonio
from handrail.harnesses.claude_code import mending
from handrail.harnesses.claude_code.doctor import diagnose
from handrail.harnesses.claude_code.ledger import Ledger
from handrail.transcripts.repair import Diagnosis, Edit, Finding, Remedy, Severity, Source, Surroundings, Wishes

CLEANUP_DAYS = 30
"""After how many days without a change Claude Code deletes a session, when its settings do not say."""

WARN_DAYS = 7
"""How many days before that a person is told."""

_SUBAGENTS = "subagents"


class ClaudeCodeMedic:
    """Fulfils ``handrail.transcripts.repair.Medic``."""

    def diagnose(self, chunks: Iterable[bytes]) -> Diagnosis:
        """What is wrong with the file."""
        return diagnose(Ledger().read(chunks))

    def edits(self, source: Source, wishes: Wishes) -> tuple[Edit, ...]:
        """What makes a copy that resumes whole."""
        return mending.edits(source, wishes)

    def beside(self, diagnosis: Diagnosis, place: Surroundings) -> tuple[Finding, ...]:
        """Sub-agent files that are missing or have lost their session, and the day the file will be deleted."""
        return (*_subagents(diagnosis, place), *_deletion(place))


def _subagents(diagnosis: Diagnosis, place: Surroundings) -> Iterator[Finding]:
    stem = place.name.removesuffix(".jsonl")
    if _SUBAGENTS in place.folder and place.name.startswith("agent-"):
        at = len(place.folder) - 1 - place.folder[::-1].index(_SUBAGENTS)
        up = "../" * (len(place.folder) - at + 1)
        session = place.folder[at - 1] if at else ""
        if session and not place.is_file(f"{up}{session}.jsonl"):
            message = f"the session {session} that started this sub-agent is not there: it cannot be resumed"
            yield _note("orphan_subagent", message)
        return
    missing = [
        agent
        for agent in sorted(diagnosis.agents - diagnosis.told)
        if not place.has(f"agent-{agent}.jsonl", (f"{stem}/{_SUBAGENTS}", "."))
    ]
    for agent in missing:
        yield _note("missing_subagent", f"the file of sub-agent {agent} is not there: its talk is lost")


def _deletion(place: Surroundings) -> Iterator[Finding]:
    if "projects" not in place.folder:
        return
    at = len(place.folder) - 1 - place.folder[::-1].index("projects")
    period = _cleanup_days(place, "../" * (len(place.folder) - at))
    left = period - place.age_days
    if left <= WARN_DAYS:
        when = f"in {max(0, int(left))} days" if left >= 1 else "at its next start"
        message = f"Claude Code deletes this file {when} (cleanupPeriodDays is {period:g})"
        yield _note("soon_deleted", message, Remedy.COPY)


def _cleanup_days(place: Surroundings, config: str) -> float:
    raw = place.read(f"{config}settings.json")
    try:
        value = jsonio.decode(raw) if raw is not None else {}
    except jsonio.NotJson:
        return CLEANUP_DAYS
    days = value.get("cleanupPeriodDays") if isinstance(value, dict) else None
    return days if isinstance(days, int | float) and days >= 0 else CLEANUP_DAYS


def _note(code: str, message: str, remedy: Remedy = Remedy.NONE) -> Finding:
    return Finding(code=code, severity=Severity.NOTE, start=0, end=0, message=message, remedy=remedy)
