"""Where the answer at an interaction point sends the run: by what its option declares, never by anybody's reading.

What fits no option, what was given to a document that is another one by now, and what a cap forbids is held: the
point is put again. Neither silence nor a cap approves.
"""

from __future__ import annotations

from typing import assert_never

from handrail.agents.writer import Said
from handrail.blueprints.labels import AnswerRefused
from handrail.blueprints.points import (
    Aborted,
    Approved,
    AtCap,
    Directed,
    Edited,
    InteractionPoint,
    OnDeadline,
    Skipped,
)
from handrail.journal import events as ev
from handrail.journal.effects import End
from handrail.journal.vocabulary import DRIVER, AskKind, AskOutcome, EndReason, Route
from handrail.runs.stages.documents import Document, document_of
from handrail.runs.stages.leaving import gone, is_available, left
from handrail.runs.stages.notes import EDITED, RECHECK, host
from handrail.runs.stages.records import PointRecord
from handrail.runs.stages.scene import Outcome, Scene, Step, failed, said


def answered(scene: Scene, point: InteractionPoint, record: PointRecord, outcome: Outcome) -> Step:
    """What the answer that ``record`` holds does."""
    opened, closed = record.opened, record.closed
    if opened is None or closed is None:
        raise ValueError(f"point {point.name} has no answer")
    if opened.kind is AskKind.EDIT:
        return _edited(scene, point, record, opened, closed)
    if closed.outcome is AskOutcome.TIMED_OUT:
        return _timed_out(scene, point, opened)
    if closed.outcome is AskOutcome.WITHDRAWN:
        told = f"the question of point {point.name} was withdrawn"
        return left(scene, failed(told), said(_held(point, opened, told)))
    document = document_of(scene, point)
    if opened.digest != (None if document is None else document.digest):
        return Step(events=said(_held(point, opened, "the document changed while it was asked about")))
    try:
        routed = point.route(closed.words if closed.choice is None else closed.choice)
    except AnswerRefused as problem:
        return Step(events=said(_held(point, opened, str(problem))))
    match routed:
        case Approved():
            return _approved(point, record, opened, document, routed.goto)
        case Skipped():
            return Step(events=said(_route(point, opened, Route.SKIPPED)))
        case Directed():
            return _directed(scene, point, record, opened, routed)
        case Edited() if closed.after is not None:
            # The changed text came with the choice: there is nothing to open any more.
            return _edited(scene, point, record, opened, closed)
        case Edited():
            return Step(events=said(_route(point, opened, Route.EDITED)))
        case Aborted():
            return _aborted(point, opened, closed.comment)
        case _:
            assert_never(routed)


def _approved(
    point: InteractionPoint, record: PointRecord, opened: ev.AskOpened, document: Document | None, goto: str | None
) -> Step:
    if document is not None and document.refused is not None:
        return Step(events=said(_held(point, opened, document.refused)))
    events = said(_route(point, opened, Route.APPROVED, goto=goto))
    if record.revisions and opened.stage is not None:
        events = (*events, *said(host(RECHECK, opened.stage)))
    return Step(events=events)


def _directed(
    scene: Scene, point: InteractionPoint, record: PointRecord, opened: ev.AskOpened, routed: Directed
) -> Step:
    if routed.goto is not None:
        if not is_available(scene, routed.goto):
            return Step(events=said(_held(point, opened, f"stage {routed.goto} may not be entered once more")))
        sent = _route(point, opened, Route.DIRECTED, directive=routed.directive, goto=routed.goto)
        told = said(host(routed.directive, routed.goto)) if routed.directive else ()
        step = gone(scene, routed.goto, "goto", Outcome(ended="done", reason=EndReason.ANSWERED), said(sent))
        return Step(events=(*step.events, *told), enters=step.enters)
    if record.revisions >= point.revisions:
        return _at_cap(scene, point, opened)
    events = said(_route(point, opened, Route.DIRECTED, directive=routed.directive))
    if routed.directive:
        events = (*events, *said(host(routed.directive, scene.stage.name)))
    return Step(events=events)


def _at_cap(scene: Scene, point: InteractionPoint, opened: ev.AskOpened, before: tuple[Said, ...] = ()) -> Step:
    """What a revision does when all of them are used; it never approves."""
    why = f"all {point.revisions} revisions of point {point.name} are used"
    match point.at_cap:
        case AtCap.HOLD:
            return Step(events=(*before, *said(_held(point, opened, why))))
        case AtCap.FAIL:
            return left(scene, failed(why), (*before, *said(_held(point, opened, why))))
        case AtCap.ABORT:
            step = _aborted(point, opened, why)
            return Step(events=(*before, *step.events), end=step.end)
        case _:
            assert_never(point.at_cap)


def _edited(
    scene: Scene, point: InteractionPoint, record: PointRecord, opened: ev.AskOpened, closed: ev.AskClosed
) -> Step:
    """Take a person's text as the document. It is kept whatever the cap says, and shown for approval next."""
    text = closed.after
    if closed.outcome is not AskOutcome.ANSWERED or text is None or not text.strip() or text == opened.shown:
        return Step(events=said(_held(point, opened, "nothing was edited")))
    edit = ev.DocumentEdited(
        document=point.document_region or point.name, before=opened.shown or "", after=text, ask=opened.ask
    )
    events: tuple[Said, ...] = ((edit, record.by or DRIVER), *said(host(EDITED, scene.stage.name)))
    if record.revisions >= point.revisions and point.at_cap is not AtCap.HOLD:
        return _at_cap(scene, point, opened, events)
    return Step(events=events)


def _timed_out(scene: Scene, point: InteractionPoint, opened: ev.AskOpened) -> Step:
    """Nobody answered in time, which is no answer."""
    why = f"nobody answered point {point.name} in time"
    match point.on_deadline:
        case OnDeadline.WAIT:
            return Step(events=said(_held(point, opened, why)))
        case OnDeadline.FAIL:
            return left(scene, failed(why), said(_held(point, opened, why)))
        case OnDeadline.ABORT:
            return _aborted(point, opened, why)
        case _:
            assert_never(point.on_deadline)


def _aborted(point: InteractionPoint, opened: ev.AskOpened, why: str | None) -> Step:
    """End the run, cancelled: no further request, no transition."""
    told = f"aborted at point {point.name}" + (f": {why}" if why else "")
    return Step(
        events=said(_route(point, opened, Route.ABORTED, why=why)), end=End(reason=EndReason.CANCELLED, detail=told)
    )


def _held(point: InteractionPoint, opened: ev.AskOpened, why: str) -> ev.PointRouted:
    return _route(point, opened, Route.HELD, why=why)


def _route(
    point: InteractionPoint,
    opened: ev.AskOpened,
    route: Route,
    *,
    directive: str | None = None,
    goto: str | None = None,
    why: str | None = None,
) -> ev.PointRouted:
    return ev.PointRouted(
        point=point.name,
        ask=opened.ask,
        route=route,
        directive=directive or None,
        goto=goto,
        round=opened.round,
        document=opened.digest,
        why=why,
    )
