"""Moments on a line that was left: where they are said to be is where ``show`` finds them."""

from __future__ import annotations

from pathlib import Path

from handrail import app
from handrail.app import Machine
from handrail.transcripts.codec import Branch
from handrail.transcripts.model import Common, ToolResult, Transcript
from tests.app.desk import call, denied, model, person, put, session, talk
from tests.contracts.echo import EchoCodec, EchoStore, Native, info

LIVE = talk([person("tidy up")], [model("How?")], [person("by hand")], [model("Done.")])
LEFT = talk(
    [person("with the script")], [model("Running it."), call("c1")], [denied("c1", "not that script")], [model("Ok.")]
)
SHARED = 2


class ForkedCodec(EchoCodec):
    """Every session has a second line, ``left``, which shares the first two messages."""

    def to_common(self, native: Native, branch: str | None = None) -> Transcript[Common]:
        live = super().to_common(native)
        return live if branch is None else Transcript(live.meta, live.body[:SHARED] + LEFT)

    def branches(self, native: Native) -> tuple[Branch, ...]:
        return (Branch(id="left", at=SHARED, body=LEFT),)


def forked(root: Path) -> Machine:
    put(root, session("a", LIVE))
    return Machine({"echo": info(ForkedCodec())}, {"echo": EchoStore(root)})


def test_a_moment_on_another_line_is_numbered_as_show_numbers_that_line(tmp_path: Path) -> None:
    machine = forked(tmp_path)
    (row,) = [row for row in app.moments(machine).moments if row.trigger == "denial"]
    assert (row.branch, row.message) == ("left", 5)
    (item,) = app.show(machine, f"a#{row.message}", branch=row.branch).messages
    assert isinstance(item.message.content[0], ToolResult)


def test_show_says_where_another_line_leaves(tmp_path: Path) -> None:
    (note,) = app.show(forked(tmp_path), "a").branches
    assert (note.id, note.leaves_before, note.messages, note.human_turns) == ("left", 3, 4, 1)
