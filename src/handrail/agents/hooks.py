"""What a host or a repository has to say about a call before it runs, and about its result after.

A hook is a Python callable or a command. It lets a call pass, blocks it, or rewrites it; a rewrite is judged again
like a new call. Whatever goes wrong with a hook (it raises, hangs, cannot be started, answers nonsense) blocks.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from handrail import jsonio
from handrail.agents.cancellation import CancelledItself, within
from handrail.agents.containment import Gave, Raised, contained, misfit, spellable
from handrail.agents.guard import GUARD
from handrail.agents.permissions import matches
from handrail.agents.process import run_process
from handrail.agents.threads import in_thread
from handrail.agents.tool import ToolOutput
from handrail.errors import HandrailError
from handrail.journal.vocabulary import HookVerdict
from handrail.transcripts.model import Json, Message, Refusal, RefusalKind

TIMEOUT_S = 5.0


class HookEvent(StrEnum):
    """When a hook is asked."""

    PRE_TOOL_USE = "pre_tool_use"
    POST_TOOL_USE = "post_tool_use"


class HookCall(Struct, frozen=True, kw_only=True):
    """What a hook is shown: the call, and after it has run also its output.

    ``read_history`` gives the conversation up to here, the call's own message included; made when it is asked for.
    """

    event: HookEvent
    tool: str
    input: Json
    call_id: str
    workspace: Path
    agent: str | None = None
    output: ToolOutput | None = None
    read_history: Callable[[], tuple[Message, ...]] = tuple


class Pass(Struct, frozen=True):
    """Nothing against it. ``note`` is recorded with the verdict and told to nobody."""

    note: str | None = None


class Block(Struct, frozen=True):
    """The call must not run, or its result must not be shown; the model is told ``reason``."""

    reason: str


class Rewrite(Struct, frozen=True):
    """Run the call with ``becomes`` as its input, or show ``becomes`` as its result."""

    becomes: Json
    reason: str | None = None


Reply: TypeAlias = Pass | Block | Rewrite | None
"""None is the same as ``Pass()``."""


class Hook(Struct, frozen=True, kw_only=True):
    """A named hook for calls of ``tools`` (exact names, or patterns where a ``*`` is written; none: of all tools)."""

    name: str
    ask: Callable[[HookCall], Reply | Awaitable[Reply]]
    event: HookEvent = HookEvent.PRE_TOOL_USE
    tools: tuple[str, ...] = ()
    timeout_s: float = TIMEOUT_S


class HookOutcome(Struct, frozen=True, kw_only=True):
    """What a hook said. ``becomes`` is set for a rewrite; ``error`` blocks as ``deny`` does."""

    hook: str
    verdict: HookVerdict
    reason: str | None = None
    becomes: Json | UnsetType = UNSET

    @property
    def is_blocking(self) -> bool:
        return self.verdict in {HookVerdict.DENY, HookVerdict.ERROR}


class _Broken(HandrailError):
    """A hook gave no verdict that can be used."""

    code = "hook"


def hooks_for(hooks: Iterable[Hook], event: HookEvent, tool: str) -> tuple[Hook, ...]:
    """The hooks to ask about a call of ``tool``, in their order."""
    return tuple(hook for hook in hooks if hook.event is event and _is_meant(hook, tool))


def _is_meant(hook: Hook, tool: str) -> bool:
    return not hook.tools or any(matches(pattern, tool) for pattern in hook.tools)


async def run_hook(hook: Hook, call: HookCall) -> HookOutcome:
    """What ``hook`` says about ``call``; nothing but the task's own cancelling comes out of it."""
    try:
        put = await within(contained(_put(hook, call)), hook.timeout_s)
    except TimeoutError:
        return _error(hook, f"no answer within {hook.timeout_s:g} seconds")
    except CancelledItself as problem:
        return _error(hook, str(problem))
    return _outcome(hook, call, put)


def _outcome(hook: Hook, call: HookCall, put: Gave[object] | Raised) -> HookOutcome:
    if isinstance(put, Raised):
        return _error(hook, str(put.problem) if isinstance(put.problem, _Broken) else put.told)
    match put.value:
        case None:
            return HookOutcome(hook=hook.name, verdict=HookVerdict.ALLOW)
        case Pass(note=note):
            return _fitting(hook, HookOutcome(hook=hook.name, verdict=HookVerdict.ALLOW, reason=note))
        case Block(reason=reason):
            return _fitting(hook, HookOutcome(hook=hook.name, verdict=HookVerdict.DENY, reason=reason))
        case Rewrite(becomes=becomes, reason=reason):
            if call.event is HookEvent.PRE_TOOL_USE and not isinstance(becomes, dict):
                return _error(hook, "the rewritten input is no object")
            becomes = spellable(becomes)
            rewritten = HookOutcome(hook=hook.name, verdict=HookVerdict.REWRITE, reason=reason, becomes=becomes)
            return _fitting(hook, rewritten)
        case reply:
            return _error(hook, f"it answered with {type(reply).__name__}")


def _fitting(hook: Hook, outcome: HookOutcome) -> HookOutcome:
    problem = misfit(outcome)
    return outcome if problem is None else _error(hook, f"its answer does not fit: {problem}")


async def _put(hook: Hook, call: HookCall) -> object:
    # Its own copy: a hook that changes what it is shown must say so by a rewrite.
    shown = replace(call, input=jsonio.decode(jsonio.encode(call.input)))
    given = hook.ask(shown) if inspect.iscoroutinefunction(hook.ask) else await in_thread(hook.ask, shown)
    return await given if inspect.isawaitable(given) else given


def _error(hook: Hook, reason: str) -> HookOutcome:
    return HookOutcome(hook=hook.name, verdict=HookVerdict.ERROR, reason=f"the hook failed: {reason}")


def blocked_call(outcome: HookOutcome, tool: str) -> ToolOutput:
    """The result of a call that a hook kept from running."""
    reason = outcome.reason or "it gave no reason"
    refusal = Refusal(RefusalKind.BLOCKED, f"hook:{outcome.hook}", outcome.reason)
    return ToolOutput(
        f"{tool} was not run, blocked by the hook {outcome.hook}: {reason}", is_error=True, refusal=refusal
    )


def output_after(outcome: HookOutcome, output: ToolOutput, tool: str) -> ToolOutput:
    """``output`` as a hook that looked at it leaves it: as it is, rewritten, or withheld.

    What it brought into the conversation stays: a rewrite can carry words from outside as well.
    """
    if outcome.is_blocking:
        reason = outcome.reason or "it gave no reason"
        text = f"{tool} was run, but the hook {outcome.hook} withholds its result: {reason}"
        refusal = Refusal(RefusalKind.OUTCOME_UNKNOWN, f"hook:{outcome.hook}", outcome.reason)
        return replace(output, content=text, is_error=True, refusal=output.refusal or refusal)
    return output if outcome.becomes is UNSET else replace(output, content=outcome.becomes)


# Commands ---------------------------------------------------------------------------------------------------


class _Answer(Struct, frozen=True):
    decision: Literal["allow", "deny", "modify"]
    reason: str | None = None
    input: Json | UnsetType = UNSET
    output: Json | UnsetType = UNSET


def command_hook(
    name: str,
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    event: HookEvent = HookEvent.PRE_TOOL_USE,
    tools: tuple[str, ...] = (),
    timeout_s: float = TIMEOUT_S,
) -> Hook:
    """A hook that runs ``argv`` (no shell) in ``cwd``, with the call as JSON on its input.

    It answers with ``{"decision": "allow" | "deny" | "modify", "reason"?, "input"? | "output"?}`` and exit code 0.
    """

    async def ask(call: HookCall) -> Reply:
        given = {**environment, GUARD: name}
        ran = await run_process(argv, cwd=cwd, environment=given, stdin=jsonio.encode(_shown(call)))
        if ran.exit_code != 0:
            raise _Broken(f"exit code {ran.exit_code}: {ran.errors.strip()[-500:]}".rstrip(": "))
        return _reply(ran.output, call.event)

    return Hook(name=name, ask=ask, event=event, tools=tools, timeout_s=timeout_s)


def _shown(call: HookCall) -> dict[str, Json]:
    shown: dict[str, Json] = {
        "hook_schema": 1,
        "event": call.event.value,
        "workspace": str(call.workspace),
        "agent_id": call.agent,
        "tool_call_id": call.call_id,
        "tool_name": call.tool,
        "input": call.input,
    }
    if call.output is not None:
        shown["output"] = {"content": call.output.content, "is_error": call.output.is_error}
    return shown


def _reply(printed: str, event: HookEvent) -> Reply:
    if not printed.strip():
        raise _Broken("it printed nothing")
    try:
        answer = msgspec.json.decode(printed, type=_Answer)
    except msgspec.DecodeError as problem:
        raise _Broken(f"it printed no answer: {problem}") from problem
    if answer.decision == "allow":
        return Pass()
    if answer.decision == "deny":
        return Block(answer.reason or "it gave no reason")
    becomes = answer.input if event is HookEvent.PRE_TOOL_USE else answer.output
    if becomes is UNSET:
        raise _Broken("it said modify and gave nothing to modify to")
    return Rewrite(becomes, answer.reason)
