"""``handrail follow``: what is new, a line a block; moments as ``handrail moments`` shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from handrail.app import FollowedMessage, FollowedMoment, FollowedSession, FollowEvent, FollowNotice
from handrail.cli.cells import cut, one_line
from handrail.cli.formats import count, instant
from handrail.cli.surface import Surface
from handrail.cli.views.moments import render_moment
from handrail.transcripts.model import Message
from handrail.transcripts.text import Numbers, iter_pieces

_BODY_CHARS = 300


class Following:
    """Renders events in their order; calls and results are numbered alike, as ``handrail show`` does it."""

    def __init__(self) -> None:
        self._numbers = Numbers()

    def render(self, event: FollowEvent, surface: Surface) -> list[str]:
        """The lines of ``event``."""
        match event:
            case FollowedSession():
                return [surface.style(_session(event), bold=True)]
            case FollowedMessage():
                return list(self._message(event, surface))
            case FollowedMoment():
                return _moment(event, surface)
            case FollowNotice():
                return [event.message]
            case _:
                assert_never(event)

    def _message(self, event: FollowedMessage, surface: Surface) -> Iterator[str]:
        again = " again" if event.is_again else ""
        place = f"{instant(event.at, surface.zone)}  #{event.number}{again}"
        message = Message(role=event.role, content=event.content)
        for piece in iter_pieces(message, self._numbers, _BODY_CHARS):
            body = cut(one_line(piece.body), _BODY_CHARS)
            line = f"{place}  {one_line(piece.label)}  {body}".rstrip()
            limit = surface.terminal_width
            line = line if limit is None else cut(line, limit)
            yield surface.style(line, fg="cyan", bold=True) if piece.is_person else line


def _session(event: FollowedSession) -> str:
    title = f"  {one_line(event.source.title)}" if event.source.title else ""
    figures = ", ".join(
        (count(event.messages, "message"), count(event.rounds, "round"), count(event.stepins, "step-in"))
    )
    return f"{event.source.harness}  {one_line(event.source.id)}{title}  {figures} so far"


def _moment(event: FollowedMoment, surface: Surface) -> list[str]:
    head, *rest = render_moment(event.moment, surface)
    earlier = "  (shown before, without these words)" if event.replaces is not None else ""
    return ["", f"» {head}{earlier}", *rest, ""]
