"""What the agent was doing before a moment and how it went on: excerpts and tool names of one line of a session."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection

from handrail import jsonio
from handrail.learning.moment import MAX_TOOLS_AFTER
from handrail.transcripts.calls import call_name, render_call
from handrail.transcripts.model import Author, Common, Message, Text, ToolUse

EXCERPT_CHARS = 600
_LEAD_CHARS = 300
_INPUT_CHARS = 120
_CALLS_LOOKED_AT = 200


class Surroundings:
    """An index over one line's assistant messages; every question costs a search, not a walk.

    Positions are indices into ``body``. Questions about ``before`` look at messages before that index, questions
    about ``after`` at messages behind it.
    """

    def __init__(self, body: Common) -> None:
        self._body = body
        self._spoke: list[int] = []
        self._called: list[int] = []
        self._acted: list[int] = []
        self._calls: dict[str, int] = {}
        for index, message in enumerate(body):
            if message.role == "assistant":
                self._note(index, message)

    def _note(self, index: int, message: Message) -> None:
        spoke = called = False
        for block in message.content:
            if type(block) is ToolUse:
                called = True
                self._calls[block.id] = index
            elif type(block) is Text and not spoke:
                spoke = _is_said(block)
        if spoke:
            self._spoke.append(index)
        if called:
            self._called.append(index)
        if spoke or called:
            self._acted.append(index)

    def doing(self, before: int) -> str:
        """The last thing the agent said and called, as an excerpt; ``""`` at the start."""
        found = bisect_left(self._acted, before)
        return excerpt(_summary(self._body[self._acted[found - 1]])) if found else ""

    def last_said(self, before: int) -> str:
        """The agent's last words, as an excerpt; ``""`` when it has said nothing."""
        found = bisect_left(self._spoke, before)
        return excerpt(said(self._body[self._spoke[found - 1]])) if found else ""

    def has_spoken(self, before: int) -> bool:
        """Whether the agent has said anything."""
        return bool(self._spoke) and self._spoke[0] < before

    def tools_before(self, before: int, refused: Collection[str] = ()) -> tuple[str, ...]:
        """The names of the agent's last calls, in order; those whose ids are in ``refused`` stand last.

        With refused calls it is the response that made them which counts, however far back it is.
        """
        asked = [self._calls[call] for call in refused if call in self._calls]
        found = bisect_left(self._called, before)
        if not asked and not found:
            return ()
        message = self._body[max(asked) if asked else self._called[found - 1]]
        calls = [block for block in message.content if type(block) is ToolUse]
        calls.sort(key=lambda use: use.id in refused)
        return tuple(call_name(use.call) for use in calls)

    def denied(self, refused: Collection[str]) -> str:
        """What was denied: name and shortened input of the refused calls, one a line."""
        messages = dict.fromkeys(self._calls[call] for call in refused if call in self._calls)
        uses = (block for index in messages for block in self._body[index].content if type(block) is ToolUse)
        return "\n".join(_call_line(use) for use in uses if use.id in refused)

    def aftermath(self, after: int) -> tuple[str, int]:
        """The agent's first words after ``after`` as an excerpt, and where they stand.

        They may belong to a later turn. ``("", after)`` when the session ends without any.
        """
        found = bisect_right(self._spoke, after)
        if found == len(self._spoke):
            return "", after
        index = self._spoke[found]
        return excerpt(said(self._body[index])), index

    def tools_after(self, after: int, end: int) -> tuple[tuple[str, ...], int]:
        """Distinct names of calls between ``after`` and ``end``, at most ``MAX_TOOLS_AFTER``, and the last place."""
        names: dict[str, None] = {}
        last = after
        start = bisect_right(self._called, after)
        for index in self._called[start : start + _CALLS_LOOKED_AT]:
            if index >= end or len(names) >= MAX_TOOLS_AFTER:
                break
            last = index
            for block in self._body[index].content:
                if type(block) is ToolUse and len(names) < MAX_TOOLS_AFTER:
                    names[call_name(block.call)] = None
        return tuple(names), last


def said(message: Message) -> str:
    """The texts of an assistant message; thinking and notes of the harness in the agent's place are left out."""
    return "\n".join(block.text for block in message.content if type(block) is Text and _is_said(block))


def _is_said(block: Text) -> bool:
    return block.author != Author.HARNESS and bool(block.text.strip())


def excerpt(text: str, chars: int = EXCERPT_CHARS) -> str:
    """``text`` without outer white space, cut to ``chars`` characters and an ellipsis where it is longer."""
    text = text.strip()
    return text if len(text) <= chars else f"{text[:chars]}…"


def _summary(message: Message) -> str:
    words = excerpt(said(message), _LEAD_CHARS)
    lines = [_call_line(block) for block in message.content if type(block) is ToolUse]
    return "\n".join([words, *lines] if words else lines)


def _call_line(use: ToolUse) -> str:
    name, given = render_call(use.call)
    spelled = jsonio.encode(given).decode("utf-8", "replace")
    return f"{excerpt(name, _INPUT_CHARS)} {excerpt(spelled, _INPUT_CHARS)}"
