"""Bash: a shell command, timed, its whole process group ended with it, confined where that was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pydantic
from msgspec.structs import replace

from handrail.agents.process import Ran, run_process
from handrail.agents.tool import Tool, ToolContext, ToolError, ToolOutput, tool
from handrail.agents.tools.families.reach import plain_failures, reach
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Refusal, RefusalKind
from handrail.workspace.sandbox import NoSandbox, Sandbox

_DEFAULT_MS = 120_000
_MAX_MS = 600_000

_TOLD = """Run a shell command in the workspace, without input; its output and errors come back together.

{confinement}

command: for bash
workdir: the folder to run in, relative to the workspace
timeout_ms: how long it may take, in milliseconds (120000 when not given, 600000 at most)
description: what it does, in a few words"""


def shell_tool(confinement: Sandbox | NoSandbox | None = None, *, wants: Literal["auto", "required"] = "auto") -> Tool:
    """The shell tool for a machine where ``confinement`` was found (``workspace.sandbox.find_sandbox``).

    With a sandbox a command reads the whole system, writes the workspace only, and has no network unless the
    sandbox says so: then the tool does not send. Without one it says plainly that it is not confined, and when
    confinement is ``required`` it runs nothing.
    """
    sandbox = confinement if isinstance(confinement, Sandbox) else None
    missing = confinement.reason if isinstance(confinement, NoSandbox) else "nobody asked for it"

    async def bash(
        command: str,
        context: ToolContext,
        workdir: str = ".",
        timeout_ms: Annotated[int, pydantic.Field(ge=1, le=_MAX_MS)] = _DEFAULT_MS,
        description: str | None = None,
    ) -> ToolOutput:
        if sandbox is None and wants == "required":
            raise ToolError(f"commands must be confined here and cannot be: {missing}. Nothing was run.")
        cwd = _folder(workdir, context)
        argv = ["bash", "-c", command]
        if sandbox is not None:
            argv = sandbox.wrap(argv, root=reach(context).root, cwd=cwd)
        ran = await _run(argv, cwd, timeout_ms / 1000, context)
        return _output(ran, timeout_ms / 1000, is_confined=sandbox is not None)

    bash.__doc__ = _TOLD.format(confinement=_told(sandbox, missing))
    made = tool(name="Bash")(bash)
    sends = sandbox is None or sandbox.has_network
    return replace(made, traits=ToolTraits(private=True, destructive=True, sends=sends))


def _told(sandbox: Sandbox | None, missing: str) -> str:
    if sandbox is None:
        return (
            f"Commands are NOT confined ({missing}): they can reach all that the person running this can. "
            "What they start ends with them, except what leaves their process group."
        )
    network = "with the network" if sandbox.has_network else "without any network"
    return (
        f"Commands are confined: they write the workspace and /tmp only, {network}, and all they start ends with them."
    )


def _folder(workdir: str, context: ToolContext) -> Path:
    confined = reach(context)
    with plain_failures(workdir):
        folder = confined.root.joinpath(*confined.locate(workdir))
    if not folder.is_dir():
        raise ToolError(f"{workdir} is no folder of the workspace")
    return folder


async def _run(argv: list[str], cwd: Path, timeout_s: float, context: ToolContext) -> Ran:
    try:
        return await run_process(
            argv,
            cwd=cwd,
            environment=context.environment,
            timeout_s=timeout_s,
            is_merged=True,
            emit=context.emit,
        )
    except (OSError, ValueError) as problem:
        # ValueError: a null byte, which no command line can hold.
        raise ToolError(f"the command could not be started: {problem}") from problem


def _output(ran: Ran, timeout_s: float, *, is_confined: bool) -> ToolOutput:
    details = {"exit_code": ran.exit_code, "is_timed_out": ran.is_timed_out, "is_confined": is_confined}
    if ran.is_timed_out:
        note = f"[stopped after {timeout_s:g} seconds; whether it took effect is unknown]"
        refusal = Refusal(RefusalKind.OUTCOME_UNKNOWN, "timeout")
        return ToolOutput(_noted(ran.output, note), is_error=True, details=details, refusal=refusal)
    if ran.exit_code != 0:
        return ToolOutput(_noted(ran.output, f"[exit code {ran.exit_code}]"), is_error=True, details=details)
    return ToolOutput(ran.output or "[no output]", details=details)


def _noted(output: str, note: str) -> str:
    return f"{output.rstrip()}\n{note}".lstrip("\n")


TOOL = shell_tool()
