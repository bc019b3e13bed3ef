"""What was delivered to the model: results, a person's words, what the harness and other agents wrote."""

from __future__ import annotations

from handrail.harnesses.codex import speakers
from handrail.harnesses.codex.answers import read_answers
from handrail.harnesses.codex.drafts import NOTES, PROMPT, RESULTS
from handrail.harnesses.codex.elements import elements_of, texts_of
from handrail.harnesses.codex.ends import denial
from handrail.harnesses.codex.gathering import Gathering
from handrail.harnesses.codex.outputs import read_output
from handrail.harnesses.codex.wire import EVENT, ITEM, Element, Payload
from handrail.transcripts.model import Author, Block, Interrupt, RefusalKind, Text, ToolResult, Via

# Results


def result(gathering: Gathering, payload: Payload) -> None:
    call_id = payload.call_id
    if call_id is None:
        return
    output = payload.tools if payload.type == "tool_search_output" else payload.output
    content, is_error, refusal = read_output(output, gathering.calls.get(call_id, ""))
    if refusal is not None and refusal.kind == RefusalKind.DENIED:
        refusal = denial(gathering.reviewer)
    draft = gathering.into(gathering.deliver(RESULTS), payload)
    gathering.response = None
    draft.content.append(ToolResult(call_id, content, is_error, refusal))
    gathering.answered[call_id] = len(gathering.drafts) - 1
    if call_id in gathering.inputs:
        draft.content += read_answers(gathering.inputs[call_id], content, gathering.driver)


def command_end(gathering: Gathering, payload: Payload) -> None:
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
    gathering.into(gathering.deliver(RESULTS), payload).content.append(ToolResult(call_id))
    gathering.answered[call_id] = len(gathering.drafts) - 1


# Words


def told(gathering: Gathering, payload: Payload) -> None:
    """A user-role item: a person's text, the mark of an interrupt, or what the harness wrote in the user's voice."""
    elements = elements_of(payload.content)
    if speakers.is_interrupt(elements):
        gathering.into(gathering.deliver(NOTES), payload).content.append(Interrupt())
    elif _is_typed(gathering, elements):
        typed(gathering, payload, elements)
    else:
        _note(gathering, payload, speakers.read_untyped(elements))


def _is_typed(gathering: Gathering, elements: list[Element]) -> bool:
    """Whether the event that follows says that a person typed the very text."""
    following = gathering.at + 1
    if following >= len(gathering.rows):
        return False
    row = gathering.rows[following]
    event = row.payload
    if row.type != EVENT or event is None or event.type != "user_message" or not event.message:
        return False
    return event.message == speakers.typed_text(elements)


def typed(gathering: Gathering, payload: Payload, elements: list[Element]) -> None:
    """What was submitted as a prompt; into a turn that runs it is a steer, which may ride with results."""
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
        gathering.turns.prompt(len(gathering.drafts) - 1)
    gathering.response = None
    gathering.into(draft, payload).content += blocks


def user_event(gathering: Gathering, payload: Payload) -> None:
    """The proof that the item before it was submitted as a prompt."""
    gathering.turns.count()
    at = gathering.at
    if at and gathering.rows[at - 1].type == ITEM:
        gathering.owners[at] = gathering.owners[at - 1]


def peer(gathering: Gathering, payload: Payload) -> None:
    blocks: list[Block] = [Text(text, Author.PEER, by=payload.author or None) for text in texts_of(payload.content)]
    _note(gathering, payload, blocks)


def _note(gathering: Gathering, payload: Payload, blocks: list[Block]) -> None:
    if blocks:
        gathering.into(gathering.deliver(NOTES), payload).content += blocks
