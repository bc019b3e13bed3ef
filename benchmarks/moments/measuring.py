"""How the scorer does on projects it has not seen: fits and thresholds are made without the project they judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import log
from typing import Any, NamedTuple

from benchmarks.moments.collecting import Example, Label
from benchmarks.moments.fitting import Fit, fit
from benchmarks.moments.operating import (
    Outcome,
    Points,
    Scored,
    Share,
    by_project,
    calibrate,
    choose,
    curve,
    precision,
    recall,
)
from handrail.learning.moment import Verdict
from handrail.learning.pushback_features import SIGNS
from handrail.learning.pushback_judge import Judge, ask

_SMALL = 10
SMALL_PROJECTS = "small projects"

LIKELIHOODS = (0.60, 0.65, 0.70, 0.75, 0.80)
"""What the step-in point could ask for."""

Group = Callable[[Example], str]


class Held(NamedTuple):
    """An example that neither its fit nor the points have seen."""

    example: Example
    log_odds: float
    points: Points


def usable(examples: Iterable[Example], lang: str = "en") -> list[Example]:
    """Typed follow-ups of persons on which both raters agree."""
    return [
        example
        for example in examples
        if example.trigger == "followup"
        and example.is_persons
        and example.is_stepin is not None
        and example.lang == lang
    ]


def group_by_project(examples: Sequence[Example]) -> Group:
    """Projects with fewer than ten turns are held out together."""
    counts = Counter(example.project for example in examples)
    return lambda example: example.project if counts[example.project] >= _SMALL else SMALL_PROJECTS


def group_by_owner(examples: Sequence[Example]) -> Group:
    counts = Counter(example.owner for example in examples)
    return lambda example: example.owner if counts[example.owner] >= _SMALL else SMALL_PROJECTS


def train(examples: Sequence[Example]) -> Fit:
    return fit([example.features for example in examples], [bool(example.is_stepin) for example in examples], SIGNS)


def scored_unseen(examples: Sequence[Example], group: Group) -> list[Scored]:
    """Each example with the log-odds of a fit to all other groups."""
    scored: list[Scored] = []
    for name in sorted({group(example) for example in examples}):
        learned = train([example for example in examples if group(example) != name])
        for example in examples:
            if group(example) == name:
                scored.append(Scored(example.project, learned.log_odds(example.features), bool(example.is_stepin)))
    return scored


def calibrated(examples: Sequence[Example], group: Group) -> tuple[Fit, Points]:
    """The fit to ``examples`` with true log-odds, and its points; both set on fits that had not seen the group."""
    scored = scored_unseen(examples, group)
    slope, shift = calibrate(scored)
    points = choose([turn._replace(log_odds=slope * turn.log_odds + shift) for turn in scored])
    return train(examples).scaled(slope, shift), points


def held_out(examples: Sequence[Example], group: Group) -> list[Held]:
    """Each example with its log-odds and the points, when fit, calibration and points come from other groups only."""
    held: list[Held] = []
    for name in sorted({group(example) for example in examples}):
        learned, points = calibrated([example for example in examples if group(example) != name], group)
        own = [example for example in examples if group(example) == name]
        held.extend(Held(example, learned.log_odds(example.features), points) for example in own)
    return held


def outcomes_of(held: Sequence[Held], judge: Judge | None = None) -> dict[str, list[Outcome]]:
    """What both points say of each turn. With a ``judge`` it says which candidates are step-ins, as in the product."""
    outcomes: dict[str, list[Outcome]] = {"candidate": [], "stepin": []}
    for example, log_odds, points in held:
        verdict = _verdict(log_odds, points)
        if judge is not None and example.turn is not None:
            verdict = ask(judge, example.turn, verdict)
        truth = bool(example.is_stepin)
        outcomes["candidate"].append(Outcome(example.project, verdict.is_candidate, truth))
        outcomes["stepin"].append(Outcome(example.project, verdict.is_stepin, truth))
    return outcomes


def at_likelihoods(held: Sequence[Held]) -> dict[str, dict[str, float | None]]:
    """Precision and recall where the step-in point asks for each of ``LIKELIHOODS``."""
    rows: dict[str, dict[str, float | None]] = {}
    for likelihood in LIKELIHOODS:
        point = log(likelihood / (1 - likelihood))
        flagged = [Outcome(turn.example.project, turn.log_odds >= point, bool(turn.example.is_stepin)) for turn in held]
        rows[f"{likelihood:.2f}"] = {
            "precision": _rounded(precision(flagged).value),
            "recall": _rounded(recall(flagged).value),
        }
    return rows


def _verdict(log_odds: float, points: Points) -> Verdict:
    return Verdict(is_candidate=log_odds >= points.candidate, is_stepin=log_odds >= points.stepin)


def figures(examples: Sequence[Example], group: Group, judge: Judge | None = None) -> dict[str, Any]:
    """Precision and recall of both points with intervals, and the curve; the same with a ``judge``."""
    held = held_out(examples, group)
    return {
        "turns": len(examples),
        "stepins": sum(bool(example.is_stepin) for example in examples),
        "groups": len({group(example) for example in examples}),
        **{name: _rates(outcomes) for name, outcomes in outcomes_of(held, judge).items()},
        "at_likelihoods": at_likelihoods(held),
        "curve": curve(scored_unseen(examples, group)),
    }


def rule_based(examples: Iterable[Example]) -> list[dict[str, Any]]:
    """For every trigger that needs no scorer, how many of its labelled moments both raters call step-ins."""
    rows: list[dict[str, Any]] = []
    others = [example for example in examples if example.trigger != "followup" and example.is_stepin is not None]
    for trigger in sorted({example.trigger for example in others}):
        found = [example for example in others if example.trigger == trigger and example.found_stepin]
        rows.append({"trigger": trigger, "precision": _rate(Share(sum(bool(e.is_stepin) for e in found), len(found)))})
    return rows


def kappa(pairs: Sequence[tuple[object, object]]) -> tuple[float, float]:
    """Share of agreement, and Cohen's kappa."""
    count = len(pairs)
    agreed = sum(one == other for one, other in pairs) / count
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    chance = sum(first[value] * second[value] for value in first) / count**2
    return agreed, (agreed - chance) / (1 - chance)


def agreement(labels: Sequence[Label]) -> list[dict[str, Any]]:
    rows = []
    for field in ("author", "act", "stepin", "lesson"):
        agreed, beyond = kappa([(getattr(label.rater1, field), getattr(label.rater2, field)) for label in labels])
        rows.append({"field": field, "turns": len(labels), "agreement": round(agreed, 3), "kappa": round(beyond, 3)})
    return rows


def _rates(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    return {
        "precision": _rate(precision(outcomes), by_project(outcomes, precision)),
        "recall": _rate(recall(outcomes), by_project(outcomes, recall)),
        "projects": {
            name: {"precision": _rate(precision(own)), "recall": _rate(recall(own))}
            for name in sorted({outcome.project for outcome in outcomes})
            if len(own := [outcome for outcome in outcomes if outcome.project == name]) >= _SMALL
        },
    }


def _rate(share: Share, by_project: tuple[float, float] | None = None) -> dict[str, Any]:
    row: dict[str, Any] = {"value": _rounded(share.value), "hits": share.hits, "of": share.total}
    row["wilson"] = [_rounded(end) for end in share.wilson() or ()]
    if by_project is not None:
        row["by_project"] = [_rounded(end) for end in by_project]
    return row


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
