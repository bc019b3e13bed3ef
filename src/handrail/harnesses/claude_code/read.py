"""Rows of one line as messages: one for each response of the model, one for each delivery to it.

Rows come in file order. A response is spread over several rows and a delivery over several more, not always next
to each other, so messages are drafted while the rows pass and closed at the end. Here each row is given to what
reads its kind: ``read_rounds`` for responses and results, ``read_prompts`` for what was said, the rest below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from handrail.harnesses.claude_code.blocks import media
from handrail.harnesses.claude_code.drafts import Drafts
from handrail.harnesses.claude_code.queue import HOOK_TEXTS, Queue, hook_texts, queued_blocks
from handrail.harnesses.claude_code.read_prompts import Prompts, joined_text
from handrail.harnesses.claude_code.read_rounds import Rounds
from handrail.harnesses.claude_code.speech import Setting, Speaker, origin_speaker, speak, steer_speaker
from handrail.harnesses.claude_code.wire import Attachment, Row
from handrail.harnesses.families.jsonl import Rows
from handrail.transcripts.model import Author, Block, Common, Text

_DELIVERY = frozenset({"delivery"})
_HOOKED = frozenset({"delivery", "prompt", "command", "notice", "steer"})


def read_line(
    rows: Rows[Row], line: Iterable[int], setting: Setting, session: str, bridged: frozenset[int] = frozenset()
) -> Common:
    """The messages of the rows whose indices ``line`` names, which are in file order.

    ``session`` is the session's own id: rows that name another were copied from it.
    """
    return _draft_line(rows, line, setting, session, bridged).close()


def read_line_rows(
    rows: Rows[Row], line: Iterable[int], setting: Setting, session: str, bridged: frozenset[int] = frozenset()
) -> tuple[Common, list[list[int]]]:
    """``read_line`` with the indices of the rows each message stands on, records of the queue among them."""
    drafts = _draft_line(rows, line, setting, session, bridged)
    stood_on = drafts.stand_on()
    return drafts.close(), stood_on


def _draft_line(
    rows: Rows[Row], line: Iterable[int], setting: Setting, session: str, bridged: frozenset[int]
) -> Drafts:
    drafts = Drafts(rows, session, bridged)
    handlers = _LineReader(rows, setting, drafts).handlers()
    all_rows = rows.rows
    for index in line:
        row = all_rows[index]
        handle = handlers.get(row.type)
        if handle is not None:
            handle(row, index)
    return drafts


class _LineReader:
    """Gives each row to what reads its kind."""

    def __init__(self, rows: Rows[Row], setting: Setting, drafts: Drafts) -> None:
        self._setting = setting
        self._drafts = drafts
        self._queue = Queue(rows.rows)
        self._rounds = Rounds(drafts, setting)
        self._prompts = Prompts(rows, setting, drafts, self._queue, self._rounds)

    def handlers(self) -> dict[str, Callable[[Row, int], None]]:
        """What reads a row, by its ``type``. Rows of other kinds say nothing to anybody.

        Not kept in the reader, which would then hold itself, and every row, until the collector comes by.
        """
        return {
            "assistant": self._rounds.response,
            "user": self._user,
            "system": self._system,
            "attachment": self._attachment,
            "queue-operation": self._queue_operation,
        }

    def _user(self, row: Row, index: int) -> None:
        content = row.message.content if row.message is not None else None
        if content is None:
            return
        if row.isCompactSummary:
            self._prompts.summary(row, index, joined_text(content))
        elif type(content) is str:
            self._prompts.text(row, index, content)
        elif len(content) == 1:
            item = content[0]
            if item.type == "tool_result":  # type: ignore[union-attr]
                self._rounds.result(row, index, item)  # type: ignore[arg-type]
            elif item.text is not None:  # type: ignore[union-attr]
                self._prompts.text(row, index, item.text)  # type: ignore[union-attr]
            else:
                self._prompts.blocks(row, index, content)  # type: ignore[arg-type]
        elif any(item.type == "tool_result" for item in content):  # type: ignore[union-attr]
            self._rounds.results(row, index, content)  # type: ignore[arg-type]
        else:
            self._prompts.blocks(row, index, content)  # type: ignore[arg-type]

    def _system(self, row: Row, index: int) -> None:
        if row.subtype == "compact_boundary":
            self._prompts.boundary(row, index)
        elif row.subtype == "local_command" and type(row.content) is str:
            self._prompts.envelope(row, index, row.content)

    def _queue_operation(self, row: Row, index: int) -> None:
        found = self._queue.play(row, index)
        if found is not None:
            speaker = steer_speaker(row.origin, is_driven=self._setting.is_driven)
            self._steer(row, index, found.content, speaker, found.rows)

    def _steer(self, row: Row, index: int, content: Any, speaker: Speaker, extra: tuple[int, ...] = ()) -> None:
        blocks: list[Block] = []
        for item in queued_blocks(content):
            blocks += speak(item.text, speaker, is_typed=False) if item.text is not None else media(item)
        self._drafts.ride(row, index, blocks, _DELIVERY, "steer", extra)

    def _attachment(self, row: Row, index: int) -> None:
        attachment = row.attachment
        if attachment is None:
            return
        if attachment.type == "queued_command":
            self._queued_command(row, index, attachment)
        elif attachment.type in HOOK_TEXTS:
            by = f"hook:{attachment.hookName or attachment.hookEvent or ''}"
            blocks: list[Block] = [Text(text, Author.HARNESS, by) for text in hook_texts(attachment)]
            self._drafts.ride(row, index, blocks, _HOOKED, "notice")

    def _queued_command(self, row: Row, index: int, attachment: Attachment) -> None:
        if attachment.commandMode == "prompt":
            speaker = steer_speaker(attachment.origin, is_driven=self._setting.is_driven)
        else:
            named = origin_speaker(attachment.origin)
            speaker = named or Speaker(Author.HARNESS, attachment.commandMode)
        self._steer(row, index, attachment.prompt, speaker)
