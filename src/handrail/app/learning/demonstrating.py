"""The loop in small, for ``handrail demo``: a correction in one run, the rule that comes of it, a paired probe, and a
second run without the correction.

Everything happens in a folder that is gone afterwards, with a played model: nothing is sent, nothing is deleted, and
nothing of the person's own is read. What is played is the model and the person; the loop is the real one.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path

from msgspec import Struct

from handrail.agents.agent import Agent
from handrail.agents.approval import ApprovalRequest, Deny, Reply
from handrail.agents.options import RunOptions
from handrail.agents.result import Session
from handrail.agents.tools import built_in_tools
from handrail.app.counting import MomentRow
from handrail.app.learning.learning import LearnOrder, learn
from handrail.app.learning.memory import Memory, open_memory
from handrail.app.learning.probed import ProbedMoment
from handrail.app.learning.probing import ProbeOrder, probe
from handrail.app.learning.proposals import accept_proposal
from handrail.app.learning.reflecting import ReflectOrder, reflect
from handrail.app.learning.riding import rules_riding
from handrail.app.machine import Machine, open_machine
from handrail.app.mining import MomentFilter, moments
from handrail.journal.file import FileJournal
from handrail.learning.probes.ledger import Outcome
from handrail.learning.rules.model import Life, Rule
from handrail.models.port import ModelRequest
from handrail.models.scripted import Answer, Call, Item, ScriptedModel, call
from handrail.transcripts.model import Text

TASK = "Clean up: the folder is full of things nobody needs."
WORDS = "Ask me before you delete anything."
_LESSON = "Ask before deleting anything."
_INSTRUCTIONS = "You keep a small workshop tidy, with the tools you are given."
_DELETES = "rm -rf drafts"


class DemoRun(Struct, frozen=True, kw_only=True):
    """One run: the rules that rode in it, how often the person stepped in, and how it ended."""

    session: str
    rules: tuple[str, ...]
    step_ins: int
    answer: str


class DemoRule(Struct, frozen=True, kw_only=True):
    """The rule that came of it."""

    id: str
    text: str
    life: Life


class DemoProbe(Struct, frozen=True, kw_only=True):
    """What probing the rule at the one moment came to; ``note`` says what that is worth."""

    verdict: Outcome
    pairs: int = 0
    better: int = 0
    worse: int = 0
    same: int = 0
    note: str


class DemoLoop(Struct, frozen=True, kw_only=True):
    """The loop, once round."""

    interventions: tuple[MomentRow, ...]
    rules: tuple[DemoRule, ...]
    probe: DemoProbe
    runs: tuple[DemoRun, ...]


def demonstrate() -> DemoLoop:
    """Go round once. ``StoreError`` where there is no room for the temporary folder."""
    with tempfile.TemporaryDirectory(prefix="handrail-demo-") as folder:
        return _Workshop(Path(folder)).go_round()


class _Workshop:
    """A repository, a home of its own, a model that plays and a person who is played."""

    def __init__(self, root: Path) -> None:
        self._shop = root / "workshop"
        (self._shop / ".git").mkdir(parents=True)
        self._environment = {"HANDRAIL_HOME": str(root / "home")}
        self._sessions = root / "home" / "sessions"
        self._model = _played()

    def go_round(self) -> DemoLoop:
        first = self._run("first-run")
        machine, memory = self._machine(), open_memory(self._environment)
        found = moments(machine, MomentFilter()).moments
        rule = self._learned(machine, memory)
        report = probe(machine, memory, ProbeOrder(rules=(rule.id,)), self._model)
        ((moment,),) = (probed.moments for probed in report.rules)
        second = self._run("second-run")
        return DemoLoop(
            interventions=found,
            rules=(DemoRule(id=rule.id, text=rule.text, life=rule.life),),
            probe=_probe(moment),
            runs=(first, second),
        )

    def _machine(self) -> Machine:
        return open_machine({"handrail": self._sessions}, only_given=True)

    def _learned(self, machine: Machine, memory: Memory) -> Rule:
        """The rule: a lesson is drawn, proposed, and the person says yes."""
        reflect(machine, memory, ReflectOrder(), self._model)
        (proposal,) = learn(memory, LearnOrder(), self._model).proposals
        (rule,) = accept_proposal(memory, proposal.id).rules
        return rule

    def _run(self, name: str) -> DemoRun:
        riding = rules_riding(self._environment, self._shop, ("Bash",)).block
        told = "\n\n".join(part for part in (_INSTRUCTIONS, riding.text) if part)
        agent = Agent(model=self._model, tools=built_in_tools(("bash",)), instructions=told)
        options = RunOptions(workspace=self._shop, approver=_refuse, rules=riding.rules, rules_digest=riding.digest)
        journal = FileJournal(self._sessions)
        result = asyncio.run(agent.run(TASK, options, session=Session(name, journal)))
        journal.close()
        rows = moments(self._machine(), MomentFilter()).moments
        step_ins = sum(row.session == name for row in rows)
        return DemoRun(session=name, rules=riding.rules, step_ins=step_ins, answer=result.text)


def _refuse(request: ApprovalRequest) -> Reply:
    return Deny(WORDS)


def _played() -> ScriptedModel:
    """A model that deletes unless its instructions say otherwise, and that can draw a lesson and write it down."""

    def answer(request: ModelRequest) -> Answer:
        match request.tool_choice:
            case "reflect":
                return call("reflect", skip=False, lesson=_LESSON, about="behaviour", wish=WORDS)
            case "change_rules":
                return _draft(request)
            case _ if request.replies:
                return "I left everything as it is. Which of the drafts may go?"
            case _ if _LESSON in request.instructions:
                return "The folder drafts/ looks unused. May I delete it?"
            case _:
                return call("Bash", command=_DELETES)

    script: list[Item] = [answer, answer]
    return ScriptedModel(script, name="played", repeats=True)


def _draft(request: ModelRequest) -> Call:
    text = "\n".join(block.text for block in request.messages[0].content if type(block) is Text)
    labels = re.findall(r"^(L\d+) \[", text, re.MULTILINE)
    return Call("change_rules", {"changes": [{"do": "add", "lessons": labels, "text": _LESSON}]})


def _probe(moment: ProbedMoment) -> DemoProbe:
    note = "one moment shows how it is done and proves nothing yet: seven that all go better are the least"
    return DemoProbe(
        verdict=moment.outcome,
        pairs=moment.pairs,
        better=moment.better,
        worse=moment.worse,
        same=moment.same,
        note=note,
    )
