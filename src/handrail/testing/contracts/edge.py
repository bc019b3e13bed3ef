"""The contract of a kind of edge: it is closed data, and answers for whatever a visit came to, the same each time.

``EdgeCase`` is a kind under the name the registry has for it, and edges of that kind as plain data (without ``to``
and ``when``) that fit it.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from handrail import jsonio
from handrail.blueprints.edges import EdgeBase, Ended, SeenRegion, SeenResult, Visit
from handrail.journal.vocabulary import Bound
from handrail.testing.contracts.rules import Rule
from handrail.transcripts.model import Json

_ENDS: tuple[Ended, ...] = typing.get_args(Ended)
_OUTPUTS: tuple[Json, ...] = (None, "", "done", 0, True, [], {}, {"a": {"b": [1, None]}}, "x" * 10_000)

VISITS: tuple[Visit, ...] = (
    *(Visit(ended=ended) for ended in _ENDS),
    *(Visit(output=output) for output in _OUTPUTS),
    Visit(ended="limit", bound=Bound.MAX_COST),
    Visit(ended="stuck", rounds=10**9, tool_calls=10**9, seconds=1e12, same_file_edits=10**9),
    Visit(results=(SeenResult(tool="Bash", text="\x00\ud800", is_error=True), SeenResult(tool="", text=""))),
    Visit(regions={"plan": SeenRegion(texts=("a", "")), "todo": SeenRegion(texts=("b",), open_items=1)}),
)
"""What visits may come to, odd ones too."""


@dataclass(frozen=True)
class EdgeCase:
    """A kind of edge, its name, and edges of it as plain data without ``to`` and ``when``."""

    name: str
    kind: type[EdgeBase]
    fitting: tuple[Mapping[str, Json], ...] = ()

    def edges(self) -> tuple[EdgeBase, ...]:
        """The fitting edges, all of them to the stage ``next``."""
        return tuple(self.kind.model_validate({"to": "next", **plain}) for plain in self.fitting)


def _says_its_name(case: EdgeCase) -> None:
    assert case.kind.model_fields["when"].default == case.name, "its when is not the name it is registered under"


def _stands_for_an_end(case: EdgeCase) -> None:
    assert case.kind.ends, "it stands for no end of a visit and is never taken"
    assert set(case.kind.ends) <= set(_ENDS), "it stands for an end that no visit has"


def _is_closed(case: EdgeCase) -> None:
    for plain in case.fitting:
        try:
            case.kind.model_validate({"to": "next", **plain, "nobody-reads-this": 1})
        except ValidationError:
            continue
        raise AssertionError("it takes a key that nothing reads")


def _is_frozen(case: EdgeCase) -> None:
    for edge in case.edges():
        try:
            edge.to = "elsewhere"
        except ValidationError:
            continue
        raise AssertionError("it can be changed")


def _reads_back(case: EdgeCase) -> None:
    for edge in case.edges():
        plain = edge.model_dump(mode="json", exclude_defaults=True)
        assert plain.get("when", "always") == case.name, "its kind is not in its plain data"
        assert case.kind.model_validate(jsonio.decode(jsonio.encode(plain))) == edge, "it does not read back"


def _answers_for_every_visit(case: EdgeCase) -> None:
    for edge in case.edges():
        for visit in VISITS:
            answer = edge.fits(visit)
            assert isinstance(answer, bool), f"{answer!r} is no answer"
            assert edge.fits(visit) is answer, "it answers differently when it is asked again"


EDGE_RULES: tuple[Rule[EdgeCase], ...] = (
    Rule(1, "its kind is the name of its module", _says_its_name),
    Rule(2, "it stands for an end of a visit", _stands_for_an_end),
    Rule(3, "it is closed to keys that nothing reads", _is_closed),
    Rule(4, "it cannot be changed", _is_frozen),
    Rule(5, "plain data of it reads back as the same", _reads_back),
    Rule(6, "it answers for whatever a visit came to, the same each time", _answers_for_every_visit),
)
