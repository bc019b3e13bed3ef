"""The rows of a Codex rollout: the envelopes that its records stand in, and the reader of them.

A line is an envelope (``timestamp``, ``type``, ``payload``). Two logs are interleaved in a file: ``response_item``
is what the model sees, ``event_msg`` what the screen shows. The rest is bookkeeping. A row is read as the class of
its envelope, its payload as the class of its kind (``item_kinds``, ``event_kinds``): a record is known by its class.

A record whose kind is not known is an ``OtherRow``. It takes the slow road, and its whole stretch line by line.
Rollouts from before the envelope are read into the same classes by ``bare``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeAlias, cast, get_args

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, structs

from handrail.harnesses.codex.event_kinds import AnyEvent
from handrail.harnesses.codex.item_kinds import AnyItem, Call, Content
from handrail.harnesses.families.decoding import RowDecoder
from handrail.harnesses.families.jsonl import RowReader

STARTS = (b'{"timestamp"',)
"""What a record begins with; where reading picks up again inside a line of glued records."""

ITEM = "response_item"
EVENT = "event_msg"


# Bookkeeping --------------------------------------------------------------------------------------------------


class Git(Struct, gc=False):
    """The part of ``session_meta.git`` that is read."""

    branch: str | None = None


class SessionMeta(Struct, gc=False):
    id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    cli_version: str | None = None
    model: str | UnsetType | None = UNSET
    model_name: str | None = None
    git: Git | None = None
    source: Any = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None


class TurnContext(Struct, gc=False):
    turn_id: str | None = None
    cwd: str | None = None
    model: str | None = None
    summary: Content = None
    approvals_reviewer: str | None = None


class Compacted(Struct, gc=False):
    message: str | None = None
    replacement_history: Raw = Raw()


class Nothing(Struct, gc=False):
    """Bookkeeping of which nothing is read."""


# Rows ---------------------------------------------------------------------------------------------------------


class _Row(Struct, gc=False, tag_field="type"):
    timestamp: str | None = None


class ItemRow(_Row, tag=ITEM):
    payload: AnyItem | None = None


class EventRow(_Row, tag=EVENT):
    payload: AnyEvent | None = None


class SessionMetaRow(_Row, tag="session_meta"):
    payload: SessionMeta | None = None


class TurnContextRow(_Row, tag="turn_context"):
    payload: TurnContext | None = None


class CompactedRow(_Row, tag="compacted"):
    payload: Compacted | None = None


class WorldStateRow(_Row, tag="world_state"):
    payload: Nothing | None = None


class AgentTalkRow(_Row, tag="inter_agent_communication"):
    payload: Nothing | None = None


class AgentTalkMetaRow(_Row, tag="inter_agent_communication_metadata"):
    payload: Nothing | None = None


KnownRow: TypeAlias = (
    ItemRow
    | EventRow
    | SessionMetaRow
    | TurnContextRow
    | CompactedRow
    | WorldStateRow
    | AgentTalkRow
    | AgentTalkMetaRow
)


class Unknown(Struct, gc=False):
    """A payload of a kind that is not known."""

    type: str = ""


class OtherRow(Struct, gc=False):
    """A line whose envelope, or the payload in it, is of a kind that is not known."""

    timestamp: str | None = None
    type: str = ""
    payload: Unknown | None = None
    record_type: str | None = None


class Batch(Struct, gc=False):
    """The mark that what follows was written together; only rollouts from before the envelope need it."""


class StateRow(_Row, tag="state"):
    payload: Batch | None = None


Row: TypeAlias = KnownRow | StateRow | OtherRow


def _by_name(kinds: Any) -> dict[str, Any]:
    return {name_of(kind): kind for kind in get_args(kinds)}


def name_of(kind: Any) -> str:
    """The name of a kind of row or payload, which stands in its ``type``; given is the class or one of it."""
    return str(kind.__struct_config__.tag)


_ITEMS = _by_name(AnyItem)
_EVENTS = _by_name(AnyEvent)
_ROWS = _by_name(KnownRow)
_CALLS = _by_name(Call)

KNOWN_ENVELOPES = frozenset(_ROWS) - {ITEM, EVENT}
"""Types of a line besides the two logs."""

ITEM_KINDS = frozenset(_ITEMS)
"""What an item says in its ``type``."""

STATE = "state"
"""The ``record_type`` of a line that is no envelope and says nothing."""


_LOGS = {ITEM: _ITEMS, EVENT: _EVENTS}


@cache
def _any_row() -> type[Row]:
    """A row of no kind that is known, with all that any kind holds: nobody reads it, but damage in it is told."""
    kinds = (*_ITEMS.values(), *_EVENTS.values(), SessionMeta, TurnContext, Compacted)
    fields = {field.name: (field.name, field.type, field.default) for kind in kinds for field in structs.fields(kind)}
    payload = msgspec.defstruct("_AnyPayload", fields.values(), bases=(Unknown,), gc=False)
    row = msgspec.defstruct("_AnyRow", [("payload", payload | None, None)], bases=(OtherRow,), gc=False)
    return cast("type[Row]", row)


def _is_other(row: Row) -> bool:
    if not isinstance(row, OtherRow):
        return False
    kinds = _LOGS.get(row.type)
    if kinds is None:
        return row.type not in _ROWS
    return row.payload is not None and row.payload.type not in kinds


class EnvelopeDecoder(RowDecoder[Row]):
    """Decodes lines that are envelopes."""

    def __init__(self) -> None:
        super().__init__(cast("type[Row]", KnownRow), other=_any_row, is_other=_is_other)


reader = RowReader(EnvelopeDecoder(), STARTS)


def is_known(row: Row) -> bool:
    """Whether this codec knows the kind of ``row`` (not: whether it says anything)."""
    if isinstance(row, OtherRow):
        return row.record_type == STATE and not row.type
    return row.payload is not None or not isinstance(row, ItemRow | EventRow)


def kind_of(row: Row) -> str:
    """The kind of a record as people name it: ``session_meta``, ``response_item/message``, …"""
    if isinstance(row, OtherRow):
        envelope, kind = row.type, row.payload.type if row.payload else ""
    else:
        envelope, kind = name_of(row), name_of(row.payload) if row.payload else ""
    return f"{envelope}/{kind}" if envelope in (ITEM, EVENT) else envelope


def call_of(native: Mapping[str, Any]) -> Call:
    """The call item that reading ``native`` gives, its values taken as they are."""
    kind = _CALLS[native["type"]]
    item: Call = kind(**{field: native.get(field) for field in kind.__struct_fields__})
    return item


class _HistoryItem(Struct, gc=False):
    type: str = ""
    id: str | None = None
    role: str | None = None
    content: Content = None
    encrypted_content: str | None = None


def history_of(raw: Raw) -> list[Content]:
    """The contents of the items of a ``replacement_history``, none where one does not fit."""
    try:
        return [item.content for item in msgspec.json.decode(raw, type=list[_HistoryItem])]
    except (msgspec.DecodeError, RecursionError):
        return []
