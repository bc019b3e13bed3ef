"""What a run's progress keeps of the present visit to a stage, and of each of its points."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct, field

from handrail.blueprints.edges import SeenResult
from handrail.journal import events as ev
from handrail.journal.vocabulary import Actor
from handrail.transcripts.model import Json


class HandEdit(Struct, frozen=True):
    """What a person made of a document."""

    text: str
    by: Actor


class PointRecord(Struct, kw_only=True):
    """What became of one interaction point in this visit.

    ``round`` counts its presentations, ``revisions`` how often it sent the stage back or had its document edited.
    ``settled`` is the digest of the document it let pass (``""``: there was none), None while it did not;
    ``is_approved`` says that it was approved and not skipped, ``is_person`` that a person did; ``region`` is where
    that document is. ``opened`` is its last question, ``closed`` the answer that was not routed yet.
    ``wish`` is the question whose answer was to edit the document, until that is done.
    """

    round: int = 0
    revisions: int = 0
    settled: str | None = None
    is_approved: bool = False
    is_person: bool = False
    region: str | None = None
    opened: ev.AskOpened | None = None
    closed: ev.AskClosed | None = None
    by: Actor | None = None
    wish: str | None = None


class VisitRecord(Struct, kw_only=True):
    """What the present visit to a stage came to.

    ``answer`` is the last text of the present stretch of work, ``edited`` what a person made of a document since, by
    its region (``""``: of no region), ``written`` the regions that tools wrote in this stretch; ``before`` is what
    the stretch before it came to. ``output`` is the typed output. ``choosing`` is the edge that was asked for and
    ``choice`` what the model answered to that. ``handed_out`` says that its work was split in this stretch, and
    ``undone`` are the items that nobody did.
    """

    stage: str
    visit: int
    rounds: int = 0
    tool_calls: int = 0
    seconds: float = 0.0
    results: list[SeenResult] = field(default_factory=list)
    file_edits: Counter[str] = field(default_factory=Counter)
    answer: str = ""
    edited: dict[str, HandEdit] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    before: str = ""
    output: Json = None
    has_output: bool = False
    points: dict[str, PointRecord] = field(default_factory=dict)
    goto: str | None = None
    repeats: int = 0
    is_stuck: bool = False
    choosing: ev.EdgeAsked | None = None
    choice: str | None = None
    handed_out: bool = False
    undone: tuple[str, ...] = ()

    def point(self, name: str) -> PointRecord:
        """The record of the point called ``name``."""
        return self.points.setdefault(name, PointRecord())

    @property
    def product(self) -> Json:
        """What the stage made: a person's own text, its typed output, or the text it ended with."""
        edited = next(iter(self.edited.values()), None)
        if edited is not None:
            return edited.text
        return self.output if self.has_output else self.answer or self.before
