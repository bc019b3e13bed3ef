"""What a visit to a stage comes to, as edges see it, and the strategy that stops one that goes round in circles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from handrail.agents.strategy import RoundBoundary, RoundContext, RoundDecision
from handrail.blueprints.edges import Ended, SeenRegion, Visit
from handrail.journal.vocabulary import Bound, RegionEntry
from handrail.transcripts.model import Edit, MultiEdit, ToolCall, Write

if TYPE_CHECKING:
    from handrail.runs.stages.progress import Progress
    from handrail.runs.stages.records import VisitRecord

STUCK = "stuck"
"""The name under which a stage's own measure stops its work."""


def edited_file(call: ToolCall) -> str | None:
    """The file that ``call`` edits; None where it edits none."""
    return call.file_path if isinstance(call, Edit | MultiEdit | Write) else None


def visit_of(progress: Progress, record: VisitRecord, ended: Ended = "done", bound: Bound | None = None) -> Visit:
    """The visit as the edges see it that are asked where to go on."""
    return Visit(
        ended=ended,
        bound=bound,
        rounds=record.rounds,
        tool_calls=record.tool_calls,
        seconds=record.seconds,
        same_file_edits=max(record.file_edits.values(), default=0),
        results=tuple(record.results),
        regions=_seen(progress.regions),
        output=record.product,
    )


def _seen(regions: Mapping[str, tuple[RegionEntry, ...]]) -> dict[str, SeenRegion]:
    return {
        name: SeenRegion(
            texts=tuple(entry.text for entry in entries if entry.text.strip()),
            open_items=sum(entry.number is not None and not entry.is_done for entry in entries),
        )
        for name, entries in regions.items()
    }


class Stuck:
    """Stops a stage's work, once a visit, when it is measured as stuck and there is a way out for that.

    ``measured`` says in words what was reached; None while nothing was, or nothing is to be done about it.
    """

    name = STUCK

    def __init__(self, measured: Callable[[], str | None]) -> None:
        self._measured = measured

    async def on_round(self, ctx: RoundContext) -> RoundDecision:
        """See ``RoundStrategy``. Only between rounds of tools: an answer ends the work by itself."""
        told = self._measured() if ctx.boundary is RoundBoundary.TOOL_RESULTS_COMMITTED else None
        return RoundDecision.proceed() if told is None else RoundDecision.stop(told)
