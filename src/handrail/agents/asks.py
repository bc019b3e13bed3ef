"""Questions to a person while a run goes on: opened once, closed once, whoever closes them.

An answer comes from the host's approver or answerer, or through the inbox from somebody else; the first one wins
and the other is told. A question that is closed any other way is taken back from whoever is being asked.
Those of tools are put by ``questions``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import msgspec

from handrail import ids, jsonio
from handrail.agents.admission import Admission, admit, asked_of
from handrail.agents.approval import HOLD, ApprovalRequest, ApproveEdited, Settled, digest_of, seek
from handrail.agents.cancellation import CancellationToken, Cancelled
from handrail.agents.execution import unknown_tool
from handrail.agents.permissions import Rule, Verdict, offers
from handrail.agents.questions import Closing, Questions
from handrail.agents.taint import ALL_TRAITS
from handrail.agents.tool import Tool, ToolOutput
from handrail.agents.work import Work
from handrail.agents.writer import Writer
from handrail.journal import events as ev
from handrail.journal.state import CallPhase, CallState, open_ask
from handrail.journal.vocabulary import DRIVER, Actor, AskKind, AskOutcome
from handrail.transcripts.calls import call_name, parse_call, render_call
from handrail.transcripts.model import Json, Taint

BOTH = Taint(private=True, untrusted=True)
"""What is assumed where nobody knows what entered the conversation."""

_YES_NO = {"approve": True, "deny": False}
"""The answers an approval offers, and whether the call may run with them."""


TOO_LATE = "somebody else answered first, or the question was withdrawn"


class Asks:
    """The open questions of one run."""

    def __init__(self, work: Work, writer: Writer, wake: Callable[[], None]) -> None:
        self._work = work
        self._writer = writer
        self._wake = wake
        self._asked: dict[str, tuple[asyncio.Task[None], CancellationToken]] = {}
        self._awaited: dict[str, asyncio.Future[Closing]] = {}
        self._is_let_go = False
        self.questions = Questions(self, work, writer)

    # Approvals

    async def approve(self, call: str, admission: Admission, tool: Tool, input: Json) -> None:
        """Open the question whether ``call`` may run and put it to the approver."""
        shown = jsonio.encode(input).decode()
        opened = self.opening(
            ev.AskOpened(
                ask=ids.new_uuid4(),
                key=f"approve/{admission.digest[:16]}",
                kind=AskKind.APPROVAL,
                prompt=f"Run {tool.name}?",
                title=tool.name,
                options=tuple(_YES_NO),
                shown=shown,
                body_format="json",
                digest=admission.digest,
                call=call,
            )
        )
        if admission.verdict is Verdict.ALLOW:
            # Another answer came in between and holds for this call too: nobody is asked twice.
            closed = ev.AskClosed(
                ask=opened.ask, outcome=AskOutcome.AUTO, is_allowed=True, comment="an answer holds on"
            )
            await self._writer.record_if(lambda: ((opened, DRIVER), (closed, DRIVER)) if self._may_open(call) else ())
        elif await self._writer.record_if(lambda: ((opened, DRIVER),) if self._may_open(call) else ()):
            self.put(opened, admission.why)

    def opening(self, opened: ev.AskOpened) -> ev.AskOpened:
        """``opened`` with what is the same for every question of a call: where it was asked, by whom, until when."""
        state = self._writer.state
        run, stage = state.run, None if state.run is None else state.run.stage
        place = "" if run is None else f"{run.started.run}/{run.spent.requests}/{opened.call}/"
        return msgspec.structs.replace(
            opened,
            key=f"{place}{opened.key}",
            run=None if run is None else run.started.run,
            stage=None if stage is None else stage.stage,
            visit=None if stage is None else stage.visit,
            origin=self._work.origin,
            deadline=self._deadline(),
        )

    def _may_open(self, call: str) -> bool:
        state = self._call(call)
        return state is not None and state.phase is CallPhase.ADMITTED

    def _call(self, call: str) -> CallState | None:
        run = self._writer.state.run
        return None if run is None else next((one for one in run.calls if one.call == call), None)

    def put(self, opened: ev.AskOpened, why: str = "") -> None:
        """Put an open question of a call to whoever answers here, if nobody does: a driver that died may have."""
        if opened.ask in self._asked or opened.call is None:
            return
        if opened.kind is not AskKind.APPROVAL:
            self.questions.put_again(opened)
            return
        if self._work.options.approver is HOLD:
            return
        record = self._writer.conversation.calls[opened.call]
        name, input = render_call(record.becomes)
        tool = self._work.tools.get(name)
        request = ApprovalRequest(
            id=opened.ask,
            call_id=opened.call,
            tool=name,
            input=input,
            digest=opened.digest or digest_of(name, input),
            description="" if tool is None else tool.spec.description,
            traits=ALL_TRAITS if tool is None else tool.traits,
            why=why,
            origin=self._work.origin,
            offers=() if tool is None else offers(asked_of(tool, input, self._work.options.workspace)),
            taint=self._writer.state.taint,
        )
        self.start(opened.ask, lambda token: self._seek(request, token))

    async def _seek(self, request: ApprovalRequest, token: CancellationToken) -> None:
        approver = self._work.options.approver
        if approver is HOLD:
            return
        settled = await seek(approver, request, cancellation=token)
        await self._writer.record_if(lambda: self._settled(request, settled) if self._is_open(request.id) else ())

    def _settled(self, request: ApprovalRequest, settled: Settled) -> tuple[tuple[ev.Known, Actor], ...]:
        """The events that close an approval; an edit is judged anew, by everything but the person who made it."""
        reply = settled.reply
        grant = settled.grant
        closed = ev.AskClosed(
            ask=request.id,
            outcome=settled.outcome,
            is_allowed=settled.is_allowed,
            comment=settled.reason,
            grant="once" if grant is None else grant.scope,
            rule=None if grant is None or grant.rule is None else msgspec.to_builtins(grant.rule),
        )
        if not isinstance(reply, ApproveEdited):
            return ((closed, settled.by),)
        shown, edited = (jsonio.encode(value).decode() for value in (request.input, reply.input))
        closed = msgspec.structs.replace(closed, before=shown, after=edited)
        return ((closed, settled.by), (self.edited(request.call_id, reply.input), settled.by))

    def edited(self, call: str, input: Json) -> ev.ToolRewritten | ev.ToolFinished:
        """What becomes of ``call`` when a person runs it with ``input``: judged by everything but them."""
        name = call_name(self._writer.conversation.calls[call].becomes)
        tool = self._work.tools.get(name)
        if tool is None:
            return _unrun(call, unknown_tool(name, tuple(self._work.tools)))
        gate, held = self._work.options.gate, self._writer.conversation.grants
        admission = admit(
            msgspec.structs.replace(gate, grants=(*gate.grants, *held)),
            tool,
            input,
            turn=self._writer.state.taint or BOTH,
            root=self._work.options.workspace,
            is_approved=True,
        )
        if admission.refused is not None:
            return _unrun(call, admission.refused)
        return ev.ToolRewritten(call=call, becomes=parse_call(name, input))

    def pause(self, question: str) -> ev.AskOpened:
        """The question a run ends with; it stays open until the run is gone on with."""
        return ev.AskOpened(ask=ids.new_uuid4(), kind=AskKind.PAUSE, prompt=question, may_type=True)

    # All

    def _deadline(self) -> Any:
        seconds = self._work.options.approval_timeout_s
        return None if seconds is None else self._work.clock.now() + timedelta(seconds=seconds)

    def start(self, ask: str, work: Callable[[CancellationToken], Coroutine[Any, Any, None]]) -> None:
        """Let ``work`` ask somebody; it is told to end when the question is closed by somebody else."""
        token = CancellationToken()
        task = asyncio.get_running_loop().create_task(work(token))
        task.add_done_callback(lambda _: self._wake())
        self._asked[ask] = (task, token)

    async def closing(self, opened: ev.AskOpened, cancellation: CancellationToken) -> Closing:
        """Wait until somebody closes the question; it is withdrawn when ``cancellation`` comes first."""
        self._wake()
        try:
            return await cancellation.guard(self._awaited[opened.ask])
        except Cancelled:
            await self.withdraw(opened.ask)
            raise
        finally:
            del self._awaited[opened.ask]

    def await_closing(self, ask: str) -> None:
        """Keep the end of the question for ``closing``, from now on."""
        self._awaited[ask] = asyncio.get_running_loop().create_future()

    def watch(self, event: ev.Event) -> None:
        """Take a closed question back from whoever is being asked, and give its end to the tool that waits."""
        body = event.body
        if type(body) is not ev.AskClosed:
            return
        _, token = self._asked.get(body.ask, (None, None))
        if token is not None:
            token.cancel(TOO_LATE)
        ended = self._awaited.get(body.ask)
        if ended is not None and not ended.done():
            ended.set_result((body, event.by))

    async def withdraw(self, ask: str, why: str | None = None) -> None:
        """Close a question that need not be answered any more."""
        if self._is_let_go:
            return
        await self.settle(ev.AskClosed(ask=ask, outcome=AskOutcome.WITHDRAWN, comment=why), DRIVER)

    async def time_out(self, ask: str) -> None:
        """Close a question whose deadline has passed."""
        await self.settle(ev.AskClosed(ask=ask, outcome=AskOutcome.TIMED_OUT), DRIVER)

    async def settle(self, closed: ev.AskClosed, by: Actor) -> None:
        """Close a question, unless somebody has done so in the meantime."""
        await self._writer.record_if(lambda: ((closed, by),) if self._is_open(closed.ask) else ())

    def _is_open(self, ask: str) -> bool:
        return open_ask(self._writer.state, ask) is not None

    @property
    def are_put(self) -> bool:
        """Whether somebody in this process is being asked."""
        return bool(self._asked)

    def let_go(self) -> None:
        """Leave every question as it is: the run is parked, and closes none because a call that asks is given up."""
        self._is_let_go = True

    async def reap(self) -> None:
        """Raise what went wrong in those that ended."""
        for ask, (task, _) in tuple(self._asked.items()):
            if task.done():
                del self._asked[ask]
                await task

    async def close(self) -> None:
        """Take back whatever is still asked; nothing is recorded any more."""
        for task, token in self._asked.values():
            token.cancel("the run is over")
            task.cancel()
        await asyncio.gather(*(task for task, _ in self._asked.values()), return_exceptions=True)
        self._asked.clear()


def _unrun(call: str, output: ToolOutput) -> ev.ToolFinished:
    return ev.ToolFinished(call=call, content=output.content, is_error=True, refusal=output.refusal)


def why_no_approval(closed: ev.AskClosed) -> str | None:
    """Why ``closed``, which somebody else sent, is no answer to a question about a call; None where it is one."""
    if closed.choice in _YES_NO and closed.is_allowed is not _YES_NO[closed.choice]:
        return "it says both yes and no"
    try:
        if closed.rule is not None:
            msgspec.convert(closed.rule, Rule)
        if closed.after is not None and jsonio.is_deep(closed.after.encode("utf-8", "surrogatepass")):
            return f"the edited arguments are {jsonio.MAX_DEPTH_ERROR}"
        jsonio.decode(closed.after or "null")
    except msgspec.ValidationError as problem:
        return f"what it holds for is no rule: {problem}"
    except jsonio.NotJson as problem:
        return f"the edited arguments are no JSON: {problem}"
    return None
