"""Tools that are commands: an argument list without a shell, the input as JSON on standard input."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from handrail import jsonio
from handrail.agents.bindings.json_schema import schema_check
from handrail.agents.process import run_process
from handrail.agents.tool import Tool, ToolContext, ToolError, ToolOutput, ToolSpec
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Json
from handrail.workspace.declared import DeclaredTool


def command_tool(declared: DeclaredTool, environment: Mapping[str, str]) -> Tool:
    """The tool that runs ``declared``'s command; its output is the result, an exit code other than 0 an error.

    ``environment`` is what the command gets besides its own. ``ValueError`` for a schema that is none.
    """

    async def run(input: Json, context: ToolContext) -> ToolOutput:
        try:
            ran = await run_process(
                declared.command,
                cwd=Path(declared.cwd) if declared.cwd else context.workspace_root,
                environment={**environment, **declared.env},
                stdin=jsonio.encode(input),
                emit=context.emit,
            )
        except OSError as problem:
            raise ToolError(f"{declared.name} could not be started: {problem.strerror or problem}") from problem
        is_external = traits.untrusted
        details = {"exit_code": ran.exit_code}
        if ran.exit_code == 0:
            return ToolOutput(ran.output, details=details, is_external=is_external)
        said = ran.errors.strip() or ran.output.strip() or "it said nothing"
        text = f"{declared.name} ended with exit code {ran.exit_code}: {said}"
        return ToolOutput(text, is_error=True, details=details, is_external=is_external)

    is_outside = declared.side_effect == "external"
    traits = ToolTraits(
        private=declared.private,
        untrusted=declared.untrusted or is_outside,
        sends=declared.sends or is_outside,
        destructive=declared.destructive or declared.side_effect != "none",
    )
    return Tool(
        spec=ToolSpec(declared.name, declared.description, declared.input_schema),
        handler=run,
        check=schema_check(declared.input_schema),
        traits=traits,
        is_parallel=declared.parallel,
        is_twice_safe=declared.twice_is_safe,
        timeout_s=declared.timeout_ms / 1000,
    )
