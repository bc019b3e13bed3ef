"""Two runs of the sample home: the blueprints that ship, really run, with a scripted model and a person who steps in.

They are made by the runtime itself, so what the sample shows of a run is what a run leaves. Ids that are drawn at
random are given again, by the order in which they appear: the same files come out each time.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from handrail.agents.agent import Agent
from handrail.agents.approval import HOLD
from handrail.agents.options import RunOptions
from handrail.agents.result import Session
from handrail.agents.tools import built_in_tools
from handrail.blueprints.shelf import shipped_blueprint
from handrail.journal.memory import MemoryJournal
from handrail.journal.vocabulary import Actor, ActorKind
from handrail.journal.wire import encode_event
from handrail.models.port import ModelRequest
from handrail.models.scripted import Item, ScriptedModel, call
from handrail.runs.asks.replies import Reply
from handrail.runs.desk import Desk
from handrail.runs.stages import resume_blueprint, start_blueprint
from handrail.testing.clock import ManualClock

_ID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PERSON = Actor(ActorKind.PERSON, "demo")
_ANSWERS_AFTER_S = 240.0


def nest_boxes(cwd: str, start: datetime) -> Mapping[str, bytes]:
    """``plan-build-verify``: the plan is sent back with a reason, then changed by hand, then built as it was left."""
    script: Sequence[Item] = (
        "# Nest boxes\n1. a list of boards in boards.csv\n2. nail the boxes together\n3. check that the cuts add up",
        "# Nest boxes\n1. a list of boards in boards.csv\n2. screw the boxes together\n3. check that the cuts add up",
        "boards.csv has the boards of six boxes. Nothing of the plan is left to do.",
        call("Answer", verdict="pass", summary="The cuts add up to the boards.", findings=[]),
    )
    replies = (
        Reply(option="revise", comment="screws, not nails: the boxes are opened every winter"),
        Reply(
            option="edit",
            edited="# Nest boxes\n1. boards for six boxes in boards.csv\n2. screw them together\n3. check the cuts",
        ),
        Reply(option="approve"),
    )
    return _played("plan-build-verify", "Plan and list the boards for nest boxes.", script, replies, cwd, start)


def apple_store(cwd: str, start: datetime) -> Mapping[str, bytes]:
    """``research-review``: two workers look into parts of a question, and the report is taken as it is."""

    def says(request: ModelRequest) -> Any:
        shown = request.instructions or ""
        if "You cut the question into parts" in shown:
            parts = {"cold": "What does a cool cellar cost?", "sand": "Do apples keep in sand until May?"}
            return call("FanOut", items=[{"id": id, "context": context} for id, context in parts.items()])
        if "You look into one part" in shown:
            finding = {"claim": "It keeps until March.", "source": "notes/store.md:4", "certainty": "middle"}
            return call("Answer", answer="Until March.", findings=[finding], open=["what happens in May"])
        return "Sand keeps apples until March (notes/store.md:4). Whether they last until May is not known."

    return _played("research-review", "How do we keep apples until May?", [says] * 9, (Reply(number=1),), cwd, start)


def _played(
    name: str, task: str, script: Sequence[Item], replies: Sequence[Reply], cwd: str, start: datetime
) -> Mapping[str, bytes]:
    """The journals, by file name, of a run of the blueprint ``name`` that is parked and gone on with at each reply."""

    async def story() -> dict[str, bytes]:
        clock = ManualClock(start)
        journal = MemoryJournal(clock)
        agent = Agent(model=ScriptedModel(script), tools=built_in_tools(), clock=clock)
        options = RunOptions(journal=journal, workspace=Path(cwd), parks=True, approver=HOLD, answerer=HOLD, by=_PERSON)
        result = await start_blueprint(shipped_blueprint(name), task, agent, options)
        session = Session(result.session.id, journal)
        for reply in replies:
            clock.advance(_ANSWERS_AFTER_S)
            (ask,) = await journal.asks()
            await Desk(journal, _PERSON).answer(ask.ask, reply)
            await (await resume_blueprint(session, agent, options))
        found = {
            one: b"".join(encode_event(event) + b"\n" for event in await journal.read(one))
            for one in await journal.sessions()
        }
        # Workers in the order in which the run began them: what sorts them otherwise is drawn at random.
        return {one: found[one] for one in sorted(found, key=lambda one: found[session.id].find(one.encode()))}

    return _renamed(name, asyncio.run(story()))


def _renamed(name: str, journals: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """``journals`` with ids that are made of ``name`` and the order in which they appear."""
    given: dict[bytes, bytes] = {}

    def rename(found: re.Match[bytes]) -> bytes:
        old = found.group()
        return given.setdefault(old, str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{name}/{len(given)}")).encode())

    lines = {session: _ID.sub(rename, data) for session, data in journals.items()}
    return {f"{given[session.encode()].decode()}.jsonl": data for session, data in lines.items()}
