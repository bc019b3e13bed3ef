"""Sessions in which a person corrects an agent, models that reflect and learn by script, and a memory of the loop."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec.structs import replace

from handrail.app.learning.learning import LearnOrder, LearnReport, learn
from handrail.app.learning.memory import Memory, memory_in
from handrail.app.learning.reflecting import ReflectOrder, ReflectReport, reflect
from handrail.app.machine import Machine
from handrail.clock import Clock
from handrail.models.port import ModelRequest
from handrail.models.scripted import Call, Item, ScriptedModel, call
from handrail.testing.clock import ManualClock
from handrail.transcripts.model import Json, Message, Text, ToolResult, Transcript
from tests.app.desk import START, denied, model, person, session, talk
from tests.app.desk import call as shell

SHOP = "/srv/shop"
BANK = "/srv/bank"
WORDS = "no, run the tests before you commit"
LESSON = "Run the tests before committing."


def corrected(
    id: str, words: str = WORDS, *, cwd: str = SHOP, day: int = 1, page: str | None = None, copied: str | None = None
) -> Transcript[tuple[Message, ...]]:
    """A session with one refusal with words. ``page`` is what a page said before; ``copied`` names the session whose
    records these are."""
    body = talk(
        [person("ship it")],
        [model("I will commit."), shell("c1", "git commit")],
        [denied("c1", words)],
        [model("Running the tests."), shell("c2", "make test")],
        [ToolResult("c2", page or "green")],
        [model("Done.")],
    )
    named = tuple(replace(message, uid=f"{copied or id}-{message.uid}") for message in body)
    return session(id, named, cwd=cwd, day=day)


def memory(root: Path) -> Memory:
    return memory_in(root / "state" / "learning")


LATER = ManualClock(START.replace(month=7))
"""When lessons are learned from."""


def clock() -> ManualClock:
    return ManualClock(START)


def lesson_call(lesson: str = LESSON, wish: str = WORDS, **more: Json) -> Call:
    given: dict[str, Json] = {"skip": False, "lesson": lesson, "about": "behaviour", "wish": wish, **more}
    return Call("reflect", given)


def reflected(machine: Machine, memory: Memory, *script: Item, order: ReflectOrder | None = None) -> ReflectReport:
    """Reflect with a model that says ``script`` (one lesson that quotes the person for each moment, where empty)."""
    return reflect(machine, memory, order or ReflectOrder(), ScriptedModel(script or [quoting]), clock=clock())


def learned(memory: Memory, *script: Item, order: LearnOrder | None = None, clock: Clock | None = None) -> LearnReport:
    """Learn with a model that says ``script`` (a rule of each lesson, where empty)."""
    return learn(memory, order or LearnOrder(), ScriptedModel(script or [adding]), clock=clock or LATER)


def quoting(request: ModelRequest) -> Call:
    """A lesson in the person's own words."""
    text = prompt_of(request)
    found = re.search(r"<what_the_person_did>\n\w+: (.*)\n</what_the_person_did>", text)
    words = "" if found is None else found.group(1)
    return lesson_call(lesson=words.removeprefix("no, ").capitalize(), wish=words)


def adding(request: ModelRequest) -> Call:
    """A rule of each lesson, in its words."""
    lessons = re.findall(r"^(L\d+) \[[^\]]*\]: (.*?) \(the person", prompt_of(request), re.MULTILINE)
    return call("change_rules", changes=[{"do": "add", "lessons": [label], "text": text} for label, text in lessons])


def prompt_of(request: ModelRequest) -> str:
    (block,) = request.messages[0].content
    assert isinstance(block, Text)
    return block.text


def files_under(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
