"""Context regions: the named parts of what a model sees, each with a kind, a budget and what it begins with.

Declared here, as data; what is in them is events (``RegionWritten``), and what may go in or out is ``runs.regions``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    StringConstraints,
    Tag,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

__all__ = [
    "CONVERSATION",
    "DEFAULT_TOKENS",
    "Admission",
    "Checklist",
    "CommandSeed",
    "Compacting",
    "FilesSeed",
    "GlobSeed",
    "Keyed",
    "LiteralSeed",
    "Percent",
    "Pinned",
    "Region",
    "Seed",
    "Sliding",
    "Volatility",
]

CONVERSATION = "conversation"
"""The sliding region of this name is no store: it says how much of the conversation a stage sees."""

DEFAULT_TOKENS = 5_000
"""The budget of a region that declares none."""

_PERCENT = r"[0-9]{1,3}(?:\.[0-9]{1,16})?%"
_LEAST = 0.01


def _percent(given: Any) -> Any:
    if isinstance(given, int | float) and not isinstance(given, bool):
        return given
    text = "".join(given.split()) if isinstance(given, str) else ""
    if not re.fullmatch(_PERCENT, text):
        raise ValueError('write a share like "20%", or a number from 0.01 to 100')
    return float(text.removesuffix("%"))


def _spelled(share: float) -> str:
    short = f"{share:g}"
    return f"{short}%" if float(short) == share else f"{share}%"


Percent: TypeAlias = Annotated[
    float,
    Field(ge=_LEAST, le=100),
    BeforeValidator(_percent),
    PlainSerializer(_spelled, return_type=str, when_used="json"),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": f"^{_PERCENT}$"},
                {"type": "number", "minimum": _LEAST, "maximum": 100},
            ],
        }
    ),
]
"""A share in per cent, from 0.01 to 100; ``"20%"`` and ``20`` are the same."""

Count: TypeAlias = Annotated[int, Field(ge=1, strict=True)]
Flag: TypeAlias = Annotated[bool, Field(strict=True)]

Name: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]
"""What a region is called: in a blueprint, in the prompt, by tools."""

Line: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$", max_length=200)]
"""Words that stand on one line of the prompt."""


class Admission(StrEnum):
    """What becomes of a write that finds no room: older entries leave, or the write is refused."""

    EVICT = "evict"
    REJECT = "reject"


class Volatility(StrEnum):
    """How a region changes from request to request; the prompt is ordered by it, so that a cached start stays good."""

    STABLE = "stable"
    GROWS = "grows"
    REWRITTEN = "rewritten"


class _Declared(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


# Seeds ------------------------------------------------------------------------------------------------------


class LiteralSeed(_Declared):
    """Begin with this text."""

    literal: str


class FilesSeed(_Declared):
    """Begin with files of the workspace, in this order, each under its path. One that is missing is an error."""

    files: tuple[str, ...] = Field(min_length=1)


class GlobSeed(_Declared):
    """Begin with the files of the workspace that fit a pattern, by path, each under its path; there may be none."""

    glob: str = Field(min_length=1)


class CommandSeed(_Declared):
    """Begin with what a command prints. It runs in the workspace, without a shell, and only with permission."""

    command: tuple[str, ...] = Field(min_length=1)
    timeout_s: float = Field(default=30.0, gt=0, le=600)


_SEED_KEYS = ("literal", "files", "glob", "command")


def _seed_kind(given: Any) -> str | None:
    if isinstance(given, str):
        return "task"
    if isinstance(given, Mapping):
        return next((key for key in _SEED_KEYS if key in given), None)
    return next((key for key in _SEED_KEYS if hasattr(given, key)), None)


Seed: TypeAlias = Annotated[
    Annotated[Literal["task"], Tag("task")]
    | Annotated[LiteralSeed, Tag("literal")]
    | Annotated[FilesSeed, Tag("files")]
    | Annotated[GlobSeed, Tag("glob")]
    | Annotated[CommandSeed, Tag("command")],
    Discriminator(
        _seed_kind,
        custom_error_type="seed",
        custom_error_message='a seed is "task", or a table with one of literal, files, glob, command',
    ),
]
"""What a region begins with: ``"task"`` (what the run was started with), or a table with one key."""


# Kinds ------------------------------------------------------------------------------------------------------


class _Region(_Declared):
    """What every kind declares.

    The budget is ``budget`` per cent of the model's window, at most ``max_tokens`` and at least ``min_tokens``,
    which wins. ``required`` regions must hold something before their stage may leave; ``required_message`` is then
    told to the model. A region ``is_read_only`` for tools; seeds, points and people still write it. Title and (where
    ``is_described``) description stand in the prompt.
    """

    name: Name
    title: Line | None = None
    description: Line | None = None
    is_described: Flag = True
    budget: Percent | None = None
    max_tokens: Count | None = None
    min_tokens: Count | None = None
    required: Flag = False
    required_message: str | None = None
    is_read_only: Flag = False
    seed: Seed | None = None

    @model_validator(mode="after")
    def _message_needs_required(self) -> _Region:
        if self.required_message is not None and not self.required:
            raise ValueError("required_message has no effect without required = true")
        return self

    @model_serializer(mode="wrap")
    def _led_by_kind(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The kind stands first, and also where defaults are left out: without it nobody knows what the rest is."""
        written: dict[str, Any] = handler(self)
        return {"kind": getattr(self, "kind", None), **written}

    def budget_tokens(self, window: int | None) -> int:
        """How many tokens the region may hold, for a model with a ``window`` of so many (None: not known).

        Without a known window a share cannot be taken: the cap, or else ``DEFAULT_TOKENS``, stands for it.
        """
        cap = self.max_tokens
        if self.budget is None or window is None:
            tokens = DEFAULT_TOKENS if cap is None else cap
        else:
            share = round(window * self.budget / 100)
            tokens = share if cap is None else min(share, cap)
        return max(tokens, self.min_tokens or 0, 1)


class Pinned(_Region):
    """Stays until it is replaced: a task, a plan, a document. Nothing is ever dropped to make room in it."""

    kind: Literal["pinned"] = "pinned"
    volatility: Volatility = Volatility.STABLE

    @property
    def admission(self) -> Admission:
        return Admission.REJECT


class Sliding(_Region):
    """The newest ``max_items``. Called ``conversation`` it is the view of the conversation, and its items are turns.

    ``strategy`` for the oldest: ``per_item`` drops one as soon as there is one too many, which moves the start of the
    prompt each time; ``bulk`` lets ``overflow`` more gather and then drops back to ``max_items``; ``compact`` drops
    none, but has the ``count`` oldest summed up whenever there are too many. ``since`` says whether a conversation is
    shown from the beginning of the run or of the stage.
    """

    kind: Literal["sliding"] = "sliding"
    max_items: Count = 40
    strategy: Literal["per_item", "bulk", "compact"] = "bulk"
    overflow: Count = 10
    count: Count = 10
    since: Literal["run", "stage"] = "run"
    volatility: Volatility = Volatility.GROWS

    @property
    def admission(self) -> Admission:
        return Admission.EVICT

    @property
    def is_conversation(self) -> bool:
        return self.name == CONVERSATION


class Compacting(_Region):
    """Gathers notes; above ``compact_at`` per cent of its budget the older ones become a summary.

    The ``keeps`` newest stay word for word. ``instructions`` tell the model that sums up what matters.
    """

    kind: Literal["compacting"] = "compacting"
    compact_at: Percent = 80.0
    keeps: Annotated[int, Field(ge=0, strict=True)] = 2
    instructions: str | None = None
    admission: Admission = Admission.REJECT
    volatility: Volatility = Volatility.GROWS


class Keyed(_Region):
    """Entries by key, at most ``max_entries``; the one written longest ago leaves first."""

    kind: Literal["keyed"] = "keyed"
    max_entries: Count = 50
    admission: Admission = Admission.EVICT
    volatility: Volatility = Volatility.REWRITTEN


class Checklist(_Region):
    """Numbered items, open ones first; numbers are never given twice. Only done items leave to make room."""

    kind: Literal["checklist"] = "checklist"
    volatility: Volatility = Volatility.REWRITTEN

    @property
    def admission(self) -> Admission:
        return Admission.REJECT


Region: TypeAlias = Annotated[Pinned | Sliding | Compacting | Keyed | Checklist, Field(discriminator="kind")]
"""A declared region of any kind."""
