"""Reading what was said to the agent outside of results: prompts, commands, harness texts, summaries, marks."""

from __future__ import annotations

import msgspec

from handrail.harnesses.claude_code import envelopes
from handrail.harnesses.claude_code.blocks import media
from handrail.harnesses.claude_code.drafts import Draft, Drafts
from handrail.harnesses.claude_code.head import parse_version
from handrail.harnesses.claude_code.queue import Queue
from handrail.harnesses.claude_code.read_rounds import Rounds
from handrail.harnesses.claude_code.speech import (
    QUEUED,
    Setting,
    Speaker,
    has_proof,
    is_plain,
    is_plain_prompt,
    meta_speaker,
    origin_speaker,
    row_speaker,
    speak,
)
from handrail.harnesses.claude_code.wire import Row, WireBlock
from handrail.harnesses.families.jsonl import Rows
from handrail.harnesses.families.markers import CLAUDE_CODE_INTERRUPTS, CLAUDE_CODE_SUMMARY
from handrail.transcripts.model import Author, Bash, Block, Compaction, Interrupt, Text, ToolResult, ToolUse, Via

_PERSON = Author.PERSON
_PROMPT = Via.PROMPT
_QUEUE = Via.QUEUE
_MACHINES = frozenset({Author.HARNESS, Author.HOST})
_ENVELOPE_STARTS = frozenset({"<", "T", " ", "\n"})
_NONE: frozenset[str] = frozenset()
_DELIVERY = frozenset({"delivery"})
_TOLD = frozenset({"delivery", "prompt", "command"})


class Prompts:
    """Reads the rows that put something before the model; ``rounds`` knows which of them belong to a call."""

    def __init__(self, rows: Rows[Row], setting: Setting, drafts: Drafts, queue: Queue, rounds: Rounds) -> None:
        self._rows = rows
        self._setting = setting
        self._drafts = drafts
        self._queue = queue
        self._rounds = rounds
        self._command: str | None = None

    def text(self, row: Row, index: int, text: str) -> None:
        """Read a user row that is one text."""
        if is_plain_prompt(row, self._setting) and is_plain(text):
            extra = self._queue.joined(text)
            via = _QUEUE if extra or row.promptSource == "queued" else _PROMPT
            self._drafts.all.append(Draft("prompt", row, [Text(text, _PERSON, None, via)], (index,), extra))
            return
        is_typed = has_proof(row)
        if not is_typed and text[:1] in _ENVELOPE_STARTS:
            if self.envelope(row, index, text):
                return
            if text.startswith(CLAUDE_CODE_SUMMARY):
                self.summary(row, index, text)
                return
        if row.isMeta:
            self._meta_text(row, index, text)
            return
        speaker = self._speaker(row, index)
        extra = self._queue.joined(text) if speaker.author is _PERSON else ()
        self._add(row, index, speak(text, QUEUED if extra else speaker, is_typed=is_typed), extra)

    def blocks(self, row: Row, index: int, content: list[WireBlock]) -> None:
        """Read a row with several blocks: words and pictures, or words an editor added beside a person's."""
        speaker = None
        extra: tuple[int, ...] = ()
        blocks: list[Block] = []
        for item in content:
            if item.text is None:
                blocks += media(item)
                continue
            speaker = speaker or self._speaker(row, index)
            joined = self._queue.joined(item.text) if speaker.author is _PERSON else ()
            blocks += speak(item.text, QUEUED if joined else speaker, is_typed=has_proof(row))
            extra += joined
        if row.isMeta:
            self._drafts.ride(row, index, blocks, _TOLD, "notice")
        else:
            self._add(row, index, blocks, extra)

    def _add(self, row: Row, index: int, blocks: list[Block], extra: tuple[int, ...]) -> None:
        if not blocks:
            return
        if row.origin is not None:
            blocks = self._marked(row, index, blocks)
        first = blocks[0]
        if type(first) is Interrupt and len(blocks) == 1:
            is_for_tool = row.message is not None and joined_text(row.message.content) == CLAUDE_CODE_INTERRUPTS[1]
            self._drafts.mark(row, index, first, _DELIVERY if is_for_tool else _NONE)
            return
        kind = "notice"
        for block in blocks:
            if type(block) is not Text or block.author not in _MACHINES:
                kind = "prompt"
                break
        self._drafts.all.append(Draft(kind, row, blocks, (index,), extra))

    def _marked(self, row: Row, index: int, blocks: list[Block]) -> list[Block]:
        """``blocks`` with interruptions by whom the row itself names, when it names anybody."""
        named = origin_speaker(row.origin)
        if named is None:
            return blocks
        self._drafts.named_marks.add(index)
        return [Interrupt(named.author) if type(block) is Interrupt else block for block in blocks]

    def _speaker(self, row: Row, index: int) -> Speaker:
        return row_speaker(row, self._setting, lambda: parse_version(self._rows.raw(index)))

    def _meta_text(self, row: Row, index: int, text: str) -> None:
        blocks = speak(text, meta_speaker(row), is_typed=False)
        if all(type(block) is Text and block.by == "caveat" for block in blocks):
            return
        delivery = self._rounds.delivery_of(row.sourceToolUseID)
        if delivery is not None:
            self._drafts.put(delivery, index, blocks)
        else:
            self._drafts.ride(row, index, blocks, _TOLD, "notice")

    # Commands and compactions ----------------------------------------------------------------------------

    def envelope(self, row: Row, index: int, text: str) -> bool:
        """Read a slash command, a ``!`` command or their output; False when ``text`` is none."""
        uid = self._drafts.uid(index)
        command = envelopes.parse_command(text)
        shell = None if command else envelopes.parse_section(text, "bash-input")
        if command is not None or shell is not None:
            self._command = uid
            call = command if command is not None else Bash(shell or "")
            self._own(row, index, "command", ToolUse(uid, call))
            return True
        output = envelopes.parse_section(text, "local-command-stdout")
        if output is None:
            output = envelopes.parse_shell_output(text)
        if output is None:
            return False
        self._own(row, index, "output", ToolResult(self._command or uid, envelopes.without_ansi(output)))
        self._command = None
        return True

    def boundary(self, row: Row, index: int) -> None:
        """Read the row that says a compaction happened; its summary is a row after it."""
        found = row.compactMetadata
        block = Compaction() if found is None else Compaction(None, found.trigger, found.preTokens, found.postTokens)
        self._own(row, index, "compaction", block)

    def summary(self, row: Row, index: int, text: str) -> None:
        """Read the summary of a compaction, which joins the boundary before it."""
        draft = self._drafts.last()
        block = draft.blocks[0] if draft is not None and draft.kind == "compaction" else None
        if draft is None or type(block) is not Compaction or block.summary is not None:
            self._own(row, index, "compaction", Compaction(text))
            return
        draft.blocks[0] = msgspec.structs.replace(block, summary=text)
        self._drafts.put(draft, index, ())

    def _own(self, row: Row, index: int, kind: str, block: Block) -> None:
        """Make ``block`` a message of its own."""
        self._drafts.all.append(Draft(kind, row, [block], (index,)))


def joined_text(content: str | list[WireBlock] | None) -> str:
    """The words of a row."""
    if type(content) is str:
        return content
    return "\n".join(item.text for item in content or () if type(item) is WireBlock and item.text is not None)
