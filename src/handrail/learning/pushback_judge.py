"""Asking a judge, such as a model, about the follow-ups that the scorer cannot decide, and only when told to.

A judge is any callable that takes a ``Case`` and says yes, no or nothing. It is asked about candidates only. What it
gets is redacted and cut; what it says is one bit, so that nothing it writes enters a report.
"""

from __future__ import annotations

from typing import Protocol

import msgspec
from msgspec import Struct

from handrail.learning.interventions import Scorer
from handrail.learning.moment import Intervention, Verdict
from handrail.learning.pushback import shipped_model
from handrail.learning.pushback_turn import Turn, turn_at
from handrail.transcripts.calls import call_name
from handrail.transcripts.model import Common
from handrail.transcripts.redact import redact

QUESTION = (
    "Did the person step in on the agent's work with this turn: push back on it, correct it, redirect it, reject it, "
    "or report that it failed? A next task, an answer to the agent's question, a plain yes, praise and a genuine "
    'question are no. Answer with a JSON object: {"stepin": true} or {"stepin": false}.'
)
_SHOWN_CHARS = 1500
_SHOWN_TOOLS = 12


class Case(Struct, frozen=True, kw_only=True):
    """What a judge is shown: redacted, each text cut to 1,500 characters, of calls the names only."""

    question: str = QUESTION
    turn: str
    said_before: str
    asked_before: str
    tools_before: tuple[str, ...]
    answered: str
    tools_after: tuple[str, ...]


class Judge(Protocol):
    """Whether the case is a step-in; None where the judge gives no answer."""

    def __call__(self, case: Case) -> bool | None: ...


def case_of(turn: Turn) -> Case:
    """What of ``turn`` may leave the machine."""
    return Case(
        turn=_shown(turn.words),
        said_before=_shown(turn.said, is_end=True),
        asked_before=_shown(turn.previous),
        tools_before=tuple(redact(call_name(call)).text for call in turn.calls[-_SHOWN_TOOLS:]),
        answered=_shown(turn.answer),
        tools_after=tuple(redact(call_name(call)).text for call in turn.next_calls[:_SHOWN_TOOLS]),
    )


def judged_by(judge: Judge) -> Scorer:
    """A scorer that lets ``judge`` decide about what the shipped one calls candidates."""

    def scorer(moment: Intervention, line: Common, at: int) -> Verdict:
        turn = turn_at(line, at, moment.words)
        return ask(judge, turn, shipped_model().judge(turn))

    return scorer


def ask(judge: Judge, turn: Turn, verdict: Verdict) -> Verdict:
    """``verdict`` with the judge's answer in it, where it is a candidate's and there is an answer."""
    if not verdict.is_candidate:
        return verdict
    answer = judge(case_of(turn))
    if answer is None:
        return msgspec.structs.replace(verdict, doubts=("the judge gave no answer", *verdict.doubts))
    if answer:
        return msgspec.structs.replace(
            verdict, is_stepin=True, reasons=("the judge calls it a step-in", *verdict.reasons)
        )
    return msgspec.structs.replace(verdict, is_stepin=False, doubts=("the judge calls it no step-in", *verdict.doubts))


def _shown(text: str, *, is_end: bool = False) -> str:
    # Redacted before it is cut, so that no half of a key is left at the edge.
    clean = redact(text).text
    if len(clean) <= _SHOWN_CHARS:
        return clean
    return f"…{clean[-_SHOWN_CHARS:]}" if is_end else f"{clean[:_SHOWN_CHARS]}…"
