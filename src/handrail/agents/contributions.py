"""What a workspace contributes, made into what a run works with: tools, hooks, rules, taint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from handrail.agents.bindings.command import command_tool
from handrail.agents.guard import is_inside_hook
from handrail.agents.hooks import Hook, HookEvent, command_hook
from handrail.agents.permissions import Policy, Rule, Verdict
from handrail.agents.tool import Tool, ToolContext, ToolError, ToolOutput, by_name, tool
from handrail.transcripts.model import Taint
from handrail.workspace.declared import DeclaredRule, WorkspaceError
from handrail.workspace.discovery import Workspace
from handrail.workspace.skills import Skill


def contributed_tools(
    workspace: Workspace, environment: Mapping[str, str], existing: Iterable[Tool]
) -> tuple[Tool, ...]:
    """The tools that files declare, and one to load skills with when there are any.

    ``WorkspaceError`` for one that takes the name of an ``existing`` tool, or whose schema is none.
    """
    made: list[Tool] = []
    for declared in workspace.tools:
        try:
            made.append(command_tool(declared, environment))
        except ValueError as problem:
            raise WorkspaceError(f"the tool {declared.name!r} cannot be used: {problem}") from problem
    if workspace.skills:
        made.append(skill_tool(workspace.skills))
    try:
        by_name((*existing, *made))
    except ValueError as problem:
        raise WorkspaceError(f"a declared tool cannot be used: {problem}") from problem
    return tuple(made)


def contributed_hooks(workspace: Workspace, environment: Mapping[str, str]) -> tuple[Hook, ...]:
    """The hooks that files declare, in their order; none when this process was itself started by a hook."""
    if is_inside_hook(environment):
        return ()
    return tuple(
        command_hook(
            declared.name,
            declared.command,
            cwd=Path(workspace.root),
            environment=environment,
            event=HookEvent(declared.event),
            tools=declared.tools,
            timeout_s=declared.timeout_ms / 1000,
        )
        for declared in workspace.hooks
    )


def contributed_policy(workspace: Workspace, policy: Policy) -> Policy:
    """``policy`` with the rules of files: those of the trusted beside its own, those of the others only to tighten."""
    merged = Policy(
        rules=(*policy.rules, *map(_rule, workspace.rules)),
        tightening=policy.tightening,
        harmless=policy.harmless,
        consequential=policy.consequential,
    )
    return merged.tightened(map(_rule, workspace.tightening))


def _rule(declared: DeclaredRule) -> Rule:
    return Rule(Verdict(declared.verdict), declared.tool, declared.where, declared.reason)


def contributed_taint(workspace: Workspace) -> Taint:
    """What the workspace's words bring into a conversation before it begins: skills are named to the model at once."""
    is_strange = any(not file.is_trusted for file in workspace.context)
    return Taint(untrusted=is_strange or any(not skill.is_trusted for skill in workspace.skills))


def skill_tool(skills: Iterable[Skill]) -> Tool:
    """A tool that reads a skill by its name; its description lists them."""
    known = {skill.name: skill for skill in skills}

    async def load(name: str, context: ToolContext) -> ToolOutput:
        found = known.get(name)
        if found is None:
            raise ToolError(f"no skill is called {name!r}; there are: {', '.join(sorted(known))}")
        return ToolOutput(f"[{found.path}]\n{found.text}", is_external=not found.is_trusted)

    listed = "\n".join(f"- {skill.name}: {skill.description}" for skill in known.values())
    description = (
        f"Read a skill, which says how some kind of work is done here, before doing such work. There are:\n{listed}"
    )
    is_untrusted = any(not skill.is_trusted for skill in known.values())
    make = tool(name="Skill", description=description, parallel=True, untrusted=is_untrusted, twice_is_safe=True)
    return make(load)
