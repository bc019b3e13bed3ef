"""The seam between the round loop and the stages of a blueprint.

The loop drives the rounds of whatever stage its journal says the run is in. What a stage works with, and what follows
when its work is over, is said by ``Stages``, which folds the same events and keeps nothing else; what it says is
appended as events, so a run that died goes on from its journal, wherever it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import Struct

from handrail.agents.boundary import Enlisted
from handrail.agents.conversation import Conversation
from handrail.agents.options import RunOptions
from handrail.agents.output import Output
from handrail.agents.regions import Regions
from handrail.agents.writer import Writer
from handrail.journal.effects import Advance
from handrail.journal.events import Event
from handrail.journal.vocabulary import RegionEntry
from handrail.models.port import Model
from handrail.transcripts.model import Json, Message, Taint

if TYPE_CHECKING:
    from handrail.agents.agent import Agent
    from handrail.agents.summarising import Ask


class Seen(Struct, frozen=True):
    """What a model is shown: its instructions, and the messages from the oldest on."""

    instructions: str
    messages: tuple[Message, ...]


View: TypeAlias = Callable[[Conversation], Seen]
"""What a request shows of the conversation."""


class Frozen(Struct, frozen=True, kw_only=True):
    """The blueprint a new run is started with: ``digest`` is of ``source``, which is all of it as JSON."""

    name: str
    digest: str
    source: Json


class Staged(Struct, frozen=True, kw_only=True):
    """What a stage works with.

    ``fallbacks`` are models to go over to, in this order, when the agent's own fails for good. ``strategies`` are
    asked in this order. ``output`` is the typed answer the stage ends with. ``view`` says what the model is shown
    (None: the whole conversation).
    """

    agent: Agent
    options: RunOptions
    strategies: tuple[Enlisted, ...] = ()
    fallbacks: tuple[Model, ...] = ()
    output: Output | None = None
    view: View | None = None


class Stages(Protocol):
    """The stages of one run."""

    @property
    def frozen(self) -> Frozen:
        """The blueprint that is obeyed."""
        ...

    def take(self, event: Event) -> None:
        """Take in the next event of the session, from its first on."""
        ...

    def staged(self) -> Staged | None:
        """What the stage that the run is in works with; None while it is in none."""
        ...

    def regions(self, taint: Taint) -> Regions | None:
        """The context regions as a call that may bring in ``taint`` reaches them now; None where there are none."""
        ...

    def refused(self, written: Mapping[str, tuple[RegionEntry, ...]]) -> str | None:
        """Why a call may not leave the regions like that; None where it may."""
        ...

    async def keep_up(self, writer: Writer, ask: Ask) -> None:
        """See to the context regions before the model is asked: make room, have ``ask`` sum up what is due, record it.

        Nothing is recorded where there is nothing to see to. Raises what ``ask`` raises when it is cut off.
        """
        ...

    async def advance(self, effect: Advance, writer: Writer) -> None:
        """Record what follows: a point opened or routed, a stage left and entered, the end of the run."""
        ...
