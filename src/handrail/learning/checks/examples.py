"""A check held against the moments its rule came from: what it must fire on, and what it must leave alone.

Each moment gives three kinds of examples out of the person's own session: what the agent did up to it (positive: the
check must fire there), how it went on after the person's words (negative: it must not, unless the person stepped in
on that as well), and what in the session the check says nothing about (not applicable: there must be something, or it
speaks of everything).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from handrail.learning.checks.history import has_calls, words_of
from handrail.learning.checks.replaying import acts_of_people, occasions
from handrail.learning.checks.spec import AskBefore, Check, Forbid
from handrail.learning.rules.model import RuleScope
from handrail.transcripts.model import Common, ToolUse, Transcript


class Episode(Struct, frozen=True, kw_only=True):
    """A moment a rule came from: its id, the line of the session it is on, the message ``at`` it happened in, and the
    root of the repository. ``step_ins`` are all messages of that line in which the person stepped in."""

    moment: str
    session: Transcript[Common]
    at: int
    step_ins: frozenset[int] = frozenset()
    root: str | None = None


class Example(Struct, frozen=True, kw_only=True, gc=False):
    """One example, of the moment ``moment``, and whether the check got it right."""

    moment: str
    kind: Literal["positive", "negative", "not_applicable"]
    is_passed: bool


class Proof(Struct, frozen=True, kw_only=True):
    """What a check came to on the examples of its rule. ``why_not`` says why it is not good enough, None: it is."""

    examples: tuple[Example, ...] = ()
    why_not: str | None = None

    @property
    def is_passed(self) -> bool:
        return self.why_not is None


def proved(check: Check, scope: RuleScope, episodes: Iterable[Episode]) -> Proof:
    """``check`` on the moments of its rule.

    It passes when it fires on half of them or more, on nothing that the person's words led to, and leaves something
    alone. One that asks before a call is held to the calls it means: whether a person was asked is no matter here.
    """
    examples = tuple(example for episode in episodes for example in _examples(check, scope, episode))
    return Proof(examples=examples, why_not=_why_not(examples))


def _why_not(examples: Sequence[Example]) -> str | None:
    fired = [one.is_passed for one in examples if one.kind == "positive"]
    if not fired:
        return "none of the moments that the rule came from was found, so there is nothing to prove it on"
    if 2 * sum(fired) < len(fired):
        return f"it fires on {sum(fired)} of the {len(fired)} moments that the rule came from"
    wrong = sum(not one.is_passed for one in examples if one.kind == "negative")
    if wrong:
        return f"after {wrong} of the moments it fires on what the person's words led to"
    if not any(one.is_passed for one in examples if one.kind == "not_applicable"):
        return "it speaks of every call and every answer in those sessions"
    return None


def _examples(check: Check, scope: RuleScope, episode: Episode) -> list[Example]:
    body = episode.session.body
    shown = Forbid(call=check.call) if isinstance(check, AskBefore) else check
    found = occasions(shown, episode.session, scope=scope, root=episode.root)
    acts = acts_of_people(body)
    start = max((act for act in acts if act < episode.at), default=-1)
    end = min((act for act in acts if act > episode.at), default=len(body))
    fired = [one.at for one in found if not one.is_obeyed]
    made = [_example(episode, "positive", any(start < at <= episode.at for at in fired))]
    is_wrong = any(episode.at < at < end for at in fired)
    is_minded = is_wrong and end in episode.step_ins
    if not is_minded and not isinstance(check, AskBefore) and _things(body[episode.at + 1 : end]):
        made.append(_example(episode, "negative", not is_wrong))
    made.append(_example(episode, "not_applicable", len(found) < _things(body)))
    return made


def _example(episode: Episode, kind: Literal["positive", "negative", "not_applicable"], is_passed: bool) -> Example:
    return Example(moment=episode.moment, kind=kind, is_passed=is_passed)


def _things(body: Common) -> int:
    """How many calls and answers there are."""
    assistant = [message for message in body if message.role == "assistant"]
    calls = sum(type(block) is ToolUse for message in assistant for block in message.content)
    return calls + sum(not has_calls(message) and bool(words_of(message).strip()) for message in assistant)
