"""What a reader can get out of a file, so that a repair can be held to losing none of it."""

from __future__ import annotations

from collections.abc import Iterator

import handrail
from handrail.testing.damage import damaged
from handrail.transcripts.model import Block, Compaction, Text, Thinking, ToolResult, ToolUse
from handrail.transcripts.repair import Bytes, Diagnosis, Medic, Severity, Wishes, is_spliced, splice

_OUTPUT = "Output:\n"


def check_repair(harness: str, data: bytes) -> bool:
    """Hold the repair of ``data`` to all it promises; whether there was a session in it to repair.

    No damage is left, only named bytes have changed, a copy of the copy is the copy, a resume shows no less, and
    every word, call and result that could be read can be read.
    """
    info = handrail.harness(harness)
    assert info.medic is not None
    before = info.medic.diagnose(Bytes(data).chunks())
    if not before.is_session:
        return False
    copy = _repaired(info.medic, data)
    after = info.medic.diagnose(Bytes(copy).chunks())
    assert _damage(after) == [], _damage(after)
    assert after.shown >= before.shown
    assert _repaired(info.medic, copy) == copy
    missing = _missing(harness, data, copy)
    assert missing == [], missing[:5]
    return True


def check_damaged(harness: str, data: bytes, seed: int) -> bool:
    """``check_repair`` of ``data`` damaged by ``seed``."""
    return check_repair(harness, damaged(data, seed).data)


def _repaired(medic: Medic, data: bytes) -> bytes:
    edits = medic.edits(Bytes(data), Wishes())
    copy = b"".join(splice(Bytes(data).chunks(), edits))
    assert is_spliced(Bytes(data), Bytes(copy), edits)
    return copy


def _damage(diagnosis: Diagnosis) -> list[str]:
    found = [finding for finding in diagnosis.findings if finding.severity is not Severity.NOTE]
    return [f"{finding.code} at {finding.start}" for finding in found if not finding.code.startswith("image")]


def _missing(harness: str, data: bytes, copy: bytes) -> list[tuple[str, str]]:
    """What the reader finds in ``data`` and nowhere in ``copy``."""
    there = set(_iter_readable(harness, copy))
    results = "\n".join(words for kind, words in there if kind in ("result", "text"))
    return [
        item
        for item in sorted(set(_iter_readable(harness, data)) - there)
        if not (item[0] == "result" and item[1] in results)
    ]


def _iter_readable(harness: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Kind and words of everything on every line of the session."""
    codec = handrail.harness(harness).codec
    native = codec.parse(data)
    for body in (codec.to_common(native).body, *(branch.body for branch in codec.branches(native))):
        for message in body:
            for block in message.content:
                yield from _readable(block)


def _readable(block: Block) -> Iterator[tuple[str, str]]:
    if isinstance(block, Text):
        yield "text", _plain(block.text)
    elif isinstance(block, Thinking):
        yield "thinking", _plain(block.text)
    elif isinstance(block, Compaction):
        yield "compaction", _plain(block.summary or "")
    elif isinstance(block, ToolUse):
        yield "call", repr(block.call)
    elif isinstance(block, ToolResult):
        content = block.content
        words = content if isinstance(content, str) else "\n".join(getattr(item, "text", "") for item in content)
        # Codex tells an output twice, with a head and without; which of the two is read depends on what is left.
        yield "result", _plain(words.rpartition(_OUTPUT)[2].strip())


def _plain(text: str) -> str:
    """``text`` with halves of characters as a repair writes them."""
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
