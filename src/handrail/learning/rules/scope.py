"""Where a rule counts, computed from where its evidence was; and whether a run is such a place.

A scope names what was seen and nothing more. An unknown place is no place: evidence that does not say where it
happened gives a rule that rides nowhere until the owner says where. No part of it is written by a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from msgspec import Struct

from handrail.learning.rules.model import Axis, RuleScope

SURFACES = ("reply", "call", "file")
"""What a rule can be about: what is said, what is run, what is written into files."""


class Place(Struct, frozen=True, kw_only=True):
    """Where a moment happened, or where a run is about to.

    ``repository`` is the root of the checkout, ``files`` the paths below it that were at issue, ``tools`` the names
    of those at issue (of all there are, for a run). None or empty is unknown.
    """

    repository: str | None = None
    files: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    harness: str | None = None


def scope_of(places: Sequence[Place]) -> RuleScope:
    """The narrowest scope in which all of the evidence lies.

    Repositories and harnesses are those that were seen. Paths and tools narrow only where every moment shows some:
    the deepest folder that holds all files, the tools at issue. No evidence gives a scope that matches nothing.
    """
    if not places:
        return RuleScope(repositories=(), harnesses=())
    return RuleScope(
        repositories=_seen(place.repository for place in places),
        harnesses=_seen(place.harness for place in places),
        paths=_folder(places),
        tools=_tools(places),
    )


def merged(scopes: Sequence[RuleScope]) -> RuleScope:
    """The scope of a rule made of several: every place that one of them had, and no other."""
    if not scopes:
        return RuleScope(repositories=(), harnesses=())
    joined = (_joined([scope.axes()[index] for scope in scopes]) for index in range(len(RuleScope().axes())))
    repositories, paths, tools, harnesses, surfaces = joined
    return RuleScope(repositories=repositories, paths=paths, tools=tools, harnesses=harnesses, surfaces=surfaces)


def is_within(narrow: RuleScope, wide: RuleScope) -> bool:
    """Whether every place of ``narrow`` is one of ``wide``."""
    return all(_axis_within(one, other) for one, other in zip(narrow.axes(), wide.axes(), strict=True))


def overlap(one: RuleScope, other: RuleScope) -> bool:
    """Whether some place may lie in both."""
    pairs = zip(one.axes(), other.axes(), strict=True)
    return all(a is None or b is None or _shares(a, b) for a, b in pairs) and not (one.is_dark or other.is_dark)


def matches(scope: RuleScope, run: Place) -> bool:
    """Whether the rule counts in ``run``: in its repository, its harness, and with the tools it has.

    Paths do not decide whether a rule rides, for nobody knows what a run will touch; they are said with the rule.
    """
    return (
        _holds(scope.repositories, run.repository)
        and _holds(scope.harnesses, run.harness)
        and (scope.tools is None or not set(scope.tools).isdisjoint(run.tools))
        and not scope.is_dark
    )


def covers(scope: RuleScope, path: str) -> bool:
    """Whether a file of the repository lies where the rule counts."""
    return scope.paths is None or any(_is_in(path, pattern) for pattern in scope.paths)


def _is_in(path: str, pattern: str) -> bool:
    if pattern.endswith("/**"):
        return path == pattern[:-3] or path.startswith(pattern[:-2])
    return fnmatchcase(path, pattern)


def _seen(values: Iterable[str | None]) -> Axis:
    return tuple(sorted({value for value in values if value}))


def _tools(places: Sequence[Place]) -> Axis:
    if not all(place.tools for place in places):
        return None
    return tuple(sorted({tool for place in places for tool in place.tools}))


def _folder(places: Sequence[Place]) -> Axis:
    """The deepest folder of all files; None where a moment shows none or they share no folder but the root."""
    if not all(place.files for place in places) or len({place.repository for place in places}) != 1:
        return None
    folders = [PurePosixPath(file).parent.parts for place in places for file in place.files]
    if any(part == ".." for parts in folders for part in parts):
        return None
    shared: list[str] = []
    for parts in zip(*folders, strict=False):
        if len(set(parts)) != 1:
            break
        shared.append(parts[0])
    if not shared or shared[0] == "/":
        return None
    return ("/".join(shared) + "/**",)


def _joined(axes: Sequence[Axis]) -> Axis:
    if any(axis is None for axis in axes):
        return None
    return tuple(sorted({value for axis in axes if axis is not None for value in axis}))


def _axis_within(narrow: Axis, wide: Axis) -> bool:
    if wide is None:
        return True
    if narrow is None:
        return False
    return all(any(value == other or _is_in(value, other) for other in wide) for value in narrow)


def _shares(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return any(a == b or _is_in(a, b) or _is_in(b, a) for a in one for b in other)


def _holds(axis: Axis, value: str | None) -> bool:
    return axis is None or (value is not None and value in axis)
