"""The one typed model of a blueprint: what TOML, JSON and Python objects all become.

Everything is frozen and unknown keys are errors, so a value that stands here is well formed. Whether its parts fit
together (a stage that is named and not there, a way that never ends) is ``check``'s to say, all of it at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

from handrail.agents.permissions import Rule, Verdict, parse_rule
from handrail.blueprints.edges import END, Edge
from handrail.blueprints.edges.always import Always
from handrail.blueprints.points import InteractionPoint
from handrail.blueprints.predicates import is_finite
from handrail.blueprints.regions import CONVERSATION, Name, Region, Seed, Sliding
from handrail.journal.vocabulary import Limits

Item = TypeVar("Item")
Listed = Annotated[Sequence[Item], Field(max_length=500), AfterValidator(tuple)]
"""A list, kept as a tuple; longer ones nobody wrote by hand, and what is checked of them takes its time."""

Words = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=r"^\S(.*\S)?$")]
"""One line that is not blank and has no blanks around it: the name of a tool, a model, a strategy."""

Prose = Annotated[str, StringConstraints(max_length=100_000)]

Count = Annotated[int, Field(strict=True, ge=1)]
Amount = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]


class Declared(BaseModel):
    """What every part of a blueprint is: frozen, and closed to keys that are not its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Bounds(Declared):
    """What may be spent: by one visit to a stage, or by the whole run. What is left out has no bound.

    The names and units are those of a run's options: US dollars, seconds of work (a person's waiting time is none).
    """

    max_rounds: Count | None = None
    max_requests: Count | None = None
    max_tool_calls: Annotated[int, Field(strict=True, ge=0)] | None = None
    max_tokens: Count | None = None
    max_cost: Amount | None = None
    max_seconds: Amount | None = None
    near: Annotated[float, Field(strict=True, gt=0, le=1)] = 0.8
    max_injections: Annotated[int, Field(strict=True, ge=0)] = 25

    def limits(self) -> Limits:
        """The same, as the journal keeps it."""
        return Limits(**dict(self))

    @property
    def is_bounded(self) -> bool:
        """Whether anything that a stage cannot do without (rounds, requests, tokens, money, time) is bounded."""
        bounds = (self.max_rounds, self.max_requests, self.max_tokens, self.max_cost, self.max_seconds)
        return any(bound is not None for bound in bounds)


def _is_rule(text: str) -> str:
    parse_rule(text, Verdict.ASK)
    return text


Permission = Annotated[str, StringConstraints(strip_whitespace=True, max_length=1000), AfterValidator(_is_rule)]
"""``Tool`` or ``Tool(field=pattern)``, where ``*`` stands for anything."""


class Permissions(Declared):
    """Which calls run without asking, which are asked about, which are refused. As rules of the house: see tools.

    They are the author's; a host may grant less.
    """

    allow: Listed[Permission] = ()
    ask: Listed[Permission] = ()
    deny: Listed[Permission] = ()

    def rules(self) -> tuple[Rule, ...]:
        """The rules, the strictest first."""
        verdicts = ((Verdict.DENY, self.deny), (Verdict.ASK, self.ask), (Verdict.ALLOW, self.allow))
        return tuple(parse_rule(text, verdict) for verdict, texts in verdicts for text in texts)


def _is_plain(value: JsonValue) -> JsonValue:
    if not is_finite(value):
        raise ValueError("a number that is infinite or none has no place here")
    return value


class Output(Declared):
    """What a stage gives back: a value that fits a JSON Schema, which it gives by calling the tool ``Answer``.

    ``region`` is written whole with the output when the stage is left, so that later stages see it.
    """

    model_config = ConfigDict(serialize_by_alias=True)

    json_schema: Annotated[dict[str, JsonValue], AfterValidator(_is_plain)] = Field(alias="schema", min_length=1)
    region: Name | None = None


class FanOut(Declared):
    """A stage that splits its work and hands the parts to workers, who go at it side by side.

    The stage's model names the items (the tool ``FanOut``); each is done by a worker: the stage ``stage`` of this
    blueprint, the blueprint ``blueprint``, or the agent ``agent`` that the host knows; exactly one is given.
    ``merge`` is the stage that goes on with the report, None: the stage's own edges decide. The report goes to
    ``region``, None: into the conversation. At most ``max_workers`` at a time (0: all) and ``max_items`` in all.
    ``on_failure``: go on with the report of those that did it, or fail the stage.
    """

    stage: Name | None = None
    blueprint: Words | None = None
    agent: Words | None = None
    merge: Name | None = None
    region: Name | None = None
    max_workers: Annotated[int, Field(strict=True, ge=0, le=1000)] = 8
    max_items: Annotated[int, Field(strict=True, ge=1, le=10_000)] = 50
    max_attempts: Annotated[int, Field(strict=True, ge=1, le=100)] = 3
    on_failure: Literal["continue", "fail"] = "continue"

    @model_validator(mode="after")
    def _has_one_worker(self) -> Self:
        given = [key for key in ("stage", "blueprint", "agent") if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError(f"name the worker by one of stage, blueprint, agent{_not(given)}")
        return self


def _not(given: list[str]) -> str:
    return f", not by {' and '.join(given)}" if given else ""


class Unwatched(Declared):
    """What holds in a run that nobody watches. A blueprint with this table says that it is meant to run so.

    ``approvals``: a call that needs a yes is held until somebody comes, or refused. ``questions``: so is a question
    of the model's own. Neither is ever answered with a yes; points say for themselves what they do.
    """

    approvals: Literal["hold", "refuse"] = "hold"
    questions: Literal["hold", "refuse"] = "hold"


class Stage(Declared):
    """One stage: a loop of rounds with its own instructions, until the model answers, then its points, then an edge.

    ``models`` are tried in order when a provider fails; none: the blueprint's, then the run's. ``tools`` are names,
    or patterns with ``*``. ``regions`` are those it sees, None: all. ``seeds`` are written into regions each time it
    is entered. ``max_visits`` counts entries; an edge to a stage whose visits are used up is not taken.
    ``edges`` None: on to the next stage of the list that is no worker, after the last to the end; empty: to the end.
    ``is_worker``: only ever run by a fan-out. ``unattended`` replaces the blueprint's.
    """

    name: Name
    description: Prose = ""
    instructions: Prose = ""
    models: Listed[Words] = ()
    tools: Listed[Words] = ()
    permissions: Permissions = Permissions()
    regions: Listed[Name] | None = None
    limits: Bounds = Bounds()
    strategies: Listed[Words] = ()
    points: Listed[InteractionPoint] = ()
    edges: Annotated[Listed[Edge], Field(max_length=100)] | None = None
    output: Output | None = None
    seeds: Mapping[Name, Seed] = Field(default_factory=dict)
    max_visits: Count | None = None
    fan_out: FanOut | None = None
    is_worker: bool = Field(default=False, strict=True)
    unattended: Unwatched | None = None


class Blueprint(Declared):
    """A workflow in stages. ``format`` is the version of this format; ``version`` is the author's own.

    ``entry`` is the stage it begins with, None: the first. ``models``, ``permissions`` hold for every stage, before
    the stage's own; ``limits`` bound the whole run. ``regions`` are what stages share and see.
    """

    format: Literal[1] = 1
    name: Name
    version: Words = "1"
    description: Prose = ""
    entry: Name | None = None
    models: Listed[Words] = ()
    permissions: Permissions = Permissions()
    limits: Bounds = Bounds()
    unattended: Unwatched | None = None
    regions: Listed[Region] = ()
    stages: Annotated[Listed[Stage], Field(min_length=1)]

    @property
    def entry_stage(self) -> str:
        """The name of the stage a run begins with."""
        return self.entry or self.stages[0].name

    def stage(self, name: str) -> Stage:
        """The stage called ``name``; ``KeyError`` when there is none."""
        for stage in self.stages:
            if stage.name == name:
                return stage
        raise KeyError(name)

    def region(self, name: str) -> Region:
        """The region called ``name``; ``KeyError`` when none is declared (the conversation is there without)."""
        for region in self.regions:
            if region.name == name:
                return region
        raise KeyError(name)

    def edges_of(self, stage: Stage) -> tuple[Edge, ...]:
        """The ways out of ``stage``, the unwritten one too: to the next stage of the list that is no worker."""
        if stage.edges is not None:
            return tuple(stage.edges)
        if stage.is_worker:
            return (Always(to=END),)
        if stage.fan_out is not None and stage.fan_out.merge is not None:
            return (Always(to=stage.fan_out.merge),)
        following = [other for other in self.stages if not other.is_worker or other.name == stage.name]
        names = [other.name for other in following]
        place = names.index(stage.name) + 1
        return (Always(to=names[place] if place < len(names) else END),)

    def regions_of(self, stage: Stage) -> tuple[Region, ...]:
        """The regions that ``stage`` sees, in the order in which they are declared."""
        return tuple(region for region in self.regions if sees(stage, region.name))

    def models_of(self, stage: Stage) -> tuple[str, ...]:
        """The models of ``stage`` in order; empty where the run brings its own."""
        return tuple(stage.models or self.models)

    def unattended_of(self, stage: Stage) -> Unwatched:
        """What holds in ``stage`` when nobody watches."""
        return stage.unattended or self.unattended or Unwatched()


def sees(stage: Stage, region: str) -> bool:
    """Whether ``stage`` sees a region of that name; the conversation it always sees."""
    return stage.regions is None or region == CONVERSATION or region in stage.regions


def conversation_of(regions: Sequence[Any]) -> Sliding | None:
    """The region that says how much of the conversation is seen, among ``regions``."""
    return next((one for one in regions if isinstance(one, Sliding) and one.is_conversation), None)
