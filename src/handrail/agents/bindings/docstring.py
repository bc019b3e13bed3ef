"""A function's docstring, read as what a model is told: a description and a text for each parameter."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection

_HEADER = re.compile(r"^(args|arguments|parameters|params):[ \t]*$", re.IGNORECASE | re.MULTILINE)


def parse_docstring(docstring: str | None, parameters: Collection[str]) -> tuple[str, dict[str, str]]:
    """``(description, texts)``: what stands in ``docstring`` outside and inside its ``name: text`` parts.

    A part starts with the name of one of ``parameters`` and a colon, at the start of a line (after a dash, a star
    or ``:param``, if any) or after the end of a sentence, and ends before the next part or an empty line.
    """
    text = inspect.cleandoc(docstring or "")
    starts = list(_parts(parameters).finditer(text)) if parameters else []
    texts: dict[str, str] = {}
    kept: list[str] = []
    position = 0
    for number, start in enumerate(starts):
        kept.append(text[position : start.start()])
        end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        if (gap := text.find("\n\n", start.end(), end)) >= 0:
            end = gap
        texts[start["name"]] = " ".join(text[start.end() : end].split())
        position = end
    kept.append(text[position:])
    description = _HEADER.sub("", "".join(kept))
    return re.sub(r"\n{3,}", "\n\n", description).strip(), texts


def _parts(parameters: Collection[str]) -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in sorted(parameters, key=len, reverse=True))
    return re.compile(
        rf"(?:^[ \t]*(?:[-*][ \t]+|:param[ \t]+)?|(?<=[.!?])[ \t]+)`{{0,2}}(?P<name>{names})`{{0,2}}"
        r"(?:[ \t]*\([^)\n]*\))?:[ \t]+",
        re.MULTILINE,
    )
