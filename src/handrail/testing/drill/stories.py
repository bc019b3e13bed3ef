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
from handrail.journal.events import (
    AskClosed,
    CancelRequested,
    InputReceived,
    Interrupted,
    PauseRequested,
    ResumeRequested,
    StopRequested,
)
from handrail.journal.port import Posted
from handrail.journal.vocabulary import AskOutcome
from handrail.models.scripted import Call, Reply, call
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import Author, Json, Text, ToolUse

SESSION = "drill"
"""The session that every story is played in; sub-agents have others."""

LOOKS_EVERY_S = 0.004
"""How often somebody of a story looks for what is new."""

PROMPT = "Put the shelf in order."

Beat: TypeAlias = Literal[
    "look",
    "write",
    "approved",
    "denied",
    "edited",
    "paused",
    "interrupted",
    "question",
    "helper",
    "stopped",
    "cancelled",
    "helper_stopped",
    "helper_cancelled",
    "question_cancelled",
]
"""What one round of a story is about: calls that may run twice and one that may not; calls that somebody is asked about
and lets run, refuses, changes, lets run while the run is paused, or interrupts; a question to them; an agent of its own
that asks them too; and calls, an agent that waits for them, and a question, at which they stop or cancel the run."""

BEATS: tuple[Beat, ...] = (
    "look",
    "write",
    "approved",
    "denied",
    "edited",
    "question",
    "helper",
    "paused",
    "interrupted",
)
"""The beats that a story goes on after."""

ENDS: tuple[Beat, ...] = ("stopped", "cancelled", "helper_stopped", "helper_cancelled", "question_cancelled")
"""The beats that end a story: nobody answers what is asked there."""

_HELPERS: tuple[Beat, ...] = ("helper", "helper_stopped", "helper_cancelled")
_QUESTIONS: tuple[Beat, ...] = ("question", "question_cancelled")

_HELD: tuple[Beat, ...] = ("approved", "denied", "edited", "paused", "question")
"""The beats at which the run waits, so that what is sent meanwhile always arrives at the same place."""


class Reaction(Struct, frozen=True, kw_only=True):
    """What somebody does when they are asked: send ``sends`` to the root of the run, answer as ``closes`` says (None:
    not at all), and send what comes ``then``.

    ``closes`` names no question; it is made out to the one that is open.
    """

    closes: AskClosed | None = None
    sends: tuple[Posted, ...] = ()
    then: tuple[Posted, ...] = ()


class Story(Struct, frozen=True, kw_only=True):
    """``script`` is what the model of the agent says, ``helpers`` what those of its helpers do. ``reactions`` are found
    by what is asked: the arguments shown for an approval, the key of a point, else the question's own words.
    ``blueprint``, as plain data, is there for a story in stages."""

    name: str
    script: tuple[Any, ...]
    helpers: Mapping[str, tuple[Any, ...]] = {}
    reactions: Mapping[str, Reaction] = {}
    blueprint: Mapping[str, Json] | None = None


def whole_story() -> Story:
    """One of each beat, a steer, a follow-up and a strategy that puts words in: what single kills are tried on."""
    return _story("whole", BEATS, steers=(2,), follow_ups=(5,))


def staged_story() -> Story:
    """Stages with a point: a plan is sent back, changed by hand and approved, then carried out."""
    point = "plan#1/plan_approval"
    change = {"place": "plank"}
    return Story(
        name="staged",
        script=(
            call("look", place="plan"),
            "Take everything out.",
            "I looked again: take everything out.",
            call("wonder", question="What is wrong with it?"),
            "Take half of it out.",
            "As I said, take half of it out.",
            ("Doing it.", call("write", place="plank")),
            Call("change", change),
            "It is done.",
        ),
        reactions={
            f"{point}/0/choice": Reaction(
                closes=_chosen("Revise"), sends=(_input("steer", "plan"), _input("follow_up", "plan"))
            ),
            "What is wrong with it?": Reaction(closes=_answered("Too much.")),
            f"{point}/1/choice": Reaction(closes=_chosen("Edit")),
            f"{point}/1/edit": Reaction(
                closes=AskClosed(
                    ask="",
                    outcome=AskOutcome.ANSWERED,
                    before="As I said, take half of it out.",
                    after="Take one plank out.",
                )
            ),
            f"{point}/2/choice": Reaction(closes=_chosen("Approve")),
            _shown(change): Reaction(closes=AskClosed(ask="", outcome=AskOutcome.ANSWERED, is_allowed=True)),
        },
        blueprint=_STAGES,
    )


_STAGES: Mapping[str, Json] = {
    "name": "shelves",
    "regions": [{"kind": "pinned", "name": "plan"}],
    "stages": [
        {
            "name": "plan",
            "instructions": "Plan.",
            "tools": ["look", "wonder"],
            "points": [
                {
                    "name": "plan_approval",
                    "prompt": "Approve the plan?",
                    "required": True,
                    "style": "multiple_choice",
                    "options": ["Approve", "Revise", "Edit", "Abort"],
                    "directives": {"Revise": "Ask what to change, then plan again."},
                    "edit_options": ["Edit"],
                    "abort_options": ["Abort"],
                    "document_region": "plan",
                }
            ],
        },
        {"name": "build", "instructions": "Build.", "tools": ["write", "change"]},
    ],
}


def ended_story(beat: Beat) -> Story:
    """Some work, and then the end that ``beat`` is about."""
    return _story(beat, ("look", "helper", beat), steers=(), follow_ups=())


def drawn_story(seed: int) -> Story:
    """A story of its own for each ``seed``, of two to six beats."""
    dice = Random(seed)
    beats = tuple(dice.choice(BEATS) for _ in range(dice.randint(2, 6)))
    if dice.random() < 0.3:
        beats = (*beats, dice.choice(ENDS))
    held = [index for index, beat in enumerate(beats) if beat in _HELD]
    steers = tuple(index for index in held if dice.random() < 0.5)
    follow_ups = tuple(index for index in held if dice.random() < 0.3)
    return _story(f"drawn {seed}", beats, steers, follow_ups)


_WISHES: Mapping[Beat, tuple[tuple[Posted, ...], tuple[Posted, ...]]] = {
    "paused": ((PauseRequested("wait"),), (ResumeRequested("go on"),)),
    "interrupted": ((Interrupted("not that"),), ()),
    "stopped": ((StopRequested("that will do"),), ()),
    "cancelled": ((CancelRequested("enough"),), ()),
    "helper_stopped": ((StopRequested("that will do"),), ()),
    "helper_cancelled": ((CancelRequested("enough"),), ()),
    "question_cancelled": ((CancelRequested("enough"),), ()),
}
"""What somebody wishes at a beat, before and after they answer."""


def _story(name: str, beats: tuple[Beat, ...], steers: tuple[int, ...], follow_ups: tuple[int, ...]) -> Story:
    helpers = {_helper(index): _help(index) for index, beat in enumerate(beats) if beat in _HELPERS}
    script: list[Any] = [_round(index, beat, len(helpers)) for index, beat in enumerate(beats)]
    # The answer, one more for each follow-up, and one for the strategy that asks to look again.
    script += ["The shelf is in order.", *(f"And so it is, {index}." for index in follow_ups), "I looked again."]
    reactions: dict[str, Reaction] = {}
    for index, beat in enumerate(beats):
        asked = _asked(index, beat)
        if asked is not None:
            sends = (*_sends("steer", index, steers), *_sends("follow_up", index, follow_ups))
            wishes, then = _WISHES.get(beat, ((), ()))
            if beat == "interrupted":
                sends = (_input("steer", f"instead {index}"),)
            reactions[asked] = Reaction(closes=_closing(index, beat), sends=(*sends, *wishes), then=then)
    return Story(name=name, script=tuple(script), helpers=helpers, reactions=reactions)


def _round(index: int, beat: Beat, helpers: int) -> Any:
    match beat:
        case "look":
            return ("Looking at both.", call("look", place=f"left {index}"), call("look", place=f"right {index}"))
        case "write":
            return ("Writing it down.", call("write", place=f"book {index}"))
        case "question" | "question_cancelled":
            return call("wonder", question=_question(index))
        case "helper" | "helper_stopped" | "helper_cancelled":
            chosen: dict[str, Json] = {"agent": _helper(index)} if helpers > 1 else {}
            return Call("Spawn", {"prompt": f"Help with {index}.", **chosen})
        case _:
            return Call("change", _place(index))


def _helper(index: int) -> str:
    """A helper for each beat: a model that is shared would have to know which run it is in."""
    return f"helper {index}"


def _help(index: int) -> tuple[Any, ...]:
    """What a helper says. Its calls bring their own ids: every other run counts from one."""
    looks, changes = (
        ToolUse(f"{tool}_{index}", parse_call(tool, {"place": f"below {index}"})) for tool in ("look", "change")
    )
    return Reply(content=(looks,)), Reply(content=(changes,)), f"Helped {index}."


def _asked(index: int, beat: Beat) -> str | None:
    """What somebody is shown at a beat; None where nobody is asked."""
    if beat in _QUESTIONS:
        return _question(index)
    if beat in _HELPERS:
        return _shown({"place": f"below {index}"})
    return None if beat in ("look", "write") else _shown(_place(index))


def _closing(index: int, beat: Beat) -> AskClosed | None:
    if beat in ("interrupted", *ENDS):
        return None
    if beat == "question":
        return _answered(f"To the left, {index}.")
    if beat == "denied":
        return AskClosed(ask="", outcome=AskOutcome.DENIED, comment=f"Leave {index} alone.")
    edits: dict[str, Any] = {}
    if beat == "edited":
        edits = {"before": _shown(_place(index)), "after": _shown({"place": f"box {index}"})}
    return AskClosed(ask="", outcome=AskOutcome.ANSWERED, is_allowed=True, **edits)


def _answered(words: str) -> AskClosed:
    return AskClosed(ask="", outcome=AskOutcome.ANSWERED, words=words)


def _edited(before: str, after: str) -> AskClosed:
    return AskClosed(ask="", outcome=AskOutcome.ANSWERED, before=before, after=after)


def _chosen(choice: str) -> AskClosed:
    return AskClosed(ask="", outcome=AskOutcome.ANSWERED, choice=choice)


def _sends(via: Literal["steer", "follow_up"], index: int, at: tuple[int, ...]) -> Iterator[InputReceived]:
    if index in at:
        yield _input(via, str(index))


def _input(via: Literal["steer", "follow_up"], name: str) -> InputReceived:
    words = Text(f"A word by {via}, {name}.", Author.PERSON)
    return InputReceived(input=f"{via} {name}", via=via, content=(words,))


def _question(index: int) -> str:
    return f"Which way does {index} go?"


def _place(index: int) -> dict[str, Json]:
    return {"place": f"shelf {index}"}


def _shown(input: Json) -> str:
    return jsonio.encode(input).decode()
