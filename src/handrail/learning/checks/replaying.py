"""A check over a past session: every occasion to obey it, and whether it would have fired rightly.

Needs no model. A call that was refused did not happen, so it is neither obeyed nor violated, but for the one that a
person refused: there the check would have fired, and rightly.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from handrail.learning.checks.force import verdict_on
from handrail.learning.checks.history import done_of, has_calls, hear, words_of
from handrail.learning.checks.judging import Past, judge_reply
from handrail.learning.checks.spec import AskBefore, Check
from handrail.learning.rules.model import RuleScope
from handrail.transcripts.model import (
    Author,
    Common,
    Decision,
    Message,
    Refusal,
    RefusalKind,
    Text,
    ToolResult,
    ToolUse,
    Transcript,
)

_ANYWHERE = RuleScope()
_RECORDING = frozenset({"handrail"})
"""The harnesses in which every question about a call is on record, so that no record is no question."""


class Occasion(Struct, frozen=True, kw_only=True, gc=False):
    """One occasion: message ``at`` of the body, the call (None: a reply), whether it was obeyed, and whether the
    person stepped in right there."""

    at: int
    call: str | None
    is_obeyed: bool
    is_rightly: bool = False


class Tested(Struct, frozen=True, kw_only=True, gc=False):
    """What a check came to over sessions. ``fired`` of ``occasions`` were violations, ``rightly`` of them where the
    person stepped in; ``sessions`` are those with an occasion. ``rate`` is None without an occasion."""

    occasions: int = 0
    fired: int = 0
    rightly: int = 0
    sessions: int = 0

    @property
    def rate(self) -> float | None:
        return self.fired / self.occasions if self.occasions else None

    def __add__(self, other: Tested) -> Tested:
        return Tested(
            occasions=self.occasions + other.occasions,
            fired=self.fired + other.fired,
            rightly=self.rightly + other.rightly,
            sessions=self.sessions + other.sessions,
        )


def occasions(
    check: Check,
    session: Transcript[Common],
    stepped_in: Iterable[int] = (),
    *,
    scope: RuleScope = _ANYWHERE,
    root: str | None = None,
) -> tuple[Occasion, ...]:
    """Every occasion of ``check`` in the session. ``stepped_in`` are the messages in which the person stepped in:
    a violation was rightly called one where the next thing a person said or refused after it is among them.

    ``scope`` and ``root`` (that of the repository) say which files the rule is for. Messages that were copied from
    another session count there.
    """
    replay = _Replay(session, stepped_in)
    found: list[Occasion] = []
    for at, message in enumerate(session.body):
        if message.role == "user":
            hear(replay.past, message)
            continue
        reply = words_of(message)
        if message.origin is None and reply and not has_calls(message):
            found += replay.occasion(at, None, judge_reply(check, reply))
        for block in message.content:
            if type(block) is not ToolUse:
                continue
            refusal = replay.refusal_of(block.id)
            if message.origin is None and _counts(check, refusal):
                asked = replay.was_asked(block.id, refusal)
                obeyed = verdict_on(check, scope, done_of(block), root, lambda: replay.past, was_asked=asked)
                found += replay.occasion(at, block.id, obeyed)
            replay.past.called(done_of(block))
    return tuple(found)


class _Replay:
    """One session on its way: what came before, and what is known about its calls and its person."""

    def __init__(self, session: Transcript[Common], stepped_in: Iterable[int]) -> None:
        self.past = Past()
        self._steps = frozenset(stepped_in)
        self._spoken = acts_of_people(session.body)
        blocks = [block for message in session.body for block in message.content]
        self._results = {block.tool_use_id: block for block in blocks if type(block) is ToolResult}
        self._decided = frozenset(block.ask for block in blocks if type(block) is Decision)
        self._records_questions = session.meta.harness in _RECORDING

    def refusal_of(self, call: str) -> Refusal | None:
        result = self._results.get(call)
        return None if result is None else result.refusal

    def was_asked(self, call: str, refusal: Refusal | None) -> bool | None:
        """Whether a person was asked about the call; None where that harness does not say."""
        if call in self._decided or (refusal is not None and refusal.kind is RefusalKind.DENIED):
            return True
        return False if self._records_questions else None

    def occasion(self, at: int, call: str | None, obeyed: bool | None) -> Iterator[Occasion]:
        if obeyed is not None:
            yield Occasion(at=at, call=call, is_obeyed=obeyed, is_rightly=not obeyed and self._is_minded(at))

    def _is_minded(self, at: int) -> bool:
        """Whether the next thing a person did after message ``at`` was to step in."""
        following = bisect_right(self._spoken, at)
        return following < len(self._spoken) and self._spoken[following] in self._steps


def summed(found: Sequence[Occasion]) -> Tested:
    """The sum over one session."""
    fired = [one for one in found if not one.is_obeyed]
    return Tested(
        occasions=len(found), fired=len(fired), rightly=sum(one.is_rightly for one in fired), sessions=int(bool(found))
    )


def acts_of_people(body: Common) -> list[int]:
    """The messages in which a person spoke, refused or decided, in order."""
    return [at for at, message in enumerate(body) if _is_by_person(message)]


def _is_by_person(message: Message) -> bool:
    return any(
        (type(block) is Text and block.author == Author.PERSON and bool(block.text.strip()))
        or (type(block) is ToolResult and block.refusal is not None and block.refusal.kind is RefusalKind.DENIED)
        or type(block) is Decision
        for block in message.content
    )


def _counts(check: Check, refusal: Refusal | None) -> bool:
    """Whether a call with that refusal is an occasion."""
    if refusal is None or refusal.kind in (RefusalKind.INTERRUPTED, RefusalKind.OUTCOME_UNKNOWN):
        return True
    return refusal.kind is RefusalKind.DENIED and not isinstance(check, AskBefore)
