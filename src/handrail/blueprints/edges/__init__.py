"""The ways out of a stage: one module a kind, found by the registry by the constant ``EDGE``.

A kind is a frozen pydantic model with ``to``, ``when`` and its own keys. It says for which ends of a visit it stands
(``ends``) and whether it fits one (``fits``), from what the visit came to and nothing else. The list is read in
order; the first that fits is taken. By the model only, and last, where ``when = "model"`` says so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, Union

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Discriminator, SerializerFunctionWrapHandler, Tag, model_serializer

from handrail import registry
from handrail.blueprints.regions import Name
from handrail.journal.vocabulary import Bound
from handrail.transcripts.model import Json

END = "end"
"""Where an edge leads that ends the run: no stage has that name."""

ALWAYS = "always"
"""The kind of an edge that does not say its kind."""

Ended: TypeAlias = Literal["done", "error", "limit", "stuck"]
"""How the work of a stage visit ended: with an answer, by an error, at a bound, or measured as stuck."""


class SeenResult(Struct, frozen=True, kw_only=True):
    """The result of one call, as edges see it."""

    tool: str
    text: str
    is_error: bool = False


class SeenRegion(Struct, frozen=True, kw_only=True):
    """What a region holds, as edges see it: the texts of its entries, and how many of a checklist's are open."""

    texts: tuple[str, ...] = ()
    open_items: int = 0


class Visit(Struct, frozen=True, kw_only=True):
    """What a visit to a stage came to.

    ``bound`` is the one that was spent. ``rounds, tool_calls, seconds`` are of this visit alone (a person's waiting
    time is none), ``same_file_edits`` the most successful edits of one and the same file. ``results`` are the
    results of its calls, oldest first. ``output`` is its typed output, or the text of its answer.
    """

    ended: Ended = "done"
    bound: Bound | None = None
    rounds: int = 0
    tool_calls: int = 0
    seconds: float = 0.0
    same_file_edits: int = 0
    results: tuple[SeenResult, ...] = ()
    regions: Mapping[str, SeenRegion] = {}
    output: Json = None


class EdgeBase(BaseModel, ABC):
    """What every kind of edge has: the stage it leads ``to`` (``end`` ends the run), and its kind, ``when``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ends: ClassVar[tuple[Ended, ...]] = ("done",)
    """The ends of a visit for which edges of this kind stand."""

    to: Name
    when: str = ALWAYS

    @abstractmethod
    def fits(self, visit: Visit) -> bool:
        """Whether this edge is to be taken after ``visit``, which ended in one of ``ends``."""

    @model_serializer(mode="wrap")
    def _with_kind(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # The kind is a default of its class and would be left out with the other defaults.
        plain: dict[str, Any] = handler(self)
        if self.when == ALWAYS:
            return plain
        return {"to": self.to, "when": self.when, **plain}


def edge_kinds() -> dict[str, type[EdgeBase]]:
    """Every kind of edge by its name, which is also the name of its module."""
    return {name: registry.member(__name__, name, "EDGE") for name in registry.names(__name__)}


def _kind_of(given: Any) -> str | None:
    kind = given.get("when", ALWAYS) if isinstance(given, Mapping) else getattr(given, "when", None)
    return kind if isinstance(kind, str) else None


if TYPE_CHECKING:
    Edge: TypeAlias = EdgeBase
else:

    def __getattr__(name: str) -> Any:
        """``Edge``, which is made of all kinds when it is first asked for: each of them imports this module."""
        if name != "Edge":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        tagged = tuple(Annotated[kind, Tag(name)] for name, kind in edge_kinds().items())
        made = globals()["Edge"] = Annotated[Union[tagged], Discriminator(_kind_of)]  # noqa: UP007
        return made
