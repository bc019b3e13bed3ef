"""What the model sees now: all that happened since the context was last replaced by a summary, with that summary."""

from __future__ import annotations

from handrail.transcripts.model import Common, Compaction, Transcript


def context(session: Transcript[Common]) -> Common:
    """The messages from the last compaction on; the whole body where there was none.

    What a harness kept beside its summary is not in it where the session does not say what that was.
    """
    return seen_of(session.body)


def seen_of(body: Common) -> Common:
    """``context`` of a body."""
    for index in range(len(body) - 1, -1, -1):
        if any(type(block) is Compaction for block in body[index].content):
            return body[index:]
    return body
