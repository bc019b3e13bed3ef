"""What a run of a blueprint has come to so far, kept up with as its events come: a fold beside the journal's own.

The state holds what decides the next step of a round; this holds what decides the next step of a stage: what regions
hold, what the present visit produced, measured and asked, which documents were approved. All of it is made again from
the events, so a run goes on from its journal with its counts, rounds and answers as they were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from handrail.agents.content import words_of
from handrail.agents.questions import text_digest
from handrail.blueprints.edges import SeenResult
from handrail.blueprints.predicates import text_of as json_text
from handrail.journal import events as ev
from handrail.journal.vocabulary import Actor, ActorKind, AskKind, Choice, RegionEntry, Route
from handrail.runs.fan_out.tool import FAN_OUT, failed_items
from handrail.runs.regions.contents import text_of
from handrail.runs.stages.measuring import STUCK, edited_file
from handrail.runs.stages.records import HandEdit, PointRecord, VisitRecord
from handrail.transcripts.calls import call_name
from handrail.transcripts.model import Json, Text, ToolCall, ToolUse


class Progress:
    """Takes in the events of a session one by one; what it holds is of the last run.

    ``visits`` counts entries by stage. ``outputs`` are the products of stages that were left. ``locked`` are regions
    with an approved document, each with the stage that it was approved in. ``passed_over`` are regions that were
    summed up in vain in this visit and not written since. ``from_seq`` is the event of the last
    response before the present visit: what came after it belongs to the visit.
    """

    def __init__(self) -> None:
        self.taken = 0
        self._anew()

    def _anew(self) -> None:
        self.run: ev.RunStarted | None = None
        self.blueprint: ev.BlueprintFrozen | None = None
        self.task = ""
        self.creator: Actor | None = None
        self.visits: Counter[str] = Counter()
        self.regions: dict[str, tuple[RegionEntry, ...]] = {}
        self.outputs: dict[str, Json] = {}
        self.locked: dict[str, str] = {}
        self.passed_over: set[str] = set()
        self.visit: VisitRecord | None = None
        self.left: ev.StageLeft | None = None
        self.from_seq = 0
        self._replied_seq = 0
        self._round = 0
        self._tools: dict[str, ToolCall] = {}

    def take(self, event: ev.Event) -> None:
        """Take in the next event."""
        self.taken = event.seq
        handle = _HANDLERS.get(type(event.body))
        if handle is not None:
            handle(self, event.body, event)

    # The run

    def run_started(self, body: ev.RunStarted, event: ev.Event) -> None:
        self._anew()
        self.run = body

    def frozen(self, body: ev.BlueprintFrozen, event: ev.Event) -> None:
        self.blueprint = body

    def prompted(self, body: ev.PromptGiven, event: ev.Event) -> None:
        self.task = "\n\n".join(block.text for block in body.content if type(block) is Text)
        self.creator = event.by

    # Stages

    def entered(self, body: ev.StageEntered, event: ev.Event) -> None:
        self.visit = VisitRecord(stage=body.stage, visit=body.visit)
        self.visits[body.stage] += 1
        self.left = None
        self.from_seq = self._replied_seq
        self.passed_over = set()
        # The stage that owns a document may write it again.
        self.locked = {region: owner for region, owner in self.locked.items() if owner != body.stage}

    def stage_left(self, body: ev.StageLeft, event: ev.Event) -> None:
        visit = self.visit
        if visit is not None:
            self.outputs[visit.stage] = visit.product
            self.locked |= dict.fromkeys(self._approved(visit), visit.stage)
        self.visit, self.left = None, body

    def _approved(self, visit: VisitRecord) -> Iterator[str]:
        """The regions whose document was approved in ``visit`` as it is now."""
        for record in visit.points.values():
            region = record.region
            if region is None or not record.is_approved:
                continue
            if record.settled == text_digest(text_of(self.regions.get(region, ()))):
                yield region

    def _again(self, *, is_whole: bool = True) -> None:
        """A new stretch of work in the same visit. Not ``is_whole``: it goes on with what the one before it wrote."""
        visit = self.visit
        if visit is not None:
            edited = next(iter(visit.edited.values()), None)
            visit.before = (edited and edited.text) or visit.answer or visit.before
            visit.answer, visit.output, visit.has_output = "", None, False
            visit.choosing = visit.choice = visit.goto = None
            visit.handed_out, visit.undone = False, ()
            visit.edited.clear()
            if is_whole:
                visit.written.clear()

    def repeated(self, body: ev.StageRepeated, event: ev.Event) -> None:
        self._again(is_whole=False)
        if self.visit is not None:
            self.visit.repeats += 1

    def edge_asked(self, body: ev.EdgeAsked, event: ev.Event) -> None:
        if self.visit is not None:
            self.visit.choosing, self.visit.choice = body, None

    # What a visit does

    def requested(self, body: ev.ModelRequested, event: ev.Event) -> None:
        if self.visit is not None and body.round != self._round:
            self.visit.rounds += 1
        self._round = body.round

    def replied(self, body: ev.ModelReplied, event: ev.Event) -> None:
        self._replied_seq = event.seq
        self._tools = {one.id: one.call for one in body.message.content if type(one) is ToolUse}
        visit = self.visit
        if visit is None:
            return
        visit.seconds += body.elapsed_s
        text = words_of(body.message.content)
        if visit.choosing is not None:
            visit.choice = text
        elif text.strip():
            visit.answer = text
            visit.edited.clear()

    def rewritten(self, body: ev.ToolRewritten, event: ev.Event) -> None:
        self._tools[body.call] = body.becomes

    def tool_started(self, body: ev.ToolStarted, event: ev.Event) -> None:
        if self.visit is not None and body.attempt == 1:
            self.visit.tool_calls += 1

    def tool_finished(self, body: ev.ToolFinished, event: ev.Event) -> None:
        visit, call = self.visit, self._tools.get(body.call)
        if visit is None:
            return
        visit.seconds += body.elapsed_s
        is_good = not body.is_error and body.refusal is None
        if call is not None:
            seen = SeenResult(tool=call_name(call), text=json_text(body.content), is_error=not is_good)
            visit.results.append(seen)
            file = edited_file(call)
            if file is not None and is_good:
                visit.file_edits[file] += 1
        if call is not None and call_name(call) == FAN_OUT and is_good:
            visit.handed_out, visit.undone = True, failed_items(body.details)
        if body.output is not None and is_good:
            visit.output, visit.has_output = body.output, True

    def decided(self, body: ev.BoundaryDecided, event: ev.Event) -> None:
        visit = self.visit
        if visit is None:
            return
        visit.seconds += body.elapsed_s
        if body.is_accepted and body.choice is Choice.FINISH:
            visit.output, visit.has_output = body.output, True
        if body.is_accepted and body.choice is Choice.STOP and STUCK in body.by:
            visit.is_stuck = True

    def worked(self, body: Any, event: ev.Event) -> None:
        if self.visit is not None:
            self.visit.seconds += body.elapsed_s

    # Points

    def asked(self, body: ev.AskOpened, event: ev.Event) -> None:
        visit = self.visit
        if visit is None or body.point is None or body.call is not None:
            return
        record = visit.point(body.point)
        record.opened, record.closed, record.by = body, None, None
        if body.kind is AskKind.POINT:
            record.round += 1
            record.settled = None

    def answered(self, body: ev.AskClosed, event: ev.Event) -> None:
        for record in () if self.visit is None else self.visit.points.values():
            if record.opened is not None and record.opened.ask == body.ask:
                record.closed, record.by = body, event.by

    def routed(self, body: ev.PointRouted, event: ev.Event) -> None:
        visit = self.visit
        if visit is None:
            return
        record = visit.point(body.point)
        opened, by = record.opened, record.by
        record.opened = record.closed = record.by = record.wish = None
        if body.route in (Route.APPROVED, Route.SKIPPED):
            record.settled = body.document or ""
            record.is_approved = body.route is Route.APPROVED
            record.is_person = by is not None and by.kind is ActorKind.PERSON
            record.region = None if opened is None else opened.region
            visit.goto = body.goto or visit.goto
        elif body.route is Route.EDITED:
            record.wish = None if opened is None else opened.ask
        elif body.route is Route.DIRECTED:
            record.revisions += 1
            self._again()

    def edited(self, body: ev.DocumentEdited, event: ev.Event) -> None:
        """A person's text is the document until the model makes another."""
        visit = self.visit
        record = None if visit is None else next((one for one in visit.points.values() if _is_of(one, body)), None)
        if visit is None or record is None:
            return
        visit.edited[(record.opened and record.opened.region) or ""] = HandEdit(body.after, event.by)
        record.revisions += 1
        record.opened = record.closed = record.by = record.wish = None

    def summed(self, body: ev.RegionSummed, event: ev.Event) -> None:
        """What was summed up in vain is not tried again as it is."""
        if not body.is_kept:
            self.passed_over.add(body.region)

    def written(self, body: ev.RegionWritten, event: ev.Event) -> None:
        self.regions[body.region] = body.entries
        self.passed_over.discard(body.region)
        visit = self.visit
        if visit is not None and event.by.kind is ActorKind.TOOL:
            visit.written.add(body.region)
        if body.stage is not None and self.locked.get(body.region, body.stage) != body.stage:
            # A later stage took the document up: it is that stage's now.
            del self.locked[body.region]


def _is_of(record: PointRecord, edit: ev.DocumentEdited) -> bool:
    return record.opened is not None and record.opened.ask == edit.ask


def progress_of(events: Iterable[ev.Event]) -> Progress:
    """The progress after ``events``."""
    made = Progress()
    for event in events:
        made.take(event)
    return made


_HANDLERS: dict[type, Callable[[Progress, Any, ev.Event], None]] = {
    ev.RunStarted: Progress.run_started,
    ev.BlueprintFrozen: Progress.frozen,
    ev.PromptGiven: Progress.prompted,
    ev.StageEntered: Progress.entered,
    ev.StageLeft: Progress.stage_left,
    ev.StageRepeated: Progress.repeated,
    ev.EdgeAsked: Progress.edge_asked,
    ev.ModelRequested: Progress.requested,
    ev.ModelReplied: Progress.replied,
    ev.ModelFailed: Progress.worked,
    ev.Compacted: Progress.worked,
    ev.HookRan: Progress.worked,
    ev.ToolRewritten: Progress.rewritten,
    ev.ToolStarted: Progress.tool_started,
    ev.ToolFinished: Progress.tool_finished,
    ev.BoundaryDecided: Progress.decided,
    ev.AskOpened: Progress.asked,
    ev.AskClosed: Progress.answered,
    ev.PointRouted: Progress.routed,
    ev.DocumentEdited: Progress.edited,
    ev.RegionSummed: Progress.summed,
    ev.RegionWritten: Progress.written,
}
