"""The way from a person at the keyboard of a run to the desk: durable questions answered, documents edited."""

from __future__ import annotations

import contextlib

from handrail.cli.editing import Editor
from handrail.cli.keyboard import Keyboard
from handrail.cli.live import Screen
from handrail.cli.points import OpenEditor
from handrail.journal.events import AskOpened
from handrail.runs.asks.replies import Reply
from handrail.runs.desk import Desk


class Door:
    """Takes answers to ``desk``. ``is_editing``: the terminal is lent to an editor."""

    def __init__(self, desk: Desk, editor: Editor, keyboard: Keyboard, screen: Screen) -> None:
        self.is_editing = False
        self._desk = desk
        self._editor = editor
        self._keyboard = keyboard
        self._screen = screen

    async def post(self, opened: AskOpened, said: Reply | OpenEditor) -> str | None:
        """Answer ``opened``, once the document is edited where it is to be.

        Gives what is to be said where the question is still open all the same. Raises as ``Desk.answer`` and
        ``edited`` do; nothing was answered then.
        """
        if isinstance(said, OpenEditor):
            reply = Reply(edited=await self.edited(opened), comment=said.comment, digest=opened.digest)
        else:
            reply = said
        accepted = await self._desk.answer(opened.ask, reply)
        self._editor.drafts.discard(opened)
        return f"» {accepted.cast} of {accepted.needed} have approved" if accepted.status == "voted" else None

    async def edited(self, opened: AskOpened) -> str:
        """The document of ``opened`` as the person changed it; ``NotEdited`` where nothing came of it."""
        self.is_editing = True
        try:
            with contextlib.ExitStack() as lent:
                lent.enter_context(self._screen.lent())
                lent.enter_context(self._keyboard.lent())
                return await self._editor.edit_meanwhile(opened)
        finally:
            self.is_editing = False
