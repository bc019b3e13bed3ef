"""A command whose first argument may be a verb with arguments of its own, such as ``moments mark ID yes``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click


class CommandWithVerbs(click.Command):
    """Runs one of ``verbs`` when its name stands first, and itself otherwise (``--`` first makes sure of that)."""

    def __init__(self, *args: Any, verbs: Sequence[click.Command] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.verbs = {verb.name: verb for verb in verbs}

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        verb = self.verbs.get(args[0]) if args else None
        if verb is None:
            return super().make_context(info_name, args, parent, **extra)
        return verb.make_context(f"{info_name} {verb.name}", args[1:], parent, **extra)
