"""What a stage's rules say to the model: short, under one name, and never as a person."""

from __future__ import annotations

from handrail.journal import events as ev
from handrail.journal.vocabulary import EndReason
from handrail.transcripts.model import Author, Text

BLUEPRINT = "blueprint"
"""Whose words they are."""


def host(text: str, stage: str) -> ev.Injected:
    """``text``, put in by the rules of ``stage``."""
    return ev.Injected(strategy=BLUEPRINT, content=(Text(text, Author.HOST, by=BLUEPRINT),), stage=stage)


def entered(stage: str, description: str, visit: int, before: ev.StageLeft) -> str:
    """What is said when a stage begins that another one leads to."""
    told = f"You are in the stage {stage!r} now" + (f", for the {visit}. time." if visit > 1 else ".")
    return " ".join(part for part in (told, _why(before), description) if part)


def _why(left: ev.StageLeft) -> str | None:
    reason = (left.reason or "").partition(":")[0]
    if reason in (EndReason.ANSWERED, EndReason.TOOL_FINISHED, EndReason.STRATEGY_FINISH):
        return None
    return f"The stage {left.stage!r} did not finish ({left.reason})."


RECHECK = (
    "What was approved is not what you proposed first: it was revised or edited on the way. "
    "Check what you concluded earlier against it."
)

EDITED = "The person has edited the document. Their text is what counts from here on: keep it as it is."
