"""A small world for the loop: a repository, a home, sessions of ours in which a person refused a call, and models that
do as the rules in their instructions say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.agents.agent import Agent
from handrail.agents.approval import ApprovalRequest, Approve, Deny, Reply
from handrail.agents.options import RunOptions
from handrail.agents.result import Session
from handrail.agents.tools import built_in_tools, everyday_names
from handrail.app.learning.memory import Memory, open_memory
from handrail.app.learning.riding import NO_RULES
from handrail.app.machine import Machine, open_machine
from handrail.app.mining import MomentFilter, moments
from handrail.journal.file import FileJournal
from handrail.learning.rules.model import Life, Rule, RuleBook, RuleScope, Source
from handrail.models.port import ModelRequest
from handrail.models.scripted import ScriptedModel, call

ASK_FIRST = "Ask before you delete anything."
REFUSED = "rm -rf build"
WORDS = "not without asking me first"


@dataclass(frozen=True)
class World:
    """``root`` holds the repository ``shop`` and Handrail's home."""

    root: Path

    @property
    def shop(self) -> Path:
        return self.root / "shop"

    @property
    def environment(self) -> dict[str, str]:
        return {"HANDRAIL_HOME": str(self.root / "home"), "HOME": str(self.root), "PATH": ""}

    @property
    def sessions(self) -> Path:
        return self.root / "home" / "sessions"

    def machine(self) -> Machine:
        return open_machine({"handrail": self.sessions}, only_given=True)

    def memory(self) -> Memory:
        return open_memory(self.environment)

    def sources(self) -> tuple[Source, ...]:
        """The moments there are, the oldest first."""
        rows = moments(self.machine(), MomentFilter()).moments
        return tuple(
            Source(harness=row.harness, session=row.session, uid="", moment=row.id)
            for row in sorted(rows, key=lambda row: row.session)
        )

    def rule(self, id: str = "raaaaaa", text: str = ASK_FIRST, life: Life = Life.TRIAL, **more: Any) -> Rule:
        """A rule that counts in the repository, made of all moments there are unless said otherwise."""
        scope = RuleScope(repositories=(str(self.shop.resolve()),), harnesses=("handrail",))
        return Rule(**{"id": id, "text": text, "life": life, "scope": scope, "sources": self.sources(), **more})

    def keep(self, *rules: Rule) -> None:
        self.memory().rules.update(lambda _: RuleBook(rules))


def make_world(root: Path, sessions: int = 1) -> World:
    """A world in which an agent wanted to delete something ``sessions`` times and was refused with words."""
    world = World(root)
    (world.shop / ".git").mkdir(parents=True)
    journal = FileJournal(world.sessions)
    for number in range(sessions):
        asyncio.run(_refused(world, journal, f"s{number:02}"))
    journal.close()
    return world


async def _refused(world: World, journal: FileJournal, name: str) -> None:
    agent = Agent(
        model=ScriptedModel([call("Bash", command=REFUSED), "Shall I delete build?"]),
        tools=built_in_tools(everyday_names()),
        instructions="You work in a shop.",
    )
    options = RunOptions(workspace=world.shop, approver=_no, rules=NO_RULES.rules, rules_digest=NO_RULES.digest)
    await agent.run("clean up", options, session=Session(name, journal))


def _no(request: ApprovalRequest) -> Reply:
    command = request.input.get("command") if isinstance(request.input, dict) else None
    return Deny(WORDS) if command == REFUSED else Approve()


def obedient(
    *sentences: str, good: Callable[[], object] = lambda: "May I?", bad: Callable[[], object] | None = None
) -> ScriptedModel:
    """A model that does ``good`` where its instructions hold one of ``sentences``, else ``bad``: the refused call."""

    def answer(request: ModelRequest) -> object:
        if request.replies:
            return "Done."
        is_told = any(sentence in request.instructions for sentence in sentences)
        return good() if is_told else (bad or _deletes)()

    return ScriptedModel([answer, answer], repeats=True)  # type: ignore[list-item]


def _deletes() -> object:
    return call("Bash", command=REFUSED)
