"""What a run is ordered with, as a value: what a person said on a command line, and what is recorded of it.

What fits a run out is recorded with its start, so that whoever goes on with it, in another process or another week,
gives it the same model, the same tools and the same permissions, and no more.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handrail.journal.vocabulary import Limits
from handrail.models.names import SCRIPTED
from handrail.transcripts.model import Json

_OF_ONE_COMMAND = ("task", "session", "source", "blueprint", "is_anew", "database", "is_by_person", "bounds")
"""What says what to do, and not how the run is fitted out; bounds are in the journal anyway."""


class Order(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is to be run.

    ``session`` names one of Handrail's own to go on with, ``source`` one of any harness to begin a new one from;
    at most one of them. ``blueprint`` is a name or a file: of a run that is open it must be the one it obeys, and with
    ``is_anew`` that run is ended and its task begun again with this one. ``compact_at`` is the size of the model's
    context, in tokens, from which it is summed up (None: four fifths of what the model can be given, where that is
    known). ``worker`` names the model of agents that this one starts, where it is another. ``passes`` are the variables
    with keys of models that commands get all the same. ``is_by_person`` says that a person gave the task, not a
    program; ``is_detached`` that the run is carried on in the background. ``database`` is where it is kept.
    ``is_without_rules``: no learned rule rides. The rest is as in ``outfitting.Wish``.
    """

    task: str = ""
    model: str | None = None
    base_url: str | None = None
    workspace: Path
    session: str | None = None
    source: str | None = None
    blueprint: str | None = None
    is_anew: bool = False
    bounds: Limits = Limits()
    compact_at: int | None = None
    strategies: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    is_read_only: bool = False
    is_trusted: bool = False
    sends: Literal["block", "ask", "allow"] = "block"
    passes: tuple[str, ...] = ()
    worker: str | None = None
    is_by_person: bool = True
    is_detached: bool = False
    database: str | None = None
    is_without_rules: bool = False


def recorded(order: Order) -> Json:
    """What is recorded of ``order`` with a run that it starts."""
    blank = Order(workspace=order.workspace)
    return to_plain(replace(order, **{name: getattr(blank, name) for name in _OF_ONE_COMMAND}))


def to_plain(order: Order) -> Json:
    """``order`` as plain data, which ``read_order`` reads; paths are spelled so that they hold in any folder."""
    rooted = replace(order, model=_rooted(order.model, order), worker=_rooted(order.worker, order))
    plain: Json = msgspec.to_builtins(rooted, enc_hook=str)
    return plain


def _rooted(model: str | None, order: Order) -> str | None:
    """The name of a model; the script of one that is played is looked for where the order was given."""
    if model is None or not model.startswith(SCRIPTED):
        return model
    return f"{SCRIPTED}{order.workspace / model.removeprefix(SCRIPTED)}"


def read_order(value: Json) -> Order | None:
    """The order that was recorded; None where none was, or where it is none that this release can read."""
    if value is None:
        return None
    try:
        return msgspec.convert(value, Order, dec_hook=lambda kind, given: kind(given))
    except msgspec.ValidationError:
        return None


def gone_on_with(given: Order, known: Order | None) -> Order:
    """``given`` for a run that is open: what it does not say is as it was when the run began."""
    if known is None:
        return given
    blank = Order(workspace=given.workspace)
    unsaid = {
        name: getattr(known, name)
        for name in Order.__struct_fields__
        if name not in _OF_ONE_COMMAND and getattr(given, name) == getattr(blank, name)
    }
    # Where it began is where it goes on: its files are there.
    return replace(given, **{**unsaid, "workspace": known.workspace})
