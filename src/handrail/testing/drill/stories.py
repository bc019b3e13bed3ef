"""Small runs that the drill breaks: what the model says, what the tools are, and what the people in them do.

A story is data, drawn from a seed. People act only where the run waits for them, so that one story has one course
whatever is killed in it, and the unbroken run is what every broken one must equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from handrail import jsonio
from handrail.journal.events import AskClosed, InputReceived
from handrail.journal.port import Posted
from handrail.journal.vocabulary import AskOutcome
from handrail.models.scripted import Call, Reply, call
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import Author, Json, Text, ToolUse

SESSION = "drill"
"""The session that every story is played in; sub-agents have others."""

PROMPT = "Put the shelf in order."

Beat: TypeAlias = Literal["look", "write", "approved", "denied", "edited", "question", "helper"]
"""What one round of a story is about: calls that may run twice, one that may not, calls that a person lets run,
refuses or changes, a question to them, and an agent of its own that asks them too."""

BEATS: tuple[Beat, ...] = ("look", "write", "approved", "denied", "edited", "question", "helper")

_HELD: tuple[Beat, ...] = ("approved", "denied", "edited", "question")
"""The beats at which the run waits, so that what is sent meanwhile always arrives at the same place."""


class Reaction(Struct, frozen=True, kw_only=True):
    """What somebody does when they are asked: send ``sends`` to the root of the run, then answer as ``closes`` says.

    ``closes`` names no question; it is made out to the one that is open.
    """

    closes: AskClosed
    sends: tuple[Posted, ...] = ()


class Story(Struct, frozen=True, kw_only=True):
    """``script`` and ``helper`` are what the model of the agent and that of its helper say. ``reactions`` are found
    by what is asked: the arguments shown for an approval, else the question's own words."""

    name: str
    script: tuple[Any, ...]
    helper: tuple[Any, ...] = ()
    reactions: Mapping[str, Reaction] = {}


def whole_story() -> Story:
    """One of each beat, a steer, a follow-up and a strategy that puts words in: what single kills are tried on."""
    return _story("whole", BEATS, steers=(2,), follow_ups=(5,))


def drawn_story(seed: int) -> Story:
    """A story of its own for each ``seed``, of two to six beats."""
    dice = Random(seed)
    beats = tuple(dice.choice(BEATS) for _ in range(dice.randint(2, 6)))
    held = [index for index, beat in enumerate(beats) if beat in _HELD]
    steers = tuple(index for index in held if dice.random() < 0.5)
    follow_ups = tuple(index for index in held if dice.random() < 0.3)
    return _story(f"drawn {seed}", beats, steers, follow_ups)


def _story(name: str, beats: tuple[Beat, ...], steers: tuple[int, ...], follow_ups: tuple[int, ...]) -> Story:
    script: list[Any] = [_round(index, beat) for index, beat in enumerate(beats)]
    # The answer, one more for each follow-up, and one for the strategy that asks to look again.
    script += ["The shelf is in order.", *(f"And so it is, {index}." for index in follow_ups), "I looked again."]
    helper: list[Any] = []
    reactions: dict[str, Reaction] = {}
    for index, beat in enumerate(beats):
        asked = _asked(index, beat)
        if asked is not None:
            sends = (*_sends("steer", index, steers), *_sends("follow_up", index, follow_ups))
            reactions[asked] = Reaction(closes=_closing(index, beat), sends=sends)
        if beat == "helper":
            helper += _help(index)
    return Story(name=name, script=tuple(script), helper=tuple(helper), reactions=reactions)


def _round(index: int, beat: Beat) -> Any:
    match beat:
        case "look":
            return ("Looking at both.", call("look", place=f"left {index}"), call("look", place=f"right {index}"))
        case "write":
            return ("Writing it down.", call("write", place=f"book {index}"))
        case "question":
            return call("wonder", question=_question(index))
        case "helper":
            return call("Spawn", prompt=f"Help with {index}.")
        case _:
            return Call("change", _place(index))


def _help(index: int) -> list[Any]:
    """What a helper says. Its calls bring their own ids: every other run counts from one."""
    looks, changes = (
        ToolUse(f"{tool}_{index}", parse_call(tool, {"place": f"below {index}"})) for tool in ("look", "change")
    )
    return [Reply(content=(looks,)), Reply(content=(changes,)), f"Helped {index}."]


def _asked(index: int, beat: Beat) -> str | None:
    """What somebody is shown at a beat; None where nobody is asked."""
    if beat == "question":
        return _question(index)
    if beat == "helper":
        return _shown({"place": f"below {index}"})
    return _shown(_place(index)) if beat in _HELD else None


def _closing(index: int, beat: Beat) -> AskClosed:
    if beat == "question":
        return AskClosed(ask="", outcome=AskOutcome.ANSWERED, words=f"To the left, {index}.")
    if beat == "denied":
        return AskClosed(ask="", outcome=AskOutcome.DENIED, comment=f"Leave {index} alone.")
    edits: dict[str, Any] = {}
    if beat == "edited":
        edits = {"before": _shown(_place(index)), "after": _shown({"place": f"box {index}"})}
    return AskClosed(ask="", outcome=AskOutcome.ANSWERED, is_allowed=True, **edits)


def _sends(via: Literal["steer", "follow_up"], index: int, at: tuple[int, ...]) -> Iterator[InputReceived]:
    if index in at:
        yield InputReceived(
            input=f"{via} {index}", via=via, content=(Text(f"A word by {via}, {index}.", Author.PERSON),)
        )


def _question(index: int) -> str:
    return f"Which way does {index} go?"


def _place(index: int) -> dict[str, Json]:
    return {"place": f"shelf {index}"}


def _shown(input: Json) -> str:
    return jsonio.encode(input).decode()
