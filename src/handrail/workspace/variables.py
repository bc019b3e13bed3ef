"""``${NAME}`` and ``${NAME:-default}`` in configuration, filled in from the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def filled(text: str, environment: Mapping[str, str] | None) -> str:
    """``text`` with its variables filled in; ``LookupError`` names one that is not set and has no default.

    Without an environment ``text`` is left as it is.
    """
    if environment is None:
        return text
    given = environment

    def value(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        if default is not None:
            return given.get(name) or default
        if name not in given:
            raise LookupError(f"the variable {name} is not set")
        return given[name]

    return _VARIABLE.sub(value, text)
