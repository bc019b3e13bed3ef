"""What rollouts suffer from, and what is done about it: the harness's ``Medic``."""

from __future__ import annotations

from collections.abc import Iterable

from handrail.harnesses.codex import mending
from handrail.harnesses.codex.doctor import diagnose
from handrail.harnesses.codex.ledger import Ledger
from handrail.transcripts.repair import Diagnosis, Edit, Finding, Severity, Source, Surroundings, Wishes

_ROOTS = ("sessions", "archived_sessions")


class CodexMedic:
    """Fulfils ``handrail.transcripts.repair.Medic``."""

    def diagnose(self, chunks: Iterable[bytes]) -> Diagnosis:
        """What is wrong with the rollout."""
        return diagnose(Ledger().read(chunks))

    def edits(self, source: Source, wishes: Wishes) -> tuple[Edit, ...]:
        """What makes a copy that Codex opens whole."""
        return mending.edits(source, wishes)

    def beside(self, diagnosis: Diagnosis, place: Surroundings) -> tuple[Finding, ...]:
        """Sub-agents whose rollouts are not there; asked only of a file that lies where Codex keeps them."""
        root = next((at for at, name in enumerate(place.folder) if name in _ROOTS), None)
        if root is None:
            return ()
        home = "../" * (len(place.folder) - root)
        folders = [f"{home}{name}" for name in _ROOTS]
        return tuple(
            Finding(
                code="missing_subagent",
                severity=Severity.NOTE,
                start=0,
                end=0,
                message=f"the rollout of sub-agent {agent} is not there: its talk is lost",
            )
            for agent in sorted(diagnosis.agents)
            if not place.has(f"-{agent}.jsonl", folders)
        )
