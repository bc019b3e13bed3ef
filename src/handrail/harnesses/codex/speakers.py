"""Who speaks in a user-role item of Codex.

A person's text is followed by an equal ``user_message`` event; what the harness writes in the user's voice never
is. The openings it uses, and the wrappers in which a person's part is buried, stand in ``families.markers``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from handrail.harnesses.codex.item_kinds import Element
from handrail.harnesses.codex.outputs import split_data_url
from handrail.harnesses.families.markers import CODEX_ENVELOPES, CODEX_WRAPPERS
from handrail.transcripts.model import Author, Block, Image, Text, Via

_INTERRUPT = "<turn_aborted>"
_NOTIFICATION = "<subagent_notification>"
_IMAGE_TAGS = ("<image name=", "<image>", "</image>")
_OPENINGS = tuple(marker.opens for marker in CODEX_ENVELOPES)


def typed_text(elements: Sequence[Element]) -> str:
    """The words of an item as its event repeats them: the texts joined, the tags round pictures left out."""
    return "".join(element.text for element in elements if element.text and not element.text.startswith(_IMAGE_TAGS))


def is_interrupt(elements: Sequence[Element]) -> bool:
    """Whether the item is the mark of an aborted turn."""
    first = elements[0].text if elements else None
    return first is not None and first.startswith(_INTERRUPT)


def read_typed(elements: Sequence[Element], author: Author, via: Via) -> list[Block]:
    """The blocks of an item that was submitted as a prompt; ``author`` is who drives the session."""
    blocks: list[Block] = []
    for element in elements:
        text = element.text
        if text:
            if text.startswith(_IMAGE_TAGS):
                blocks.append(Text(text, Author.HARNESS))
            else:
                blocks += _unwrapped(text, author, via)
        elif element.image_url is not None:
            blocks += _image(element.image_url)
    return blocks


def read_untyped(elements: Sequence[Element]) -> list[Block]:
    """The blocks of an item that nobody submitted: the harness's, another agent's, or of unknown origin."""
    blocks: list[Block] = []
    for element in elements:
        if element.text:
            blocks.append(_enveloped(element.text))
        elif element.image_url is not None:
            blocks += _image(element.image_url)
    return blocks


def _enveloped(text: str) -> Text:
    start = text.lstrip()[:80] if text[:1].isspace() else text
    if start.startswith(_OPENINGS):
        marker = next(marker for marker in CODEX_ENVELOPES if start.startswith(marker.opens))
        return Text(text, marker.author, by=marker.by)
    if text.startswith(_IMAGE_TAGS):
        return Text(text, Author.HARNESS)
    return Text(text)


def _unwrapped(text: str, author: Author, via: Via) -> list[Block]:
    """``text`` cut into the wrapper's parts and the person's; the pieces joined are ``text``."""
    if text[0] not in "\n#":
        return [Text(text, author, via=via)]
    for wrapper in CODEX_WRAPPERS:
        found = wrapper.inner(text)
        if found is not None:
            start, end = found
            pieces = (
                Text(text[:start], Author.HARNESS, by=wrapper.by),
                Text(text[start:end], author, via=via),
                Text(text[end:], Author.HARNESS, by=wrapper.by),
            )
            return [piece for piece in pieces if piece.text]
    return [Text(text, author, via=via)]


def _image(url: Any) -> list[Block]:
    if isinstance(url, dict):
        url = url.get("url")
    if not isinstance(url, str) or not url:
        return []
    found = split_data_url(url)
    return [Image("", url=url) if found is None else Image(*found)]
