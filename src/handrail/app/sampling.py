"""Use case: show what Handrail does: the moments, on the person's own sessions or on a bundled sample home, and then
the loop, once round in a played workshop."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from handrail.app.counting import MomentRow
from handrail.app.learning.demonstrating import DemoProbe, DemoRule, DemoRun, demonstrate
from handrail.app.machine import SCHEMA_VERSION, Machine, open_machine
from handrail.app.mining import MomentFilter, MomentList, Progress, moments
from handrail.app.running import require_extra
from handrail.app.surveying import BUDGET_S, Overview, overview
from handrail.errors import MissingExtra

SAMPLE_HOME = Path(__file__).parent / "sample" / "home"
_SAMPLE_ROOTS = {
    "claude_code": SAMPLE_HOME / ".claude" / "projects",
    "codex": SAMPLE_HOME / ".codex" / "sessions",
    "handrail": SAMPLE_HOME / ".local" / "state" / "handrail" / "sessions",
}
_SHOWN_MOMENTS = 20


NOT_PLAYED = DemoProbe(verdict="not_measured", note="the loop was not played")


class Demo(Struct, frozen=True, kw_only=True):
    """An overview and the newest moments; ``is_sample`` says whose sessions they are.

    Then the loop, played: ``interventions`` are those moments and the one that the rule came of, ``rules`` what came of
    it, ``probe`` what was measured, ``runs`` the one before and the one after. ``missing`` says what is not installed,
    where it could not be played.
    """

    schema_version: int = SCHEMA_VERSION
    is_sample: bool
    overview: Overview
    moments: MomentList
    interventions: tuple[MomentRow, ...] = ()
    rules: tuple[DemoRule, ...] = ()
    probe: DemoProbe = NOT_PLAYED
    runs: tuple[DemoRun, ...] = ()
    missing: str | None = None


def demo(machine: Machine, *, only_sample: bool = False, on_progress: Progress | None = None) -> Demo:
    """The main job on the sessions of ``machine``, or on the sample where there are none or ``only_sample``."""
    is_sample = only_sample or not machine.catalog().sessions
    shown = open_machine(_SAMPLE_ROOTS, only_given=True) if is_sample else machine
    budget_s = None if is_sample else BUDGET_S
    found = moments(shown, MomentFilter(limit=_SHOWN_MOMENTS), budget_s=budget_s, on_progress=on_progress)
    looked = Demo(
        is_sample=is_sample,
        overview=overview(shown, budget_s=budget_s),
        moments=found,
        interventions=found.moments,
    )
    try:
        require_extra()
    except MissingExtra as problem:
        return replace(looked, missing=problem.message)
    loop = demonstrate()
    return replace(
        looked,
        interventions=(*found.moments, *loop.interventions),
        rules=loop.rules,
        probe=loop.probe,
        runs=loop.runs,
    )
