"""Prompt templates: Markdown files with places for arguments."""

from __future__ import annotations

import re
import shlex

from msgspec import Struct

from handrail.workspace.declared import WorkspaceError
from handrail.workspace.frontmatter import split_frontmatter

_PLACE = re.compile(r"\$(\$|ARGUMENTS\b|[1-9][0-9]?)")


class Template(Struct, frozen=True, kw_only=True):
    """A prompt with places: ``$ARGUMENTS`` for all that is given, ``$1`` … ``$99`` for one each, ``$$`` for a ``$``."""

    name: str
    description: str
    text: str
    path: str
    argument_hint: str | None = None
    is_trusted: bool = True


def parse_template(text: str, *, name: str, path: str, is_trusted: bool) -> Template:
    """The template in a file; ``WorkspaceError`` when its head has no description."""
    head, rest = split_frontmatter(text)
    if not head.get("description"):
        raise WorkspaceError(f"{path}: a template needs a description in its head")
    return Template(
        name=name,
        description=head["description"],
        text=rest.strip(),
        path=path,
        argument_hint=head.get("argument-hint") or None,
        is_trusted=is_trusted,
    )


def expand(template: Template, arguments: str) -> str:
    """The prompt with ``arguments`` in its places; those that have no place are appended."""
    words = _words(arguments)
    used: set[int] = set()

    def fill(found: re.Match[str]) -> str:
        place = found[1]
        if place == "$":
            return "$"
        if place == "ARGUMENTS":
            used.update(range(len(words)))
            return arguments.strip()
        number = int(place) - 1
        used.add(number)
        return words[number] if number < len(words) else ""

    text = _PLACE.sub(fill, template.text)
    left = [word for number, word in enumerate(words) if number not in used]
    return f"{text}\n\n{' '.join(left)}" if left else text


def _words(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:
        # An apostrophe is no open quote in ordinary prose.
        return arguments.split()
