"""What a person types while a run goes on, line by line, as values. Pure: nothing here knows of a run or a terminal."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from handrail import jsonio
from handrail.transcripts.model import Json

HELP = (
    "text          steer: it goes to the model with its next request",
    "/later TEXT   a follow-up: it goes to the model when the run would otherwise end",
    "/interrupt TEXT   stop what it does now, and do TEXT instead; without TEXT the run ends",
    "/stop WHY     end at the next boundary; what runs is finished",
    "/cancel WHY   end now",
    "/leave        leave it here; it stays open, and `handrail resume` goes on with it",
    "asked about a call:  y  yes    a  yes, and for the same call until the run ends    n WHY  no",
    "                     a N  yes, and for all that N stands for    e JSON  yes, with these arguments instead",
    "                     /steer TEXT  say something else first",
    "Ctrl-C        interrupt; once more: cancel",
)


class Steer(Struct, frozen=True):
    """Words for the model's next request."""

    text: str


class Later(Struct, frozen=True):
    """Words for when the run would otherwise end."""

    text: str


class Interrupt(Struct, frozen=True):
    """Stop what is being done now; ``text`` is to be done instead ("" ends the run)."""

    text: str


class StopRun(Struct, frozen=True):
    """End at the next boundary."""

    reason: str | None


class CancelRun(Struct, frozen=True):
    """End now."""

    reason: str | None


class Leave(Struct, frozen=True):
    """Stop driving the run here, which stays open."""


class Yes(Struct, frozen=True):
    """The call may run; ``holds`` until the run ends too: for the same call, or for what was offered as ``offer``."""

    holds: bool = False
    offer: int | None = None


class No(Struct, frozen=True):
    """The call may not run, and why."""

    reason: str | None


class Edited(Struct, frozen=True):
    """The call may run with ``input`` instead."""

    input: Json


class Answered(Struct, frozen=True):
    """The answer to a question: an offered label, or words."""

    choice: str | None = None
    text: str | None = None


class Unclear(Struct, frozen=True):
    """Nothing that can be done; ``told`` says what can. Nothing was sent."""

    told: tuple[str, ...]


Command: TypeAlias = Steer | Later | Interrupt | StopRun | CancelRun | Leave | Unclear
Reply: TypeAlias = Yes | No | Edited


def parse_command(line: str) -> Command:
    """``line`` when nothing is asked; a line without a slash is a steer."""
    text = line.strip()
    if not text.startswith("/"):
        return Steer(text) if text else Unclear(HELP)
    name, _, rest = text[1:].partition(" ")
    rest = rest.strip()
    match name:
        case "steer" if rest:
            return Steer(rest)
        case "later" if rest:
            return Later(rest)
        case "interrupt":
            return Interrupt(rest)
        case "stop":
            return StopRun(rest or None)
        case "cancel":
            return CancelRun(rest or None)
        case "leave" if not rest:
            return Leave()
        case _:
            return Unclear(HELP)


def parse_reply(line: str, offers: int = 0) -> Reply | Command:
    """``line`` when a call waits for a yes; words that are no answer are sent nowhere, since they could be a no.

    ``offers`` is how many numbered things a yes may be made to hold for.
    """
    text = line.strip()
    word, _, rest = text.partition(" ")
    rest = rest.strip()
    match word.lower():
        case "y" | "yes" if not rest:
            return Yes()
        case "a" | "always" if not rest:
            return Yes(holds=True)
        case "a" | "always" if rest.isascii() and rest.isdigit() and 1 <= int(rest) <= offers:
            return Yes(holds=True, offer=int(rest))
        case "n" | "no":
            return No(rest or None)
        case "e" | "edit":
            return _edited(rest)
    if text.startswith("/"):
        return parse_command(text)
    return Unclear(("say y, a, n WHY or e JSON; /steer TEXT says something else to the model",))


def _edited(text: str) -> Edited | Unclear:
    try:
        return Edited(jsonio.decode(text))
    except jsonio.NotJson as problem:
        return Unclear((f"that is no JSON ({problem}); the arguments are an object, as shown above",))


def parse_answer(line: str, options: tuple[str, ...], *, may_type: bool) -> Answered | No | Command:
    """``line`` when a tool asks something: a label or its number, or words where they may be typed; ``/no WHY``."""
    text = line.strip()
    if text == "/no" or text.startswith("/no "):
        return No(text.removeprefix("/no").strip() or None)
    if text.startswith("/"):
        return parse_command(text)
    if text in options:
        return Answered(choice=text)
    if text.isascii() and text.isdigit() and 1 <= int(text) <= len(options):
        return Answered(choice=options[int(text) - 1])
    if text and may_type:
        return Answered(text=text)
    listed = ", ".join(f"{number} {label}" for number, label in enumerate(options, 1))
    return Unclear((f"choose {listed}; /no WHY gives no answer" if options else "say something; /no WHY gives none",))
