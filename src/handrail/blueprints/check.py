"""Everything that is wrong with a blueprint, all at once, each at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from handrail.blueprints.checks.fan_out import check_fan_outs
from handrail.blueprints.checks.flow import check_flow
from handrail.blueprints.checks.known import Known
from handrail.blueprints.checks.names import check_names
from handrail.blueprints.checks.outputs import check_outputs
from handrail.blueprints.checks.people import check_people
from handrail.blueprints.checks.regions import check_regions
from handrail.blueprints.checks.tools import check_tools
from handrail.blueprints.model import Blueprint
from handrail.blueprints.problems import Finding, Path, Problem, spelled
from handrail.blueprints.reading import Reading

CHECKS: tuple[Callable[[Blueprint, Known], Iterable[Finding]], ...] = (
    check_names,
    check_flow,
    check_regions,
    check_tools,
    check_outputs,
    check_fan_outs,
    check_people,
)
"""Each takes a well-formed blueprint and what is known of the world, and gives what it finds."""

_OF_THE_WHOLE = frozenset(
    {
        "approval-binds-no-edge",
        "budgets-above-all",
        "dead-end",
        "duplicate-edge",
        "edge-never-taken",
        "edge-of-no-tool",
        "endless-cycle",
        "endless-self-loop",
        "no-default",
        "no-end",
        "no-escape",
        "no-instructions",
        "no-limit",
        "no-way-out",
        "nothing-to-choose",
        "permission-for-no-tool",
        "region-never-seen",
        "region-never-written",
        "required-tool-missing",
        "shell-without-rule",
        "unknown-field",
        "unknown-region",
        "unknown-stage",
        "unreachable-stage",
        "unseen-region",
        "worker-not-flagged",
    }
)
"""What may only seem wrong where a part of the blueprint could not be read."""

_NAMED_IN = {"unknown-stage": "stages", "unknown-region": "regions"}
"""What of that seems wrong only where a name in that list could not be read."""


_NOTHING_KNOWN = Known()


def problems(
    blueprint: Blueprint, *, known: Known = _NOTHING_KNOWN, places: Mapping[Path, int] | None = None
) -> tuple[Problem, ...]:
    """Everything that is wrong with ``blueprint``: by line where ``places`` tells lines, else in order of checking."""
    return _placed(_found(blueprint, known), places or {})


def problems_of(reading: Reading, *, known: Known = _NOTHING_KNOWN) -> tuple[Problem, ...]:
    """Everything that is wrong with what was read: with its form, and with whatever could be made out all the same."""
    if reading.blueprint is not None:
        return problems(reading.blueprint, known=known, places=reading.places)
    found = list(reading.findings)
    if reading.rest is not None:
        broken = tuple(_part(one) for one in reading.findings)
        is_whole = all(one.code == "unknown-key" for one in reading.findings)
        found += [one for one in _found(reading.rest, known) if is_whole or not _is_in_doubt(one, broken)]
    return _placed(found, reading.places)


def _is_in_doubt(found: Finding, broken: Sequence[Path]) -> bool:
    """Whether ``found`` may come of what could not be read: of ``broken`` places."""
    if any(found.path[: len(part)] == part for part in broken):
        return True
    named_in = _NAMED_IN.get(found.code)
    if named_in is None:
        return found.code in _OF_THE_WHOLE
    return any(part[:1] in ((), (named_in,)) and (len(part) < 3 or part[2:] == ("name",)) for part in broken)


def _part(found: Finding) -> Path:
    """The place that a fault of form leaves in doubt: what lacks a key, or has a value that is none."""
    return found.path[:-1] if found.code == "missing-key" and len(found.path) > 1 else found.path


def _found(blueprint: Blueprint, known: Known) -> list[Finding]:
    return list(dict.fromkeys(one for check in CHECKS for one in check(blueprint, known)))


def _placed(found: Iterable[Finding], places: Mapping[Path, int]) -> tuple[Problem, ...]:
    made = [
        Problem(
            level=one.level,
            code=one.code,
            path=spelled(one.path),
            line=_line(one.path, places),
            message=one.message,
            suggestion=one.suggestion,
        )
        for one in found
    ]
    return tuple(sorted(made, key=lambda problem: problem.line or 0))


def _line(path: Path, places: Mapping[Path, int]) -> int | None:
    """The line of ``path``, else of the nearest place around it; None where there are no lines."""
    while path and path not in places:
        path = path[:-1]
    return places.get(path)
