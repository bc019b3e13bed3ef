"""What was delivered to the model: results, a person's words, what the harness and other agents wrote."""

from __future__ import annotations

from handrail.harnesses.codex import speakers
from handrail.harnesses.codex.answers import read_answers
from handrail.harnesses.codex.drafts import NOTES, PROMPT, RESULTS
from handrail.harnesses.codex.elements import elements_of, texts_of
from handrail.harnesses.codex.ends import denial
from handrail.harnesses.codex.event_kinds import CommandEnd, McpEnd, PatchEnd, Submitted
from handrail.harnesses.codex.gathering import Gathering
from handrail.harnesses.codex.item_kinds import Element, Message, Output, PeerMessage
from handrail.harnesses.codex.outputs import read_output
from handrail.harnesses.codex.wire import ItemRow
from handrail.transcripts.model import Author, Block, Interrupt, RefusalKind, Text, ToolResult, Via

# Results


def result(gathering: Gathering, payload: Output) -> None:
    call_id = payload.call_id
    if call_id is None:
        return
    content, is_error, refusal = read_output(payload.output, gathering.calls.get(call_id, ""))
    if refusal is not None and refusal.kind == RefusalKind.DENIED:
        refusal = denial(gathering.reviewer)
    draft = gathering.deliver(RESULTS, payload.id or (f"{call_id}:output" if call_id else None))
    gathering.response = None
    draft.content.append(ToolResult(call_id, content, is_error, refusal))
    gathering.answered[call_id] = gathering.newest
    if call_id in gathering.inputs:
        draft.content += read_answers(gathering.inputs[call_id], content, gathering.driver)


def call_end(gathering: Gathering, payload: CommandEnd | PatchEnd | McpEnd) -> None:
    """A result that only the event log has; where the item log has it too, the two are joined at the end."""
    call_id = payload.call_id
    gathering.ends.event(payload, gathering.reviewer)
    if call_id is None or call_id not in gathering.calls:
        gathering.own_by_response()
        return
    if gathering.ends.has_item(call_id):
        gathering.mirrors.append((gathering.at, call_id))
        return
    gathering.response = None
    gathering.deliver(RESULTS, call_id or None).content.append(ToolResult(call_id))
    gathering.answered[call_id] = gathering.newest


# Words


def told(gathering: Gathering, payload: Message) -> None:
    """A user-role item: a person's text, the mark of an interrupt, or what the harness wrote in the user's voice."""
    elements = elements_of(payload.content)
    if speakers.is_interrupt(elements):
        gathering.deliver(NOTES, payload.id or None).content.append(Interrupt())
    elif _is_typed(gathering, elements):
        typed(gathering, elements, payload.id or None)
    else:
        _note(gathering, payload.id or None, speakers.read_untyped(elements))


def _is_typed(gathering: Gathering, elements: list[Element]) -> bool:
    """Whether the event that follows says that a person typed the very text."""
    following = gathering.at + 1
    if following >= len(gathering.rows):
        return False
    event = gathering.rows[following].payload
    return type(event) is Submitted and bool(event.message) and event.message == speakers.typed_text(elements)


def typed(gathering: Gathering, elements: list[Element], name: str | None = None) -> None:
    """What was submitted as a prompt; into a turn that runs it is a steer, which may ride with results.

    ``name`` is what the present row is known by.
    """
    is_steer = gathering.turns.is_running
    blocks = speakers.read_typed(elements, gathering.driver, Via.STEER if is_steer else Via.PROMPT)
    draft = gathering.open
    if draft is None or draft.kind != RESULTS:
        if gathering.searches.found:
            gathering.deliver_searches()
        draft = gathering.open
        if draft is None or draft.kind != RESULTS or not is_steer:
            draft = gathering.draft(PROMPT)
    if not is_steer:
        gathering.turns.prompt(gathering.newest)
    gathering.response = None
    gathering.into(draft, name).content += blocks


def submitted(gathering: Gathering, payload: Submitted) -> None:
    """The proof that the item before it was submitted as a prompt."""
    gathering.turns.count()
    at = gathering.at
    if at and isinstance(gathering.rows[at - 1], ItemRow):
        gathering.owners[at] = gathering.owners[at - 1]


def peer(gathering: Gathering, payload: PeerMessage) -> None:
    blocks: list[Block] = [Text(text, Author.PEER, by=payload.author or None) for text in texts_of(payload.content)]
    _note(gathering, payload.id or None, blocks)


def _note(gathering: Gathering, name: str | None, blocks: list[Block]) -> None:
    if blocks:
        gathering.deliver(NOTES, name).content += blocks
