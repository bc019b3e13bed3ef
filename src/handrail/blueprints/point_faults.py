"""What an interaction point declares against itself, all of it at once; what needs the rest of a blueprint is in
``check``.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from msgspec import Struct

from handrail.blueprints.labels import normalised, shortened
from handrail.blueprints.points import (
    Approved,
    Directed,
    Edited,
    InteractionPoint,
    InteractionStyle,
    OnDeadline,
    Unattended,
    is_no,
)

Level = Literal["error", "warning", "note"]


class PointFault(Struct, frozen=True, kw_only=True):
    """One thing that is wrong with a point.

    ``code`` is stable, ``path`` leads from the point to the place (``("directives", "Revise")``, ``("options", 1)``),
    ``suggestion`` is what was probably meant.
    """

    level: Level
    code: str
    path: tuple[str | int, ...]
    message: str
    suggestion: str | None = None


def point_faults(point: InteractionPoint) -> tuple[PointFault, ...]:
    """Everything that is wrong with ``point`` taken alone, in the order of its fields."""
    return tuple(fault for check in _CHECKS for fault in check(point))


def _identity(point: InteractionPoint) -> Iterator[PointFault]:
    if not point.name.strip():
        yield _error("point-unnamed", ("name",), "the point has no name")
    if not point.prompt.strip():
        yield _error("point-asks-nothing", ("prompt",), "the prompt is empty: the person would not know what is asked")


def _options(point: InteractionPoint) -> Iterator[PointFault]:
    if point.style is not InteractionStyle.MULTIPLE_CHOICE:
        if point.options:
            told = f"a point of style {point.style} shows no options"
            yield _error("options-not-shown", ("options",), told, "multiple_choice")
        return
    if len(point.options) < 2:
        yield _error("too-few-options", ("options",), "a multiple choice needs two options at least")
    seen: dict[str, str] = {}
    for number, option in enumerate(point.options):
        if not option.strip():
            yield _error("empty-option", ("options", number), "the option has no label")
            continue
        twin = seen.get(normalised(option))
        if twin is not None:
            told = f"{shortened(option)!r} cannot be told from {shortened(twin)!r}"
            yield _error("option-twice", ("options", number), told)
        seen[normalised(option)] = option


def _effects(point: InteractionPoint) -> Iterator[PointFault]:
    if point.style is InteractionStyle.FREE_TEXT:
        for field, _ in _named(point):
            yield _error("effect-of-free-text", (field,), "words typed freely are never matched with an effect")
        return
    known = {normalised(label): label for label in point.labels}
    places: dict[str, list[str]] = {}
    for field, labels in _named(point):
        for place, label in enumerate(labels):
            path = (field, label if field in ("directives", "goto") else place)
            folded = normalised(label)
            if folded not in known:
                told = f"{shortened(label)!r} is no option of this point"
                yield _error("label-unknown", path, told, _meant(label, point.labels))
            elif field in places.setdefault(folded, []):
                yield _error("label-twice", path, f"{shortened(label)!r} stands in {field} twice")
            else:
                places[folded].append(field)
    for folded, fields in places.items():
        lists = [field for field in fields if field not in ("goto", "comments")]
        if len(lists) > 1 or ("goto" in fields and lists and lists != ["directives"]):
            where = " and ".join(field for field in fields if field != "comments")
            told = f"{shortened(known[folded])!r} stands in {where}: what it does is in doubt"
            yield _error("label-in-two-lists", (lists[0],), told)


def _named(point: InteractionPoint) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The fields that name options, with the labels they name; only those that name any."""
    for field in ("directives", "abort_options", "edit_options", "goto", "comments"):
        if labels := tuple(getattr(point, field)):
            yield field, labels


def _ways_out(point: InteractionPoint) -> Iterator[PointFault]:
    if point.style is InteractionStyle.FREE_TEXT or not point.labels:
        return
    try:
        routes = [point.effect(label) for label in point.labels]
    except ValueError:
        return  # in doubt, which is an error of its own
    is_way_on = any(isinstance(one, Approved) or (isinstance(one, Directed) and one.goto) for one in routes)
    if not is_way_on and point.required:
        yield _error(
            "no-way-to-approve", ("options",), "every option revises, edits or aborts: none lets the stage end"
        )
    if any(isinstance(one, Edited | Directed) for one in routes) and point.revisions == 0:
        yield _fault("warning", "no-revisions", ("revisions",), "options revise or edit, and no revision is allowed")
    listed = {normalised(label) for field, labels in _named(point) if field != "comments" for label in labels}
    if point.style is InteractionStyle.MULTIPLE_CHOICE:
        for number, label in enumerate(point.options):
            if is_no(label) and normalised(label) not in listed:
                told = f"{label!r} is in no list and a no never approves: it aborts the run"
                yield _fault("note", "no-aborts", ("options", number), told)


def _people(point: InteractionPoint) -> Iterator[PointFault]:
    if point.approvers and point.quorum > len(set(point.approvers)):
        told = f"{point.quorum} must approve, and only {len(set(point.approvers))} may"
        yield _error("quorum-out-of-reach", ("quorum",), told)
    if point.quorum > 1 and point.style is InteractionStyle.FREE_TEXT:
        yield _error("quorum-of-free-text", ("quorum",), "words of several people are no votes: give options")


def _times(point: InteractionPoint) -> Iterator[PointFault]:
    if point.deadline is None and point.on_deadline is not OnDeadline.WAIT:
        yield _error("deadline-missing", ("on_deadline",), f"{point.on_deadline} never happens without a deadline")
    if point.deadline is not None and point.remind_after is not None and point.remind_after >= point.deadline:
        yield _fault("warning", "reminder-too-late", ("remind_after",), "the deadline has passed by then")
    if point.unattended is Unattended.APPROVE:
        told = "in a run that nobody watches this point approves by itself"
        yield _fault("note", "approves-unattended", ("unattended",), told)


_CHECKS: tuple[Callable[[InteractionPoint], Iterable[PointFault]], ...] = (
    _identity,
    _options,
    _effects,
    _ways_out,
    _people,
    _times,
)


def _meant(label: str, known: Iterable[str]) -> str | None:
    near = difflib.get_close_matches(label[:200], list(known), n=1)
    return near[0] if near else None


def _error(code: str, path: tuple[str | int, ...], message: str, suggestion: str | None = None) -> PointFault:
    return _fault("error", code, path, message, suggestion)


def _fault(
    level: Level, code: str, path: tuple[str | int, ...], message: str, suggestion: str | None = None
) -> PointFault:
    return PointFault(level=level, code=code, path=path, message=message, suggestion=suggestion)
