"""What the model said: its words, its thoughts, its calls, and what the screen showed of them."""

from __future__ import annotations

from handrail.harnesses.codex.call_reading import read_call
from handrail.harnesses.codex.drafts import RESPONSE
from handrail.harnesses.codex.elements import texts_of
from handrail.harnesses.codex.event_kinds import Said, Thought, TokenCount, WebSearchEnd
from handrail.harnesses.codex.gathering import Gathering
from handrail.harnesses.codex.item_kinds import Call, Message, Reasoning, WebSearchCall
from handrail.harnesses.codex.wire import name_of
from handrail.transcripts.calls import call_name
from handrail.transcripts.model import Author, Raw, Text, Thinking

_MODEL = Author.MODEL
"""A member is looked up slowly by its enum."""


def said(gathering: Gathering, payload: Message) -> None:
    """An assistant message: every text of it a block of the response."""
    texts = texts_of(payload.content)
    if texts:
        draft = gathering.respond(Text(texts[0], _MODEL), payload.id or None)
        for text in texts[1:]:
            draft.content.append(Text(text, _MODEL))


def reasoning(gathering: Gathering, payload: Reasoning) -> None:
    text = "\n\n".join(texts_of(payload.summary)) if payload.summary else ""
    if not text and payload.content:
        text = "\n\n".join(texts_of(payload.content))
    gathering.respond(Thinking(text, encrypted=payload.encrypted_content), payload.id or None)


def call(gathering: Gathering, payload: Call) -> None:
    call_id = payload.call_id
    if call_id is None:
        call_id = payload.id or gathering.ids.unique(name_of(payload))
    block = read_call(payload, call_id)
    name = gathering.calls[call_id] = call_name(block.call)
    if name == "request_user_input" and type(block.call) is Raw:
        gathering.inputs[call_id] = block.call.input
    gathering.respond(block, payload.id or payload.call_id or None)


def search(gathering: Gathering, payload: WebSearchCall) -> None:
    """A search of the provider's own; what it found is told by an event, before it or after it."""
    gathering.begin_response()
    call_id = gathering.searches.call(payload, gathering.at)
    if call_id is None:
        call_id = gathering.ids.unique(name_of(payload))
    block = read_call(payload, call_id)
    gathering.calls[call_id] = call_name(block.call)
    draft = gathering.respond(block, payload.id or payload.call_id or None)
    gathering.searches.wait(payload, draft)


def search_end(gathering: Gathering, payload: WebSearchEnd) -> None:
    gathering.own_by_response()
    gathering.searches.event(payload, gathering.at)


def echo(gathering: Gathering, payload: Said | Thought) -> None:
    """The screen's copy of what the model said; the item follows, unless the turn is aborted before it."""
    gathering.echoes.append((gathering.at, payload))


def token_count(gathering: Gathering, payload: TokenCount) -> None:
    tokens = gathering.tokens
    found = tokens.read(payload.info)
    if found is None:
        return
    if tokens.comes_first:
        tokens.keep(found, gathering.at)
        return
    last = gathering.last_response
    if last is not None and gathering.drafts[last].usage is None:
        gathering.drafts[last].usage = found
        gathering.owners[gathering.at] = last
    gathering.response = None
    draft = gathering.open
    if draft is not None and draft.kind == RESPONSE:
        gathering.open = None
