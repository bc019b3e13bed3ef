"""``python -m benchmarks.moments [agreement|measure|train|speed]``; see the README beside this file."""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

import handrail.learning
from benchmarks.moments.collecting import collect, corpus_folder, load_labels
from benchmarks.moments.measuring import (
    agreement,
    calibrated,
    figures,
    group_by_owner,
    group_by_project,
    rule_based,
    usable,
)
from handrail.app.judging import command_judge
from handrail.learning.pushback import WEIGHTS, PushbackModel, shipped_model

VERSION = 1


def agree() -> Iterator[dict[str, Any]]:
    """How far the two raters agree, over each round of labelling and all."""
    labels = load_labels()
    for name in ("first", "second", None):
        chosen = [label for label in labels if name in (None, label.set)]
        yield from ({"labels": name or "all", **row} for row in agreement(chosen))


def measure(judge: str | None = None) -> Iterator[dict[str, Any]]:
    """Both operating points on unseen projects and on unseen owners, and the triggers that need no scorer.

    With the command ``judge`` the same report, where it decides about candidates.
    """
    decides = command_judge(judge) if judge else None
    examples, lost = collect(corpus_folder())
    yield {"moments": len(examples), "labels_that_became_none": len(lost)}
    chosen = usable(examples)
    yield {"held_out": "project", "judge": judge, **figures(chosen, group_by_project(chosen), decides)}
    yield {"held_out": "owner", "judge": judge, **figures(chosen, group_by_owner(chosen), decides)}
    yield from rule_based(examples)
    others = Counter(example.lang for example in examples if example.trigger == "followup" and example.lang != "en")
    yield {"unmeasured_languages": dict(others)}


def train() -> Iterator[dict[str, Any]]:
    """Writes the package's weights anew."""
    examples, _ = collect(corpus_folder())
    chosen = usable(examples)
    learned, points = calibrated(chosen, group_by_project(chosen))
    model = PushbackModel(
        version=VERSION,
        bias=learned.bias,
        weights=learned.weights,
        candidate=round(points.candidate, 3),
        stepin=round(points.stepin, 3),
        trained_on={"turns": len(chosen), "stepins": sum(bool(turn.is_stepin) for turn in chosen)},
    )
    place = Path(next(iter(handrail.learning.__path__))) / WEIGHTS
    place.write_bytes(msgspec.json.format(msgspec.json.encode(model), indent=1) + b"\n")
    yield {"written": WEIGHTS, "weights": len(model.weights), **model.trained_on}


def speed() -> Iterator[dict[str, Any]]:
    """Microseconds of processor time to judge one turn, the best of five passes over the labelled ones."""
    turns = [example.turn for example in collect(corpus_folder())[0] if example.turn is not None]
    model = shipped_model()
    passes = []
    for _ in range(5):
        begun_s = time.process_time()
        for turn in turns:
            model.judge(turn)
        passes.append(time.process_time() - begun_s)
    yield {"turns": len(turns), "microseconds_per_turn": round(min(passes) / len(turns) * 1e6)}


TASKS: dict[str, Callable[[argparse.Namespace], Iterator[dict[str, Any]]]] = {
    "agreement": lambda options: agree(),
    "measure": lambda options: measure(options.judge),
    "train": lambda options: train(),
    "speed": lambda options: speed(),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.moments", description=__doc__)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--judge", metavar="COMMAND", help="measure with this command deciding about candidates")
    options = parser.parse_args()
    for row in TASKS[options.task](options):
        print(json.dumps(row))


if __name__ == "__main__":
    main()
