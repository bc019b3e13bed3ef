"""What a stage works with: instructions, models, tools and the permissions for them, strategies, limits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from handrail.agents.permissions import Verdict, matches, parse_rule
from handrail.blueprints.checks.known import ANSWER, FAN_OUT, SERVER_TOOL, SHELL, Known, fitting, tools_of
from handrail.blueprints.edges.stuck import OnStuck
from handrail.blueprints.edges.tool import OnTool
from handrail.blueprints.model import Blueprint, Permissions, Stage
from handrail.blueprints.predicates import Predicate
from handrail.blueprints.problems import Finding, Path, finding, nearest

_REQUIRE_TOOL = "require_tool"
_REGEX_SIGNS = re.compile(r"\.\*|\.\+|\\[dwsbDWSB]|\(\?|^\^|\$$|\[[^\]]+\][+*]")


def check_tools(blueprint: Blueprint, known: Known) -> Iterator[Finding]:
    """Everything that a stage names and has, or has not."""
    for number, stage in enumerate(blueprint.stages):
        at: Path = ("stages", number)
        if not stage.instructions.strip():
            yield finding("no-instructions", at, f"{stage.name!r} tells its model nothing")
        if not (stage.limits.is_bounded or blueprint.limits.is_bounded):
            told = f"nothing bounds what {stage.name!r} may spend"
            yield finding("no-limit", at, told, "limits = { max_rounds = 30 }")
        yield from _models(stage.models, (*at, "models"), known)
        yield from _named_tools(stage, at, known)
        yield from _strategies(stage, at, known)
        yield from _permissions(stage.permissions, tool_names(stage), (*at, "permissions"), f"stage {stage.name!r}")
        yield from _shell(blueprint, stage, at)
        yield from _edges(stage, at, known)
    yield from _models(blueprint.models, ("models",), known)
    every = tuple(name for stage in blueprint.stages for name in tool_names(stage))
    yield from _permissions(blueprint.permissions, every, ("permissions",), "any stage")


def tool_names(stage: Stage) -> tuple[str, ...]:
    """The names, and patterns of names, of the tools of ``stage``, with those it has by itself."""
    own = ((ANSWER, stage.output), (FAN_OUT, stage.fan_out))
    return (*stage.tools, *(name for name, why in own if why is not None))


def _models(models: Sequence[str], at: Path, known: Known) -> Iterator[Finding]:
    for place, name in enumerate(models):
        if known.judge_model is not None and (problem := known.judge_model(name)):
            yield finding(problem[0], (*at, place), problem[1])


def _named_tools(stage: Stage, at: Path, known: Known) -> Iterator[Finding]:
    if known.tools is None:
        return
    names = [tool.name for tool in known.tools]
    for place, pattern in enumerate(stage.tools):
        path = (*at, "tools", place)
        if fitting(pattern, names):
            continue
        if pattern.startswith(SERVER_TOOL):
            yield finding("unchecked-tool", path, f"{pattern!r} is of a server, and no server is asked here")
            continue
        yield finding("unknown-tool", path, f"no tool is called {pattern!r}", nearest(pattern, names))


def _strategies(stage: Stage, at: Path, known: Known) -> Iterator[Finding]:
    for place, text in enumerate(stage.strategies):
        name, _, argument = text.partition(":")
        path = (*at, "strategies", place)
        if known.strategies is not None and name not in known.strategies:
            yield finding("unknown-strategy", path, f"no strategy is called {name!r}", nearest(name, known.strategies))
        if name == _REQUIRE_TOOL and argument and not _has(stage, argument):
            told = f"{argument!r} must be called, and stage {stage.name!r} does not have it"
            yield finding("required-tool-missing", path, told, nearest(argument, tool_names(stage)))


def _has(stage: Stage, tool: str) -> bool:
    return any(matches(pattern, tool) or matches(tool, pattern) for pattern in tool_names(stage))


def _permissions(given: Permissions, tools: tuple[str, ...], at: Path, whose: str) -> Iterator[Finding]:
    for key in ("deny", "ask", "allow"):
        for place, text in enumerate(getattr(given, key)):
            tool = parse_rule(text, Verdict.ASK).tool
            if not any(matches(tool, name) or matches(name, tool) for name in tools):
                told = f"{whose} has no tool that {tool!r} could mean"
                yield finding("permission-for-no-tool", (*at, key, place), told, nearest(tool, tools))
    if given.allow:
        told = f"without asking: {', '.join(given.allow)}"
        yield finding("permissions-declared", (*at, "allow"), told)


def _shell(blueprint: Blueprint, stage: Stage, at: Path) -> Iterator[Finding]:
    rules = (*stage.permissions.rules(), *blueprint.permissions.rules())
    if SHELL in stage.tools and not any(matches(rule.tool, SHELL) for rule in rules):
        told = f"{stage.name!r} has a shell, and no permission says which commands run without asking"
        yield finding("shell-without-rule", (*at, "tools"), told, 'permissions = { ask = ["Bash"] }')


def _edges(stage: Stage, at: Path, known: Known) -> Iterator[Finding]:
    for place, edge in enumerate(stage.edges or ()):
        path = (*at, "edges", place)
        if isinstance(edge, OnTool) and not _has(stage, edge.tool):
            told = f"the edge waits for {edge.tool!r}, and stage {stage.name!r} does not have it"
            yield finding("edge-of-no-tool", (*path, "tool"), told, nearest(edge.tool, tool_names(stage)))
        if isinstance(edge, Predicate) and edge.matches and _REGEX_SIGNS.search(edge.matches):
            told = f"{edge.matches!r} is compared letter by letter: only * stands for anything"
            yield finding("looks-like-regex", (*path, "matches"), told)
        is_counting = isinstance(edge, OnStuck) and edge.same_file_edits is not None and known.tools is not None
        if is_counting and not any(tool.edits for tool in tools_of(stage.tools, known)):
            told = f"edits of a file are counted, and no tool of {stage.name!r} edits one"
            yield finding("never-stuck", (*path, "same_file_edits"), told)
