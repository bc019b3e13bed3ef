"""Runs steered from another process, which shares nothing with them but a folder."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from handrail import Agent, Approve, EndReason, FileJournal, RunOptions, RunResult, ScriptedModel, Session, call, tool
from handrail.agents.approval import ApprovalRequest
from handrail.agents.remote import RemoteRun
from handrail.journal.events import AskClosed
from handrail.journal.vocabulary import AskOutcome

from .stage import go, said

POLL_S = 0.001


def _held(folder: Path, script: list[Any]) -> tuple[Any, asyncio.Event, asyncio.Event, RemoteRun]:
    """A run on a file journal that waits in a tool, and a handle on a journal of its own on the same folder."""
    inside, leave = asyncio.Event(), asyncio.Event()

    @tool
    async def hold() -> str:
        """Holds."""
        inside.set()
        await leave.wait()
        return "held"

    agent = Agent(model=ScriptedModel(script), tools=[hold])
    run = agent.start("go", session=Session("s1", FileJournal(folder, poll_s=POLL_S)))
    return run, inside, leave, RemoteRun(Session("s1", FileJournal(folder)))


def test_a_steer_from_elsewhere_is_delivered_and_its_receipt_says_with_which_round(tmp_path: Path) -> None:
    async def story() -> tuple[RunResult, Any, Any]:
        run, inside, leave, remote = _held(tmp_path, [call("hold"), "done"])
        await inside.wait()
        sent = await remote.steer("left")
        before = await remote.receipt(sent)
        leave.set()
        return await run, before, await remote.receipt(sent)

    result, before, after = go(story())
    assert said(result.transcript.body)[2] == "user: [held] left"
    assert (before.status, after.status, after.round) == ("queued", "delivered", 2)


@pytest.mark.parametrize(
    ("wish", "end"),
    [("interrupt", EndReason.STOP_REQUESTED), ("cancel", EndReason.CANCELLED)],
)
def test_a_wish_from_elsewhere_ends_a_hanging_tool(tmp_path: Path, wish: str, end: EndReason) -> None:
    async def story() -> tuple[RunResult, Any]:
        run, inside, _, remote = _held(tmp_path, [call("hold"), "never"])
        await inside.wait()
        sent = await getattr(remote, wish)("from elsewhere")
        return await run, await remote.receipt(sent)

    result, receipt = go(story())
    assert (result.end_reason, result.detail, receipt.status) == (end, "from elsewhere", "delivered")


def test_a_question_is_answered_from_elsewhere(tmp_path: Path) -> None:
    async def never(request: ApprovalRequest) -> Approve:
        await asyncio.Event().wait()
        raise AssertionError

    @tool(destructive=True)
    async def wipe() -> str:
        """Wipes."""
        return "wiped"

    async def story() -> tuple[RunResult, str]:
        agent = Agent(model=ScriptedModel([call("wipe"), "done"]), tools=[wipe])
        journal = FileJournal(tmp_path, poll_s=POLL_S)
        run = agent.start("go", RunOptions(approver=never), session=Session("s1", journal))
        remote = RemoteRun(Session("s1", FileJournal(tmp_path)))
        while not (questions := await remote.open_questions()):
            await asyncio.sleep(0)
        closed = AskClosed(ask=questions[0].ask, outcome=AskOutcome.ANSWERED, is_allowed=True)
        sent = await remote.answer(closed)
        result = await run
        return result, (await remote.receipt(sent)).status

    result, status = go(story())
    assert said(result.transcript.body)[2] == "user: [wiped]"
    assert status == "delivered"


def test_nothing_cannot_be_sent(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to send"):
        go(RemoteRun(Session("s1", FileJournal(tmp_path))).steer(" "))


_STEERS = """
import asyncio, sys
from handrail import FileJournal, Session
from handrail.agents.remote import RemoteRun
asyncio.run(RemoteRun(Session("s1", FileJournal(sys.argv[1]))).steer("from another process"))
"""


def test_a_real_other_process_can_steer(tmp_path: Path) -> None:
    async def story() -> RunResult:
        run, inside, leave, _ = _held(tmp_path, [call("hold"), "done"])
        await inside.wait()
        command = [sys.executable, "-c", _STEERS, str(tmp_path)]
        await asyncio.to_thread(subprocess.run, command, check=True)
        leave.set()
        result: RunResult = await run
        return result

    assert said(go(story()).transcript.body)[2] == "user: [held] from another process"
