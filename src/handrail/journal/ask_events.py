"""What can happen to questions that wait for people; part of the union in ``events``."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import Struct

from handrail.journal.vocabulary import AskKind, AskOutcome
from handrail.transcripts.model import Json


class AskOpened(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A question waits for a person. ``digest`` is of what was shown (``shown``): an answer is bound to it.

    ``ask`` is opaque and new at each opening. ``key`` (``""``: none) says what is asked and is opened once in its
    session: whoever opens it again finds this one. ``call`` is the call that asks or is to be approved; ``point``,
    ``stage``, ``visit`` and ``round`` are the interaction point, ``run`` the run and ``origin`` the agents from the
    root to the one that asks.

    ``title`` is a short name for it, ``body_format`` how ``shown`` is written, ``region`` the context region that
    holds it. ``options`` are labels; ``effects``
    says in one word what each does (approve, revise, edit, abort, skip), ``may_type`` whether other words are an
    answer too, ``comments`` which options need a comment. ``approvers`` are the names that may answer (none:
    anybody) and ``barred`` those that may not; ``quorum`` of them must approve. ``deadline`` closes it unless
    ``may_expire`` is False; at ``remind_at`` somebody is reminded. Both are aware UTC.
    """

    ask: str
    kind: AskKind
    prompt: str
    options: tuple[str, ...] = ()
    shown: str | None = None
    digest: str | None = None
    call: str | None = None
    point: str | None = None
    stage: str | None = None
    is_required: bool = True
    deadline: datetime | None = None
    key: str = ""
    run: str | None = None
    visit: int | None = None
    round: int | None = None
    title: str | None = None
    body_format: Literal["plain", "markdown", "json"] = "plain"
    may_type: bool = False
    comments: tuple[str, ...] = ()
    approvers: tuple[str, ...] = ()
    barred: tuple[str, ...] = ()
    quorum: int = 1
    remind_at: datetime | None = None
    may_expire: bool = True
    origin: tuple[str, ...] = ()
    effects: dict[str, str] = {}
    region: str | None = None


class AskReminded(Struct, frozen=True, omit_defaults=True, gc=False):
    """Somebody was reminded of an open question."""

    ask: str


class AskVoted(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """One of several whose yes a question needs said what they choose; ``digest`` is of what they were shown.

    ``AskClosed`` follows where that settles it.
    """

    ask: str
    choice: str | None = None
    comment: str | None = None
    digest: str | None = None


class AskClosed(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """A question was closed, once.

    ``choice`` is an offered label, ``comment`` words that came with it, ``words`` an answer typed freely; ``before``
    and ``after`` an edit. For an approval ``is_allowed`` decides, ``grant`` says for how long and ``rule`` for which
    other calls (None: for this very call); one that is closed and not allowed is the call's refusal.
    """

    ask: str
    outcome: AskOutcome
    choice: str | None = None
    comment: str | None = None
    words: str | None = None
    before: str | None = None
    after: str | None = None
    is_allowed: bool = False
    grant: Literal["once", "stage", "run"] = "once"
    rule: Json = None


class DocumentEdited(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """A document the run works on was changed by hand; later stages build on ``after``."""

    document: str
    before: str
    after: str
    ask: str | None = None
