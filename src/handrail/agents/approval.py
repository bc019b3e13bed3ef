"""Asking a person whether a call may run, and what their answer binds.

Five ends, never mixed: answered, denied, timed out, withdrawn, and decided without anybody (``auto``): there was
nobody to ask, or what should have asked failed. Only a person's own no is a denial.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Final, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from handrail import jsonio
from handrail.agents.cancellation import CancellationToken, Cancelled, CancelledItself, within
from handrail.agents.containment import Raised, contained, misfit, spellable
from handrail.agents.permissions import Grant, Rule, Scope, Verdict
from handrail.agents.threads import in_thread
from handrail.agents.tool import ToolOutput
from handrail.journal.refusals import wording_of
from handrail.journal.vocabulary import Actor, ActorKind, AskOutcome
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Json, Refusal, RefusalKind, Taint

PERSON = Actor(ActorKind.PERSON)


def digest_of(tool: str, input: Json) -> str:
    """What an answer is bound to: SHA-256, in hexadecimal, of the canonical JSON of the tool's name and the input."""
    return hashlib.sha256(jsonio.canonical({"input": input, "tool": tool})).hexdigest()


class ApprovalRequest(Struct, frozen=True, kw_only=True):
    """What is shown to whoever decides.

    ``why`` says why it is asked, ``origin`` is the path of agents from the root to the one that asks, ``offers`` are
    rules an answer may be made to hold for. ``digest`` is of ``tool`` and ``input`` as they are shown.
    """

    id: str
    call_id: str
    tool: str
    input: Json
    digest: str
    description: str = ""
    traits: ToolTraits = ToolTraits()
    why: str = ""
    origin: tuple[str, ...] = ()
    offers: tuple[Rule, ...] = ()
    taint: Taint | None = None


class Approve(Struct, frozen=True):
    """Yes: once, or until the stage or the run ends, for this very call or for the calls that fit ``rule``.

    ``by`` is who said it. An approver is a door to a person; a program that answers says so here, and then its no
    is no person's. ``digest``, where it is given, must be the request's.
    """

    scope: Scope = "once"
    comment: str | None = None
    rule: Rule | None = None
    by: Actor = PERSON
    digest: str | None = None


class Deny(Struct, frozen=True):
    """No, and why, in the words the model is to read."""

    reason: str | None = None
    scope: Scope = "once"
    rule: Rule | None = None
    by: Actor = PERSON
    digest: str | None = None


class ApproveEdited(Struct, frozen=True):
    """Yes, with ``input`` instead of what was shown."""

    input: Json
    reason: str | None = None
    by: Actor = PERSON
    digest: str | None = None


Reply: TypeAlias = Approve | Deny | ApproveEdited


class Approver(Protocol):
    """Puts a request to a person. It may take as long as they do; what it raises counts as no answer."""

    async def approve(self, request: ApprovalRequest) -> Reply:
        """Their answer."""
        ...


ApproverLike: TypeAlias = Approver | Callable[[ApprovalRequest], Reply | Awaitable[Reply]]
"""An approver, or a function, plain or async, that answers as one."""


class Held(Enum):
    """The type of ``HOLD``, so that type checkers can tell it from an approver."""

    HOLD = "hold"


HOLD: Final = Held.HOLD
"""In the place of an approver or an answerer: nobody in this process is asked. The question stays open, durable, and is
answered through the journal's inbox, whenever and from wherever that is."""


class Settled(Struct, frozen=True, kw_only=True):
    """How a request ended: with what outcome, by whom, and the reply if there was one that counts."""

    outcome: AskOutcome
    by: Actor
    reply: Reply | None = None
    reason: str | None = None

    @property
    def is_allowed(self) -> bool:
        return isinstance(self.reply, Approve | ApproveEdited)

    @property
    def grant(self) -> Grant | None:
        """The answer that holds on beyond this call, without the digest it is bound to; None for once."""
        reply = self.reply
        if reply is None or isinstance(reply, ApproveEdited) or reply.scope == "once":
            return None
        return Grant(
            verdict=Verdict.ALLOW if isinstance(reply, Approve) else Verdict.DENY,
            scope=reply.scope,
            rule=reply.rule,
            reason=self.reason,
        )


async def seek(
    approver: ApproverLike | None,
    request: ApprovalRequest,
    *,
    cancellation: CancellationToken,
    timeout_s: float | None = None,
) -> Settled:
    """Put ``request`` to ``approver`` and say how it ended; nothing but the task's own cancelling comes out of it.

    Without an approver, with one that fails or answers something else, nothing runs. ``timeout_s`` None waits as
    long as it takes.
    """
    if approver is None:
        return _auto("approval", "it needs a person's approval, and there is nobody to ask")
    try:
        reply = await within(cancellation.guard(contained(_put(approver, request))), timeout_s)
    except Cancelled as problem:
        return Settled(outcome=AskOutcome.WITHDRAWN, by=Actor(ActorKind.DRIVER, "cancellation"), reason=str(problem))
    except TimeoutError:
        return Settled(outcome=AskOutcome.TIMED_OUT, by=Actor(ActorKind.DRIVER, "deadline"))
    except CancelledItself as problem:
        return _auto("approver", f"the approver failed: {problem}")
    if isinstance(reply, Raised):
        return _auto("approver", f"the approver failed: {reply.told}")
    return _settled(reply.value, request)


async def _put(approver: ApproverLike, request: ApprovalRequest) -> object:
    ask: Callable[[ApprovalRequest], object] = approver if callable(approver) else approver.approve
    given = ask(request) if inspect.iscoroutinefunction(ask) else await in_thread(ask, request)
    return await given if inspect.isawaitable(given) else given


def _settled(reply: object, request: ApprovalRequest) -> Settled:
    if not isinstance(reply, Approve | Deny | ApproveEdited):
        return _auto("approver", f"the approver gave no answer but {type(reply).__name__}")
    if problem := misfit(reply):
        return _auto("approver", f"the approver's answer does not fit: {problem}")
    if reply.digest not in (None, request.digest):
        return _auto("approval", "the answer was given to something else than what is asked")
    if digest_of(request.tool, request.input) != request.digest:
        return _auto("approval", "what was shown was changed while it was shown")
    match reply:
        case Deny():
            return Settled(outcome=AskOutcome.DENIED, by=reply.by, reply=reply, reason=reply.reason)
        case Approve():
            return Settled(outcome=AskOutcome.ANSWERED, by=reply.by, reply=reply, reason=reply.comment)
        case ApproveEdited():
            reply = replace(reply, input=spellable(reply.input))
            return Settled(outcome=AskOutcome.ANSWERED, by=reply.by, reply=reply, reason=reply.reason)


def _auto(by: str, reason: str) -> Settled:
    return Settled(outcome=AskOutcome.AUTO, by=Actor(ActorKind.DRIVER, by), reason=reason)


def refusal_from(settled: Settled) -> Refusal | None:
    """Why the call does not run; None when it may. Only a person's no is ``denied``."""
    if settled.is_allowed:
        return None
    is_person = settled.by.kind is ActorKind.PERSON
    kinds = {AskOutcome.TIMED_OUT: RefusalKind.EXPIRED, AskOutcome.WITHDRAWN: RefusalKind.WITHDRAWN}
    no = RefusalKind.DENIED if settled.outcome is AskOutcome.DENIED and is_person else RefusalKind.BLOCKED
    by = "person" if is_person else settled.by.name or settled.by.kind.value
    return Refusal(kinds.get(settled.outcome, no), by, settled.reason)


def refused(name: str, refusal: Refusal) -> ToolOutput:
    """The result of a call that was refused, worded so that a model can tell the ways of not running apart."""
    return ToolOutput(wording_of(name, refusal), is_error=True, refusal=refusal)


def bound(grant: Grant, digest: str) -> Grant:
    """``grant``, bound to the call it was given for where it has no rule."""
    return grant if grant.rule is not None else replace(grant, digest=digest)
