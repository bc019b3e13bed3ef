"""Putting an interaction point to a person: the question as it is opened, with the document it is about.

Ids are opaque and new at each opening; the key says which presentation it is, so that a question is opened once
whatever crashes. Nothing here waits and nothing is remembered but the events.
"""

from __future__ import annotations

from msgspec.structs import replace

from handrail.agents.questions import text_digest
from handrail.blueprints.points import Approved, InteractionPoint, InteractionStyle, OnDeadline, Unattended
from handrail.journal import events as ev
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind, AskKind, AskOutcome, Route
from handrail.runs.stages.documents import Document, document_of
from handrail.runs.stages.records import PointRecord
from handrail.runs.stages.scene import Outcome, Scene, Step, said

UNATTENDED = Actor(ActorKind.DRIVER, "unattended")
"""Who answers a point that approves where nobody watches."""


def presented(scene: Scene, point: InteractionPoint, outcome: Outcome) -> Step:
    """Open ``point``: its region holds the document from here on, and the question shows it."""
    document = document_of(scene, point)
    opened = _opened(scene, point, document, outcome)
    written = _written(scene, point, document)
    approving = _approving(scene, point)
    if approving is None or (document is not None and document.refused is not None):
        return Step(events=(*written, *said(opened)))
    why = "nobody watches this run, and the point approves then"
    closed = ev.AskClosed(ask=opened.ask, outcome=AskOutcome.AUTO, choice=approving or None, comment=why)
    routed = ev.PointRouted(
        point=point.name,
        ask=opened.ask,
        route=Route.APPROVED,
        round=opened.round,
        document=opened.digest,
        goto=_goto(point, approving),
        why=why,
    )
    return Step(events=(*written, *said(opened), (closed, UNATTENDED), *said(routed)))


def opened_for_edit(scene: Scene, point: InteractionPoint, record: PointRecord) -> Step:
    """Open the document of ``point`` for a person to change."""
    document = document_of(scene, point)
    text = "" if document is None else document.text
    opened = ev.AskOpened(
        ask=scene.new_id(),
        kind=AskKind.EDIT,
        prompt=point.prompt,
        title=point.name,
        shown=text,
        digest=text_digest(text),
        is_required=False,
        may_type=True,
    )
    return Step(events=said(_placed(scene, point, record.round - 1, opened)))


def _opened(scene: Scene, point: InteractionPoint, document: Document | None, outcome: Outcome) -> ev.AskOpened:
    record = scene.visit.point(point.name)
    deadline = None if point.deadline is None else scene.now + point.deadline
    is_waiting = point.on_deadline is OnDeadline.WAIT
    remind_at = None if point.remind_after is None else scene.now + point.remind_after
    opened = ev.AskOpened(
        ask=scene.new_id(),
        kind=AskKind.POINT,
        prompt="\n".join((point.prompt, *_notes(point, record, document, outcome))),
        title=point.name,
        options=point.labels,
        effects=point.effects(),
        comments=tuple(point.comments),
        may_type=point.style is InteractionStyle.FREE_TEXT,
        is_required=point.required,
        shown=None if document is None else document.text,
        digest=None if document is None else document.digest,
        body_format="markdown",
        deadline=deadline,
        may_expire=deadline is None or not is_waiting,
        remind_at=remind_at or (deadline if is_waiting else None),
        quorum=point.quorum,
    )
    return _placed(scene, point, record.round, opened)


def _placed(scene: Scene, point: InteractionPoint, round: int, opened: ev.AskOpened) -> ev.AskOpened:
    """``opened`` with where it stands, and who may answer it."""
    run, creator = scene.progress.run, scene.progress.creator
    name = None if creator is None or point.creator_may_answer else creator.name
    part = "edit" if opened.kind is AskKind.EDIT else "choice"
    within = "" if run is None else f"{run.run}/"
    return replace(
        opened,
        key=f"{within}{scene.stage.name}#{scene.visit.visit}/{point.name}/{round}/{part}",
        point=point.name,
        stage=scene.stage.name,
        visit=scene.visit.visit,
        round=round,
        run=None if run is None else run.run,
        origin=scene.origin,
        region=point.document_region,
        approvers=tuple(point.approvers),
        barred=() if name is None else (name,),
    )


def _notes(point: InteractionPoint, record: PointRecord, document: Document | None, outcome: Outcome) -> list[str]:
    """What a person has to know besides the question: why it is asked now, and what cannot be done any more."""
    notes = []
    if outcome.ended != "done":
        told = outcome.detail or outcome.reason.value
        notes.append(f"[The stage did not finish: {told}. What is shown is what there is, version {record.round + 1}.]")
    if document is not None and document.refused is not None:
        notes.append(f"[It cannot be approved as it is: {document.refused}]")
    if record.revisions >= point.revisions and (point.directives or point.edit_options):
        notes.append(f"[All {point.revisions} revisions are used.]")
    return notes


def _written(scene: Scene, point: InteractionPoint, document: Document | None) -> tuple[tuple[ev.Known, Actor], ...]:
    if point.document_region is None or document is None or document.entries is None:
        return ()
    written = ev.RegionWritten(region=point.document_region, entries=document.entries, stage=scene.stage.name)
    return ((written, DRIVER),)


def _approving(scene: Scene, point: InteractionPoint) -> str | None:
    """The option that approves where nobody watches, ``""`` where words would; None where a person is waited for."""
    run = scene.progress.run
    if run is None or not run.is_unattended or point.unattended is not Unattended.APPROVE:
        return None
    if point.style is InteractionStyle.FREE_TEXT:
        return ""
    return next((label for label in point.labels if isinstance(point.effect(label), Approved)), None)


def _goto(point: InteractionPoint, option: str) -> str | None:
    effect = point.effect(option) if option else None
    return effect.goto if isinstance(effect, Approved) else None
