"""Running one call: checked, timed, cancellable, contained, and its result cut to what a model can take.

Whatever a tool does, ``execute`` gives an output. Only the cancelling of the task it runs in comes out of it.
"""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from handrail.agents.cancellation import CancellationToken, Cancelled, begin, end, settle
from handrail.agents.containment import Gave, contained, misfit, spellable, told, words_of
from handrail.agents.paging import READER, limited
from handrail.agents.tool import Tool, ToolContext, ToolError, ToolOutput
from handrail.transcripts.calls import render_call
from handrail.transcripts.model import Json, Refusal, RefusalKind, ToolUse

_CANCELLED_ITSELF = "it cancelled itself"


async def execute(call: ToolUse, tool: Tool, context: ToolContext) -> ToolOutput:
    """Run ``call`` with ``tool``: the output, whatever happens in the tool.

    An input with problems, or a token that is cancelled already, runs nothing. A tool that outlives its timeout or
    the token is told to end (its own token is cancelled, its task too) and the outcome counts as unknown or
    interrupted. What it raises becomes an error result.
    """
    _, input = render_call(call.call)
    if problems := tool.problems(input):
        return invalid_input(tool.name, problems)
    if context.cancellation.is_cancelled:
        return not_run(f"{tool.name} was not run: {context.cancellation.reason}.", by="cancellation")
    own = context.cancellation.child()
    output = await _bounded(tool, input, replace(context, cancellation=own), own)
    # The reader's pages are cut already; cutting them again would send it in circles.
    return output if tool.name == READER else limited(output, call.id, context.shelf, context.limits)


def invalid_input(name: str, problems: tuple[str, ...]) -> ToolOutput:
    """The result of a call whose input does not fit: every problem, so that one more try can mend all."""
    count = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
    listed = "\n".join(f"- {problem}" for problem in problems)
    return not_run(f"{name} was not run. Its input has {count}:\n{listed}", by="validation")


def unknown_tool(name: str, known: tuple[str, ...]) -> ToolOutput:
    """The result of a call of a tool that is not there (or not for this agent)."""
    return not_run(f"There is no tool {name!r} here. There are: {', '.join(known) or 'none'}.", by="policy")


def not_run(text: str, *, by: str) -> ToolOutput:
    """The result of a call that was never started, without anybody having refused it."""
    return ToolOutput(text, is_error=True, refusal=Refusal(RefusalKind.NOT_RUN, by))


async def _bounded(tool: Tool, input: Json, context: ToolContext, own: CancellationToken) -> ToolOutput:
    loop = asyncio.get_running_loop()
    task, over = begin(_contained(tool, input, context), loop)
    forget = own.on_cancel(lambda _: loop.call_soon_threadsafe(settle, over))
    timer = None if tool.timeout_s is None else loop.call_later(tool.timeout_s, settle, over)
    try:
        await over
        if task.done():
            return _ended(tool, task, own)
        if own.reason is not None:
            return await _interrupted(tool, task, own.reason)
        own.cancel(f"{tool.name} took longer than {tool.timeout_s:g} seconds")
        return await _timed_out(tool, task)
    except asyncio.CancelledError:
        # The task this runs in is being cancelled: the tool ends with it.
        own.cancel("the run was cancelled")
        await _end(task)
        raise
    finally:
        forget()
        if timer is not None:
            timer.cancel()


def _ended(tool: Tool, task: asyncio.Task[ToolOutput], cancellation: CancellationToken) -> ToolOutput:
    output = _failed(tool, _CANCELLED_ITSELF) if task.cancelled() else task.result()
    if output.is_error and output.refusal is None and cancellation.is_cancelled:
        # It failed because it was told to end, which it had a way to notice before its task was cancelled.
        return _interrupted_output(tool, cancellation.reason or "cancelled")
    return output


async def _contained(tool: Tool, input: Json, context: ToolContext) -> ToolOutput:
    """The one place where what a tool raises is caught."""
    ran = await contained(tool.run(input, context))
    if isinstance(ran, Gave):
        return _checked(tool, ran.value)
    match ran.problem:
        case ToolError() as problem:
            return ToolOutput(words_of(problem), is_error=True, is_external=problem.is_external)
        case Cancelled() as problem:
            return _interrupted_output(tool, words_of(problem))
        case asyncio.CancelledError():
            return _failed(tool, _CANCELLED_ITSELF)
        case problem:
            return _failed(tool, told(problem))


def _checked(tool: Tool, given: object) -> ToolOutput:
    """What a handler gave, made storable; a failure where that cannot be an output."""
    if not isinstance(given, ToolOutput):
        return _failed(tool, f"it gave no output but {type(given).__name__}")
    output = replace(given, content=spellable(given.content), details=spellable(given.details))
    if problem := misfit(replace(output, content="", details=None)):
        return _failed(tool, f"its output does not fit: {problem}")
    return output


def _failed(tool: Tool, what: str) -> ToolOutput:
    # What a failure says may be words from outside as much as a result's.
    return ToolOutput(f"{tool.name} failed: {what}", is_error=True, is_external=tool.traits.untrusted)


async def _timed_out(tool: Tool, task: asyncio.Task[ToolOutput]) -> ToolOutput:
    partial = await _end(task)
    text = f"{tool.name} ran longer than {tool.timeout_s:g} seconds and was stopped. Whether it took effect is unknown."
    return _with_partial(text, partial, Refusal(RefusalKind.OUTCOME_UNKNOWN, "timeout"))


async def _interrupted(tool: Tool, task: asyncio.Task[ToolOutput], reason: str) -> ToolOutput:
    partial = await _end(task)
    output = _interrupted_output(tool, reason)
    return _with_partial(str(output.content), partial, output.refusal)


def _interrupted_output(tool: Tool, reason: str) -> ToolOutput:
    text = f"{tool.name} was interrupted ({reason}). Whether it took effect is unknown."
    return ToolOutput(text, is_error=True, refusal=Refusal(RefusalKind.INTERRUPTED, "cancellation", reason))


def _with_partial(text: str, partial: ToolOutput | None, refusal: Refusal | None) -> ToolOutput:
    """``text``, and what the tool had to show when it was told to end."""
    if partial is None or not isinstance(partial.content, str) or partial.refusal is not None:
        return ToolOutput(text, is_error=True, refusal=refusal)
    shown = f"{partial.content}\n\n{text}" if partial.content else text
    return replace(partial, content=shown, is_error=True, refusal=refusal)


async def _end(task: asyncio.Task[ToolOutput]) -> ToolOutput | None:
    """End ``task``: its output when it still gave one."""
    await end(task)
    if not task.done() or task.cancelled() or task.exception() is not None:
        return None
    return task.result()
