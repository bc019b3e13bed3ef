"""Notices to other programs: signed, tried again where that can help, told once more after a death, never unasked."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from handrail import Agent, RunOptions, ScriptedModel, Session, call, tool
from handrail.agents.approval import HOLD, PERSON
from handrail.journal.vocabulary import AskKind
from handrail.models.scripted import Item
from handrail.runs.asks.replies import Reply
from handrail.runs.desk import Desk
from handrail.runs.journals.sqlite import SqliteJournal
from handrail.runs.webhooks import (
    TOPICS,
    BadWebhooks,
    Delivery,
    Endpoint,
    Sender,
    endpoint,
    is_signed,
    load_endpoints,
    signature,
)
from handrail.testing.clock import ManualClock
from tests.runs.webhooks.receiver import Receiver, Sent, receiver

SECRET = b"a secret that is long enough"
ENVIRONMENT = {"HANDRAIL_WEBHOOK_SECRET": SECRET.decode()}
KEY = "sk-" + "ant-" + "a1B2c3D4e5F6g7H8i9J0k1L2"


@tool(destructive=True)
async def change(place: str) -> str:
    """Change a place."""
    return f"{place} is changed"


class Shop:
    """A journal with a clock, and the sender of its news to one address."""

    def __init__(self, folder: Path, to: Receiver, **more: Any) -> None:
        self.clock = ManualClock()
        self.journal = SqliteJournal(folder / "journal.sqlite", self.clock)
        self.desk = Desk(self.journal, PERSON)
        self.told: list[Delivery] = []
        self.endpoint = Endpoint(url=to.url, secret=SECRET, **more)
        self.sender = Sender(self.journal, (self.endpoint,), self.told.append, clock=self.clock)

    def agent(self, place: str = "shelf") -> Agent:
        script: list[Item] = [call("change", place=place), "done"]
        return Agent(model=ScriptedModel(script), tools=[change], clock=self.clock)

    def options(self, **more: Any) -> RunOptions:
        return RunOptions(journal=self.journal, approver=HOLD, parks=True, **more)

    async def begin(self, place: str = "shelf", **more: Any) -> str:
        """A run that waits for an approval; the question."""
        result = await self.agent(place).start("go", self.options(**more), session=Session("s1", self.journal))
        return result.waits_for[0].ask

    async def end(self, ask: str) -> None:
        await self.desk.answer(ask, Reply(option="approve"))
        await self.agent().resume(Session("s1", self.journal), self.options())

    async def send(self) -> int:
        import httpx2

        async with httpx2.AsyncClient(trust_env=False) as client:
            count = 0
            while done := await self.sender.send(client):
                count += done
            return count


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def go(story: Any) -> Any:
    async def bounded() -> Any:
        async with asyncio.timeout(60):
            return await story

    return asyncio.run(bounded())


def bodies(to: Receiver) -> list[dict[str, Any]]:
    return [json.loads(sent.body) for sent in to.sent]


def test_a_question_its_closing_and_the_end_of_the_run_are_told_in_order(folder: Path) -> None:
    async def story(to: Receiver) -> None:
        shop = Shop(folder, to)
        ask = await shop.begin()
        await shop.send()
        await shop.end(ask)
        await shop.send()
        shop.journal.close()

    with receiver() as to:
        go(story(to))
    told = bodies(to)
    assert [one["event"] for one in told] == ["ask.opened", "ask.closed", "run.finished"]
    opened, closed, finished = told
    assert (opened["ask"]["prompt"], opened["ask"]["status"]) == ("Run change?", "open")
    assert opened["ask"]["options"] == ["approve", "approve-run", "deny"]
    assert closed["ask"]["closed"]["outcome"] == "answered"
    assert (finished["run"]["reason"], finished["ask"]) == ("answered", None)
    assert len({one["delivery_id"] for one in told}) == 3


def test_what_arrives_is_signed_over_its_exact_bytes_and_its_time(folder: Path) -> None:
    async def story(to: Receiver) -> float:
        shop = Shop(folder, to)
        await shop.begin()
        await shop.send()
        shop.journal.close()
        return shop.clock.now().timestamp()

    with receiver() as to:
        now_s = go(story(to))
    sent = to.sent[0]
    header, timestamp = sent.headers["Handrail-Signature"], sent.headers["Handrail-Timestamp"]
    assert sent.headers["Handrail-Delivery"] == json.loads(sent.body)["delivery_id"]
    assert is_signed(SECRET, header, timestamp, sent.body, now_s=now_s)
    assert not is_signed(SECRET, header, timestamp, sent.body + b" ", now_s=now_s)
    assert not is_signed(b"another secret, just as long", header, timestamp, sent.body, now_s=now_s)
    assert not is_signed(SECRET, header, str(int(timestamp) + 1), sent.body, now_s=now_s)
    assert not is_signed(SECRET, header, timestamp, sent.body, now_s=now_s + 301)
    assert not is_signed(SECRET, header, "now", sent.body, now_s=now_s)


def test_a_receiver_that_knows_an_older_way_of_signing_finds_it_among_others() -> None:
    both = "v2=abc, " + signature(SECRET, "100", b"body")
    assert is_signed(SECRET, both, "100", b"body", now_s=100)


# H 185
@pytest.mark.parametrize(
    ("statuses", "tries"),
    [((500, 500), 3), ((429,), 2), ((408,), 2), ((503, 200), 2), ((400,), 1), ((404,), 1), ((301,), 1), ((204,), 1)],
)
def test_it_is_tried_again_where_that_can_help_under_the_same_id(
    folder: Path, statuses: tuple[int, ...], tries: int
) -> None:
    async def story(to: Receiver) -> list[Delivery]:
        shop = Shop(folder, to, topics=("ask.opened",))
        await shop.begin()
        for _ in range(5):
            await shop.send()
            shop.clock.advance(60)
        shop.journal.close()
        return shop.told

    with receiver(*statuses) as to:
        told = go(story(to))
    assert len(to.sent) == tries
    assert len({sent.headers["Handrail-Delivery"] for sent in to.sent}) == 1
    assert len({sent.body for sent in to.sent}) == 1
    assert [one.attempt for one in told] == list(range(1, tries + 1))
    expected = "given_up" if statuses[-1] in (400, 404, 301) else "delivered"
    assert told[-1].outcome == expected


def test_the_pauses_between_tries_grow_and_the_other_side_may_ask_for_longer(folder: Path) -> None:
    async def story(to: Receiver) -> list[int]:
        shop = Shop(folder, to, topics=("ask.opened",))
        await shop.begin()
        seen = []
        for seconds in (0.0, 0.4, 0.2, 0.5, 0.6, 100.0):
            shop.clock.advance(seconds)
            await shop.send()
            seen.append(len(to.sent))
        shop.journal.close()
        return seen

    with receiver(500, 500, 500, 500, 500) as to:
        assert go(story(to)) == [1, 1, 2, 2, 3, 4]

    with receiver(429, headers={"Retry-After": "30"}) as to:
        (folder / "other").mkdir()

        async def asked(to: Receiver) -> list[int]:
            shop = Shop(folder / "other", to, topics=("ask.opened",))
            await shop.begin()
            seen = []
            for seconds in (0.0, 29.0, 2.0):
                shop.clock.advance(seconds)
                await shop.send()
                seen.append(len(to.sent))
            shop.journal.close()
            return seen

        assert go(asked(to)) == [1, 1, 2]


def test_nobody_there_is_tried_again_and_given_up_in_the_end(folder: Path) -> None:
    async def story(to: Receiver) -> list[Delivery]:
        shop = Shop(folder, to, topics=("ask.opened",))
        await shop.begin()
        for _ in range(30):
            await shop.send()
            shop.clock.advance(700)
        shop.journal.close()
        return shop.told

    with receiver() as to:
        pass
    told = go(story(to))
    assert (len(told), told[0].outcome, told[0].status, told[-1].outcome) == (20, "again", None, "given_up")


def test_secrets_and_documents_stay_here_unless_somebody_wants_them_sent(folder: Path) -> None:
    async def story(to: Receiver, place: Path, **more: Any) -> None:
        shop = Shop(place, to, topics=("ask.opened",), **more)
        await shop.begin(place=KEY, title=f"use {KEY}")
        await shop.send()
        shop.journal.close()

    (folder / "whole").mkdir()
    with receiver() as to:
        go(story(to, folder))
        go(story(to, folder / "whole", redacts=False))
    redacted, whole = to.sent
    assert KEY.encode() not in redacted.body
    assert json.loads(redacted.body)["run"]["title"].startswith("use ")
    assert "shown" not in json.loads(redacted.body)["ask"]
    assert KEY.encode() in whole.body


def test_a_question_that_falls_due_is_told_and_one_that_was_answered_before_is_not(folder: Path) -> None:
    async def story(to: Receiver) -> None:
        shop = Shop(folder, to, topics=("ask.due",))
        first = await shop.begin(approval_timeout_s=60)
        await shop.send()
        assert to.sent == []
        shop.clock.advance(61)
        await shop.send()
        await shop.desk.withdraw(first, "over")
        shop.journal.close()

    with receiver() as to:
        go(story(to))
    (told,) = bodies(to)
    assert (told["event"], told["ask"]["kind"]) == ("ask.due", AskKind.APPROVAL.value)


def test_news_of_long_ago_is_told_only_where_the_question_is_open_yet(folder: Path) -> None:
    async def story(to: Receiver) -> None:
        shop = Shop(folder, to)
        ask = await shop.begin()
        shop.clock.advance(timedelta(days=3).total_seconds())
        await shop.send()
        await shop.end(ask)
        shop.clock.advance(timedelta(days=3).total_seconds())
        await shop.send()
        shop.journal.close()

    with receiver() as to:
        go(story(to))
    assert [one["event"] for one in bodies(to)] == ["ask.opened"]


def test_the_ends_of_agents_within_a_run_are_not_told_but_their_questions_are(folder: Path) -> None:
    async def story(to: Receiver) -> None:
        from handrail.agents.spawn import spawn_tool

        shop = Shop(folder, to)
        helper = shop.agent()

        def boss() -> Agent:
            return Agent(
                model=ScriptedModel([call("Spawn", prompt="help"), "all done"]),
                tools=[spawn_tool(helper)],
                clock=shop.clock,
            )

        await boss().start("go", shop.options(), session=Session("s1", shop.journal))
        (ask,) = await shop.journal.asks()
        await shop.desk.answer(ask.ask, Reply(option="approve"))
        await boss().resume(Session("s1", shop.journal), shop.options())
        await shop.send()
        shop.journal.close()

    with receiver() as to:
        go(story(to))
    told = sorted((one["event"], one["session"] == "s1") for one in bodies(to))
    assert told == [("ask.closed", False), ("ask.opened", False), ("run.finished", True)]


# H 186
def test_a_notice_whose_sender_is_killed_between_two_tries_is_delivered_after_a_restart(folder: Path) -> None:
    async def story(to: Receiver) -> None:
        shop = Shop(folder, to)
        await shop.begin()
        shop.journal.close()

    with receiver(503) as to:
        go(story(to))
        refused, _ = _sent_by_a_process(folder, to), to.wait()
        delivered, _ = _sent_by_a_process(folder, to), to.wait()
    assert (refused, delivered) == (b"1\n", b"1\n")
    first, second = to.sent
    assert _id(first) == _id(second)
    assert json.loads(second.body)["event"] == "ask.opened"


def _sent_by_a_process(folder: Path, to: Receiver) -> bytes:
    """Let a process send what is due, and kill it once it has; what it says it sent."""
    command = [sys.executable, "-m", "tests.runs.webhooks.sender", str(folder / "journal.sqlite"), to.url]
    environment = {**os.environ, **ENVIRONMENT}
    root = Path(__file__).parents[3]
    with subprocess.Popen(command, cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    return said


def _id(sent: Sent) -> str:
    return sent.headers["Handrail-Delivery"]


# Where to ---------------------------------------------------------------------------------------------------


def test_nothing_is_sent_where_nobody_said_where_to(folder: Path) -> None:
    async def story(to: Receiver) -> int:
        shop = Shop(folder, to)
        await shop.begin()
        await Sender(shop.journal, (), clock=shop.clock).send_again_and_again(asyncio.Event())
        left = await shop.journal.take_news()
        shop.journal.close()
        return len(left)

    with receiver() as to:
        assert (go(story(to)), to.sent) == (1, [])


@pytest.mark.parametrize(
    ("url", "environment", "why"),
    [
        ("ftp://here", ENVIRONMENT, "url"),
        ("nowhere", ENVIRONMENT, "url"),
        ("http://[", ENVIRONMENT, "url"),
        ("https://here", {}, "HANDRAIL_WEBHOOK_SECRET"),
        ("https://here", {"HANDRAIL_WEBHOOK_SECRET": "short"}, "16 bytes"),
    ],
)
def test_an_address_that_makes_no_sense_is_refused(url: str, environment: Mapping[str, str], why: str) -> None:
    with pytest.raises(BadWebhooks, match=why):
        endpoint(url, environment)


def test_a_file_names_addresses_with_what_they_hear_and_every_fault_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "webhooks.toml"
    path.write_text('[[webhook]]\nurl = "https://here/x"\ntopics = ["run.finished"]\nsecret_env = "MINE"\n')
    (found,) = load_endpoints(path, {"MINE": "m" * 20})
    assert (found.url, found.topics, found.secret, found.redacts) == (
        "https://here/x",
        ("run.finished",),
        b"m" * 20,
        True,
    )
    path.write_text('[[webhook]]\nurl = 1\ntopics = ["never"]\nwho = "me"\n')
    with pytest.raises(BadWebhooks) as refused:
        load_endpoints(path, ENVIRONMENT)
    assert all(word in str(refused.value) for word in ("url", "topics", "who"))
    assert all(topic in str(refused.value) for topic in TOPICS)


def test_an_address_is_shown_without_what_may_be_secret_in_it() -> None:
    made = Endpoint(url="https://me:pass@here.example/hook?token=1", secret=SECRET)
    assert "pass" not in repr(made)
    assert "token" not in repr(made)
    assert SECRET.decode() not in repr(made)
