"""The moments of one session as cases to reflect on: with their evidence, their place, and what rode in the prompt.

Nothing of a place was written by a model: the repository is the folder the harness ran in, the tools are the harness's
own, and files count only where nothing untrusted had entered the conversation.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath

from msgspec import Struct

from handrail.app.machine import Judging
from handrail.app.opening import Opened
from handrail.harnesses.handrail.codec import NAME, read_events
from handrail.journal.events import RunStarted
from handrail.journal.transcript import Projector
from handrail.learning.corrections import corrected
from handrail.learning.delivery.record import ReadRecord, riding_at
from handrail.learning.delivery.targets import TARGETS
from handrail.learning.interventions import find_interventions
from handrail.learning.lines import line_of
from handrail.learning.moment import Intervention, Trigger
from handrail.learning.provenance import Evidence, EvidenceKind, Origin, builtin_tools, coverings, evidence_for
from handrail.learning.reflecting.attribution import given_before
from handrail.learning.reflecting.reflector import Case
from handrail.learning.rules.model import Source
from handrail.learning.rules.scope import Place
from handrail.transcripts.calls import call_name
from handrail.transcripts.codec import Branch
from handrail.transcripts.model import Common, Edit, MultiEdit, Read, ToolCall, ToolResult, ToolUse, Write
from handrail.workspace.repository import repository_of

NOT_A_STEPIN = "no step-in"
NOBODY = "nobody is known to have acted"
WORDLESS = "without words"

_WORKTREE = re.compile(r"(?P<project>.+?)[/\\]\.(?:[a-z]+[/\\])?worktrees[/\\].+")
_PLAIN = re.compile(r"[\w./@+ -]{1,200}")
"""Names of files that can become part of a rule: nothing in them could end a line or a mark."""


class Excluded(Struct, frozen=True, gc=False):
    """A moment that nobody is asked about, and why."""

    moment: Intervention
    why: str


def cases_of(
    opened: Opened, judging: Judging, *, candidates: bool = False, delivered: ReadRecord | None = None
) -> tuple[Case | Excluded, ...]:
    """Every moment of the session: a case, or why it is none. With ``candidates`` those that may be step-ins too.

    ``delivered`` tells which rules stood in the files that other tools read.
    """
    branches = opened.info.codec.branches(opened.native)
    found = find_interventions(opened.session, branches=branches, scorer=judging.scorer)
    found = corrected(found, judging.corrections)
    covers = coverings(opened.session, found, branches)
    desk = _Desk(opened, {branch.id: branch for branch in branches}, delivered or ReadRecord())
    cases: list[Case | Excluded] = []
    for moment, cover in zip(found, covers, strict=True):
        evidence = evidence_for(cover, moment)
        why = _why_not(moment, evidence, candidates=candidates)
        cases.append(desk.case(moment, evidence) if why is None else Excluded(moment, why))
    return tuple(cases)


def _why_not(moment: Intervention, evidence: Evidence, *, candidates: bool) -> str | None:
    may_be = candidates and (moment.verdict is None or moment.verdict.is_candidate)
    if not moment.is_stepin and not may_be:
        return NOT_A_STEPIN
    if evidence.origin is not Origin.CLEAN:
        return NOBODY
    return None if moment.words.strip() else WORDLESS


class _Desk:
    """One session, and what of it is looked up for several moments."""

    def __init__(self, opened: Opened, branches: Mapping[str, Branch], record: ReadRecord) -> None:
        self._opened = opened
        self._record = record
        self._branches = branches
        self._root = root_of(opened.session.meta.cwd)
        self._runs = tuple(_runs_of(opened))

    def case(self, moment: Intervention, evidence: Evidence) -> Case:
        branch = None if moment.branch is None else self._branches[moment.branch]
        line = line_of(self._opened.session.body, branch)
        at = line.start + moment.at
        return Case(
            moment=moment,
            evidence=evidence,
            source=Source(
                harness=self._opened.info.name,
                session=self._opened.source.id,
                uid=moment.uid,
                moment=moment.id,
                at=line.body[at].timestamp,
            ),
            place=self._place(moment, evidence, line.body, at),
            given=given_before(line.body, at),
            riding=self._riding(at) if branch is None else None,
        )

    def _place(self, moment: Intervention, evidence: Evidence, body: Common, at: int) -> Place:
        calls = _calls_at_issue(moment, body, at)
        names = {call_name(call) for call in calls} & builtin_tools(self._opened.info.name).keys()
        is_clean = evidence.kind is EvidenceKind.FULL
        return Place(
            repository=self._root,
            files=tuple(_files(calls, self._opened.session.meta.cwd, self._root)) if is_clean else (),
            tools=tuple(sorted(names)),
            harness=self._opened.info.name,
        )

    def _riding(self, at: int) -> tuple[str, ...] | None:
        """The rules of the run that is corrected at message ``at``: a prompt corrects the run before its own.

        Another tool reads its files when a session begins; what we had put there by then is on record.
        """
        if self._opened.info.name != NAME:
            return self._delivered()
        begun = [rules for first, rules in self._runs if first < at]
        return begun[-1] if begun else None

    def _delivered(self) -> tuple[str, ...] | None:
        times = (message.timestamp for message in self._opened.session.body if message.timestamp is not None)
        began = self._opened.session.meta.timestamp or next(times, None)
        if began is None or self._root is None:
            return None
        targets = [target.name for target in TARGETS if self._opened.info.name in target.reads]
        return riding_at(self._record, self._root, targets, began)


def root_of(cwd: str | None) -> str | None:
    """The repository that work in ``cwd`` is part of; None where nobody recorded a folder."""
    if not cwd or "\0" in cwd:
        return None
    tree = _WORKTREE.match(cwd)
    if tree is not None and not os.path.lexists(cwd):
        # Work trees come and go; what was said in one is meant for the project that it stood in.
        return root_of(tree["project"])
    # A folder of another system is no path here; it is told apart by its name all the same.
    return str(repository_of(Path(cwd))) if Path(cwd).is_absolute() else cwd


def _runs_of(opened: Opened) -> Iterator[tuple[int, tuple[str, ...] | None]]:
    """Each run of a session of ours: how many messages stood when it began, and the rules in its prompt."""
    if opened.info.name != NAME:
        return
    projector = Projector()
    for event in read_events(opened.native.body):
        projector.add(event)
        if isinstance(event.body, RunStarted):
            yield len(projector.messages), event.body.rules


def _calls_at_issue(moment: Intervention, body: Common, at: int) -> list[ToolCall]:
    """The calls the person stepped in on: the refused ones, else those of the last response, if it made any."""
    response = next((message for message in reversed(body[:at]) if message.role == "assistant"), None)
    if response is None:
        return []
    calls = {block.id: block.call for block in response.content if type(block) is ToolUse}
    refused = {block.tool_use_id for block in body[at].content if type(block) is ToolResult and block.refusal}
    if moment.trigger is Trigger.DENIAL and refused & calls.keys():
        return [call for id, call in calls.items() if id in refused]
    return list(calls.values())


def _files(calls: Iterable[ToolCall], cwd: str | None, root: str | None) -> Iterator[str]:
    """The files of ``calls`` in the repository, relative to it, as far as their names may stand in a prompt."""
    if cwd is None or root is None:
        return
    for call in calls:
        if not isinstance(call, Read | Write | Edit | MultiEdit):
            continue
        path = PurePath(os.path.realpath(Path(cwd, call.file_path.replace("\0", ""))))
        if path.is_relative_to(root) and _PLAIN.fullmatch(name := str(path.relative_to(root))):
            yield name
