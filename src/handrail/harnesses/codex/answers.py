"""A person's answers to the questions an agent asked with ``request_user_input``.

A label that was offered is a ``Decision``, anything else are words of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from handrail import jsonio
from handrail.transcripts.model import Author, Block, Decision, Json, Text, Via

_NOTE = "user_note: "


def read_answers(asked: Json, content: Json, author: Author) -> list[Block]:
    """The blocks behind the result ``content`` of a call whose input was ``asked``; ``author`` drives the session."""
    answers = _answers(content)
    blocks: list[Block] = []
    for question in _questions(asked):
        labels = {option.get("label") for option in _dicts(question.get("options"))}
        given = answers.get(question.get("id"))
        words = str(question.get("question") or question.get("id") or "")
        for answer in given.get("answers", []) if isinstance(given, dict) else []:
            if not isinstance(answer, str):
                continue
            if answer in labels:
                blocks.append(Decision(words, author, choice=answer))
            else:
                blocks.append(Text(answer.removeprefix(_NOTE), author, via=Via.ANSWER))
    return blocks


def _answers(content: Json) -> dict[Any, Any]:
    value = content
    if isinstance(content, str):
        try:
            value = jsonio.decode(content)
        except jsonio.NotJson:
            return {}
    answers = value.get("answers") if isinstance(value, dict) else None
    return answers if isinstance(answers, dict) else {}


def _questions(asked: Json) -> Iterator[dict[str, Any]]:
    yield from _dicts(asked.get("questions") if isinstance(asked, dict) else None)


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    for item in value if isinstance(value, list) else []:
        if isinstance(item, dict):
            yield item
