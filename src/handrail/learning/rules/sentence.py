"""What a rule's sentence may look like, and when two sentences say the same.

Normalising is for finding what was said before; it keeps the order of words and every word that turns a meaning, so
that "never" and "always", or "X over Y" and "Y over X", stay apart.
"""

from __future__ import annotations

import re
import unicodedata

from handrail.errors import HandrailError

MAX_CHARS = 280
"""The longest sentence, in characters: what fits on a few lines of a prompt and is read by those who skim."""

_IZE = re.compile(r"(?<=[a-z]{2})is(e|ed|es|ing|ation|ations)\b")
_NOT_WORD = re.compile(r"[^\w]+")
_LEADING = re.compile(r"^(?:[-*•]|\d+[.)])\s+")
_NEGATIONS = frozenset(
    {"never", "no", "not", "don't", "dont", "doesn't", "avoid", "without", "cannot", "can't", "mustn't", "stop"}
    | {"refrain", "forbid", "nie", "nicht", "kein", "keine"}
)
_MARKUP = re.compile(r"<[!/?a-zA-Z]|-->|```")


class NotASentence(HandrailError, ValueError):
    """A text that cannot be a rule, and why."""

    code = "not_a_sentence"
    exit_code = 2


def sentence(text: str) -> str:
    """``text`` as the sentence of a rule: one line, trimmed, without a bullet.

    ``NotASentence`` when it is empty, longer than ``MAX_CHARS``, holds control characters (a bidirectional one
    counts) or what could end the block it is put into.
    """
    trimmed = _LEADING.sub("", " ".join(text.split())).strip()
    if not any(char.isalnum() for char in trimmed):
        raise NotASentence("a rule needs words")
    if len(trimmed) > MAX_CHARS:
        raise NotASentence(f"a rule is one sentence of at most {MAX_CHARS} characters; this has {len(trimmed)}")
    odd = next((char for char in trimmed if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")), None)
    if odd is not None:
        raise NotASentence(f"a rule holds no control characters; this has U+{ord(odd):04X}")
    markup = _MARKUP.search(trimmed)
    if markup is not None:
        raise NotASentence(f"a rule holds no markup; this has {markup.group()!r}")
    if trimmed.startswith("#"):
        raise NotASentence("a rule is no heading: it may not begin with '#'")
    return trimmed


def normalised(text: str) -> str:
    """``text`` in lower case, spelt one way, without punctuation and double spaces."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    kept = _NOT_WORD.sub(" ", _IZE.sub(r"iz\1", folded).replace("n't", "nt"))
    return " ".join(kept.split())


def words(text: str) -> tuple[str, ...]:
    return tuple(normalised(text).split())


def is_negated(text: str) -> bool:
    """Whether the sentence forbids: it holds a word that turns its meaning."""
    folded = text.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return not _NEGATIONS.isdisjoint(re.findall(r"[\w']+", folded))
