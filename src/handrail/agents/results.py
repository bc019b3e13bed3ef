"""Results of calls as events: what a tool gave, made storable, and nothing in it that only a person may say."""

from __future__ import annotations

from msgspec.structs import replace

from handrail import jsonio
from handrail.agents.containment import spellable
from handrail.agents.conversation import CallRecord
from handrail.agents.execution import not_run
from handrail.agents.taint import CLEAN
from handrail.agents.tool import ToolOutput
from handrail.agents.writer import Said
from handrail.journal import events as ev
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind
from handrail.transcripts.calls import render_call
from handrail.transcripts.model import Artifact, Author, Block, Image, Taint, Text

_RIDING = (Text, Image, Artifact)


def cut_off(name: str) -> ToolOutput:
    """The result of a call that the response ended in the middle of."""
    return not_run(
        f"{name} was not run: the response reached its length limit in the middle of the call. Make it shorter.",
        by="length",
    )


def finished(
    call: str,
    output: ToolOutput,
    name: str,
    by: Actor | None = None,
    *,
    taint: Taint = CLEAN,
    elapsed_s: float = 0.0,
    is_end: bool = False,
) -> Said:
    """The one result of ``call``. ``by`` None means the tool, or whoever drives the run where the tool did not run.

    ``is_end`` makes the content the output of the run.
    """
    content = spellable(output.content)
    event = ev.ToolFinished(
        call=call,
        content=content,
        is_error=output.is_error,
        refusal=output.refusal,
        taint=taint,
        output=content if is_end else None,
        details=spellable(output.details),
        beside=tuple(_beside(block, name) for block in output.beside if _may_ride(block)),
        elapsed_s=elapsed_s,
    )
    return event, by or (Actor(ActorKind.TOOL, name) if output.refusal is None else DRIVER)


def _may_ride(block: Block) -> bool:
    """What a person answered is in the journal as their answer, no tool speaks for them; nor can it call or answer."""
    return isinstance(block, _RIDING) and not (isinstance(block, Text) and block.author is Author.PERSON)


def _beside(block: Block, name: str) -> Block:
    return replace(block, author=Author.HOST, by=name) if isinstance(block, Text) else block


def with_note(output: ToolOutput, record: CallRecord) -> ToolOutput:
    """``output``, told what really ran: the model asked for something else."""
    _, input = render_call(record.becomes)
    note = f"[This ran with other arguments than asked for: {jsonio.encode(input).decode()}]"
    return replace(output, content=f"{note}\n{output.content}") if isinstance(output.content, str) else output
