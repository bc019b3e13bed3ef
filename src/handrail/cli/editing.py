"""A document in the person's own editor: the draft outlives whatever happens to the editor or to us."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from handrail.errors import HandrailError
from handrail.journal.events import AskOpened
from handrail.runs.asks.drafts import Drafts

_VARIABLES = ("VISUAL", "EDITOR")
_USUAL = "vi"


class NotEdited(HandrailError):
    """Nothing came of editing: the editor failed, or the document was left as it was. Nothing was answered."""

    code = "not_edited"


class Editor:
    """Opens documents in the editor that ``environment`` names, on drafts in ``folder``."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        named = next((environment[name] for name in _VARIABLES if environment.get(name)), _USUAL)
        self._command = shlex.split(named)
        self._environment = environment
        self.drafts = Drafts(folder)

    def edit(self, opened: AskOpened) -> str:
        """The document of ``opened`` as the person left it; ``NotEdited``, ``StoreError``."""
        path = self.drafts.open(opened)
        try:
            code = subprocess.run([*self._command, str(path)], env=dict(self._environment), check=False).returncode
        except OSError as problem:
            raise self._failed(str(problem.strerror or problem), path) from problem
        return self._changed(opened, code, path)

    async def edit_meanwhile(self, opened: AskOpened) -> str:
        """``edit``, while other things go on."""
        path = self.drafts.open(opened)
        try:
            running = await asyncio.create_subprocess_exec(*self._command, str(path), env=dict(self._environment))
        except OSError as problem:
            raise self._failed(str(problem.strerror or problem), path) from problem
        return self._changed(opened, await running.wait(), path)

    def _changed(self, opened: AskOpened, code: int, path: Path) -> str:
        if code:
            raise self._failed(f"it ended with {code}", path)
        text = self.drafts.read(opened) or ""
        if text == (opened.shown or ""):
            self.drafts.discard(opened)
            raise NotEdited("the document was left as it was; nothing was answered")
        return text

    def _failed(self, why: str, path: Path) -> NotEdited:
        name = " ".join(self._command) or "no editor"
        hint = f"set EDITOR, or give a file with --file; your draft is {path}"
        return NotEdited(f"the editor {name} failed: {why}; nothing was answered", hint=hint)
