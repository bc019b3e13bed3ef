"""The rules of a run as the block of its prompt: few, the owner's first, the same bytes for the same rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from msgspec import Struct

from handrail.learning.rules.model import Life, Rule, RuleBook
from handrail.learning.rules.scope import Place, matches

HEADING = "## Rules from your corrections"
_FRAME = "These came of a person's corrections of earlier runs. Follow them unless the person says otherwise now."

MAX_RULES = 12
MAX_CHARS = 2_000
"""How many learned rules ride in one prompt, and how many characters they take at most.

Measured elsewhere: two or three added skills helped most, four or more a third as much, and exhaustive notes hurt
(SkillsBench, figures read second-hand). Neither bound was measured here.
"""


class Block(Struct, frozen=True, kw_only=True):
    """``text`` goes into the prompt (empty: nothing does); ``rules`` are the ids in it, ``left_out`` those that had no
    room, ``digest`` is the SHA-256 of the text, of the empty one too, so that "none rode" is on record."""

    text: str
    rules: tuple[str, ...]
    left_out: tuple[str, ...]
    digest: str


class Budget(Struct, frozen=True, kw_only=True, gc=False):
    """How many learned rules, and how many characters of them. The owner's own count against neither."""

    max_rules: int = MAX_RULES
    max_chars: int = MAX_CHARS


def rules_for(book: RuleBook, run: Place) -> tuple[Rule, ...]:
    """The rules that count in ``run``: active ones before those on trial, more evidence before less, older first."""
    return in_order(rule for rule in book if matches(rule.scope, run))


def in_order(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Those of ``rules`` that ride, in the order they are put into a prompt: the owner's before others."""
    riding = [rule for rule in rules if rule.rides]
    order = {Life.ACTIVE: 0, Life.TRIAL: 1}
    return tuple(sorted(riding, key=lambda rule: (rule.by != "owner", order[rule.life], -len(rule.sources), rule.id)))


def block_of(own: Sequence[str], rules: Iterable[Rule], budget: Budget | None = None) -> Block:
    """The block of the owner's own sentences and of ``rules``, in that order, within the budget."""
    limit = budget or Budget()
    taken: list[Rule] = []
    left: list[str] = []
    room = limit.max_chars
    for rule in rules:
        line = _line(rule)
        is_own = rule.by == "owner"
        if is_own or (sum(one.by != "owner" for one in taken) < limit.max_rules and len(line) <= room):
            taken.append(rule)
            room -= 0 if is_own else len(line)
        else:
            left.append(rule.id)
    lines = [*(f"- {text}" for text in own), *map(_line, taken)]
    text = "\n".join((HEADING, _FRAME, *lines)) if lines else ""
    digest = sha256(text.encode()).hexdigest()
    return Block(text=text, rules=tuple(rule.id for rule in taken), left_out=tuple(left), digest=digest)


def without_block(prompt: str) -> str:
    """``prompt`` without the block that ``block_of`` put at its end; the same prompt where there is none."""
    at = prompt.rfind(HEADING)
    if at < 0 or (at > 0 and prompt[at - 1] != "\n"):
        return prompt
    lines = prompt[at:].split("\n")
    if len(lines) < 2 or lines[1] != _FRAME:
        return prompt
    end = 2
    while end < len(lines) and lines[end].startswith("- "):
        end += 1
    rest = "\n".join(lines[end:])
    return prompt[:at].rstrip("\n") + (f"\n{rest}" if rest else "")


def _line(rule: Rule) -> str:
    paths = rule.scope.paths
    return f"- {rule.text}" if not paths else f"- {rule.text} (in {', '.join(paths)})"
