"""``AGENTS.md``: what people wrote down for agents, from the widest place to the nearest."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from handrail.workspace.confined import Confined, is_foreign

NAME = "AGENTS.md"

_CLOSER = re.compile(r"<(/?)(context)", re.IGNORECASE)


class ContextFile(Struct, frozen=True, kw_only=True):
    """One such file. ``is_trusted`` is False for the words of a repository that nobody vouched for."""

    path: str
    scope: Literal["global", "ancestor", "workspace"]
    text: str
    is_trusted: bool = True


def render_context(files: Sequence[ContextFile]) -> str:
    """``files`` as one text for instructions: a block for each, with its path and scope; "" for none.

    A block cannot be closed from within: a file's own marks of that name are broken up.
    """
    return "\n\n".join(_block(file) for file in files)


def _block(file: ContextFile) -> str:
    path = file.path.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    trust = "" if file.is_trusted else ' trusted="no"'
    body = _CLOSER.sub(r"<\1 \2", file.text.strip())
    return f'<context path="{path}" scope="{file.scope}"{trust}>\n{body}\n</context>'


def find_context(root: Path, config: Path | None, *, is_trusted: bool, withheld: list[str]) -> Iterator[ContextFile]:
    """The context files for work in ``root``: the person's own, those of its ancestors from the top, its own.

    Ancestors up to the one that holds ``.git`` are of the same repository as ``root``, and no more trusted. Each file
    once, by its real place; empty ones are passed over. Sentences about those that are not taken go to ``withheld``.
    ``OSError`` for one that cannot be read.
    """
    seen: set[str] = set()
    if config is not None and (text := _new_text(config / NAME, seen)) is not None:
        yield ContextFile(path=str(config / NAME), scope="global", text=text)
    here = root.resolve()
    repository = _repository(here)
    for folder in (*reversed(here.parents), here):
        path = folder / NAME
        scope: Literal["ancestor", "workspace"] = "workspace" if folder == here else "ancestor"
        if folder.is_relative_to(repository):
            text = _own_text(folder, seen, is_trusted=is_trusted, withheld=withheld)
            if text is not None:
                yield ContextFile(path=str(path), scope=scope, text=text, is_trusted=is_trusted)
        elif is_foreign(path):
            withheld.append(f"{path}: it belongs to another user")
        elif (text := _new_text(path, seen)) is not None:
            yield ContextFile(path=str(path), scope=scope, text=text)


def _repository(here: Path) -> Path:
    """The folder of the repository that ``here`` is part of; ``here`` itself where it is part of none."""
    return next((folder for folder in (here, *here.parents) if os.path.lexists(folder / ".git")), here)


def _own_text(folder: Path, seen: set[str], *, is_trusted: bool, withheld: list[str]) -> str | None:
    """The repository's own file, which must not be a link to somewhere else; None as with ``_new_text``."""
    try:
        text = Confined(folder).read(NAME).decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError as problem:
        if is_trusted:
            raise
        withheld.append(f"{folder / NAME}: {problem}")
        return None
    real = os.path.realpath(folder / NAME)
    if real in seen or not text.strip():
        return None
    seen.add(real)
    return text


def _new_text(path: Path, seen: set[str]) -> str | None:
    """The file's text; None when it is missing, empty, or was read by another name before."""
    if not path.is_file():
        return None
    real = os.path.realpath(path)
    text = path.read_text(encoding="utf-8", errors="replace")
    if real in seen or not text.strip():
        return None
    seen.add(real)
    return text
