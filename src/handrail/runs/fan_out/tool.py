"""The ``FanOut`` tool: a model splits its work into items, workers do them side by side, one report comes back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from handrail import jsonio
from handrail.agents.agent import Agent
from handrail.agents.jobs import BOUNDS, Hand, Job, Outcome, Split
from handrail.agents.options import RunOptions
from handrail.agents.regions import RegionRefused, Write
from handrail.agents.result import RunResult
from handrail.agents.tool import Tool, ToolContext, ToolError, ToolOutput, ToolSpec
from handrail.blueprints.checks.known import FAN_OUT as FAN_OUT
from handrail.journal.vocabulary import EndReason
from handrail.runs.fan_out.items import items_of, problems_of, prompt_of, schema_of
from handrail.runs.fan_out.report import Section, report_of
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Json

OnFailure = Literal["continue", "fail"]

_DESCRIPTION = """Split the work into items and let a worker do each of them, side by side. A worker sees nothing of
this conversation: say in the context of its item all that it needs to know, and what you want back. Call it by itself,
with all items at once; no items is fine where there is nothing to do."""

_ANSWERS = frozenset({EndReason.ANSWERED, EndReason.TOOL_FINISHED, EndReason.STRATEGY_FINISH})


class Terms(Struct, frozen=True, kw_only=True):
    """On which terms work is handed out. ``max_workers`` at once (0: all), ``max_items`` in all.

    The report goes to ``region``, None: it is the result. With ``on_failure`` ``fail`` one item that fails ends the
    others. ``ends_stage``: the call ends the work of its stage, and the stage's rules say what a failure means.
    """

    max_workers: int = 8
    max_items: int = 50
    region: str | None = None
    on_failure: OnFailure = "continue"
    ends_stage: bool = False
    bounds: RunOptions = BOUNDS


def fan_out_tool(
    workers: Agent | Mapping[str, Hand],
    *,
    max_workers: int = 8,
    max_items: int = 50,
    on_failure: OnFailure = "continue",
    bounds: RunOptions = BOUNDS,
    traits: ToolTraits | None = None,
) -> Tool:
    """A tool that hands items to ``workers`` (by name, or the only one), each within ``bounds``.

    What a call can bring in is what the tools of its agents can, unless ``traits`` say it. ``ValueError`` when there is
    nobody.
    """
    known: dict[str, Hand] = {workers.name or "worker": workers} if isinstance(workers, Agent) else dict(workers)
    terms = Terms(max_workers=max_workers, max_items=max_items, on_failure=on_failure, bounds=bounds)
    return tool_of(known, terms, traits or traits_of(known.values()))


def tool_of(known: Mapping[str, Hand], terms: Terms, traits: ToolTraits) -> Tool:
    """The tool on ``terms``; ``ValueError`` when nobody is known."""
    if not known:
        raise ValueError("there is nobody to hand work to")
    names = list(known)

    async def fan_out(input: Json, context: ToolContext) -> ToolOutput:
        if context.spawn_each is None or not isinstance(input, dict):
            raise ToolError("no agent can be started here")
        worker = known[str(input.get("worker", names[0]))]
        jobs = tuple(
            Job(worker=worker, prompt=prompt_of(item), bounds=terms.bounds, item=item) for item in items_of(input)
        )
        wanted = int(input.get("max_workers") or 0)
        split = Split(
            jobs=jobs,
            max_workers=min(filter(None, (wanted, terms.max_workers)), default=0),
            stops_at_failure=terms.on_failure == "fail",
        )
        outcomes = await context.spawn_each(split, is_done)
        return _output(outcomes, terms, context)

    return Tool(
        spec=ToolSpec(FAN_OUT, _DESCRIPTION, schema_of(names)),
        handler=fan_out,
        check=lambda input: tuple(problems_of(input, names, terms.max_items)),
        traits=traits,
        # Run again, it goes on with the workers it had started.
        is_twice_safe=True,
        is_alone=True,
        is_terminal=terms.ends_stage,
    )


def traits_of(workers: Collection[Hand]) -> ToolTraits:
    """What comes back from agents may hold what any tool of theirs brought in; of others nobody knows."""
    agents = [worker for worker in workers if isinstance(worker, Agent)]
    tools = [tool.traits for agent in agents for tool in agent.toolbox]
    is_unknown = len(agents) < len(workers)
    return ToolTraits(
        private=is_unknown or any(one.private for one in tools) or any(agent.taint.private for agent in agents),
        untrusted=is_unknown or any(one.untrusted for one in tools) or any(agent.taint.untrusted for agent in agents),
    )


def is_done(result: RunResult) -> bool:
    """Whether a worker did what it was there for."""
    return result.end_reason in _ANSWERS


def _output(outcomes: Sequence[Outcome], terms: Terms, context: ToolContext) -> ToolOutput:
    sections = [_section(outcome) for outcome in outcomes]
    failed = [section.id for section in sections if not section.is_done]
    workers = [_detail(outcome, section) for outcome, section in zip(outcomes, sections, strict=True)]
    is_failure = bool(failed) and terms.on_failure == "fail"
    details: Json = {"workers": workers, "failed": list(failed), "is_failure": is_failure}
    common: dict[str, Any] = {
        "details": details,
        "is_external": any(map(_is_external, outcomes)),
        "is_error": is_failure and not terms.ends_stage,
    }
    if terms.region is None or context.regions is None:
        return ToolOutput(report_of(sections, _fits_result(context)), **common)
    region = terms.region
    report = report_of(sections, _fits_region(region, context))
    try:
        entries = context.regions.changed(region, Write(report)).entries
    except RegionRefused as problem:
        told = f"{report_of(sections, _fits_result(context))}\n\n[{region} did not take the report: {problem}]"
        return ToolOutput(told, **common)
    head = report.partition("\n")[0]
    return ToolOutput(f"{head}. The report stands in {region}.", regions={region: entries}, **common)


def _section(outcome: Outcome) -> Section:
    id = "" if outcome.job.item is None else outcome.job.item.id
    result = outcome.result
    if result is None:
        return Section(id=id, is_done=False, text=outcome.error or "nobody knows why")
    text = _words(result)
    if is_done(result):
        return Section(id=id, is_done=True, text=text or "It said nothing.")
    why = f"It ended without an answer ({result.end_reason.value}{f': {result.detail}' if result.detail else ''})."
    return Section(id=id, is_done=False, text=f"{text}\n{why}" if text else why)


def _words(result: RunResult) -> str:
    output = result.output
    if output is None:
        return ""
    return output if isinstance(output, str) else jsonio.encode(output).decode()


def _detail(outcome: Outcome, section: Section) -> Json:
    result = outcome.result
    return {
        "id": section.id,
        "is_done": section.is_done,
        "session": None if result is None else result.session.id,
        "end_reason": None if result is None else result.end_reason.value,
    }


def _is_external(outcome: Outcome) -> bool:
    """Whether what comes back holds words from outside; where nobody knows it does."""
    if outcome.result is None:
        return outcome.is_external
    taint = next((message.taint for message in reversed(outcome.result.transcript.body)), None)
    return taint is None or taint.untrusted


def _fits_result(context: ToolContext) -> Callable[[str], bool]:
    """Whether a text is shown whole as the result of a call."""
    limits = context.limits

    def fits(text: str) -> bool:
        return len(text.encode("utf-8", "surrogatepass")) <= limits.max_bytes and text.count("\n") < limits.max_lines

    return fits


def _fits_region(region: str, context: ToolContext) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        try:
            return context.regions is not None and bool(context.regions.changed(region, Write(text)))
        except RegionRefused:
            return False

    return fits


def failed_items(details: Json) -> tuple[str, ...]:
    """The ids of the items that failed, of what a call gave as its details."""
    failed = details.get("failed") if isinstance(details, dict) else None
    return tuple(id for id in failed if isinstance(id, str)) if isinstance(failed, list) else ()
