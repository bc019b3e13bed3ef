"""Generated sessions of known shape, so that figures can be had without anybody's files.

Sizes are in bytes of the Claude Code file. Contents are seeded and carry no meaning.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable, Iterator, Mapping

_WORDS = (
    "read",
    "write",
    "the",
    "file",
    "test",
    "error",
    "parser",
    "branch",
    "retry",
    "queue",
    "index",
    "token",
    "plan",
)


def _words(dice: random.Random, count: int) -> str:
    return " ".join(dice.choice(_WORDS) for _ in range(count))


class _Rows:
    """Rows of one Claude Code session, chained as the tool chains them."""

    def __init__(self, seed: int, *, lean: bool = False) -> None:
        """``lean`` rows have short ids and only the keys a reader cannot do without."""
        self.dice = random.Random(seed)
        self.lean = lean
        self.session = "session-1" if lean else str(uuid.UUID(int=self.dice.getrandbits(128)))
        self.parent: str | None = None
        self.count = 0

    def row(self, kind: str, message: Mapping[str, object], **extra: object) -> bytes:
        own = f"row-{self.count}" if self.lean else str(uuid.UUID(int=self.dice.getrandbits(128)))
        minute, second = divmod(self.count // 10, 60)
        stamp = f"2026-05-04T{8 + minute // 60 % 12:02}:{minute % 60:02}:{second:02}.{self.count % 1000:03}Z"
        record: dict[str, object] = {"parentUuid": self.parent}
        if not self.lean:
            record |= {"isSidechain": False, "userType": "external", "gitBranch": "main", "version": "2.1.170"}
        record |= {"cwd": "/srv/shop", "sessionId": self.session, "type": kind, "message": message}
        record |= {"uuid": own, "timestamp": stamp, **extra}
        self.parent = own
        self.count += 1
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"

    def prompt(self, words: int) -> bytes:
        return self.row(
            "user",
            {"role": "user", "content": _words(self.dice, words)},
            permissionMode="default",
            promptSource="typed",
        )

    def reply(self, content: list[dict[str, object]], stop: str) -> bytes:
        usage = {"input_tokens": 9, "output_tokens": 40, "cache_read_input_tokens": 900}
        message = {
            "id": f"msg_{self.count}",
            "type": "message",
            "role": "assistant",
            "model": "claude-example",
            "content": content,
            "stop_reason": stop,
            "usage": usage,
        }
        return self.row("assistant", message, requestId=f"req_{self.count}")

    def call(self) -> tuple[bytes, str]:
        name = f"toolu_{self.count}"
        block: dict[str, object] = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "make test"}}
        return self.reply([block], "tool_use"), name

    def result(self, name: str, output: str) -> bytes:
        block: object = {"type": "tool_result", "tool_use_id": name, "content": output, "is_error": False}
        extra = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        return self.row("user", {"role": "user", "content": [block]}, toolUseResult=extra)


def tiny(messages: int = 20_000, seed: int = 1) -> bytes:
    """``messages`` short rows: prompt, reply, prompt, reply; about 350 bytes a row."""
    rows = _Rows(seed, lean=True)
    parts = []
    for index in range(messages):
        if index % 2 == 0:
            parts.append(rows.prompt(6))
        else:
            parts.append(rows.reply([{"type": "text", "text": _words(rows.dice, 8)}], "end_turn"))
    return b"".join(parts)


def tools(size: int = 200 << 20, output_bytes: int = 60_000, seed: int = 2) -> bytes:
    """About ``size`` bytes of rounds whose tool results hold ``output_bytes`` characters each (and their mirror)."""
    rows = _Rows(seed)
    text = (_words(rows.dice, 400) + "\n") * (output_bytes // 2000)
    parts = [rows.prompt(20)]
    total = 0
    while total < size:
        call, name = rows.call()
        for part in (call, rows.result(name, text)):
            parts.append(part)
            total += len(part)
    parts.append(rows.reply([{"type": "text", "text": "done"}], "end_turn"))
    return b"".join(parts)


def chatty(messages: int = 20_000, seed: int = 3) -> bytes:
    """The peer's codec shape: ask, thinking + text + edit, result, text; ``messages`` rows, about 7.4 MB at 20,000."""
    rows = _Rows(seed, lean=True)
    parts: list[bytes] = []
    while len(parts) < messages:
        name = f"toolu_{rows.count}"
        edit = {"file_path": "src/a.py", "old_string": _words(rows.dice, 4), "new_string": _words(rows.dice, 4)}
        parts += [
            rows.prompt(6),
            rows.reply(
                [
                    {"type": "thinking", "thinking": _words(rows.dice, 5), "signature": "c2ln"},
                    {"type": "text", "text": _words(rows.dice, 6)},
                    {"type": "tool_use", "id": name, "name": "Edit", "input": edit},
                ],
                "tool_use",
            ),
            rows.row(
                "user",
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": "patched"}]},
            ),
            rows.reply([{"type": "text", "text": _words(rows.dice, 6)}], "end_turn"),
        ]
    return b"".join(parts[:messages])


def progress_rows(size: int, seed: int = 4) -> Iterator[bytes]:
    """About ``size`` bytes of a session that is nearly all ``progress`` rows of one megabyte, chunk by chunk."""
    rows = _Rows(seed)
    yield rows.prompt(10)
    filler = json.dumps({"agentId": "a1", "normalizedMessages": [_words(rows.dice, 12)] * 12_000})
    total = 0
    while total < size:
        row = f'{{"type":"progress","data":{filler},"uuid":"p{total}","parentUuid":null}}\n'.encode()
        total += len(row)
        yield row
    yield rows.reply([{"type": "text", "text": "done"}], "end_turn")


SHAPES: dict[str, Callable[[], bytes]] = {"tiny 20,000 rows": tiny, "chatty 20,000 rows": chatty, "tools 200 MB": tools}
