"""The bounds of a run of a blueprint: the host's and the author's, of which the tighter hold."""

from __future__ import annotations

from msgspec.structs import replace

from handrail.agents.options import RunOptions
from handrail.journal.vocabulary import Limits

_BOUNDS = tuple(name for name in Limits.__struct_fields__ if name.startswith("max_") and name != "max_injections")


def bounded(options: RunOptions, limits: Limits) -> RunOptions:
    """``options`` within ``limits``: of two bounds the tighter holds."""
    given = {name: (getattr(options, name), getattr(limits, name)) for name in _BOUNDS}
    tighter = {name: min((one for one in pair if one is not None), default=None) for name, pair in given.items()}
    return replace(options, **tighter)
