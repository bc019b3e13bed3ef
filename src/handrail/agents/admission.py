"""Whether a call may run, before anybody is asked: one pure order for every call, first time and rewritten.

input fits → taint interlock → policy → answers that still hold. The interlock stands before the policy and the
hooks: no rule, no hook and no person is asked about a send that must not happen.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from handrail.agents.approval import digest_of
from handrail.agents.execution import invalid_input
from handrail.agents.permissions import Asked, Grant, Policy, Verdict, judge, standing
from handrail.agents.taint import Armed, TaintPolicy, interlock, interlock_refusal
from handrail.agents.tool import Tool, ToolOutput
from handrail.transcripts.model import Json, Refusal, RefusalKind, Taint

PATH_FIELDS = ("file_path", "path", "workdir")
"""The arguments of any tool that rules read as places in the workspace."""


class Gate(Struct, frozen=True, kw_only=True):
    """All that decides about calls: the policy, the taint policy, and the answers that hold on."""

    policy: Policy = Policy()
    taint: TaintPolicy = TaintPolicy()
    grants: tuple[Grant, ...] = ()


class Admission(Struct, frozen=True, kw_only=True):
    """What the gate says of a call: run, ask (``why``), or not at all (``refused`` is then its result).

    ``digest`` is of the call as it was judged: what runs in the end must have the same one.
    """

    verdict: Verdict
    digest: str
    why: str = ""
    refused: ToolOutput | None = None


def admit(
    gate: Gate,
    tool: Tool,
    input: Json,
    *,
    turn: Taint,
    root: Path,
    is_approved: bool = False,
) -> Admission:
    """Judge a call of ``tool``. ``turn`` is the taint of its batch (``taint.turn_taint``).

    ``is_approved`` says that a person has seen this very input and said yes (an edit of their own): they are not
    asked again, but what is forbidden stays so. Symbolic links below ``root`` are looked up, nothing else is.
    """
    digest = digest_of(tool.name, input)
    if problems := tool.problems(input):
        return Admission(verdict=Verdict.DENY, digest=digest, refused=invalid_input(tool.name, problems))
    locked = interlock(gate.taint, turn, tool.traits)
    if locked is Armed.BLOCK:
        return Admission(verdict=Verdict.DENY, digest=digest, refused=interlock_refusal(tool.name, turn))
    asked = asked_of(tool, input, root)
    judgement = judge(gate.policy, asked)
    if judgement.verdict is Verdict.DENY:
        return _denied(tool.name, digest, "policy", judgement.reason)
    grant = standing(gate.grants, asked, digest)
    if grant is not None and grant.verdict is Verdict.DENY:
        return _denied(tool.name, digest, "standing answer", grant.reason or "a person refused such calls")
    if is_approved:
        return Admission(verdict=Verdict.ALLOW, digest=digest)
    if locked is Armed.ASK:
        why = f"{tool.name} sends data out, with private data and untrusted words in the conversation"
        return Admission(verdict=Verdict.ASK, digest=digest, why=why)
    if judgement.verdict is Verdict.ASK and grant is None:
        return Admission(verdict=Verdict.ASK, digest=digest, why=judgement.reason)
    return Admission(verdict=Verdict.ALLOW, digest=digest)


def asked_of(tool: Tool, input: Json, root: Path) -> Asked:
    """The call as rules see it, with the places its paths could mean."""
    return Asked(tool=tool.name, input=input, traits=tool.traits, paths=_paths(input, root))


def _denied(name: str, digest: str, by: str, reason: str) -> Admission:
    text = f"{name} was not run, blocked by {by}: {reason}"
    refused = ToolOutput(text, is_error=True, refusal=Refusal(RefusalKind.BLOCKED, by, reason))
    return Admission(verdict=Verdict.DENY, digest=digest, why=reason, refused=refused)


def _paths(input: Json, root: Path) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    if not isinstance(input, dict):
        return {}
    given = {field: input[field] for field in PATH_FIELDS if isinstance(input.get(field), str)}
    return {field: _places(value, root) for field, value in given.items()}


def _places(value: str, root: Path) -> tuple[tuple[str, ...], ...]:
    """The places ``value`` could mean: by its letters and by the links it goes through, in all their spellings."""
    top = os.path.abspath(root)  # noqa: PTH100 - by its letters, links left alone
    written = os.path.normpath(Path(top, value))
    try:
        resolved = os.path.realpath(Path(top, value))
    except (OSError, ValueError):
        # A loop of links or a null byte: no tool will open it; only what is written can be judged.
        return (_spellings(written, top),)
    return (_spellings(written, top), _spellings(resolved, os.path.realpath(root)))


def _spellings(place: str, root: str) -> tuple[str, ...]:
    inside = os.path.commonpath([place, root]) == root
    return (os.path.relpath(place, root), place) if inside else (place,)
