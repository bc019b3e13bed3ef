"""The ``Spawn`` tool: a model hands a piece of work to an agent of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from handrail.agents.agent import Agent
from handrail.agents.jobs import BOUNDS
from handrail.agents.options import RunOptions
from handrail.agents.result import RunResult
from handrail.agents.tool import Tool, ToolContext, ToolError, ToolOutput, ToolSpec
from handrail.journal.vocabulary import EndReason
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Json

SPAWN = "Spawn"

_DESCRIPTION = """Hand a piece of work to another agent and get back what it came to. It sees nothing of this
conversation: say in the prompt all that it needs to know, and what you want back."""

_ANSWERS = frozenset({EndReason.ANSWERED, EndReason.TOOL_FINISHED, EndReason.STRATEGY_FINISH})


def spawn_tool(agents: Agent | Mapping[str, Agent], *, bounds: RunOptions = BOUNDS, name: str = SPAWN) -> Tool:
    """A tool that runs one of ``agents`` (by name, or the only one) for a prompt, within ``bounds``.

    Of ``bounds`` the bounds and the strategies count; all else is as in the run that spawns. What a call can bring in
    is what the tools of its agents can. ``ValueError`` when there is no agent.
    """
    known = {agents.name or "agent": agents} if isinstance(agents, Agent) else dict(agents)
    if not known:
        raise ValueError("there is no agent to spawn")
    first = next(iter(known))

    async def spawn(input: Json, context: ToolContext) -> ToolOutput:
        if context.spawn is None:
            raise ToolError("no agent can be started here")
        chosen = input.get("agent", first)
        return _output(await context.spawn(known[chosen], input["prompt"], bounds))

    def problems(input: Json) -> tuple[str, ...]:
        return tuple(_problems(input, known))

    return Tool(
        spec=ToolSpec(name, _DESCRIPTION, _schema(known)),
        handler=spawn,
        check=problems,
        traits=_traits(known.values()),
        is_parallel=True,
        # Run again, it goes on with the agent it had started.
        is_twice_safe=True,
    )


def _traits(agents: Collection[Agent]) -> ToolTraits:
    """What comes back from ``agents`` may hold what any tool of theirs brought in, and what they were told before."""
    tools = [tool.traits for agent in agents for tool in agent.toolbox]
    return ToolTraits(
        private=any(one.private for one in tools) or any(agent.taint.private for agent in agents),
        untrusted=any(one.untrusted for one in tools) or any(agent.taint.untrusted for agent in agents),
    )


def _schema(known: Mapping[str, Agent]) -> dict[str, Json]:
    properties: dict[str, Json] = {"prompt": {"type": "string", "description": "the whole task, and what to report"}}
    if len(known) > 1:
        properties["agent"] = {"type": "string", "enum": list(known), "description": "which agent does it"}
    required = ["prompt", "agent"] if len(known) > 1 else ["prompt"]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _problems(input: Json, known: Mapping[str, Agent]) -> list[str]:
    if not isinstance(input, dict):
        return ["the input must be an object"]
    found = [f"{key}: there is no such parameter" for key in input if key not in ("prompt", "agent")]
    prompt = input.get("prompt")
    if not isinstance(prompt, str) or not prompt.strip():
        found.append("prompt: is missing, or not a text")
    if len(known) > 1 and "agent" not in input:
        found.append("agent: is missing")
    if input.get("agent", next(iter(known))) not in known:
        found.append(f"agent: there is none of that name; there are: {', '.join(known)}")
    return found


def _output(result: RunResult) -> ToolOutput:
    details = {"session": result.session.id, "end_reason": result.end_reason.value}
    taint = next((message.taint for message in reversed(result.transcript.body)), None)
    is_external = taint is None or taint.untrusted
    if result.end_reason in _ANSWERS:
        return ToolOutput(result.output, details=details, is_external=is_external)
    told = f"It ended without an answer ({result.end_reason.value}{f': {result.detail}' if result.detail else ''})."
    content = f"{result.output}\n\n{told}" if result.output else told
    return ToolOutput(content, is_error=True, details=details, is_external=is_external)
