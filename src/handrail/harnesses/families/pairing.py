"""Which result answers which call, when ids are used twice, results are missing, or calls are.

The k-th call that has an id is answered by the k-th result that names it. A call that says again what another of the
same id said is a copy of it. From the second on, a pair gets an id of its own that follows from the old one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Occurrence(NamedTuple):
    """A call or a result: its id, a hash of what it says, where it stands, the response it is part of."""

    id: str
    digest: int
    row: int
    block: int = 0
    group: str | None = None


class Pairing(NamedTuple):
    """``renamed`` gives the new id of calls and results by (row, block); the rest names those that are wrong.

    ``copies`` of calls and ``doubles`` of results say nothing that another does not say; ``extra`` results answer a
    call that has its answer; ``orphans`` answer a call that is nowhere.
    """

    unanswered: tuple[Occurrence, ...]
    orphans: tuple[Occurrence, ...]
    copies: tuple[Occurrence, ...]
    doubles: tuple[Occurrence, ...]
    extra: tuple[Occurrence, ...]
    renamed: dict[tuple[int, int], str]
    renamed_calls: tuple[Occurrence, ...]

    def id_of(self, occurrence: Occurrence) -> str:
        """The id that a call or result has once ids are unique."""
        return self.renamed.get((occurrence.row, occurrence.block), occurrence.id)


def pair(calls: Iterable[Occurrence], results: Iterable[Occurrence]) -> Pairing:
    """The pairing of ``calls`` and ``results``, both in file order."""
    by_id: dict[str, tuple[list[Occurrence], list[Occurrence]]] = {}
    for call in calls:
        by_id.setdefault(call.id, ([], []))[0].append(call)
    for result in results:
        by_id.setdefault(result.id, ([], []))[1].append(result)
    unanswered: list[Occurrence] = []
    orphans: list[Occurrence] = []
    copies: list[Occurrence] = []
    doubles: list[Occurrence] = []
    extra: list[Occurrence] = []
    renamed: dict[tuple[int, int], str] = {}
    renamed_calls: list[Occurrence] = []
    for own_calls, own_results in by_id.values():
        if not own_calls:
            orphans += own_results
            continue
        distinct, copied = _distinct_calls(own_calls, len(own_results))
        copies += copied
        answers = _answers(own_results, len(distinct), doubles, extra)
        unanswered += distinct[len(answers) :]
        for number, call in enumerate(distinct[1:], start=1):
            new = _new_id(call.id, number, by_id)
            renamed_calls.append(call)
            renamed[call.row, call.block] = new
            if number < len(answers):
                renamed[answers[number].row, answers[number].block] = new
    return Pairing(
        tuple(sorted(unanswered, key=_place)),
        tuple(sorted(orphans, key=_place)),
        tuple(copies),
        tuple(doubles),
        tuple(extra),
        renamed,
        tuple(renamed_calls),
    )


def _place(occurrence: Occurrence) -> tuple[int, int]:
    return occurrence.row, occurrence.block


def _distinct_calls(calls: Sequence[Occurrence], results: int) -> tuple[list[Occurrence], list[Occurrence]]:
    distinct: list[Occurrence] = []
    copies: list[Occurrence] = []
    for call in calls:
        same = [other for other in distinct if other.digest == call.digest]
        is_copy = any(other.group == call.group and other.group is not None for other in same)
        if is_copy or (same and results <= 1):
            copies.append(call)
        else:
            distinct.append(call)
    return distinct, copies


def _answers(
    results: Sequence[Occurrence], calls: int, doubles: list[Occurrence], extra: list[Occurrence]
) -> list[Occurrence]:
    """The results that answer the calls of one id, in order; those that are too many go to ``doubles`` or ``extra``."""
    too_many = len(results) - calls
    answers: list[Occurrence] = []
    for result in results:
        if too_many > 0 and any(other.digest == result.digest for other in answers):
            doubles.append(result)
            too_many -= 1
        else:
            answers.append(result)
    extra += answers[calls:]
    return answers[:calls]


def _new_id(id: str, number: int, taken: dict[str, tuple[list[Occurrence], list[Occurrence]]]) -> str:
    new = f"{id}_{number + 1}"
    while new in taken:
        new += "_"
    return new
