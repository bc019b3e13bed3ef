"""The blueprints that ship, by name."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable

from handrail.blueprints.model import Blueprint
from handrail.blueprints.toml import parse_toml
from handrail.errors import UnknownName

_SUFFIX = ".toml"


def shipped_names() -> tuple[str, ...]:
    """The names of all blueprints that ship, sorted; none is read for it."""
    names = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


def shipped_text(name: str) -> bytes:
    """The TOML of the blueprint called ``name``; ``UnknownName`` when none is."""
    if name not in shipped_names():
        known = ", ".join(shipped_names())
        raise UnknownName(f"no blueprint is called {name!r}", hint=f"there are {known}; a file is named by its path")
    return (_folder() / f"{name}{_SUFFIX}").read_bytes()


def shipped_blueprint(name: str) -> Blueprint:
    """The blueprint called ``name``; ``UnknownName`` when none is."""
    return parse_toml(shipped_text(name), name=name)


def _folder() -> Traversable:
    return resources.files("handrail.blueprints") / "shipped"
