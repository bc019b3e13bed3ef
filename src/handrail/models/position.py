"""Where a request stands in its run: which reply it asks for, and how calls are numbered.

A model that plays a part is asked by a history, not by a counter, so that a run which is resumed, or a request
which is sent again, gets the reply it would have got.
"""

from __future__ import annotations

from collections.abc import Iterable

from handrail.models.port import ModelRequest
from handrail.transcripts.model import Message, ToolUse


def replies_of_run(request: ModelRequest) -> int:
    """How many responses the run has had; all that the history holds, where the request does not say."""
    return request.replies if request.replies is not None else replies_in(request.messages)


def replies_in(messages: Iterable[Message]) -> int:
    """How many responses ``messages`` hold."""
    return sum(1 for message in messages if message.role == "assistant")


def calls_of_run(request: ModelRequest) -> int:
    """How many calls the responses of the run hold, as far as the history still has them."""
    left = replies_of_run(request)
    count = 0
    for message in reversed(request.messages):
        if left == 0:
            break
        if message.role == "assistant":
            left -= 1
            count += sum(1 for block in message.content if type(block) is ToolUse)
    return count


def replies_before_run(request: ModelRequest, model: str) -> int:
    """How many responses of ``model`` the history holds from before the run: those of a session it goes on with."""
    left = replies_of_run(request)
    count = 0
    for message in reversed(request.messages):
        if message.role == "assistant":
            if left > 0:
                left -= 1
            elif message.model == model:
                count += 1
    return count
