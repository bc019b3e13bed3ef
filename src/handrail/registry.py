"""One discovery for every open edge: harnesses, tools, strategies, surfaces.

A kind of plug-in is a package; each public module in it is one member and says so by a constant of an agreed
name. Modules of other distributions join through an entry-point group of the same name as the package. Names
are known without importing anything, so that ``--help`` and completion stay quick.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any

from handrail.errors import UnknownName


@cache
def names(package: str) -> tuple[str, ...]:
    """The names of the members of ``package``, sorted.

    Private modules are no members, nor is ``families``, which holds what members share.
    """
    return tuple(sorted(_finders(package)))


@cache
def member(package: str, name: str, constant: str) -> Any:
    """The object called ``constant`` in the member ``name`` of ``package``; ``UnknownName`` if there is none.

    An entry point may name a module that has the constant, or the object itself.
    """
    try:
        load = _finders(package)[name]
    except KeyError:
        raise UnknownName(f"nothing called {name!r} in {package}", hint=f"known: {', '.join(names(package))}") from None
    found = load()
    return getattr(found, constant, found)


@cache
def _finders(package: str) -> dict[str, Callable[[], Any]]:
    spec = importlib.util.find_spec(package)
    locations = spec.submodule_search_locations if spec else None
    found: dict[str, Callable[[], Any]] = {}
    for entry in importlib.metadata.entry_points(group=package):
        found[entry.name] = _loader(entry)
    for module in pkgutil.iter_modules(locations or []):
        if not module.name.startswith("_") and module.name != "families":
            found[module.name] = _importer(f"{package}.{module.name}")
    return found


def _importer(name: str) -> Callable[[], Any]:
    return lambda: importlib.import_module(name)


def _loader(entry: importlib.metadata.EntryPoint) -> Callable[[], Any]:
    """Load a stranger's module; one that does not load is an unknown name, not the end of everything."""

    def load() -> Any:
        try:
            return entry.load()
        except (Exception, SystemExit) as problem:
            # A module runs when it is imported, and a stranger's may raise anything.
            why = f"{type(problem).__name__}: {problem}"
            raise UnknownName(f"{entry.name!r} from {entry.value!r} cannot be loaded: {why}") from problem

    return load
