"""Asking a person: five ends, never mixed, and an answer holds only for what was shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.agents.approval import (
    ApprovalRequest,
    Approve,
    ApproveEdited,
    ApproverLike,
    Deny,
    Reply,
    Settled,
    bound,
    digest_of,
    refusal_from,
    refused,
    seek,
)
from handrail.agents.cancellation import CancellationToken
from handrail.agents.permissions import Grant, Rule, Verdict
from handrail.journal.events import AskClosed
from handrail.journal.refusals import refusal_of
from handrail.journal.vocabulary import Actor, ActorKind, AskOutcome
from handrail.transcripts.model import Refusal, RefusalKind
from tests.agents.tools.running import run

PROGRAM = Actor(ActorKind.HOST, "ci")


def _request(**input: Any) -> ApprovalRequest:
    return ApprovalRequest(id="ask_1", call_id="call_1", tool="Bash", input=input, digest=digest_of("Bash", input))


def _settled(approver: ApproverLike | None, timeout_s: float | None = None) -> Settled:
    return run(seek(approver, _request(command="ls"), cancellation=CancellationToken(), timeout_s=timeout_s))


class Person:
    """An approver that gives one answer and remembers what it was shown."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.shown: list[ApprovalRequest] = []

    async def approve(self, request: ApprovalRequest) -> Reply:
        self.shown.append(request)
        return self.reply


async def _hang(request: ApprovalRequest) -> Reply:
    await asyncio.Event().wait()
    return Approve()


def _raise(request: ApprovalRequest) -> Reply:
    raise RuntimeError("window closed")


def _leave(request: ApprovalRequest) -> Reply:
    raise SystemExit


# How it ends ------------------------------------------------------------------------------------------------


def test_a_yes_lets_the_call_run() -> None:
    person = Person(Approve(comment="go on"))
    settled = _settled(person)
    assert (settled.outcome, settled.is_allowed, settled.reason) == (AskOutcome.ANSWERED, True, "go on")
    assert refusal_from(settled) is None
    assert person.shown == [_request(command="ls")]


def test_a_persons_no_is_a_denial_in_their_words() -> None:
    settled = _settled(Person(Deny("use a copy")))
    assert settled.outcome is AskOutcome.DENIED
    assert refusal_from(settled) == Refusal(RefusalKind.DENIED, "person", "use a copy")


def test_a_no_without_words_is_still_a_no() -> None:
    assert refusal_from(_settled(Person(Deny()))) == Refusal(RefusalKind.DENIED, "person", None)


def test_a_programs_no_is_no_persons() -> None:
    assert refusal_from(_settled(Person(Deny("policy", by=PROGRAM)))) == Refusal(RefusalKind.BLOCKED, "ci", "policy")


def test_edited_arguments_are_a_yes_to_the_edit() -> None:
    settled = _settled(Person(ApproveEdited({"command": "ls -a"}, "show all")))
    assert settled.is_allowed
    assert settled.reply == ApproveEdited({"command": "ls -a"}, "show all")


@pytest.mark.parametrize("function", [lambda request: Approve(), Person(Approve()).approve])
def test_a_function_answers_as_an_approver_does(function: Callable[[ApprovalRequest], Reply]) -> None:
    assert _settled(function).is_allowed


@pytest.mark.parametrize(
    ("approver", "by"),
    [(None, "approval"), (_raise, "approver"), (_leave, "approver"), (lambda request: True, "approver")],
)
def test_an_absent_or_failing_approver_refuses_and_nobody_said_no(approver: ApproverLike | None, by: str) -> None:
    settled = _settled(approver)
    refusal = refusal_from(settled)
    assert settled.outcome is AskOutcome.AUTO
    assert refusal is not None
    assert (refusal.kind, refusal.by) == (RefusalKind.BLOCKED, by)


def test_silence_until_the_deadline_is_expired() -> None:
    settled = _settled(_hang, timeout_s=0.01)
    assert settled.outcome is AskOutcome.TIMED_OUT
    assert refusal_from(settled) == Refusal(RefusalKind.EXPIRED, "deadline", None)


def test_an_approver_that_times_out_by_itself_has_failed_and_is_not_expired() -> None:
    def slow(request: ApprovalRequest) -> Reply:
        raise TimeoutError

    assert _settled(slow).outcome is AskOutcome.AUTO


def test_cancelling_withdraws_the_question() -> None:
    async def main() -> Settled:
        token = CancellationToken()

        async def cancel_it(request: ApprovalRequest) -> Reply:
            token.cancel("the run was cancelled")
            return await _hang(request)

        return await seek(cancel_it, _request(), cancellation=token)

    settled = run(main())
    assert settled.outcome is AskOutcome.WITHDRAWN
    assert refusal_from(settled) == Refusal(RefusalKind.WITHDRAWN, "cancellation", "the run was cancelled")


def test_three_questions_at_once_get_their_own_answers_in_whatever_order_they_come() -> None:
    async def main() -> list[str | None]:
        waiting: dict[str, asyncio.Future[Reply]] = {}
        all_asked = asyncio.Event()

        async def desk(request: ApprovalRequest) -> Reply:
            waiting[request.input["n"]] = asyncio.get_running_loop().create_future()
            if len(waiting) == 3:
                all_asked.set()
            return await waiting[request.input["n"]]

        asked = [
            asyncio.ensure_future(seek(desk, _request(n=name), cancellation=CancellationToken())) for name in "abc"
        ]
        await all_asked.wait()
        for name in "cba":
            waiting[name].set_result(Deny(f"no {name}"))
        return [settled.reason for settled in await asyncio.gather(*asked)]

    assert run(main()) == ["no a", "no b", "no c"]


# What an answer binds ---------------------------------------------------------------------------------------


def test_a_digest_is_of_name_and_input_whatever_the_order_of_keys() -> None:
    assert digest_of("T", {"a": 1, "b": 2}) == digest_of("T", {"b": 2, "a": 1})
    assert len({digest_of("T", {"a": 1}), digest_of("T", {"a": 2}), digest_of("U", {"a": 1})}) == 3


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.none()))
def test_every_input_has_a_digest(input: dict[str, Any]) -> None:
    assert len(digest_of("T", input)) == 64


def test_an_answer_to_something_else_does_not_count() -> None:
    assert not _settled(Person(Approve(digest="f" * 64))).is_allowed
    assert _settled(Person(Approve(digest=_request(command="ls").digest))).is_allowed


def test_what_was_changed_while_it_was_shown_does_not_run() -> None:
    def sly(request: ApprovalRequest) -> Reply:
        request.input["command"] = "rm -rf /"
        return Approve()

    settled = _settled(sly)
    assert (settled.is_allowed, settled.outcome) == (False, AskOutcome.AUTO)


@pytest.mark.parametrize(
    ("reply", "grant"),
    [
        (Approve(), None),
        (ApproveEdited({}), None),
        (Deny("no"), None),
        (Approve("run"), Grant(verdict=Verdict.ALLOW, scope="run")),
        (
            Approve("stage", rule=Rule(Verdict.ALLOW, "Bash")),
            Grant(verdict=Verdict.ALLOW, scope="stage", rule=Rule(Verdict.ALLOW, "Bash")),
        ),
        (Deny("no", "run"), Grant(verdict=Verdict.DENY, scope="run", reason="no")),
    ],
)
def test_only_an_answer_beyond_this_call_is_remembered(reply: Reply, grant: Grant | None) -> None:
    assert _settled(Person(reply)).grant == grant


def test_a_remembered_answer_without_a_rule_is_bound_to_the_call() -> None:
    plain = Grant(verdict=Verdict.ALLOW, scope="run")
    ruled = Grant(verdict=Verdict.ALLOW, scope="run", rule=Rule(Verdict.ALLOW, "Bash"))
    assert bound(plain, "d").digest == "d"
    assert bound(ruled, "d") == ruled


# What the model is told -------------------------------------------------------------------------------------


def test_the_ways_of_not_running_are_worded_apart_and_typed() -> None:
    kinds = [RefusalKind.DENIED, RefusalKind.EXPIRED, RefusalKind.WITHDRAWN, RefusalKind.BLOCKED]
    outputs = [refused("Bash", Refusal(kind, "x", "because")) for kind in kinds]
    assert len({str(output.content) for output in outputs}) == len(kinds)
    assert [output.refusal.kind for output in outputs if output.refusal] == kinds
    assert all(output.is_error and not output.is_external for output in outputs)
    assert "person refused" in str(outputs[0].content)
    assert not any("person refused" in str(output.content) for output in outputs[1:])


def test_the_reason_stands_in_one_text_with_the_denial() -> None:
    output = refused("Bash", Refusal(RefusalKind.DENIED, "person", "use a copy"))
    assert output.content == "A person refused this call of Bash: use a copy. Do not repeat it."


@pytest.mark.parametrize(
    "settled",
    [
        Settled(outcome=AskOutcome.DENIED, by=Actor(ActorKind.PERSON), reply=Deny("no"), reason="no"),
        Settled(outcome=AskOutcome.DENIED, by=PROGRAM, reply=Deny("no"), reason="no"),
        Settled(outcome=AskOutcome.TIMED_OUT, by=Actor(ActorKind.DRIVER, "deadline")),
        Settled(outcome=AskOutcome.WITHDRAWN, by=Actor(ActorKind.DRIVER, "cancellation"), reason="over"),
        Settled(outcome=AskOutcome.AUTO, by=Actor(ActorKind.DRIVER, "approval"), reason="nobody"),
        Settled(outcome=AskOutcome.ANSWERED, by=Actor(ActorKind.PERSON), reply=Approve()),
    ],
)
def test_the_refusal_is_the_one_the_journal_would_make(settled: Settled) -> None:
    closed = AskClosed(ask="a", outcome=settled.outcome, comment=settled.reason, is_allowed=settled.is_allowed)
    assert refusal_from(settled) == refusal_of(closed, settled.by)
