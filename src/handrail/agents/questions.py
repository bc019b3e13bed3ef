"""The questions of tools: each asked once, however often its call is run.

A question has a key that says which one it is: the run, the request whose response made the call, the call, and what
is asked. A call that is run again after a crash finds by it the question it asked, open or with the answer recorded.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from handrail import ids, jsonio
from handrail.agents.answering import put
from handrail.agents.approval import HOLD
from handrail.agents.cancellation import CancellationToken
from handrail.agents.options import Answerer
from handrail.agents.tool import Answer, Question
from handrail.agents.work import Work
from handrail.agents.writer import Writer
from handrail.journal import events as ev
from handrail.journal.refusals import refusal_of
from handrail.journal.vocabulary import Actor, ActorKind, AskKind, AskOutcome
from handrail.transcripts.model import Refusal, RefusalKind

if TYPE_CHECKING:
    from handrail.agents.asks import Asks

Closing: TypeAlias = tuple[ev.AskClosed, Actor]
"""How a question was closed, and by whom."""


def text_digest(text: str) -> str:
    """What an answer about a document is bound to: SHA-256, in hexadecimal, of its text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Questions:
    """The questions that the calls of one run put to a person."""

    def __init__(self, asks: Asks, work: Work, writer: Writer) -> None:
        self._asks = asks
        self._work = work
        self._writer = writer
        self._count: Counter[str] = Counter()

    def begin(self, call: str) -> None:
        """A call is run, or run again: its questions are counted from the first."""
        self._count[call] = 0

    async def end(self, call: str) -> None:
        """A call has run: what it asked and did not wait for need not be answered any more."""
        del self._count[call]
        for one in self._writer.state.asks:
            if one.call == call and one.kind is not AskKind.APPROVAL:
                await self._asks.withdraw(one.ask, "the call that asked has ended")

    async def ask(self, call: str, question: Question, cancellation: CancellationToken) -> Answer:
        """Put ``question`` to a person and wait for its end, whoever brings it.

        One that an earlier run of the call asked is not asked again: it is still open, or was answered.
        """
        opened = self._opening(call, question)
        standing = next((one for one in self._writer.state.asks if one.key == opened.key), None)
        if standing is None and (recorded := await self._recorded(call, opened.key)) is not None:
            return _answer_of(*recorded)
        asked = standing or opened
        self._asks.await_closing(asked.ask)
        if standing is None:
            await self._writer.record(opened)
        self._put(asked, question)
        return _answer_of(*await self._asks.closing(asked, cancellation))

    def put_again(self, opened: ev.AskOpened) -> None:
        """Put a question whose call died with its driver: the call is run again once there is an answer."""
        question = Question(
            prompt=opened.prompt,
            options=opened.options,
            may_type=opened.may_type,
            kind=opened.kind,  # type: ignore[arg-type] # a tool's question is of no other kind
            title=opened.title,
            shown=opened.shown,
            body_format="markdown" if opened.body_format == "markdown" else "plain",
        )
        self._put(opened, question)

    def _put(self, opened: ev.AskOpened, question: Question) -> None:
        answerer = self._work.options.answerer
        if answerer is not HOLD:
            self._asks.start(opened.ask, lambda token: self._answer(answerer, opened, question, token))

    def _opening(self, call: str, question: Question) -> ev.AskOpened:
        self._count[call] += 1
        what = hashlib.sha256(jsonio.encode(question)).hexdigest()
        return self._asks.opening(
            ev.AskOpened(
                ask=ids.new_uuid4(),
                key=f"{self._count[call]}/{what[:16]}",
                kind=question.kind,
                prompt=question.prompt,
                title=question.title,
                options=question.options,
                may_type=question.may_type,
                shown=question.shown,
                body_format=question.body_format,
                digest=None if question.shown is None else text_digest(question.shown),
                call=call,
            )
        )

    async def _recorded(self, call: str, key: str) -> Closing | None:
        """The end of the question of that ``key``, where an earlier run of the call got one."""
        run = self._writer.state.run
        if run is None or not any(one.call == call and one.attempts > 1 for one in run.calls):
            return None
        ask = None
        for event in await self._writer.journal.read(self._writer.session):
            body = event.body
            if isinstance(body, ev.AskOpened) and body.key == key:
                ask = body.ask
            elif isinstance(body, ev.AskClosed) and body.ask == ask:
                return body, event.by
        return None

    async def _answer(
        self, answerer: Answerer | None, opened: ev.AskOpened, question: Question, token: CancellationToken
    ) -> None:
        answer = await put(answerer, question, token)
        if answer is None:
            return
        refusal = answer.refusal
        closed = ev.AskClosed(ask=opened.ask, outcome=AskOutcome.ANSWERED, choice=answer.choice, comment=answer.comment)
        by = Actor(ActorKind.PERSON)
        if refusal is not None:
            is_no = refusal.kind is RefusalKind.DENIED
            closed = replace(closed, outcome=AskOutcome.DENIED if is_no else AskOutcome.AUTO, comment=refusal.reason)
            by = by if is_no else Actor(ActorKind.DRIVER, "answerer")
        if opened.kind is AskKind.EDIT:
            closed = replace(closed, before=opened.shown, after=answer.text)
        else:
            closed = replace(closed, words=answer.text)
        await self._asks.settle(closed, by)


def _answer_of(closed: ev.AskClosed, by: Actor) -> Answer:
    if closed.outcome is AskOutcome.ANSWERED:
        text = closed.words if closed.after is None else closed.after
        return Answer(choice=closed.choice, text=text, comment=closed.comment)
    return Answer(refusal=refusal_of(closed, by) or Refusal(RefusalKind.WITHDRAWN))
