"""Writing the results of a response and what rides with them: answers, steers, pictures, marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from handrail.harnesses.claude_code import spell
from handrail.harnesses.claude_code.written import Written
from handrail.harnesses.families.markers import CLAUDE_CODE_INTERRUPTS
from handrail.transcripts.model import (
    Artifact,
    Author,
    Block,
    Decision,
    Image,
    Interrupt,
    Message,
    Text,
    ToolResult,
    ToolUse,
    Via,
)

MACHINES = frozenset({Author.HARNESS, Author.HOST})
"""Whose text is never written as a turn."""

_ORIGINS = {Author.PERSON: "human", Author.PEER: "peer", Author.UNKNOWN: "unknown", Author.MODEL: "unknown"}


def write_results(written: Written, message: Message) -> None:
    answers: list[tuple[int, Block]] = []
    result: tuple[int, ToolResult] | None = None
    for index, block in enumerate(message.content):
        kind = type(block)
        if result is not None and (kind is Decision or (kind is Text and block.via is Via.ANSWER)):  # type: ignore[union-attr]
            answers.append((index, block))
            continue
        if result is not None:
            _write_result(written, message, *result, answers)
            result, answers = None, []
        if kind is ToolResult:
            result = (index, block)  # type: ignore[assignment]
        elif kind is Decision:
            drop_decision(written, message, index, block)
        else:
            _write_rider(written, message, index, block)
    if result is not None:
        _write_result(written, message, *result, answers)


def _write_result(
    written: Written, message: Message, index: int, block: ToolResult, answers: Sequence[tuple[int, Block]]
) -> None:
    spelled = spell.result(block, spell.native_id(block.tool_use_id))
    written.lose_all(spelled.lost, index)
    fields: dict[str, Any] = {}
    if answers:
        fields["toolUseResult"] = _outcome(written, block, answers)
    if spelled.denial is not None:
        fields["toolDenialKind"] = spelled.denial
    written.add_user(message, [spelled.block], **fields)


def _outcome(written: Written, block: ToolResult, answers: Sequence[tuple[int, Block]]) -> dict[str, Any]:
    """What a person answered, as Claude Code keeps it beside the result of the question."""
    asked = _questions(written.calls.get(block.tool_use_id))
    decided = {answer.ask for _, answer in answers if type(answer) is Decision}
    free = [question for question in asked if question not in decided]
    questions: list[dict[str, Any]] = []
    given: dict[str, str] = {}
    notes: dict[str, Any] = {}
    for index, answer in answers:
        if type(answer) is Decision:
            if answer.choice == "edit" and answer.by is Author.PERSON and answer.ask == block.tool_use_id:
                return {"userModified": True}
            question, words, labels = answer.ask, answer.choice or "", [{"label": answer.choice or ""}]
            if answer.comment is not None:
                notes[question] = {"notes": answer.comment}
        else:
            question = free.pop(0) if free else " " * (index + 1)
            words, labels = answer.text if type(answer) is Text else "", []
        questions.append({"question": question, "options": labels})
        given[question] = words
    outcome: dict[str, Any] = {"questions": questions, "answers": given}
    if notes:
        outcome["annotations"] = notes
    return outcome


def _questions(call: ToolUse | None) -> list[str]:
    value = spell.native_call(call.call)[1] if call is not None else None
    questions = value.get("questions") if isinstance(value, Mapping) else None
    found = (item.get("question") for item in questions if isinstance(item, Mapping)) if questions else ()
    return [question for question in found if isinstance(question, str)]


def _write_rider(written: Written, message: Message, index: int, block: Block) -> None:
    """What rides with results: a text or picture handed over while the agent works, or a mark."""
    if type(block) is Interrupt:
        written.add_user(message, [{"type": "text", "text": CLAUDE_CODE_INTERRUPTS[1]}], **mark_fields(block))
        return
    if type(block) is Text:
        if block.author in MACHINES:
            written.drop(index, "text", f"text of the {block.author.value} is not written as a turn")
        elif not block.text:
            written.drop(index, "text", "an empty text is refused by the provider")
        else:
            origin = speaker_fields(block).get("origin") or {"kind": "human"}
            _attach(written, message, block.text, origin)
        return
    if type(block) is Image or type(block) is Artifact:
        native = media(written, index, block)
        if native is not None:
            _attach(written, message, [native], {"kind": "human"})
        return
    written.drop(index, str(block.__struct_config__.tag), "it cannot stand beside results here")


def _attach(written: Written, message: Message, prompt: Any, origin: Mapping[str, str]) -> None:
    attachment = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt", "origin": origin}
    written.add("attachment", message, attachment=attachment)


def speaker_fields(text: Text) -> dict[str, Any]:
    if text.author is Author.PERSON:
        return {"permissionMode": "default", "promptSource": "queued" if text.via is Via.QUEUE else "typed"}
    origin = {"kind": _ORIGINS[text.author]}
    if text.by is not None:
        origin["name"] = text.by
    return {"origin": origin}


def mark_fields(mark: Interrupt) -> dict[str, Any]:
    return {"origin": {"kind": _ORIGINS.get(mark.by, "unknown")}}


def media(written: Written, index: int, block: Block) -> dict[str, Any] | None:
    spelled = spell.image(block) if type(block) is Image else spell.document(block)  # type: ignore[arg-type]
    if spelled.block is None:
        written.dropped.add((written.message, index))
    written.lose_all(spelled.lost, index)
    return spelled.block


def drop_decision(written: Written, message: Message, index: int, block: Any) -> None:
    written.drop(index, "decision", "a decision stands in the result of the call that asked")
