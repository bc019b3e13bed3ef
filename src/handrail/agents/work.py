"""What a run works with, the same from its beginning to its end, and the token its present work stands under."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec import Struct

from handrail.agents.boundary import Enlisted, Place
from handrail.agents.cancellation import CancellationToken
from handrail.agents.options import RunOptions
from handrail.agents.pool import Pool
from handrail.agents.staging import Stages, View
from handrail.agents.tool import Tool
from handrail.clock import Clock
from handrail.journal.vocabulary import Adjustment
from handrail.models.port import Delta, Model
from handrail.transcripts.model import Parent, Taint


class Progress(Struct, frozen=True):
    """What a tool shows while it runs; not recorded."""

    call: str
    text: str


def _never() -> bool:
    return False


def _unheard(is_still: bool) -> None:
    """Nobody above wants to know."""


class AgentsBelow(Protocol):
    """The sub-agents of a run, as its driver and its calls know them."""

    async def spawn(self, call: str, worker: Any, prompt: str, *args: Any, **more: Any) -> Any:
        """Run ``worker`` with ``prompt`` for ``call``."""
        ...

    async def spawn_each(self, call: str, *args: Any, **more: Any) -> Any:
        """Run a worker for each of many items, for ``call``."""
        ...

    def is_still(self, call: str) -> bool:
        """Whether all there is to do for ``call`` is to wait for people, in the agents below it."""
        ...

    def stood_s(self, call: str) -> float:
        """For how long, in seconds, it has been so in this process."""
        ...

    def park(self) -> None:
        """Let the agents below start nothing more."""
        ...

    async def end_left(self, call: str | None = None) -> None:
        """End those that nobody carries on any more: of ``call``, or all."""
        ...


class Family(Struct, frozen=True, kw_only=True):
    """Where a run stands among agents: the names from the root to it, the call that started it, how deep it is.

    ``taint`` is what had entered the conversation that started it. ``is_let_go`` says whether that one broke off.
    ``tell_still`` is told when there is nothing to do here but wait for people, and when there is again.
    """

    origin: tuple[str, ...] = ()
    parent: Parent | None = None
    depth: int = 0
    taint: Taint = Taint()
    is_let_go: Callable[[], bool] = _never
    tell_still: Callable[[bool], None] = _unheard


class Work(Struct, frozen=True, kw_only=True):
    """``models`` holds every model the run may switch to, by name; ``show`` is given what nobody records.

    ``origin`` are the agents from the root to this one. ``agents`` are those below it, which draw on ``purse``: what
    this run and all below it spend. ``stages`` is there in a run of a blueprint,
    whose stage may have ``fallbacks``, models to go over to in this order, and a ``view`` of what the model is shown.
    """

    model: Model
    models: Mapping[str, Model]
    instructions: str
    tools: Mapping[str, Tool]
    strategies: tuple[Enlisted, ...]
    options: RunOptions
    place: Place
    clock: Clock
    origin: tuple[str, ...]
    show: Callable[[Delta | Progress], None]
    purse: Pool
    agents: AgentsBelow

    @property
    def purses(self) -> tuple[Pool, ...]:
        """Every purse that the run draws on."""
        return (*self.options.pools, self.purse)

    stages: Stages | None = None
    fallbacks: tuple[Model, ...] = ()
    view: View | None = None


def offered_names(work: Work, adjustment: Adjustment) -> tuple[str, ...]:
    """The names of the tools that are offered now; a call of any other is not run."""
    names = adjustment.tools if adjustment.tools is not None else work.options.tools
    return tuple(work.tools) if names is None else tuple(name for name in names if name in work.tools)


class Activity:
    """The token of what is being done now. Cut, it ends that; what comes next stands under a fresh one.

    ``run`` is cancelled when the whole run is to end now. Once it ``is_let_go``, because this process can go on with
    it no more or not with the run that started it, what ends does so without a word in the journal, as if the process
    had died: somebody else may go on with it. ``wake`` wakes whoever drives, from any thread. ``tell_still`` tells the
    run that started this one whether there is nothing to do here but wait for people.
    """

    def __init__(
        self, is_let_go_above: Callable[[], bool] = _never, tell_still: Callable[[bool], None] = _unheard
    ) -> None:
        self._is_let_go = False
        self.is_to_park = False
        self.wake: Callable[[], object] = _never
        self._is_let_go_above = is_let_go_above
        self.tell_still = tell_still
        self.run = CancellationToken()
        self._now = self.run.child()
        self._cut_by = 0

    @property
    def is_let_go(self) -> bool:
        return self._is_let_go or self._is_let_go_above()

    def let_go(self, reason: str) -> None:
        """End what is being done, here and below; nothing more is recorded of it."""
        self._is_let_go = True
        self._now.cancel(reason)

    def leave(self) -> None:
        """What ends from now on does so without a word: this process leaves the run, which stays as it is."""
        self._is_let_go = True

    def park(self) -> None:
        """Let whoever drives stop once what is being done has landed; from any thread."""
        self.is_to_park = True
        self.wake()

    def cut(self, reason: str, entry: int = 0) -> None:
        """End what is being done. ``entry`` is the inbox entry that wishes it."""
        self._cut_by = max(self._cut_by, entry)
        self._now.cancel(reason)

    def begin(self, heard: int) -> CancellationToken:
        """The token for what begins now. ``heard`` is the last inbox entry that was journalled.

        While a wish to end is not journalled yet, what begins ends at once: it would not have begun.
        """
        if self._now.is_cancelled and self._cut_by <= heard and not self.run.is_cancelled:
            self._now = self.run.child()
        return self._now
