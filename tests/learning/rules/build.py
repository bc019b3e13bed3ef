"""Rules, sources and places for the tests of this folder."""

from __future__ import annotations

from datetime import UTC, datetime

from handrail.learning.rules.model import Rule, RuleBook, RuleScope, Source
from handrail.learning.rules.operations import Add, apply

AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
HERE = RuleScope(repositories=("shop",), harnesses=("handrail",))


def source(moment: str = "m1", session: str = "s1") -> Source:
    return Source(harness="handrail", session=session, uid=f"{session}/{moment}", moment=moment)


def book_of(*texts: str, scope: RuleScope = HERE) -> RuleBook:
    """A book with a candidate a text."""
    book = RuleBook()
    for number, text in enumerate(texts):
        book = apply(book, Add(text=text, sources=(source(f"m{number}"),), scope=scope), by="model", at=AT)
    return book


def only(book: RuleBook) -> Rule:
    (rule,) = book
    return rule
