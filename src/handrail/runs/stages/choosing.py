"""Letting the model name the next stage: one question, one round without tools, and a reply that is matched by code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from handrail.agents.writer import Said
from handrail.blueprints.edges.model import ByModel
from handrail.journal import events as ev
from handrail.runs.stages.notes import host
from handrail.runs.stages.scene import Scene, Step, said

_WORD = re.compile(r"[\w-]+")
_SHORT = 3
"""How many words a line may have to be a name and not prose in which one occurs."""

ATTEMPTS = 2


def asked_for_edge(scene: Scene, choices: Sequence[ByModel], attempt: int, before: tuple[Said, ...] = ()) -> Step:
    """Ask the model which of ``choices`` comes next."""
    lines = [f"- {edge.to}: {edge.hint}" if edge.hint else f"- {edge.to}" for edge in choices]
    question = "Which stage comes next? Answer with one of these names and nothing else."
    if attempt > 1:
        question = f"That was none of the names. {question}"
    stage = scene.stage.name
    asked = ev.EdgeAsked(stage=stage, targets=tuple(edge.to for edge in choices), attempt=attempt)
    return Step(events=(*before, *said(asked, host("\n".join((question, *lines)), stage))))


def named(reply: str, targets: Sequence[str]) -> str | None:
    """The one of ``targets`` that ``reply`` names; None where it names none, or several.

    A name is a whole word, hyphens and all, in any case, on a short line: the last, or else the first. Names within
    prose are no choice.
    """
    lines = [line for line in reply.splitlines() if line.strip()]
    for line in dict.fromkeys((*lines[-1:], *lines[:1])):
        words = _WORD.findall(line.casefold())
        found = {target for target in targets if target.casefold() in words}
        if len(words) <= _SHORT and len(found) == 1:
            return found.pop()
    return None
