"""The gaps between two responses of the model, with the acts that stand in them.

A gap is every message between two responses. Nothing in it has been answered yet, so what stands in one gap
belongs together: a refusal, its mark and the words after it, or one message sent in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from handrail.learning.acts import Act, ActReader, Decided, Refused, Stopped, Words, is_response
from handrail.transcripts.model import Common


class Gap(NamedTuple):
    """``start`` and ``end`` bound its messages (half-open); ``is_answered``: a response follows; ``has_task``:
    something was asked of the agent before this gap.
    """

    start: int
    end: int
    acts: tuple[Act, ...]
    is_answered: bool
    has_task: bool

    @property
    def words(self) -> list[Words]:
        return [act for act in self.acts if type(act) is Words]

    @property
    def refusals(self) -> list[Refused]:
        return [act for act in self.acts if type(act) is Refused]

    @property
    def decisions(self) -> list[Decided]:
        return [act for act in self.acts if type(act) is Decided]

    @property
    def stops(self) -> list[Stopped]:
        return [act for act in self.acts if type(act) is Stopped]


def iter_gaps(body: Common) -> Iterator[Gap]:
    """Every gap of ``body`` that holds an act, in order.

    An agent that was stopped does not go on by itself. Where a lone stop is followed by one response whose call was
    refused, that response was only written late, and the stop is part of the refusal.
    """
    waiting: Gap | None = None
    for gap in _iter_gaps(body):
        if waiting is not None:
            if gap.refusals and gap.start == waiting.end + 1:
                gap = gap._replace(acts=waiting.acts + gap.acts)
            else:
                yield waiting
            waiting = None
        if all(type(act) is Stopped for act in gap.acts):
            waiting = gap
        else:
            yield gap
    if waiting is not None:
        yield waiting


def _iter_gaps(body: Common) -> Iterator[Gap]:
    reader = ActReader(body)
    acts: list[Act] = []
    start = 0
    had_task = False
    for index, message in enumerate(body):
        if not is_response(message):
            acts.extend(reader.read(index, message))
            continue
        if acts:
            yield Gap(start, index, tuple(acts), is_answered=True, has_task=had_task)
        had_task = reader.has_task
        # A stop recorded inside the response it cut short belongs to what comes after.
        acts = list(reader.read(index, message))
        start = index + 1
    if acts:
        yield Gap(start, len(body), tuple(acts), is_answered=False, has_task=had_task)
