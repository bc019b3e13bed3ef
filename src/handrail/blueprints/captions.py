"""What stands at an arrow of a drawn blueprint: when that way is taken, in a few words."""

from __future__ import annotations

import json
from collections.abc import Iterable

from handrail.blueprints.durations import render_duration
from handrail.blueprints.edges.limit import OnLimit
from handrail.blueprints.edges.model import ByModel
from handrail.blueprints.edges.output import OnOutput
from handrail.blueprints.edges.region import OnRegion
from handrail.blueprints.edges.stuck import OnStuck
from handrail.blueprints.edges.tool import OnTool
from handrail.blueprints.predicates import Predicate
from handrail.blueprints.problems import shown
from handrail.blueprints.ways import Way

_LONGEST = 44
_SIGNS = {"at_least": "≥", "at_most": "≤"}


def caption(way: Way) -> str:
    """When ``way`` is taken; empty where that goes without saying."""
    match way.kind:
        case "goto":
            return shown(f"“{way.label}”", _LONGEST)
        case "worker":
            return "each item"
        case "merge":
            return "merge"
    return shown(_of_edge(way), _LONGEST)


def _of_edge(way: Way) -> str:
    match way.edge:
        case OnLimit(bounds=bounds):
            return f"at {' or '.join(bounds)}" if bounds else "at a limit"
        case OnStuck() as edge:
            return f"stuck: {' or '.join(_thresholds(edge))}"
        case OnTool(tool=tool, is_error=is_error) as edge:
            failing = {None: "", True: " fails", False: " works"}[is_error]
            return f"{tool}{failing}{_test(edge)}" if edge.tests or failing else f"{tool} was called"
        case OnRegion(region=region, has_open_items=None) as edge:
            return f"{region}{_test(edge)}"
        case OnRegion(region=region, has_open_items=is_open):
            return f"{region} has open items" if is_open else f"{region} is done"
        case OnOutput(field=field) as edge:
            return f"{field or 'output'}{_test(edge)}"
        case ByModel(hint=hint, is_default=is_default):
            return f"model{' (default)' if is_default else ''}: {hint or way.to}"
    return "" if way.edge is None or way.edge.when == "always" else f"on {way.edge.when}"


def _thresholds(edge: OnStuck) -> Iterable[str]:
    counts = (("edits of a file", edge.same_file_edits), ("rounds", edge.rounds), ("calls", edge.tool_calls))
    yield from (f"{count} {what}" for what, count in counts if count is not None)
    if edge.time is not None:
        yield f"{render_duration(edge.time)}"


def _test(edge: Predicate) -> str:
    for key in edge.tests:
        wanted = getattr(edge, key)
        match key:
            case "is_empty":
                return " is empty" if wanted else " is not empty"
            case "equals":
                return f" = {_spelled(wanted)}"
            case "one_of":
                return f" = {' or '.join(map(_spelled, wanted))}"
            case "at_least" | "at_most":
                return f" {_SIGNS[key]} {wanted:g}"
        return f" {key} {_spelled(wanted)}"
    return ""


def _spelled(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
