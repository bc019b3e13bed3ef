"""What a run is fitted out with, from names a person typed and what the workspace contributes.

Loads the tools, so it needs the extra ``agents``; whoever imports it has made sure that it is there.
"""

from __future__ import annotations

import typing
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from handrail import registry
from handrail.agents.admission import Gate
from handrail.agents.bindings.mcp import server_tools
from handrail.agents.boundary import STRATEGIES
from handrail.agents.contributions import (
    contributed_hooks,
    contributed_policy,
    contributed_taint,
    contributed_tools,
)
from handrail.agents.environment import handed_on
from handrail.agents.hooks import Hook
from handrail.agents.permissions import Policy, Rule, Verdict, is_glob, parse_rule
from handrail.agents.strategies import strategy_names
from handrail.agents.taint import Armed, TaintPolicy
from handrail.agents.tool import Tool, by_name
from handrail.agents.tools import built_in_tools, everyday_names
from handrail.agents.tools.bash import shell_tool
from handrail.app.learning.enforced import Enforced, checks_enforced
from handrail.app.learning.riding import NO_RULES, Riding, rules_riding, without_synced
from handrail.errors import HandrailError, UnknownName
from handrail.learning.checks.enforcing import HoldReplies
from handrail.learning.rules.block import Block
from handrail.models.names import model_from_name
from handrail.models.port import Model, ModelInfo, close
from handrail.transcripts.model import Taint
from handrail.workspace.context import render_context
from handrail.workspace.declared import WorkspaceError
from handrail.workspace.discovery import Workspace, config_folder, discover
from handrail.workspace.sandbox import find_sandbox

_SHELL = "bash"
_MAIN_FIELDS = ("command", "file_path", "path", "url", "pattern")
"""The argument that a pattern after ``TOOL:`` is for: the first of these that the tool takes."""

_INSTRUCTIONS = """You are an agent that works in the folder {root} with the tools you are given.
Do what you are asked and no more, look before you change things, and say plainly what you did and what you did not.
A call that a person refused is not to be made again in another way."""


class Unusable(HandrailError, ValueError):
    """Something a run was to be fitted out with cannot be had as it was written."""

    code = "unusable"
    exit_code = 2


class Outfit(Struct, frozen=True, kw_only=True):
    """All a run needs besides its task. ``notices`` say in sentences what was withheld or is not there.

    ``rules`` is the block of rules at the end of the instructions, an empty one where none ride.
    """

    instructions: str
    tools: tuple[Tool, ...]
    hooks: tuple[Hook, ...]
    gate: Gate
    strategies: tuple[Any, ...]
    models: tuple[Model, ...]
    taint: Taint
    workspace: Workspace
    notices: tuple[str, ...]
    rules: Block = NO_RULES


class Wish(Struct, frozen=True, kw_only=True):
    """What was asked for. ``allow`` holds ``TOOL``, ``TOOL:PATTERN`` or ``TOOL(field=pattern)``.

    ``sends`` says what becomes of a call that could carry private data out once words from outside are there.
    ``strategies`` holds ``NAME`` or ``NAME:ARGUMENT``. ``is_read_only``: no tool that changes things or sends them
    out. ``is_trusted``: the person vouches for the repository. ``has_rules``: the rules that count there ride along,
    and their checks hold. ``goes_on``: the run was begun before.
    """

    workspace: Path
    allow: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()
    is_read_only: bool = False
    is_trusted: bool = False
    sends: Literal["block", "ask", "allow"] = "block"
    has_rules: bool = True
    goes_on: bool = False


@asynccontextmanager
async def fitted_out(
    wish: Wish, environment: Mapping[str, str], *, commands: Mapping[str, str] | None = None
) -> AsyncIterator[Outfit]:
    """The outfit as long as the block lasts; MCP servers and models are let go of with it.

    ``commands`` is the environment of declared tools and hooks (None: ``environment`` without the keys of models).
    Raises ``Unusable``, ``UnknownName``, ``WorkspaceError``, ``StoreError`` for rules that cannot be read, and for the
    models of strategies as ``model_from_name``.
    """
    commands = handed_on(environment) if commands is None else commands
    config = config_folder(environment)
    try:
        workspace = discover(wish.workspace, config=config, environment=environment, is_trusted=wish.is_trusted)
    except OSError as problem:
        raise WorkspaceError(f"{wish.workspace} cannot be read: {problem}") from problem
    async with server_tools(workspace.servers) as served:
        own = (*_built_in(environment), *served.tools)
        tools = (*own, *contributed_tools(workspace, commands, own))
        offered = tuple(one for one in tools if not (wish.is_read_only and is_consequential(one)))
        names = (one.name for one in offered)
        riding = rules_riding(environment, wish.workspace, names) if wish.has_rules else Riding()
        enforced = _enforced(wish, environment)
        strategies, models = _enlisted(wish.strategies, environment)
        try:
            yield Outfit(
                instructions=instructions(workspace, riding.block.text),
                tools=offered,
                hooks=(*contributed_hooks(workspace, commands), *enforced.hooks),
                gate=Gate(
                    policy=contributed_policy(workspace, Policy(rules=allowing(wish.allow, tools))).tightened(
                        enforced.asking
                    ),
                    taint=TaintPolicy(armed=Armed(wish.sends)),
                ),
                strategies=(*strategies, *enforced.strategies),
                models=models,
                taint=contributed_taint(workspace),
                workspace=workspace,
                rules=riding.block,
                notices=(
                    *riding.notices,
                    *enforced.notices,
                    *(f"withheld: {what}" for what in workspace.withheld),
                    *(_strange_words(workspace, tools) if wish.sends == "block" else ()),
                    *(f"the MCP server {one.server} is not there: {one.reason}" for one in served.failures),
                ),
            )
        finally:
            for model in models:
                await close(model)


def _enforced(wish: Wish, environment: Mapping[str, str]) -> Enforced:
    """The checks of rules; a run without rules has none, but for the strategy that it may have begun with."""
    if not wish.has_rules:
        return Enforced(strategies=(HoldReplies(),) if wish.goes_on else ())
    return checks_enforced(environment, wish.workspace, goes_on=wish.goes_on)


def _strange_words(workspace: Workspace, tools: Iterable[Tool]) -> tuple[str, ...]:
    """What follows where words of a repository that nobody vouched for are in the conversation from the beginning."""
    strange = [file.path for file in workspace.context if not file.is_trusted]
    strange += [skill.path for skill in workspace.skills if not skill.is_trusted]
    if not strange:
        return ()
    told = f"{strange[0]} is a stranger's: what sends data out is refused once private data was read"
    both = [tool.name for tool in tools if tool.traits.sends and tool.traits.private]
    never = f", and {', '.join(both)}, which can do both, always" if both else ""
    return (f"{told}{never}; --trust vouches for this repository, --sends ask asks you instead",)


def is_consequential(tool: Tool) -> bool:
    """Whether ``tool`` can change things or send them out."""
    return tool.traits.destructive or tool.traits.sends


def instructions(workspace: Workspace, rules: str = "") -> str:
    """What the model is told before everything else: who it is, what people wrote down for agents, and ``rules``."""
    # Rules stand last: the owner's corrections win over the files, and what stands before them stays in the cache.
    told = (_INSTRUCTIONS.format(root=workspace.root), render_context(without_synced(workspace.context)), rules)
    return "\n\n".join(part for part in told if part)


def _built_in(environment: Mapping[str, str]) -> tuple[Tool, ...]:
    """The built-in tools, the shell confined where this machine can."""
    plain = built_in_tools(name for name in everyday_names() if name != _SHELL)
    return (*plain, shell_tool(find_sandbox(environment)))


# Rules -------------------------------------------------------------------------------------------------------


def allowing(written: Iterable[str], tools: Sequence[Tool]) -> tuple[Rule, ...]:
    """The rules that ``--allow`` spells for ``tools``; ``Unusable`` for one that is none, or fits no tool."""
    known = by_name(tools)
    return tuple(_allowing(text, known) for text in written)


def _allowing(text: str, known: Mapping[str, Tool]) -> Rule:
    if text.endswith(")"):
        try:
            rule = parse_rule(text, Verdict.ALLOW)
        except ValueError as problem:
            raise Unusable(str(problem)) from problem
    else:
        name, mark, pattern = text.partition(":")
        rule = Rule(Verdict.ALLOW, name, {_main_field(name, known): pattern} if mark else {})
    if not is_glob(rule.tool) and rule.tool not in known:
        raise Unusable(f"no tool is called {rule.tool!r}", hint=f"there are {', '.join(sorted(known))}")
    return rule


def _main_field(name: str, known: Mapping[str, Tool]) -> str:
    properties: Any = known[name].spec.input_schema.get("properties", {}) if name in known else {}
    field = next((one for one in _MAIN_FIELDS if one in properties), None)
    if field is None:
        raise Unusable(f"a pattern for {name} needs the name of the argument", hint=f"write '{name}(field=pattern)'")
    return field


# Strategies --------------------------------------------------------------------------------------------------


def _enlisted(written: Iterable[str], environment: Mapping[str, str]) -> tuple[tuple[Any, ...], tuple[Model, ...]]:
    """The strategies, and the models that the run may switch to or that they ask.

    One that can be made of its name alone stays a name: the journal keeps it, so that a run which is gone on with
    has it again without being told.
    """
    models: list[Model] = []
    strategies: list[Any] = []
    for text in written:
        name, mark, argument = text.partition(":")
        if name not in strategy_names():
            raise UnknownName(f"no strategy is called {name!r}", hint=f"there are {', '.join(strategy_names())}")
        made = registry.member(STRATEGIES, name, "STRATEGY")
        given = _argument(name, made, argument, models, environment) if mark else None
        try:
            strategy = made() if given is None else made(given)
        except (TypeError, ValueError) as problem:
            raise Unusable(f"the strategy {text!r} cannot be used: {problem}", hint="write NAME:ARGUMENT") from problem
        strategies.append(text if given is None or isinstance(given, str) else strategy)
    return tuple(strategies), tuple(models)


def _argument(
    name: str, made: Any, argument: str, models: list[Model], environment: Mapping[str, str]
) -> str | Model | ModelInfo:
    """``argument`` as the strategy's first parameter takes it: a text, or a model by its name."""
    hints = [hint for key, hint in typing.get_type_hints(made.__init__).items() if key != "return"]
    wanted = hints[0] if hints else str
    if wanted not in (Model, ModelInfo):
        if str not in (wanted, *typing.get_args(wanted)):
            raise Unusable(f"what the strategy {name!r} needs cannot be said on a command line")
        return argument
    model = model_from_name(argument, environ=environment)
    models.append(model)
    return model if wanted is Model else model.info
