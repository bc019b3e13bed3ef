"""Taint only grows, and a send is refused before anybody is asked once both legs are there."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.agents.admission import Gate, admit
from handrail.agents.approval import PERSON, digest_of
from handrail.agents.outbox import StagedCall, routed
from handrail.agents.permissions import Grant, Policy, Rule, Verdict
from handrail.agents.taint import (
    CLEAN,
    Armed,
    TaintPolicy,
    interlock,
    taint_after,
    taint_of_input,
    turn_taint,
    widen,
)
from handrail.agents.tool import Tool, ToolOutput, tool
from handrail.errors import StoreError
from handrail.journal.vocabulary import Actor, ActorKind
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Image, Refusal, RefusalKind, Taint, Text
from tests.agents.tools.running import called, context, output, run

BOTH = Taint(private=True, untrusted=True)
SENDS = ToolTraits(sends=True)
TRAITS = [ToolTraits(private=p, untrusted=u, sends=s, destructive=d) for p, u, s, d in product([False, True], repeat=4)]


@tool(private=True)
def look() -> str:
    """Look."""
    return "secret"


@tool(untrusted=True)
def page() -> str:
    """Page."""
    return "from outside"


@tool(sends=True)
def send(text: str = "x") -> str:
    """Send."""
    return f"sent {text}"


def _after(*calls: tuple[Tool, ToolOutput]) -> Taint:
    taint = CLEAN
    for made, got in calls:
        taint = taint_after(taint, made.traits, got)
    return taint


@given(st.lists(st.tuples(st.sampled_from(TRAITS), st.booleans(), st.sampled_from([None, *RefusalKind]))))
def test_taint_only_grows(results: list[tuple[ToolTraits, bool, RefusalKind | None]]) -> None:
    taint = CLEAN
    for traits, is_external, kind in results:
        refusal = None if kind is None else Refusal(kind)
        after = taint_after(taint, traits, ToolOutput("", is_external=is_external, refusal=refusal))
        assert taint | after == after
        taint = after


def test_a_clean_result_later_never_clears_what_came_earlier() -> None:
    assert _after((look, ToolOutput("a")), (page, ToolOutput("b", is_external=True)), (send, ToolOutput("c"))) == BOTH


def test_words_count_as_untrusted_only_when_they_came_from_outside() -> None:
    assert _after((page, ToolOutput("ours", is_error=True))) == CLEAN
    assert _after((page, ToolOutput("theirs", is_error=True, is_external=True))) == Taint(untrusted=True)


@pytest.mark.parametrize("kind", [RefusalKind.DENIED, RefusalKind.BLOCKED, RefusalKind.NOT_RUN, RefusalKind.EXPIRED])
def test_a_call_that_was_not_run_brings_nothing_in(kind: RefusalKind) -> None:
    assert _after((look, ToolOutput("no", is_error=True, refusal=Refusal(kind)))) == CLEAN


@pytest.mark.parametrize("kind", [RefusalKind.INTERRUPTED, RefusalKind.OUTCOME_UNKNOWN])
def test_a_call_whose_outcome_is_unknown_may_have_brought_private_data(kind: RefusalKind) -> None:
    assert _after((look, ToolOutput("?", is_error=True, refusal=Refusal(kind)))) == Taint(private=True)


def test_an_attached_picture_is_private_data_words_are_not_and_a_peers_words_are_from_outside() -> None:
    assert taint_of_input(CLEAN, [Text("hello")], PERSON) == CLEAN
    assert taint_of_input(CLEAN, [Text("hello"), Image("image/png", "AA==")], PERSON) == Taint(private=True)
    assert taint_of_input(BOTH, [], PERSON) == BOTH
    assert taint_of_input(CLEAN, [Text("hello")], Actor(ActorKind.PEER)) == Taint(untrusted=True)


def test_configuration_may_only_widen() -> None:
    for traits, by in product(TRAITS, TRAITS):
        wide = widen(traits, by)
        assert all(
            getattr(wide, name) == (getattr(traits, name) or getattr(by, name)) for name in wide.__struct_fields__
        )


# The interlock (learning.md B.5, J 28) ----------------------------------------------------------------------


def test_a_read_and_a_send_in_one_batch_do_not_slip_through() -> None:
    turn = turn_taint(Taint(untrusted=True), [look.traits, send.traits])
    assert interlock(TaintPolicy(), turn, send.traits) is Armed.BLOCK
    assert interlock(TaintPolicy(), turn, look.traits) is Armed.ALLOW


@pytest.mark.parametrize(
    ("turn", "is_armed"),
    [(CLEAN, False), (Taint(private=True), False), (Taint(untrusted=True), False), (BOTH, True)],
)
def test_a_send_is_stopped_when_both_legs_are_there_and_only_then(turn: Taint, is_armed: bool) -> None:
    assert (interlock(TaintPolicy(), turn, SENDS) is Armed.BLOCK) == is_armed


@pytest.mark.parametrize("armed", list(Armed))
def test_the_policy_blocks_asks_or_allows(armed: Armed) -> None:
    assert interlock(TaintPolicy(armed=armed), BOTH, SENDS) is armed


def test_the_leak_guard_stops_a_send_once_private_data_is_there() -> None:
    guard = TaintPolicy(guards_private=True)
    assert interlock(guard, Taint(private=True), SENDS) is Armed.BLOCK
    assert interlock(guard, Taint(untrusted=True), SENDS) is Armed.ALLOW


def test_the_refusal_is_typed_and_says_that_nobody_was_asked() -> None:
    got = admit(Gate(), send, {}, turn=BOTH, root=Path("/")).refused
    assert got is not None
    assert got.refusal is not None
    assert (got.refusal.kind, got.refusal.by) == (RefusalKind.BLOCKED, "taint")
    assert "Nobody was asked" in str(got.content)
    assert not got.is_external


def test_neither_a_rule_nor_a_standing_yes_opens_the_interlock() -> None:
    yes = Grant(verdict=Verdict.ALLOW, scope="run", digest=digest_of("send", {}))
    gate = Gate(policy=Policy(rules=(Rule(Verdict.ALLOW, "send"),)), grants=(yes,))
    admission = admit(gate, send, {}, turn=BOTH, root=Path("/"))
    assert admission.verdict is Verdict.DENY


def test_an_asking_interlock_asks_even_where_a_rule_allows() -> None:
    gate = Gate(policy=Policy(rules=(Rule(Verdict.ALLOW, "send"),)), taint=TaintPolicy(armed=Armed.ASK))
    admission = admit(gate, send, {}, turn=BOTH, root=Path("/"))
    assert (admission.verdict, admission.refused) == (Verdict.ASK, None)
    assert "private data" in admission.why


def test_an_allowing_interlock_leaves_the_call_to_the_policy() -> None:
    gate = Gate(policy=Policy(consequential=Verdict.ALLOW), taint=TaintPolicy(armed=Armed.ALLOW))
    assert admit(gate, send, {}, turn=BOTH, root=Path("/")).verdict is Verdict.ALLOW


# The outbox (learning.md J 28, 29) --------------------------------------------------------------------------


class Kept:
    """An outbox in memory."""

    def __init__(self) -> None:
        self.calls: list[StagedCall] = []

    async def stage(self, call: StagedCall) -> str:
        self.calls.append(call)
        return f"staged-{len(self.calls)}"


class Broken:
    """An outbox that cannot keep anything."""

    async def stage(self, call: StagedCall) -> str:
        raise StoreError("disk full")


def test_a_routed_call_is_put_aside_even_when_armed_and_nothing_is_sent() -> None:
    kept = Kept()
    aside = routed(send, kept)
    assert admit(Gate(), aside, {"text": "t"}, turn=BOTH, root=Path("/")).verdict is Verdict.ALLOW
    got = run(called(aside, {"text": "t"}, context(taint=BOTH)))
    assert got.content == "send was put aside as staged-1. Nothing was sent yet; a person decides about it."
    assert kept.calls == [StagedCall(call_id="call_1", tool="send", input={"text": "t"}, taint=BOTH)]


def test_a_call_that_is_not_routed_is_still_refused() -> None:
    assert admit(Gate(), send, {}, turn=BOTH, root=Path("/")).verdict is Verdict.DENY


def test_a_routed_call_is_still_checked() -> None:
    assert admit(Gate(), routed(send, Kept()), {"text": 1}, turn=CLEAN, root=Path("/")).verdict is Verdict.DENY


def test_what_cannot_be_put_aside_is_an_error_and_is_not_run() -> None:
    got = output(routed(send, Broken()))
    assert got.is_error
    assert "was not run" in str(got.content)
    assert "sent" not in str(got.content).replace("not run", "")
