"""A turn as a few dozen numbers between 0 and 3, each with a name, a direction and the phrase that explains it.

``SIGNS`` is the closed list of what may be weighed: a learned weight has one of its names and may not point the other
way. Nothing here is learned. A feature that is 0 says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from math import log1p
from typing import NamedTuple

from handrail.learning.pushback_calls import changed_files, ships, takes_back, written_text
from handrail.learning.pushback_cues import FILLER, OPENINGS, PHRASES, spoken_of
from handrail.learning.pushback_paste import Split, split
from handrail.learning.pushback_replies import AFTER, BEFORE
from handrail.learning.pushback_turn import Turn

_HEAD_CHARS = 500
_SAID_CHARS = 400
_QUESTION_CHARS = 250
_ANSWER_CHARS = 180
_ECHO_CHARS = 1500
_WRITTEN_CHARS = 300
_CALLS_ECHOED = 20
_BRIEF_WORDS = 8
_LONG_WORK_S = 600

_SHAPES: tuple[tuple[str, int, str], ...] = (
    ("is_short", -1, "it is very short"),
    ("is_long", 0, "it is long"),
    ("has_list", -1, "it lists several things"),
    ("states_unasked", 1, "it states something the agent had not asked about"),
    ("states_to_yes_or_no", 1, "it states something where the agent had asked for a yes or no"),
    ("states_what_was_asked", -1, "it tells the agent what it had asked for"),
    ("states_then_asks", 1, "it states something and then asks"),
    ("ends_asking", -1, "it ends with a question"),
    ("asks_twice", -1, "it asks several questions"),
    ("trails_off", 1, "it trails off"),
    ("is_emphatic", 1, "it stresses a word"),
    ("picks_option", -1, "it picks one of the options offered"),
    ("consents", -1, "it is a plain yes"),
    ("answers_question", -1, "it answers what the agent had asked"),
    ("pastes", 0, "it holds pasted output"),
    ("pastes_failure", 1, "it holds pasted output of something that failed"),
    ("pastes_only_failure", 1, "it is little but the output of something that failed"),
    ("fails_after_change", 1, "it reports a failure after the agent's change"),
    ("fails_after_claim", 1, "it reports a failure after the agent said it was done"),
    ("denies_unasked", 1, "it says no to something that was not a question"),
    ("denies_asked", -1, "it says no to a question"),
    ("asks_plainly", -1, "it asks without a hint of disapproval"),
    ("orders_plainly", -1, "it gives new work without a hint of disapproval"),
    ("nothing_was_made", -1, "the agent had changed nothing and changed nothing after it"),
    ("undoes_change", 1, "it takes back what the agent changed"),
    ("many_signs", 1, "several signs of disapproval come together"),
    ("names_agents_things", 1, "it names files or symbols the agent had named or changed"),
    ("repeats_itself", 1, "the person says again what they had said"),
    ("pressed_before", 1, "the person had already pushed back the turn before"),
    ("after_errors", 1, "calls of the agent had failed"),
    ("short_after_long_work", 1, "it is short, after long work"),
    ("is_second", -1, "it is the second thing the person said"),
    ("agent_edits_at_once", 1, "the agent changed files at once"),
    ("agent_reworks", 1, "the agent changed again what it had changed before"),
    ("agent_takes_back", 1, "the agent took its own work back"),
    ("agent_only_talks", -1, "the agent answered in words only"),
    ("agent_stopped_next", 1, "the person stopped the agent soon after"),
    ("question_changed_work", 1, "the question made the agent change its work"),
    ("statement_changed_work", 1, "the statement made the agent change its work"),
    ("question_was_answered", -1, "the question was simply answered"),
    ("concedes_to_statement", 1, "the agent agreed, and nothing had been asked"),
)

_CUES = (*OPENINGS, *PHRASES, *BEFORE, *AFTER)

SIGNS: dict[str, int] = {cue.name: cue.sign for cue in _CUES} | {name: sign for name, sign, _ in _SHAPES}
"""Every feature that may be weighed and its direction: +1 for a step-in, -1 against one, 0 either. What has no
weight in the end serves others: "it is still so" counts only as part of a failure or of several signs together.
"""

REASONS: dict[str, str] = {cue.name: cue.reason for cue in _CUES} | {name: reason for name, _, reason in _SHAPES}
"""The phrase that explains each feature. It holds nothing from any session."""

_COUNTED_NAMES = ("says_not", "says_not_working", "says_failed", "says_wrong", "says_you_did", "says_but")
_COUNTED = tuple(cue for cue in PHRASES if cue.name in _COUNTED_NAMES)
_REQUESTS = (
    *("opens_yes", "opens_no", "opens_what", "opens_why", "opens_is", "opens_request", "opens_lets", "opens_order"),
    *("opens_next", "opens_undo", "picks_option"),
)
_DISAPPROVAL = (
    *("opens_no", "opens_doubting", "opens_contrasting", "opens_why", "says_not", "says_not_working", "says_failed"),
    *("says_wrong", "says_undo", "says_instead", "asks_negated", "asks_why", "says_too", "shows_dismay"),
)
_COUNTED_TOGETHER = (*_DISAPPROVAL, "says_again", "says_i_want", "says_you_did", "says_but", "says_actually")
_PRESSING = tuple(cue.name for cue in PHRASES if cue.name in _DISAPPROVAL and cue.name != "says_not")

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_LIST_ITEM = re.compile(r"(?m)^\s*(?:[-*•]|\d+[.)])\s")
_OPTION = re.compile(
    r"\s*(?:(?:option|let['’]?s (?:do|go with)|go with|do|fix)\s+)?(?:[a-d]|#?[1-9])"
    r"(?:[).:,&]|\s*$|\s+(?:and|please|then)\b)"
)
_EMPHASIS = re.compile(r"(?:^|\s)[_*]{1,2}\w+[_*]{1,2}(?:[\s.,?!]|$)|\b[A-Z]{4,}\b")
_STRESS = re.compile(r"[A-Z]{4}|[_*]")
_TOKEN = re.compile(r"[^\W\d]\w[\w./-]+")
_IDENTIFIER = re.compile(r"[_./\d-]|[a-z][A-Z]")
_STOP_TEXT = """
the and for that this with you are was have not but can from what how why does did should would could will just into
then them they there here when where which who your our its has had any all one two now also only let lets use make
like some more than about yes yeah okay please think want need see get got still because been were
"""
_STOP_WORDS = frozenset(_STOP_TEXT.split())


def features_of(turn: Turn) -> dict[str, float]:
    """The features of ``turn`` that are not 0. (A few that are found on the way serve others only.)"""
    spoken = _spoken(turn.words)
    parts = spoken.parts
    found = _openings(parts.typed) | spoken.phrases | _agent(turn)
    found |= _shape(parts, found) | _echoes(turn, spoken) | _reaction(turn)
    found |= _together(turn, parts, found)
    return {name: float(value) for name, value in found.items() if value and name in SIGNS}


class _Spoken(NamedTuple):
    """What a person's words hold by themselves; ``tokens`` of what was typed, ``all_tokens`` of pasted text too."""

    parts: Split
    phrases: dict[str, float]
    tokens: set[str]
    all_tokens: set[str]


@lru_cache(maxsize=8)
def _spoken(words: str) -> _Spoken:
    """Kept, as every turn is the previous one of the next."""
    parts = split(words)
    tokens = _tokens(parts.typed)
    all_tokens = tokens if parts.typed == words else _tokens(words)
    return _Spoken(parts, _phrases(parts.typed[:_HEAD_CHARS].lower()), tokens, all_tokens)


def _openings(typed: str) -> dict[str, float]:
    text = typed[:_HEAD_CHARS].lower()
    filler = FILLER.match(text)
    starts = [text[filler.end() :], text] if filler else [text]
    found = {cue.name: 1.0 for cue in OPENINGS if any(cue.pattern.match(start) for start in starts)}
    if any(_OPTION.match(start) for start in starts):
        found["picks_option"] = 1.0
    return found


def _phrases(head: str) -> dict[str, float]:
    found = {cue.name: 1.0 for cue in spoken_of(PHRASES, head)}
    for cue in _COUNTED:
        if cue.name in found:
            found[cue.name] = min(2.0, sum(1 for _ in cue.pattern.finditer(head)))
    return found


def _agent(turn: Turn) -> dict[str, float]:
    said, answer = turn.said[-_SAID_CHARS:].lower(), turn.answer[:_ANSWER_CHARS].lower()
    found = {cue.name: 1.0 for cue in spoken_of(BEFORE, said)}
    found |= {cue.name: 1.0 for cue in spoken_of(AFTER, answer)}
    found["said_question"] = "?" in said[-_QUESTION_CHARS:]
    return found


def _shape(parts: Split, found: dict[str, float]) -> dict[str, float]:
    text, head = parts.typed, parts.typed[:_HEAD_CHARS]
    words = len(text.split())
    asks = "?" in head
    return {
        "is_short": 0 < words <= 4,
        "is_long": log1p(words / 40),
        "has_list": "\n" in head and len(_LIST_ITEM.findall(head)) >= 2,
        "is_statement": not asks and 3 <= words <= 60 and not any(found.get(name) for name in _REQUESTS),
        "states_then_asks": asks and _states_first(head),
        "ends_asking": text.endswith("?"),
        "asks_twice": head.count("?") > 1,
        "trails_off": ".." in head or "…" in head,
        "is_emphatic": bool(_STRESS.search(head) and _EMPHASIS.search(head)),
        "pastes": len(parts.pasted) > 20,
        "pastes_failure": parts.is_failure,
        "pastes_only_failure": parts.is_failure and words <= 12,
    }


def _states_first(head: str) -> bool:
    """Whether the first of several sentences is no question."""
    sentences = [piece for piece in _SENTENCE_END.split(head) if piece.strip()]
    return len(sentences) > 1 and not sentences[0].rstrip().endswith("?")


def _echoes(turn: Turn, spoken: _Spoken) -> dict[str, float]:
    """What the turn has in common with what stood before it."""
    previous = _spoken(turn.previous)
    own, before = spoken.tokens, previous.all_tokens
    found = {
        "repeats_itself": 2 * len(own & before) / (len(own | before) + 3),
        "pressed_before": min(2, sum(1 for name in _PRESSING if previous.phrases.get(name))) / 2,
    }
    if named := {token for token in own if _IDENTIFIER.search(token)}:
        written = " ".join(written_text(call, _WRITTEN_CHARS) for call in turn.calls[-_CALLS_ECHOED:])
        found["names_agents_things"] = _names(named, turn.said) or _names(named, written)
    return found


def _names(named: set[str], text: str) -> bool:
    """Whether a token of ``named`` is one of the end of ``text``; a look at the letters saves taking it apart."""
    end = text[-_ECHO_CHARS:].casefold()
    return any(token in end for token in named) and not named.isdisjoint(_tokens(text))


def _reaction(turn: Turn) -> dict[str, float]:
    """What the agent did before and next."""
    changed = {name for call in turn.calls for name in changed_files(call)}
    again = [changed_files(call) for call in turn.next_calls[:12]]
    return {
        "after_errors": turn.errors > 0,
        "is_second": turn.is_second,
        "after_change": bool(changed) or any(map(ships, turn.calls)),
        "agent_edits_at_once": any(again[:3]),
        "agent_reworks": any(changed & names for names in again),
        "agent_takes_back": any(map(takes_back, turn.next_calls[:6])),
        "agent_only_talks": bool(turn.answer) and not turn.next_calls,
        "agent_stopped_next": turn.is_stopped_next,
    }


def _together(turn: Turn, parts: Split, found: dict[str, float]) -> dict[str, float]:
    """What only two or three things seen together show."""

    spoken = {name for name, value in found.items() if value}

    def has(*names: str) -> bool:
        return not spoken.isdisjoint(names)

    return _stance(turn, parts, has) | {
        "short_after_long_work": (turn.worked_s or 0) > _LONG_WORK_S and 0 < len(parts.typed.split()) <= _BRIEF_WORDS,
        "undoes_change": has("says_undo", "opens_undo") and has("after_change"),
        "many_signs": min(2.0, sum(1 for name in _COUNTED_TOGETHER if found.get(name)) / 3),
        "fails_after_change": has(*_FAILURE) and has("after_change", "agent_asked_to_try"),
        "fails_after_claim": has(*_FAILURE) and has("agent_claimed_done"),
        "nothing_was_made": not has("after_change", "pastes", *_CHANGES),
        "orders_plainly": has(*_ORDERS) and not has(*_DISAPPROVAL),
        "statement_changed_work": has("is_statement") and has(*_CHANGES),
    }


_FAILURE = ("says_failed", "says_not_working", "pastes_failure")
_ORDERS = ("opens_order", "opens_request", "opens_lets", "opens_next")
_CHANGES = ("agent_edits_at_once", "agent_reworks", "agent_takes_back")


def _stance(turn: Turn, parts: Split, has: Callable[..., bool]) -> dict[str, float]:
    """How the turn stands to what the agent had asked, and the answer to what the turn asks."""
    was_asked = has("said_question")
    had_inquired = has("agent_inquired") or (was_asked and has("agent_offered_choice"))
    asks = "?" in parts.typed[:_HEAD_CHARS]
    told = had_inquired and not asks and has("is_statement", "pastes", "picks_option")
    answers = told or (was_asked and has("opens_no", "opens_yes", "picks_option"))
    is_brief = len(parts.typed.split()) <= _BRIEF_WORDS
    disapproves = has(*_DISAPPROVAL)
    return {
        "opens_no": has("opens_no") and not was_asked,
        "says_i_want": has("says_i_want") and not answers,
        "agent_conceded": has("agent_conceded") and not answers,
        "denies_asked": has("opens_no") and was_asked,
        "denies_unasked": has("opens_no", "says_not") and not was_asked,
        "states_unasked": has("is_statement") and not was_asked and not had_inquired,
        "states_to_yes_or_no": has("is_statement") and was_asked and not had_inquired,
        "states_what_was_asked": told,
        "consents": has("opens_yes") and is_brief and not disapproves,
        "answers_question": was_asked and not asks and (is_brief or has("opens_yes", "picks_option")),
        "asks_plainly": asks and not disapproves,
        "question_changed_work": asks and has(*_CHANGES),
        "question_was_answered": asks and has("agent_answered") and not turn.next_calls,
        "concedes_to_statement": not asks and not answers and has("agent_conceded", "agent_agreed"),
    }


def _tokens(text: str) -> set[str]:
    return {token.strip("./-") for token in _TOKEN.findall(text[-_ECHO_CHARS:].casefold())} - _STOP_WORDS
