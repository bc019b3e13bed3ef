"""Every harness by name: one module or package here is one harness, found by the registry.

A member module has a constant ``HARNESS`` of type ``HarnessInfo``; its module name is the harness's name.
"""

from __future__ import annotations

from typing import Any

from handrail import registry
from handrail.errors import UnknownHarness, UnknownName
from handrail.transcripts.codec import HarnessInfo, Loss
from handrail.transcripts.codec import convert as convert_with
from handrail.transcripts.model import Common, Transcript


def harness_names() -> tuple[str, ...]:
    """The names of all harnesses, sorted; nothing is imported for it."""
    return registry.names(__name__)


def harness(name: str) -> HarnessInfo:
    """The harness of that name or alias (case and outer white space do not matter), else ``UnknownHarness``."""
    wanted = name.strip().lower()
    if wanted in harness_names():
        return _info(wanted)
    for known in harness_names():
        if wanted in _info(known).aliases:
            return _info(known)
    raise UnknownHarness(f"no harness is called {name!r}", hint=f"known: {', '.join(harness_names())}")


def _info(name: str) -> HarnessInfo:
    try:
        info = registry.member(__name__, name, "HARNESS")
    except UnknownName as problem:
        raise UnknownHarness(problem.message, hint=problem.hint) from problem
    if not isinstance(info, HarnessInfo):
        raise UnknownHarness(f"the module of harness {name!r} has no HARNESS")
    return info


def convert(session: Transcript[Common], to: str | HarnessInfo) -> tuple[Transcript[Any], Loss]:
    """``session`` in the native form of harness ``to``, and what that form could not carry."""
    info = to if isinstance(to, HarnessInfo) else harness(to)
    return convert_with(session, info.codec)
