"""What a package offers, loaded when it is first asked for, so that importing the package costs next to nothing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import Any


def load(package: str, home_of: Mapping[str, str], name: str) -> Any:
    """The attribute ``name`` of ``package``, whose modules ``home_of`` tells by name; it is there from then on.

    Raises ``AttributeError`` as a module does for a name it does not have.
    """
    try:
        module = home_of[name]
    except KeyError:
        raise AttributeError(f"module {package!r} has no attribute {name!r}") from None
    value = getattr(importlib.import_module(f"{package}.{module}"), name)
    setattr(sys.modules[package], name, value)
    return value
