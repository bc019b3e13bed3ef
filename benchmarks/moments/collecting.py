"""From labels (file and line only) and the corpus to examples: each labelled turn as the moment it became."""

from __future__ import annotations

import csv
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from handrail.harnesses import harness
from handrail.harnesses.codex.rowids import hashed
from handrail.learning.interventions import Intervention, Verdict, find_interventions
from handrail.learning.pushback_features import features_of
from handrail.learning.pushback_turn import Turn, turn_at
from handrail.transcripts.model import Common

LABELS = Path(__file__).with_name("labels.jsonl")


class Judgement(Struct, frozen=True):
    """What one rater said of a turn; the words of the label guide (README of the shared labels)."""

    author: str
    act: str
    stepin: bool
    lesson: str


class Label(Struct, frozen=True):
    """A labelled turn: the 0-based ``line`` of ``file`` in the corpus; ``set`` says in which round it was labelled."""

    file: str
    line: int
    uid: str | None
    harness: str
    kind: str
    rater1: Judgement
    rater2: Judgement
    lang: str
    set: str

    @property
    def is_agreed(self) -> bool:
        return self.rater1.stepin == self.rater2.stepin

    @property
    def is_persons(self) -> bool:
        return self.rater1.author == self.rater2.author == "person"


class Example(Struct, frozen=True):
    """One moment with the labels of its lines; ``is_stepin`` is what both raters say, None where they differ."""

    project: str
    owner: str
    file: str
    line: int
    lang: str
    trigger: str
    is_persons: bool
    is_stepin: bool | None
    found_stepin: bool
    turn: Turn | None
    features: dict[str, float]


def corpus_folder() -> Path:
    """The corpus: ``HANDRAIL_CORPUS``, else the shared folder beside the repository."""
    return Path(os.environ.get("HANDRAIL_CORPUS") or Path(__file__).parents[2].parent / "shared" / "corpus")


def load_labels(path: Path = LABELS) -> list[Label]:
    decoder = msgspec.json.Decoder(Label)
    return [decoder.decode(line) for line in path.read_bytes().splitlines()]


def projects(corpus: Path) -> dict[str, str]:
    """Which repository each file of the corpus was recorded in, as ``owner/name``."""
    with (corpus / "INDEX.tsv").open(encoding="utf-8", newline="") as rows:
        return {row["file"]: row["repository"] for row in csv.DictReader(rows, delimiter="\t")}


def collect(corpus: Path) -> tuple[list[Example], list[Label]]:
    """Every labelled turn that became a moment, and the labels that did not, or whose file is not there."""
    by_file: dict[str, list[Label]] = defaultdict(list)
    for label in load_labels():
        by_file[label.file].append(label)
    repository = projects(corpus)
    examples: list[Example] = []
    lost: list[Label] = []
    for file, labels in sorted(by_file.items()):
        path = corpus / file
        if not path.exists():
            lost.extend(labels)
            continue
        found, missing = _in_file(path.read_bytes(), labels, repository.get(file, "unknown/unknown"))
        examples.extend(found)
        lost.extend(missing)
    return examples, lost


def _in_file(data: bytes, labels: list[Label], project: str) -> tuple[list[Example], list[Label]]:
    codec = harness(labels[0].harness).codec
    native = codec.parse(data)
    turns: dict[str, Turn] = {}

    def look(moment: Intervention, line: Common, at: int) -> Verdict:
        turns[moment.id] = turn_at(line, at, moment.words)
        return Verdict()

    found = find_interventions(codec.to_common(native), codec.branches(native), scorer=look)
    by_uid: dict[str, Intervention] = {}
    for moment in found:
        for uid in moment.uids:
            by_uid.setdefault(uid, moment)
    rows = data.split(b"\n")
    grouped: dict[str, list[Label]] = defaultdict(list)
    lost: list[Label] = []
    for label in labels:
        became = next((by_uid[uid] for uid in _uids(label, rows[label.line]) if uid in by_uid), None)
        if became is None:
            lost.append(label)
        else:
            grouped[became.id].append(label)
    examples = [
        _example(moment, grouped[moment.id], project, turns.get(moment.id)) for moment in found if moment.id in grouped
    ]
    return examples, lost


def _uids(label: Label, row: bytes) -> Iterator[str]:
    if label.uid:
        yield label.uid
    payload = msgspec.json.decode(row).get("payload") or {}
    if payload.get("id"):
        yield payload["id"]
    yield hashed(row)


def _example(moment: Intervention, group: list[Label], project: str, turn: Turn | None) -> Example:
    votes = [label.rater1.stepin if label.is_agreed else None for label in group]
    return Example(
        project=project,
        owner=project.split("/")[0],
        file=group[0].file,
        line=group[0].line,
        lang=group[0].lang,
        trigger=moment.trigger.value,
        is_persons=all(label.is_persons for label in group),
        is_stepin=True if True in votes else None if None in votes else False,
        found_stepin=moment.is_stepin,
        turn=turn,
        features=features_of(turn) if turn else {},
    )
