"""What the model sees now."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from handrail import context
from handrail.transcripts.model import Author, Compaction, Message, Meta, Text, Transcript


def _message(text: str | None) -> Message:
    block = Compaction("summary") if text is None else Text(text, Author.PERSON)
    return Message(role="user", content=(block,))


@given(st.lists(st.none() | st.just("words")))
def test_the_context_begins_at_the_last_summary(texts: list[str | None]) -> None:
    body = tuple(map(_message, texts))
    seen = context(Transcript(Meta(), body))

    assert body[len(body) - len(seen) :] == seen
    assert None not in texts[len(texts) - len(seen) + 1 :]
    assert seen == body or texts[len(texts) - len(seen)] is None
