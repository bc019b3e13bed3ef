"""``handrail replay``: where today's run went another way."""

from __future__ import annotations

from collections.abc import Iterator

from handrail import jsonio
from handrail.app import Replayed
from handrail.cli.cells import cut, one_line
from handrail.cli.formats import count
from handrail.cli.surface import Surface
from handrail.models.replay import Divergence
from handrail.transcripts.model import Json

_SIDE_CHARS = 200
_WHAT = {
    "delivery": "other words were put in",
    "result": "a call came to something else",
    "tool_gone": "a tool is not there any more",
    "past_end": "the run asked for more than was recorded",
    "not_reached": "the run ended before this reply",
}


def render_replayed(done: Replayed, surface: Surface) -> Iterator[str]:
    """A line or three for each difference, then the figures."""
    for found in done.divergences:
        yield from _difference(found, surface)
    calls = f"{count(done.calls_run, 'call')} run, {done.calls_recorded:,} answered from the recording"
    yield f"{count(done.replies, 'reply', 'replies')}, {calls}, {count(len(done.divergences), 'divergence')}"
    detail = f": {one_line(done.detail)}" if done.detail else ""
    yield f"ended {done.end_reason.value.replace('_', ' ')}{detail}"


def _difference(found: Divergence, surface: Surface) -> Iterator[str]:
    what = _WHAT.get(found.kind, found.kind)
    call = f" ({one_line(found.call)})" if found.call else ""
    yield surface.style(f"reply {found.reply + 1}: {what}{call}", bold=True)
    if found.recorded is not None:
        yield f"  recorded  {_side(found.recorded)}"
    if found.given is not None:
        yield f"  today     {_side(found.given)}"


def _side(value: Json) -> str:
    return cut(one_line(value if isinstance(value, str) else jsonio.encode(value).decode()), _SIDE_CHARS)
