"""Who speaks, measured against turns that two people labelled independently."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from handrail.harnesses import harness
from handrail.transcripts.model import Author, Common, Decision, Message, Text, ToolResult
from tests.corpus import CORPUS

WANTED = 0.99
HARNESSES = ("claude_code", "codex")


def labels_file() -> Path | None:
    """The labels beside the corpus, unless ``HANDRAIL_LABELS`` names another file."""
    named = os.environ.get("HANDRAIL_LABELS")
    path = Path(named) if named else CORPUS.parent / "labels" / "moments.jsonl" if CORPUS else None
    return path if path is not None and path.is_file() else None


def agreed_turns(name: str) -> list[dict[str, Any]]:
    """The turns of a harness on whose author both raters agree."""
    path = labels_file()
    if path is None:
        pytest.skip("no labels")
    turns = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [turn for turn in turns if turn["harness"] == name and turn["rater1"]["author"] == turn["rater2"]["author"]]


def holds_a_person(message: Message) -> bool:
    """Whether a message holds a person's words: typed, in a refusal, or a choice they made."""
    return any(
        (type(block) is Text and block.author is Author.PERSON)
        or (type(block) is Decision and block.by is Author.PERSON)
        or (
            type(block) is ToolResult
            and block.refusal is not None
            and block.refusal.by == "person"
            and block.refusal.reason is not None
        )
        for block in message.content
    )


def messages_of(body: Common, branches: list[Common], turn: dict[str, Any], words: str | None) -> list[Message]:
    """The messages made of the labelled record: by its id, else by its words."""
    everything = [message for part in [body, *branches] for message in part]
    if turn.get("uid"):
        return [message for message in everything if turn["uid"] in message.uids]
    return [
        message
        for message in everything
        if message.role == "user"
        and any(type(b) is Text and words and b.text.strip() and b.text.strip() in words for b in message.content)
    ]


def record_words(raw: bytes) -> str | None:
    """All text of a record, where labels name it by its line only."""
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                if key in ("text", "message") and isinstance(item, str):
                    found.append(item)
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    walk(json.loads(raw))
    return "\n".join(found) or None


@pytest.mark.parametrize("name", HARNESSES)
def test_the_author_is_right_on_at_least_99_of_100_agreed_turns(name: str) -> None:
    turns = agreed_turns(name)
    assert CORPUS is not None
    codec = harness(name).codec
    wrong: list[str] = []
    for file in sorted({turn["file"] for turn in turns}):
        data = (CORPUS / file).read_bytes()
        native = codec.parse(data)
        body = codec.to_common(native).body
        branches = [branch.body for branch in codec.branches(native)]
        lines = data.split(b"\n")
        for turn in (turn for turn in turns if turn["file"] == file):
            found = messages_of(body, branches, turn, record_words(lines[turn["line"]]))
            is_person = any(holds_a_person(message) for message in found)
            if not found or is_person != (turn["rater1"]["author"] == "person"):
                wrong.append(f"{file}:{turn['line']} is {turn['rater1']['author']}, {len(found)} messages")
    assert turns
    right = 1 - len(wrong) / len(turns)
    assert right >= WANTED, f"{len(wrong)} of {len(turns)} wrong:\n" + "\n".join(wrong[:20])
