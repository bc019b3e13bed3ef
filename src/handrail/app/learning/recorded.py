"""What a session records of the prompt that a moment stood under: instructions, tools, rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from handrail.agents.tools import built_in_tools, everyday_names
from handrail.app.opening import Opened
from handrail.errors import HandrailError
from handrail.harnesses.handrail.codec import NAME, read_events
from handrail.journal.events import RunStarted
from handrail.journal.transcript import Projector
from handrail.learning.probes.arms import NEUTRAL, Setting, tools_of
from handrail.learning.probes.branching import RecordedCall
from handrail.learning.rules.block import without_block
from handrail.models.port import OfferedTool


def iter_runs(opened: Opened) -> Iterator[tuple[int, RunStarted]]:
    """Each run of a session of ours, and how many messages stood when it began; none in those of others."""
    if opened.info.name != NAME:
        return
    projector = Projector()
    for event in read_events(opened.native.body):
        projector.add(event)
        if isinstance(event.body, RunStarted):
            yield len(projector.messages), event.body


def run_at(opened: Opened, at: int) -> RunStarted | None:
    """The run whose work message ``at`` of the live line comes upon: a prompt comes upon the run before its own."""
    begun = [run for first, run in iter_runs(opened) if first < at]
    return begun[-1] if begun else None


def setting_of(opened: Opened, at: int, calls: Sequence[RecordedCall], *, is_live: bool) -> Setting:
    """What both arms share at message ``at``: what was recorded, without any learned rule, else what stands in for it.

    ``calls`` are those that were seen. A line that was left is approximate: which run it is of is not recorded.
    """
    run = run_at(opened, at)
    if run is not None and run.instructions is not None:
        known = _tools_today()
        tools, is_exact = _named(run.tools, known, calls)
        # A stage of a blueprint adds instructions of its own.
        is_whole = is_live and is_exact and run.blueprint is None
        return Setting(instructions=without_block(run.instructions), tools=tools, approximate=not is_whole)
    read = opened.info.instructions
    recorded = None if read is None else read(opened.native)
    return Setting(
        instructions=NEUTRAL if recorded is None else recorded,
        tools=tools_of(calls, opened.info.tools),
        approximate=True,
    )


def _named(
    names: Sequence[str], known: Mapping[str, OfferedTool], calls: Sequence[RecordedCall]
) -> tuple[tuple[OfferedTool, ...], bool]:
    """The tools of those names as they are today, and whether all are there; what is not is stood in for."""
    stood_in = {tool.name: tool for tool in tools_of(calls, dict.fromkeys(names))}
    return tuple(known.get(name, stood_in[name]) for name in names), all(name in known for name in names)


def _tools_today() -> Mapping[str, OfferedTool]:
    try:
        return {tool.name: tool.spec for tool in built_in_tools(everyday_names())}
    except (HandrailError, ImportError):
        # Without the extra their descriptions cannot be had; the probe is marked approximate then.
        return {}
