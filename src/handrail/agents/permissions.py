"""What a call may do without asking, as a value: rules, and one pure verdict for a call.

A name or a pattern is exact unless a ``*`` is written in it. An allowing rule must fit everything a call could mean
(each command of a shell line, a path as written and as it resolves); a denying or asking one need fit anything.
Denying by pattern is a fence against mistakes, no wall: the wall is the sandbox.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handrail import jsonio
from handrail.agents.shell_words import is_evaluated, simple_commands, without_assignments
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Json

SHELL_FIELDS = frozenset({("Bash", "command")})
"""The arguments that are shell command lines, by tool and field."""


class Verdict(StrEnum):
    """What becomes of a call, from the mildest to the strictest."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


_STRICTNESS = {Verdict.ALLOW: 0, Verdict.ASK: 1, Verdict.DENY: 2}


class Rule(Struct, frozen=True, omit_defaults=True):
    """A verdict for the calls of ``tool`` whose arguments fit ``where`` (field to pattern; all must fit).

    ``*`` stands for any text, ``\\*`` for a star. A value that is no string is matched by its canonical JSON.
    ``reason`` is told to the model.
    """

    verdict: Verdict
    tool: str
    where: Mapping[str, str] = {}
    reason: str | None = None

    def __str__(self) -> str:
        listed = ", ".join(f"{field}={pattern}" for field, pattern in self.where.items())
        return f"{self.tool}({listed})" if listed else self.tool


class Asked(Struct, frozen=True, kw_only=True):
    """A call as rules see it.

    ``paths`` holds, for each argument that is a path, the places it could mean (as written, as it resolves), each
    in all its spellings (relative to the workspace, absolute).
    """

    tool: str
    input: Json
    traits: ToolTraits
    paths: Mapping[str, tuple[tuple[str, ...], ...]] = {}


class Judgement(Struct, frozen=True, kw_only=True):
    """The verdict on a call, the rule it comes from (None: the default) and a reason in words."""

    verdict: Verdict
    rule: Rule | None = None
    reason: str = ""


class Policy(Struct, frozen=True, kw_only=True):
    """Rules, and what holds where none fits.

    Among the rules that fit, one with arguments beats one without, an exact name beats a pattern, and then the
    strictest wins. ``tightening`` holds rules of those who may only tighten (an untrusted repository): they can
    turn the verdict stricter, never milder. ``consequential`` is the default for tools that destroy or send,
    ``harmless`` for all others.
    """

    rules: tuple[Rule, ...] = ()
    tightening: tuple[Rule, ...] = ()
    harmless: Verdict = Verdict.ALLOW
    consequential: Verdict = Verdict.ASK

    def tightened(self, rules: Iterable[Rule]) -> Policy:
        """A copy that heeds ``rules`` where they are stricter; allowing ones among them have no effect."""
        return replace(self, tightening=(*self.tightening, *(rule for rule in rules if rule.verdict != Verdict.ALLOW)))


READ_ONLY = Policy(consequential=Verdict.DENY)
"""Nothing that destroys or sends, whoever would approve it."""


def judge(policy: Policy, asked: Asked) -> Judgement:
    """The verdict of ``policy`` on a call."""
    found = _weightiest(policy.rules, asked) or _default(policy, asked)
    tightened = _weightiest(policy.tightening, asked)
    if tightened is not None and _STRICTNESS[tightened.verdict] > _STRICTNESS[found.verdict]:
        return tightened
    return found


def _default(policy: Policy, asked: Asked) -> Judgement:
    if asked.traits.destructive or asked.traits.sends:
        what = "sends data out" if asked.traits.sends else "changes things"
        return Judgement(verdict=policy.consequential, reason=f"{asked.tool} {what}")
    return Judgement(verdict=policy.harmless, reason="")


def _weightiest(rules: Sequence[Rule], asked: Asked) -> Judgement | None:
    fitting = [rule for rule in rules if fits(rule, asked)] if rules else []
    if not fitting:
        return None
    rule = max(fitting, key=lambda rule: (bool(rule.where), not is_glob(rule.tool), _STRICTNESS[rule.verdict]))
    return Judgement(verdict=rule.verdict, rule=rule, reason=rule.reason or f"the rule {rule} says {rule.verdict}")


def fits(rule: Rule, asked: Asked) -> bool:
    """Whether ``rule`` speaks about the call. An argument the call does not have fits no pattern."""
    if not matches(rule.tool, asked.tool):
        return False
    if not rule.where:
        return True
    if not isinstance(asked.input, dict):
        return False
    is_allowing = rule.verdict is Verdict.ALLOW
    return all(
        field in asked.input and _fits_field(field, pattern, asked, is_allowing=is_allowing)
        for field, pattern in rule.where.items()
    )


def _fits_field(field: str, pattern: str, asked: Asked, *, is_allowing: bool) -> bool:
    value = asked.input[field]
    text = value if isinstance(value, str) else jsonio.canonical(value).decode()
    if field in asked.paths:
        places = asked.paths[field]
        if is_allowing:
            return bool(places) and all(any(matches(pattern, spelling) for spelling in place) for place in places)
        return any(matches(pattern, spelling) for place in (*places, (text,)) for spelling in place)
    if (asked.tool, field) in SHELL_FIELDS:
        return _fits_command(pattern, text, is_allowing=is_allowing)
    return matches(pattern, text)


def _fits_command(pattern: str, command: str, *, is_allowing: bool) -> bool:
    commands, is_plain = simple_commands(command)
    if not is_allowing:
        parts = (command, *commands, *(without_assignments(part) for part in commands))
        return any(matches(pattern, part) for part in parts)
    if not is_glob(pattern):
        return matches(pattern, command.strip())
    return is_plain and bool(commands) and all(matches(pattern, part) for part in commands)


def is_glob(pattern: str) -> bool:
    """Whether a ``*`` is written in ``pattern``."""
    return "*" in pattern.replace("\\\\", "").replace("\\*", "")


def matches(pattern: str, text: str) -> bool:
    """Whether ``pattern`` fits all of ``text``, case and all."""
    return _compiled(pattern).fullmatch(text) is not None


@functools.lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    first, *others = _between_stars(pattern)
    if not others:
        return re.compile(first, re.DOTALL)
    # Where a star ends is decided once, at the first place that fits, so no pattern can take for ever.
    middle = "".join(f"(?>.*?{part})" for part in others[:-1])
    return re.compile(f"{first}{middle}.*{others[-1]}", re.DOTALL)


def _between_stars(pattern: str) -> list[str]:
    """The regular expressions of what stands between the runs of stars; a star after a backslash is text."""
    parts = [""]
    for piece in re.findall(r"\\.|\*+|.", pattern, re.DOTALL):
        if piece.startswith("*"):
            parts.append("")
        else:
            parts[-1] += re.escape(piece[1:] if piece in {"\\*", "\\\\"} else piece)
    return parts


def escaped(text: str) -> str:
    """The pattern that fits ``text`` and nothing else."""
    return text.replace("\\", "\\\\").replace("*", "\\*")


def offers(asked: Asked) -> tuple[Rule, ...]:
    """What a yes could be made to hold for, from the narrowest to the whole tool, to show to whoever is asked."""
    found: list[Rule] = []
    given = asked.input if isinstance(asked.input, dict) else {}
    for field, value in given.items():
        if (asked.tool, field) in SHELL_FIELDS and isinstance(value, str):
            found.append(Rule(Verdict.ALLOW, asked.tool, {field: escaped(value.strip())}))
            commands, is_plain = simple_commands(value)
            if is_plain and len(commands) == 1:
                found.append(Rule(Verdict.ALLOW, asked.tool, {field: f"{escaped(commands[0].split()[0])} *"}))
        elif places := asked.paths.get(field):
            path = places[-1][0]
            found.append(Rule(Verdict.ALLOW, asked.tool, {field: escaped(path)}))
            if folder := path.rpartition("/")[0]:
                found.append(Rule(Verdict.ALLOW, asked.tool, {field: f"{escaped(folder)}/*"}))
    return (*found, Rule(Verdict.ALLOW, asked.tool))


def parse_rule(text: str, verdict: Verdict, reason: str | None = None) -> Rule:
    """The rule that ``Tool`` or ``Tool(field=pattern)`` spells; ``ValueError`` for anything else."""
    found = re.fullmatch(r"(?P<tool>[^\s()]+)(?:\((?P<field>[^=()]+)=(?P<pattern>.*)\))?", text.strip(), re.DOTALL)
    if found is None:
        raise ValueError(f"{text!r} is no rule: write Tool or Tool(field=pattern)")
    where = {} if found["field"] is None else {found["field"].strip(): found["pattern"]}
    return Rule(verdict, found["tool"], where, reason)


Scope = Literal["once", "stage", "run"]
"""How long an answer holds: for this call, until the stage ends, until the run ends."""


class Grant(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A person's answer that holds on: for the very same call (``digest``) or for the calls that fit ``rule``."""

    verdict: Literal[Verdict.ALLOW, Verdict.DENY]
    scope: Literal["stage", "run"]
    digest: str | None = None
    rule: Rule | None = None
    reason: str | None = None


def standing(grants: Iterable[Grant], asked: Asked, digest: str) -> Grant | None:
    """The answer that holds for a call: a no before a yes, None when nobody has answered for it."""
    fitting = [grant for grant in grants if _covers(grant, asked, digest)]
    return max(fitting, key=lambda grant: _STRICTNESS[grant.verdict], default=None)


def _covers(grant: Grant, asked: Asked, digest: str) -> bool:
    if grant.rule is not None:
        # The grant's own verdict decides how narrowly its pattern is read, whatever the rule was written as.
        return fits(replace(grant.rule, verdict=grant.verdict), asked)
    is_same = grant.digest is not None and grant.digest == digest
    return is_same and (grant.verdict is Verdict.DENY or not _is_open_ended(asked))


def _is_open_ended(asked: Asked) -> bool:
    """Whether the same call may do something else each time: a shell line with what it expands or evaluates.

    A yes to such a call is for once, however it was given.
    """
    given = asked.input if isinstance(asked.input, dict) else {}
    lines = (value for field, value in given.items() if (asked.tool, field) in SHELL_FIELDS and isinstance(value, str))
    return any(map(is_evaluated, lines))


def after_stage(grants: Iterable[Grant]) -> tuple[Grant, ...]:
    """The answers that still hold when a stage has ended."""
    return tuple(grant for grant in grants if grant.scope == "run")


def rules_from(data: Json) -> tuple[Rule, ...]:
    """Rules from plain data (a list of objects); ``ValueError`` names the first that does not fit."""
    try:
        return msgspec.convert(data, tuple[Rule, ...])
    except msgspec.ValidationError as problem:
        raise ValueError(str(problem)) from problem
