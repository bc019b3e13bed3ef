"""A person at the keyboard of a run: shown what happens, asked what only they can decide, heard whenever they type."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import assert_never

from msgspec import Struct

from handrail.agents.approval import ApprovalRequest, Approve, ApproveEdited, Deny
from handrail.agents.approval import Reply as ApprovalReply
from handrail.agents.run import Happening, Run
from handrail.agents.tool import Answer, Question
from handrail.agents.work import Progress
from handrail.cli import typed
from handrail.cli.cells import one_line
from handrail.cli.keyboard import LineEditor
from handrail.cli.live import Screen
from handrail.cli.views.run import RunLines, choices_of, is_edit, render_asked, render_question
from handrail.models.port import TextDelta
from handrail.transcripts.model import Refusal, RefusalKind

_TAIL_CHARS = 200
_HOW_TO_REPLY = "y, a, n WHY or e JSON"


class NobodyThere(Exception):
    """The keyboard is gone, so nobody can answer."""


class _Asked(Struct, frozen=True, kw_only=True, eq=False):
    """Something that waits for an answer: what it shows, and where the answer goes."""

    subject: ApprovalRequest | Question
    answer: asyncio.Future[ApprovalReply | Answer]

    @property
    def state(self) -> str:
        """What stands before the cursor while it is being answered."""
        if isinstance(self.subject, ApprovalRequest):
            return f"may {self.subject.tool} run? {_HOW_TO_REPLY}"
        return "your answer"

    @property
    def lines(self) -> list[str]:
        """What is asked."""
        return (
            render_asked(self.subject) if isinstance(self.subject, ApprovalRequest) else render_question(self.subject)
        )


class Attendant:
    """Between one person and one run. ``approve`` and ``answer`` are what the run asks them by; one at a time."""

    def __init__(self, screen: Screen, lines: RunLines) -> None:
        self.run: Run | None = None
        self.was_interrupted = False
        self._screen = screen
        self._lines = lines
        self._editor = LineEditor()
        self._asked: deque[_Asked] = deque()
        self._tail = ""
        self._is_gone = False
        self._meant_for: _Asked | None = None

    # What happens

    def watch(self, happening: Happening) -> None:
        """Show what happened; of what streams, its end."""
        if isinstance(happening, TextDelta | Progress):
            self._tail = f"{self._tail}{happening.text}"[-_TAIL_CHARS:]
        elif lines := self._lines.render(happening):
            self._tail = ""
            self._screen.show(lines)
        self._show_state()

    def _show_state(self) -> None:
        self._screen.state(self._asked[0].state if self._asked else self._tail)

    # What is asked

    async def approve(self, request: ApprovalRequest) -> ApprovalReply:
        """The person's answer; ``NobodyThere`` when the keyboard is gone."""
        reply = await self._ask(request)
        if isinstance(reply, Answer):
            raise TypeError("an approval was answered like a question")
        return reply

    async def answer(self, question: Question) -> Answer:
        """The person's answer to a tool's question; ``NobodyThere`` when the keyboard is gone."""
        reply = await self._ask(question)
        if not isinstance(reply, Answer):
            raise TypeError("a question was answered like an approval")
        return reply

    async def _ask(self, subject: ApprovalRequest | Question) -> ApprovalReply | Answer:
        if self._is_gone:
            raise NobodyThere("nobody is at the keyboard any more")
        asked = _Asked(subject=subject, answer=asyncio.get_running_loop().create_future())
        self._asked.append(asked)
        if len(self._asked) == 1:
            self._screen.show(asked.lines)
        self._show_state()
        try:
            return await asked.answer
        finally:
            self._forget(asked)

    def _forget(self, asked: _Asked) -> None:
        was_first = self._asked[0] is asked
        self._asked.remove(asked)
        if was_first and self._asked:
            self._screen.show(self._asked[0].lines)
        self._show_state()

    # What is typed

    def heard(self, data: bytes) -> None:
        """Keys were typed; ``b""`` says that no more will be."""
        if not self._editor.typed:
            self._meant_for = self._first()
        for line in self._editor.feed(data):
            self._do(self._parsed(line))
            self._meant_for = self._first()
        self._screen.type(self._editor.typed)
        if (not data or self._editor.is_over) and not self._is_gone:
            self._is_gone = True
            for asked in self._asked:
                _settle(asked, NobodyThere("nobody is at the keyboard any more"))

    def interrupt(self) -> None:
        """Ctrl-C: stop what is being done, which ends the run; once more: end it whatever it does."""
        if self.run is None:
            return
        if self.was_interrupted:
            self.run.cancel("Ctrl-C")
        else:
            self.run.interrupt("Ctrl-C")
        self.was_interrupted = True

    def _parsed(self, line: str) -> typed.Command | typed.Reply | typed.Answered:
        """``line``, as an answer to what was asked when it was begun: nobody agrees to what they have not seen."""
        if self._meant_for is None:
            return typed.parse_command(line)
        subject = self._meant_for.subject
        if isinstance(subject, ApprovalRequest):
            return typed.parse_reply(line, len(subject.offers))
        return typed.parse_answer(line, choices_of(subject), may_type=subject.may_type and not is_edit(subject))

    def _first(self) -> _Asked | None:
        """What is being asked now, shown, and has no answer yet."""
        asked = self._asked[0] if self._asked else None
        return None if asked is None or asked.answer.done() else asked

    def _do(self, said: typed.Command | typed.Reply | typed.Answered) -> None:
        if isinstance(said, typed.Yes | typed.No | typed.Edited | typed.Answered):
            if self._meant_for is None or self._meant_for is not self._first():
                self._screen.show(("that is not asked any more; nothing was answered",))
            else:
                _settle(self._meant_for, _reply(said, self._meant_for.subject))
        elif isinstance(said, typed.Unclear):
            self._screen.show(said.told)
        elif self.run is not None:
            self._send(self.run, said)

    def _send(self, run: Run, said: typed.Command) -> None:
        match said:
            case typed.Steer(text=text):
                run.steer(text)
                self._screen.show((f"» {one_line(text)}  (queued)",))
            case typed.Later(text=text):
                run.follow_up(text)
                self._screen.show((f"» {one_line(text)}  (queued for later)",))
            case typed.Interrupt(text=text):
                if text:
                    # Sent first: what is queued when the interrupt is heard is what the run goes on with.
                    run.steer(text)
                run.interrupt()
            case typed.StopRun(reason=reason):
                run.stop(reason)
            case typed.CancelRun(reason=reason):
                run.cancel(reason)
            case typed.Unclear(told=told):
                self._screen.show(told)
            case _:
                assert_never(said)


def _settle(asked: _Asked, reply: ApprovalReply | Answer | NobodyThere) -> None:
    if asked.answer.done():
        return
    if isinstance(reply, NobodyThere):
        asked.answer.set_exception(reply)
    else:
        asked.answer.set_result(reply)


def _reply(said: typed.Reply | typed.Answered, subject: ApprovalRequest | Question) -> ApprovalReply | Answer:
    """What was typed as the answer to ``subject``; which kinds fit which was seen to when it was parsed."""
    match said, subject:
        case typed.Answered(), Question() if is_edit(subject):
            return Answer(text=subject.shown)
        case typed.Answered(), Question():
            return Answer(choice=said.choice, text=said.text)
        case typed.No(), Question():
            return Answer(refusal=Refusal(RefusalKind.DENIED, "person", said.reason))
        case typed.Yes(), ApprovalRequest():
            rule = None if said.offer is None else subject.offers[said.offer - 1]
            return Approve("run" if said.holds else "once", rule=rule, digest=subject.digest)
        case typed.No(), ApprovalRequest():
            return Deny(said.reason, digest=subject.digest)
        case typed.Edited(), ApprovalRequest():
            return ApproveEdited(said.input, digest=subject.digest)
    raise TypeError(f"{type(said).__name__} is no answer to {type(subject).__name__}")
