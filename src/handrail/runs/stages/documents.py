"""Which document a point is about, and what its region holds once it holds that.

The document is what a person made of it; else what tools wrote into its region since the work began; else the text
the stage produced; else what was there before.
"""

from __future__ import annotations

from msgspec import Struct

from handrail import jsonio
from handrail.agents.asks import BOTH
from handrail.agents.questions import text_digest
from handrail.agents.regions import RegionRefused
from handrail.blueprints.points import InteractionPoint
from handrail.journal.vocabulary import DRIVER, Actor, RegionEntry
from handrail.runs.regions.contents import text_of
from handrail.runs.regions.drafts import Origin
from handrail.runs.regions.writing import replaced
from handrail.runs.stages.scene import Scene
from handrail.transcripts.model import Json


class Document(Struct, frozen=True, kw_only=True):
    """``text`` is by ``by``. ``entries`` are what its region is to hold, None where it holds that already or there is
    none; ``refused`` says why the region does not take it.
    """

    text: str
    by: Actor
    entries: tuple[RegionEntry, ...] | None = None
    refused: str | None = None

    @property
    def digest(self) -> str:
        """What an approval of it is bound to."""
        return text_digest(self.text)


def document_of(scene: Scene, point: InteractionPoint) -> Document | None:
    """The document of ``point`` as it is now; None where there is none."""
    visit, region = scene.visit, point.document_region
    held = () if region is None else scene.progress.regions.get(region, ())
    edited = visit.edited.get(region or "")
    if edited is not None:
        text, by = edited.text, edited.by
    elif region is not None and region in visit.written:
        text, by = text_of(held), DRIVER
    else:
        text, by = _produced(scene) or text_of(held) or visit.before, DRIVER
    if not text.strip():
        return None
    return Document(text=text, by=by) if region is None else _in_region(scene, region, held, text, by)


def _produced(scene: Scene) -> str:
    visit = scene.visit
    return pretty(visit.output) if visit.has_output else visit.answer


def _in_region(scene: Scene, name: str, held: tuple[RegionEntry, ...], text: str, by: Actor) -> Document:
    if text_of(held) == text:
        return Document(text=text, by=by)
    origin = Origin(scene.state.taint or BOTH, by)
    try:
        entries = replaced(scene.blueprint.region(name), held, text, scene.size, origin)
    except RegionRefused as problem:
        return Document(text=text, by=by, refused=str(problem))
    return Document(text=text, by=by, entries=entries)


def pretty(value: Json) -> str:
    """A product as a person reads it: a text as it is, other values as JSON."""
    return value if isinstance(value, str) else jsonio.encode(value).decode()
