"""The sub-agents of a session, from files beside it and from progress rows inside it, and what called them.

Three things tell which call started an agent: the result of the call names the agent, a progress row carries both,
or a file beside the agent's own (``agent-….meta.json``) names the call. When none does, the call is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec
from msgspec import Struct

from handrail import jsonio
from handrail.harnesses.claude_code.head import HARNESS_NAME, read_head, read_meta, read_setting
from handrail.harnesses.claude_code.line import find_lines
from handrail.harnesses.claude_code.native import Session
from handrail.harnesses.claude_code.read import read_line
from handrail.harnesses.claude_code.wire import Outcome, Row, read_rows
from handrail.harnesses.families.jsonl import Rows
from handrail.harnesses.families.streaming import quick_kind
from handrail.transcripts.codec import Child, Parts
from handrail.transcripts.model import Common, Meta, Parent, Transcript


class _Progress(Struct, gc=False):
    """A row of ``progress/agent_progress``: one row of an agent's talk."""

    class Data(Struct, gc=False):
        type: str = ""
        agentId: str | None = None
        message: msgspec.Raw = msgspec.Raw()

    data: Data | None = None
    parentToolUseID: str | None = None


_progress_decoder = msgspec.json.Decoder(_Progress)


class _Talk(NamedTuple):
    call: str | None
    rows: list[bytes]


def find_children(native: Transcript[Session]) -> tuple[Child, ...]:
    """The sub-agents of the session, those with a file of their own first."""
    rows = native.body.main
    calls = _named_by_results(rows.rows)
    talks = _progress_talk(rows)
    for agent, talk in talks.items():
        if talk.call is not None:
            calls.setdefault(agent, talk.call)
    found: dict[str, Child] = {}
    for part in sorted(native.body.parts):
        if part == native.body.part or not _is_agent_file(part):
            continue
        session = read_agent(native.body.rows(part), native.meta.id)
        agent = _agent_id(part)
        call = calls.get(agent) or _described_call(native.body.parts, part)
        found.setdefault(agent, Child(id=session.meta.id or f"agent-{agent}", call=call, session=session))
    for agent, talk in talks.items():
        if agent not in found:
            session = _talk_session(agent, talk, native.meta)
            found[agent] = Child(id=session.meta.id, call=calls.get(agent), session=session)
    for agent, call in calls.items():
        found.setdefault(agent, Child(id=f"agent-{agent}", call=call))
    return tuple(found.values())


def read_agent(rows: Rows[Row], session: str) -> Transcript[Common]:
    """A sub-agent's own file as a session; ``session`` is its parent's id where the rows name none."""
    head = read_head(rows)
    meta = read_meta(rows, head)
    own = meta.parent.session if meta.parent is not None else session
    lines = find_lines(rows.rows)
    return Transcript(meta, read_line(rows, lines.live, read_setting(rows.rows, head), own, lines.bridged))


def _is_agent_file(part: str) -> bool:
    name = part.rpartition("/")[2]
    return name.startswith("agent-") and name.endswith(".jsonl")


def _agent_id(part: str) -> str:
    return part.rpartition("/")[2].removeprefix("agent-").removesuffix(".jsonl")


def _named_by_results(rows: list[Row]) -> dict[str, str]:
    """Agent id to the id of the call whose result names it."""
    calls: dict[str, str] = {}
    for row in rows:
        outcome = row.toolUseResult
        if type(outcome) is not Outcome or outcome.agentId is None or row.message is None:
            continue
        content = row.message.content
        for block in content if type(content) is list else ():
            if block.type == "tool_result" and block.tool_use_id is not None:
                calls.setdefault(outcome.agentId, block.tool_use_id)
    return calls


def _described_call(parts: Parts, part: str) -> str | None:
    """The call that an agent's description file names."""
    raw = parts.get(part.removesuffix(".jsonl") + ".meta.json")
    if raw is None:
        return None
    try:
        described = jsonio.decode(raw)
    except jsonio.NotJson:
        return None
    if not isinstance(described, Mapping):
        return None
    call = described.get("toolUseId") or described.get("tool_use_id") or described.get("toolUseID")
    return call if isinstance(call, str) else None


def _progress_talk(rows: Rows[Row]) -> dict[str, _Talk]:
    """What agents said in the progress rows of the session, by agent. The rows are read only here."""
    talks: dict[str, _Talk] = {}
    if b'"agent_progress"' not in rows.data:
        return talks
    for progress in _iter_progress(rows):
        data = progress.data
        if data is None or data.type != "agent_progress" or not data.agentId or not bytes(data.message):
            continue
        talk = talks.setdefault(data.agentId, _Talk(progress.parentToolUseID, []))
        talk.rows.append(bytes(data.message))
    return talks


def _iter_progress(rows: Rows[Row]) -> Iterator[_Progress]:
    for index, row in enumerate(rows.rows):
        if row.type != "progress":
            continue
        raw = rows.raw(index)
        if quick_kind(raw) == "progress" and b'"agent_progress"' not in raw:
            continue
        try:
            yield _progress_decoder.decode(raw)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            continue


def _talk_session(agent: str, talk: _Talk, parent: Meta) -> Transcript[Common]:
    """The talk of an agent that has no file, as a session. Its rows name no parents: they are in order."""
    rows = read_rows(b"\n".join(talk.rows), "")
    seen: set[str] = set()
    line = []
    for index, row in enumerate(rows.rows):
        row.isSidechain = True
        if row.uuid is None or row.uuid not in seen:
            line.append(index)
            seen.add(row.uuid or "")
    head = read_head(rows)
    setting = read_setting(rows.rows, head)
    body = read_line(rows, line, setting, parent.id)
    started = next((message.timestamp for message in body if message.timestamp is not None), None)
    meta = Meta(
        id=f"agent-{agent}",
        timestamp=started,
        cwd=parent.cwd,
        git_branch=parent.git_branch,
        cli_version=parent.cli_version,
        model=next((message.model for message in body if message.model), None),
        harness=HARNESS_NAME,
        parent=Parent(session=parent.id, kind="subagent", at=talk.call),
    )
    return Transcript(meta, body)
