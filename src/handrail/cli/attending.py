"""A person at the keyboard of a run: shown what happens, asked what only they can decide, heard whenever they type."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import TypeAlias, assert_never

from msgspec import Struct

from handrail import ids
from handrail.agents.approval import ApprovalRequest, Approve, ApproveEdited, Deny
from handrail.agents.approval import Reply as ApprovalReply
from handrail.agents.run import Happening, Relayed, Run
from handrail.agents.tool import Answer, Question
from handrail.agents.work import Progress
from handrail.cli import points, typed
from handrail.cli.cells import one_line
from handrail.cli.door import Door
from handrail.cli.keyboard import LineEditor
from handrail.cli.live import Screen
from handrail.cli.views.run import RunLines, choices_of, is_edit, render_asked, render_question
from handrail.errors import HandrailError
from handrail.journal.events import AskClosed, AskOpened, Event
from handrail.journal.vocabulary import AskKind
from handrail.models.port import TextDelta
from handrail.runs.asks.replies import Reply
from handrail.transcripts.model import Refusal, RefusalKind

_TAIL_CHARS = 200
_HOW_TO_REPLY = "y, a, n WHY or e JSON"

Subject: TypeAlias = ApprovalRequest | Question | AskOpened
Saying: TypeAlias = typed.Command | typed.Reply | typed.Answered | Reply | points.OpenEditor


class NobodyThere(Exception):
    """The keyboard is gone, so nobody can answer."""


class _Asked(Struct, frozen=True, kw_only=True, eq=False):
    """Something that waits for an answer: what it shows, and where the answer goes.

    That to a durable question goes through the journal, and ``answer`` says that it is on its way.
    """

    subject: Subject
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
        if isinstance(self.subject, AskOpened):
            return points.render_opened(self.subject)
        if isinstance(self.subject, ApprovalRequest):
            return render_asked(self.subject)
        return render_question(self.subject)


def is_for_desk(opened: AskOpened) -> bool:
    """Whether the question is put by no call of this process, so that only the journal takes its answer."""
    return opened.kind is AskKind.POINT or (opened.kind is AskKind.EDIT and opened.call is None)


class Attendant:
    """Between one person and one run. ``approve`` and ``answer`` are what the run asks them by; one at a time.

    ``door`` is given once the run has begun; without it durable questions are left to whoever answers from elsewhere.
    """

    def __init__(self, screen: Screen, lines: RunLines) -> None:
        self.run: Run | None = None
        self.door: Door | None = None
        self.was_interrupted = False
        self._screen = screen
        self._lines = lines
        self._line = LineEditor()
        self._asked: deque[_Asked] = deque()
        self._tail = ""
        self._is_gone = False
        self._meant_for: _Asked | None = None
        self._sending: _Asked | None = None
        self._answering: set[asyncio.Task[None]] = set()

    # What happens

    def watch(self, happening: Happening) -> None:
        """Show what happened; of what streams, its end."""
        if isinstance(happening, TextDelta | Progress):
            self._tail = f"{self._tail}{happening.text}"[-_TAIL_CHARS:]
        elif lines := self._lines.render(happening):
            self._tail = ""
            self._screen.show(lines)
        event = happening.item if isinstance(happening, Relayed) else happening
        if isinstance(event, Event):
            self._heed(event)
        self._show_state()

    def _heed(self, event: Event) -> None:
        """Put a durable question that was opened, and forget one that was closed, by whomever."""
        if isinstance(event.body, AskOpened) and is_for_desk(event.body):
            self.put((event.body,))
        elif isinstance(event.body, AskClosed):
            for asked in [one for one in self._asked if _name(one) == event.body.ask]:
                asked.answer.cancel()
                self._forget(asked)

    def put(self, opened: Iterable[AskOpened]) -> None:
        """Put durable questions to the person; where nobody is there the run is left, and they stay open."""
        if self.door is None:
            return
        for one in opened:
            if any(_name(asked) == one.ask for asked in self._asked):
                continue
            self._add(_Asked(subject=one, answer=asyncio.get_running_loop().create_future()))
        if self._is_gone and self.run is not None:
            self.run.park()

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
        self._add(asked)
        try:
            return await asked.answer
        finally:
            self._forget(asked)

    def _add(self, asked: _Asked) -> None:
        self._asked.append(asked)
        if len(self._asked) == 1:
            self._screen.show(asked.lines)
        self._show_state()

    def _forget(self, asked: _Asked) -> None:
        was_first = self._asked[0] is asked
        self._asked.remove(asked)
        if was_first and self._asked:
            self._screen.show(self._asked[0].lines)
        self._show_state()

    # What is typed

    def heard(self, data: bytes) -> None:
        """Keys were typed; ``b""`` says that no more will be."""
        if not self._line.typed:
            self._meant_for = self._first()
        for line in self._line.feed(data):
            self._do(self._parsed(line))
            self._meant_for = self._first()
        self._screen.type(self._line.typed)
        if (not data or self._line.is_over) and not self._is_gone:
            self._is_gone = True
            self._leave_alone()

    def _leave_alone(self) -> None:
        """Nobody types any more: what asks here is told so, and a run with a durable question is left open."""
        for asked in self._asked:
            if isinstance(asked.subject, AskOpened):
                if self.run is not None:
                    self.run.park()
            else:
                _settle(asked, NobodyThere("nobody is at the keyboard any more"))

    def interrupt(self) -> None:
        """Ctrl-C: stop what is being done, which ends the run; once more: end it whatever it does.

        At a durable question nothing is being done: the run is left, and stays open.
        """
        if self.run is None or (self.door is not None and self.door.is_editing):
            return
        if self._asked and isinstance(self._asked[0].subject, AskOpened) and not self.was_interrupted:
            self.run.park()
            return
        if self.was_interrupted:
            self.run.cancel("Ctrl-C")
        else:
            self.run.interrupt("Ctrl-C")
        self.was_interrupted = True

    def _parsed(self, line: str) -> Saying:
        """``line``, as an answer to what was asked when it was begun: nobody agrees to what they have not seen."""
        if self._meant_for is None:
            return typed.parse_command(line)
        subject = self._meant_for.subject
        if isinstance(subject, AskOpened):
            return points.parse_answer(line, subject)
        if isinstance(subject, ApprovalRequest):
            return typed.parse_reply(line, len(subject.offers))
        if is_edit(subject) and line.strip() == points.EDIT_COMMAND:
            return points.OpenEditor()
        return typed.parse_answer(line, choices_of(subject), may_type=subject.may_type and not is_edit(subject))

    def _first(self) -> _Asked | None:
        """What is being asked now, shown, and has no answer yet."""
        asked = self._asked[0] if self._asked else None
        return None if asked is None or asked.answer.done() or asked is self._sending else asked

    def _do(self, said: Saying) -> None:
        if isinstance(said, typed.Yes | typed.No | typed.Edited | typed.Answered | Reply | points.OpenEditor):
            asked = self._meant_for
            if asked is None or asked is not self._first():
                self._screen.show(("that is not asked any more; nothing was answered",))
            elif isinstance(said, Reply | points.OpenEditor):
                self._answer_meanwhile(asked, said)
            elif not isinstance(asked.subject, AskOpened):
                _settle(asked, _reply(said, asked.subject))
        elif isinstance(said, typed.Unclear):
            self._screen.show(said.told)
        elif self.run is not None:
            self._send(self.run, said)

    def _answer_meanwhile(self, asked: _Asked, said: Reply | points.OpenEditor) -> None:
        if self.door is None:
            self._screen.show(("that cannot be answered here",))
            return
        self._sending = asked
        task = asyncio.get_running_loop().create_task(self._answer_through(self.door, asked, said))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer_through(self, door: Door, asked: _Asked, said: Reply | points.OpenEditor) -> None:
        """Take what was said to the desk; a question that is still open after that is asked again."""
        try:
            if isinstance(asked.subject, AskOpened):
                told = await door.post(asked.subject, said)
                if told is None:
                    return
                self._screen.show((told,))
            elif isinstance(asked.subject, Question):
                opened = AskOpened(ask=ids.new_uuid4(), kind=AskKind.EDIT, prompt="", shown=asked.subject.shown)
                _settle(asked, Answer(text=await door.edited(opened)))
                return
        except HandrailError as problem:
            hint = () if problem.hint is None else (problem.hint,)
            self._screen.show((*map(one_line, (problem.message, *hint)), *asked.lines))
        self._sending = None

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
            case typed.Leave():
                run.park()
            case typed.Unclear(told=told):
                self._screen.show(told)
            case _:
                assert_never(said)


def _name(asked: _Asked) -> str | None:
    """The id of a durable question."""
    return asked.subject.ask if isinstance(asked.subject, AskOpened) else None


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
