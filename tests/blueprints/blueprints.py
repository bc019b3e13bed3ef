"""Hypothesis strategies: blueprints of every shape, well formed and not necessarily sensible."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from handrail.blueprints import regions
from handrail.blueprints.edges import Edge
from handrail.blueprints.edges.always import Always
from handrail.blueprints.edges.error import OnError
from handrail.blueprints.edges.limit import OnLimit
from handrail.blueprints.edges.model import ByModel
from handrail.blueprints.edges.output import OnOutput
from handrail.blueprints.edges.region import OnRegion
from handrail.blueprints.edges.stuck import OnStuck
from handrail.blueprints.edges.tool import OnTool
from handrail.blueprints.model import Blueprint, Bounds, FanOut, Output, Permissions, Stage, Unwatched
from handrail.blueprints.points import AtCap, InteractionPoint, InteractionStyle, OnChange, OnDeadline, Unattended
from handrail.journal.vocabulary import Bound

NAMES = st.sampled_from(["a", "b", "plan", "build-it", "x_1", "end", "conversation"])
_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_WORDS = st.sampled_from(["Read", "mcp__git__*", 'say "hi"', "tübingen", "a\\b"])
_NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
_LEAVES = st.booleans() | _NUMBERS | _TEXTS
_PLAIN = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3), max_leaves=6
)
_TIMES = st.timedeltas(timedelta(seconds=1), timedelta(days=900)) | st.just(timedelta(milliseconds=1500))


def _some(kind: Any, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values of ``kind`` with some of ``fields``."""
    return st.fixed_dictionaries({}, optional=fields).map(lambda given: kind(**given))


def _with(kind: Any, needed: dict[str, st.SearchStrategy[Any]], **fields: st.SearchStrategy[Any]) -> Any:
    return st.fixed_dictionaries(needed, optional=fields).map(lambda given: kind(**given))


_PREDICATES: dict[str, st.SearchStrategy[Any]] = {
    "equals": _PLAIN,
    "one_of": st.lists(_PLAIN, min_size=1, max_size=3),
    "contains": _TEXTS.filter(bool),
    "matches": _TEXTS.filter(bool),
    "at_least": _NUMBERS,
    "at_most": _NUMBERS,
    "is_empty": st.booleans(),
}
_PREDICATE = st.sampled_from(sorted(_PREDICATES)).flatmap(lambda key: st.fixed_dictionaries({key: _PREDICATES[key]}))


@st.composite
def edges(draw: st.DrawFn) -> Edge:
    """An edge of any kind."""
    to = draw(NAMES)
    count = st.integers(1, 50)
    kinds: list[st.SearchStrategy[Any]] = [
        st.builds(Always, to=st.just(to)),
        st.builds(OnError, to=st.just(to)),
        st.builds(OnLimit, to=st.just(to), bounds=st.lists(st.sampled_from(Bound), max_size=2)),
        _with(OnStuck, {"to": st.just(to), "rounds": count}, same_file_edits=count, tool_calls=count, time=_TIMES),
        _PREDICATE.map(lambda test: OnTool(to=to, tool="Bash", **test)),
        _PREDICATE.map(lambda test: OnOutput(to=to, field="verdict.of_it", **test)),
        _PREDICATE.map(lambda test: OnRegion(to=to, region="plan", **test)),
        st.booleans().map(lambda wanted: OnRegion(to=to, region="plan", has_open_items=wanted)),
        st.builds(ByModel, to=st.just(to), hint=_TEXTS, is_default=st.booleans()),
    ]
    made: Edge = draw(st.one_of(kinds))
    return made


_SEEDS = (
    st.just("task")
    | st.builds(regions.LiteralSeed, literal=_TEXTS)
    | st.builds(regions.FilesSeed, files=st.just(("a.md", "b/c.txt")))
    | st.builds(regions.GlobSeed, glob=st.just("docs/**/*.md"))
    | st.builds(regions.CommandSeed, command=st.just(("git", "log")))
)
_REGION: dict[str, st.SearchStrategy[Any]] = {
    "budget": st.integers(1, 100) | st.floats(0.5, 100),
    "max_tokens": st.integers(1, 10**6),
    "seed": _SEEDS,
    "required": st.booleans(),
    "is_read_only": st.booleans(),
}
_REGIONS = st.one_of(
    _with(regions.Pinned, {"name": NAMES}, **_REGION),
    _with(regions.Sliding, {"name": NAMES}, max_items=st.integers(1, 99), **_REGION),
    _with(regions.Compacting, {"name": NAMES}, keeps=st.integers(0, 9), **_REGION),
    _with(regions.Keyed, {"name": NAMES}, max_entries=st.integers(1, 99), **_REGION),
    _with(regions.Checklist, {"name": NAMES}, **_REGION),
)
_POINTS = _with(
    InteractionPoint,
    {"name": NAMES, "prompt": _TEXTS},
    required=st.booleans(),
    style=st.sampled_from(InteractionStyle),
    options=st.lists(_TEXTS, max_size=3),
    directives=st.dictionaries(_TEXTS, _TEXTS, max_size=2),
    abort_options=st.lists(_TEXTS, max_size=2),
    edit_options=st.lists(_TEXTS, max_size=2),
    document_region=NAMES,
    goto=st.dictionaries(_TEXTS, NAMES, max_size=2),
    revisions=st.integers(0, 9),
    at_cap=st.sampled_from(AtCap),
    deadline=_TIMES,
    on_deadline=st.sampled_from(OnDeadline),
    unattended=st.sampled_from(Unattended),
    approvers=st.lists(_TEXTS, max_size=2),
    quorum=st.integers(1, 3),
    on_change=st.sampled_from(OnChange),
)
_LIMITS = _some(Bounds, max_rounds=st.integers(1, 99), max_cost=st.floats(0.01, 99), near=st.floats(0.1, 1))
_PERMISSIONS = _some(
    Permissions, allow=st.just(["Bash(command=git *)"]), ask=st.just(["Bash"]), deny=st.just(["mcp__*"])
)
_UNWATCHED = _some(Unwatched, approvals=st.sampled_from(["hold", "refuse"]))
_FAN_OUTS = _with(FanOut, {"stage": NAMES}, merge=NAMES, region=NAMES, max_workers=st.integers(0, 9)) | _with(
    FanOut, {"agent": _WORDS}, on_failure=st.sampled_from(["continue", "fail"])
)
_OUTPUTS = _with(Output, {"schema": st.dictionaries(_TEXTS, _PLAIN, min_size=1, max_size=3)}, region=NAMES)
_STAGES = _with(
    Stage,
    {"name": NAMES},
    description=_TEXTS,
    instructions=_TEXTS | _TEXTS.map(lambda text: f"{text}\nmore\n"),
    models=st.lists(_WORDS, max_size=2),
    tools=st.lists(_WORDS, max_size=2),
    permissions=_PERMISSIONS,
    regions=st.lists(NAMES, max_size=2),
    limits=_LIMITS,
    strategies=st.lists(st.sampled_from(["verify:make test", "keep_going"]), max_size=2),
    points=st.lists(_POINTS, max_size=2),
    edges=st.lists(edges(), max_size=3),
    output=_OUTPUTS,
    seeds=st.dictionaries(NAMES, _SEEDS, max_size=2),
    max_visits=st.integers(1, 9),
    fan_out=_FAN_OUTS,
    is_worker=st.booleans(),
    unattended=_UNWATCHED,
)
BLUEPRINTS: st.SearchStrategy[Blueprint] = _with(
    Blueprint,
    {"name": NAMES, "stages": st.lists(_STAGES, min_size=1, max_size=4)},
    version=_WORDS,
    description=_TEXTS,
    entry=NAMES,
    models=st.lists(_WORDS, max_size=2),
    permissions=_PERMISSIONS,
    limits=_LIMITS,
    unattended=_UNWATCHED,
    regions=st.lists(_REGIONS, max_size=3),
)
