"""Use case: show what Handrail does, on the person's own sessions or on a bundled sample home."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from handrail.app.machine import SCHEMA_VERSION, Machine, open_machine
from handrail.app.mining import MomentFilter, MomentList, Progress, moments
from handrail.app.surveying import BUDGET_S, Overview, overview

SAMPLE_HOME = Path(__file__).parent / "sample" / "home"
_SAMPLE_ROOTS = {
    "claude_code": SAMPLE_HOME / ".claude" / "projects",
    "codex": SAMPLE_HOME / ".codex" / "sessions",
    "handrail": SAMPLE_HOME / ".local" / "state" / "handrail" / "sessions",
}
_SHOWN_MOMENTS = 20


class Demo(Struct, frozen=True, kw_only=True):
    """An overview and the newest moments; ``is_sample`` says whose sessions they are."""

    schema_version: int = SCHEMA_VERSION
    is_sample: bool
    overview: Overview
    moments: MomentList


def demo(machine: Machine, *, only_sample: bool = False, on_progress: Progress | None = None) -> Demo:
    """The main job on the sessions of ``machine``, or on the sample where there are none or ``only_sample``."""
    is_sample = only_sample or not machine.catalog().sessions
    shown = open_machine(_SAMPLE_ROOTS, only_given=True) if is_sample else machine
    budget_s = None if is_sample else BUDGET_S
    return Demo(
        is_sample=is_sample,
        overview=overview(shown, budget_s=budget_s),
        moments=moments(shown, MomentFilter(limit=_SHOWN_MOMENTS), budget_s=budget_s, on_progress=on_progress),
    )
