"""Messages in the making. Rows of one message are not always next to each other, so none is closed before the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from handrail import ids
from handrail.harnesses.claude_code.blocks import usage
from handrail.harnesses.claude_code.wire import Row, WireMessage, in_utc
from handrail.harnesses.families.jsonl import Rows
from handrail.transcripts.model import Author, Block, Common, Interrupt, Message, Text


class Draft(Struct, gc=False, eq=False):
    """A message in the making.

    ``kind`` says what a later row may join, ``row`` is the first one, ``rows`` are the indices of those that are
    the message and ``extra`` of records it stands on besides (of the queue, copies). ``said`` is what the last row
    of a response holds, None for a message to the model. ``delivery`` is what answers a response.
    """

    kind: str
    row: Row
    blocks: list[Block]
    rows: tuple[int, ...] = ()
    extra: tuple[int, ...] = ()
    said: WireMessage | None = None
    delivery: Draft | None = None


class Drafts:
    """The messages of one line in order, and how the rows of a file name them.

    ``named_marks`` are rows whose interruption names who interrupted.
    """

    def __init__(self, rows: Rows[Row], session: str, bridged: frozenset[int]) -> None:
        self._rows = rows
        self._session = session
        self._bridged = bridged
        self._nameless: Counter[bytes] = Counter()
        self._made: dict[int, str] = {}
        self._has_marks = False
        self.all: list[Draft] = []
        self.named_marks: set[int] = set()

    def start(self, kind: str, row: Row) -> Draft:
        """A message to the model that ``row`` begins, which is still to be put into it."""
        draft = Draft(kind, row, [])
        self.all.append(draft)
        return draft

    def last(self) -> Draft | None:
        return self.all[-1] if self.all else None

    def open_delivery(self) -> Draft | None:
        """The message to the model to which something may still be added: no response has begun since."""
        draft = self.all[-1] if self.all else None
        return draft if draft is not None and draft.said is None else None

    def put(self, draft: Draft, index: int, blocks: Iterable[Block], extra: tuple[int, ...] = ()) -> None:
        """Add row ``index`` to ``draft``."""
        draft.blocks += blocks
        draft.rows += (index,)
        if extra:
            draft.extra += extra

    def ride(
        self,
        row: Row,
        index: int,
        blocks: list[Block],
        kinds: frozenset[str],
        kind: str,
        extra: tuple[int, ...] = (),
    ) -> None:
        """Put ``blocks`` into the open message when it is of one of ``kinds``, else into one of their own."""
        if not blocks:
            return
        draft = self.open_delivery()
        if draft is None or draft.kind not in kinds:
            draft = self.start(kind, row)
        self.put(draft, index, blocks, extra)

    def mark(self, row: Row, index: int, block: Interrupt, kinds: frozenset[str]) -> None:
        """An interruption: part of the open message when that is of one of ``kinds``, else a message of its own."""
        self._has_marks = True
        self.ride(row, index, [block], kinds, "mark")

    def uid(self, index: int) -> str:
        """The id of a row; for one without, a hash of its bytes and of how many like it came before."""
        uuid = self._rows.rows[index].uuid
        if uuid is not None:
            return uuid
        if index not in self._made:
            raw = self._rows.raw(index)
            self._nameless[raw] += 1
            self._made[index] = ids.short_hash(raw, self._nameless[raw])
        return self._made[index]

    def close(self) -> Common:
        """The messages that hold anything. Nothing is left of the drafts, whose room the messages take."""
        drafts = [draft for draft in self.all if draft.blocks]
        if self._has_marks:
            for draft, following in pairwise(drafts):
                if draft.said is None and following.kind == "prompt" and self.named_marks.isdisjoint(draft.rows):
                    _name_interrupter(draft, following)
        self.all.clear()
        drafts.reverse()
        return tuple(self._messages(drafts))

    def stand_on(self) -> list[list[int]]:
        """The indices of all rows each message stands on, in the order of ``close``; asked before it."""
        return [[*draft.extra, *draft.rows] for draft in self.all if draft.blocks]

    def _messages(self, drafts: list[Draft]) -> list[Message]:
        """The messages of ``drafts``, the last of which is the first; each is taken from them."""
        own, session, is_torn = self._rows.rows, self._session, bool(self._bridged)
        messages: list[Message] = []
        take, put = drafts.pop, messages.append
        while drafts:
            draft = take()
            row, rows, said = draft.row, draft.rows, draft.said
            timestamp = row.timestamp
            if timestamp is not None and timestamp.tzinfo is not UTC:
                timestamp = in_utc(timestamp)
            uids: tuple[str, ...]
            if len(rows) == 1:
                uid = row.uuid or self.uid(rows[0])
                uids = (uid,)
            else:
                uids = tuple([own[index].uuid or self.uid(index) for index in rows])
                uid = uids[0]
            content = tuple(draft.blocks)
            if said is None:
                message = Message(role="user", content=content, uid=uid, uids=uids, timestamp=timestamp)
            else:
                message = Message(
                    role="assistant",
                    content=content,
                    uid=uid,
                    uids=uids,
                    timestamp=timestamp,
                    model=said.model,
                    stop_reason=said.stop_reason,
                    usage=usage(said.usage) if said.usage is not None else None,
                )
            put(self._placed(message, draft) if is_torn or row.sessionId != session else message)
        return messages

    def _placed(self, message: Message, draft: Draft) -> Message:
        """``message`` with what its rows say of where it stands: copied from elsewhere, or behind a gap.

        Set afterwards, and only where there is anything to set, because most messages need neither.
        """
        session = draft.row.sessionId
        origin = session if session != self._session else None
        is_bridged = not self._bridged.isdisjoint(draft.rows)
        return replace(message, origin=origin, is_bridged=is_bridged) if origin is not None or is_bridged else message


_PERSON = Author.PERSON


def _name_interrupter(draft: Draft, following: Draft) -> None:
    """A person whose prompt comes straight after an interruption is the one who interrupted."""
    if any(type(block) is Text and block.author is _PERSON for block in following.blocks):
        draft.blocks = [Interrupt(_PERSON) if type(block) is Interrupt else block for block in draft.blocks]
