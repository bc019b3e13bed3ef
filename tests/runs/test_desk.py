"""The desk: who answers first wins, the others are told, and a question is closed once, whatever is sent."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from handrail.blueprints.labels import AnswerRefused
from handrail.journal import events as ev
from handrail.journal.board import AmbiguousAsk, AskNotFound, AskRow, JournalWithBoard
from handrail.journal.file import FileJournal
from handrail.journal.memory import MemoryJournal
from handrail.journal.port import AskTaken
from handrail.journal.vocabulary import Actor, ActorKind, AskKind, AskOutcome
from handrail.runs.asks.identity import this_person
from handrail.runs.asks.replies import Reply
from handrail.runs.asks.wording import told
from handrail.runs.desk import Accepted, AnswerForbidden, Desk
from handrail.runs.journals.sqlite import SqliteJournal
from tests.runs.waiting import (
    ALL,
    ANN,
    APPROVAL,
    BEN,
    CID,
    CONFIRM,
    EDIT,
    NOW,
    POINT,
    REVIEW,
    WORDS,
    closings,
    go,
    later,
    take,
    wait,
)

APPROVE, REVISE, ABORT = Reply(option="approve"), Reply(option="revise"), Reply(option="abort")

Made = Callable[[], JournalWithBoard]


@pytest.fixture(params=["memory", "file", "sqlite"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Made]:
    opened: list[SqliteJournal] = []

    def sqlite() -> JournalWithBoard:
        opened.append(SqliteJournal(tmp_path / "journal.sqlite"))
        return opened[-1]

    kinds: dict[str, Made] = {"memory": MemoryJournal, "file": lambda: FileJournal(tmp_path), "sqlite": sqlite}
    yield kinds[request.param]
    for journal in opened:
        journal.close()


async def row(journal: JournalWithBoard, ask: str = "point-1") -> AskRow:
    return await journal.ask(ask)


# One answer -----------------------------------------------------------------------------------------------------


def test_row_68_an_answer_reaches_the_run_and_nothing_waits_any_more(made: Made) -> None:
    async def story() -> tuple[Accepted, list[ev.AskClosed], tuple[AskRow, ...]]:
        journal = made()
        await wait(journal, POINT)
        accepted = await Desk(journal, ANN).answer("point-1", APPROVE)
        assert "taken" == (await row(journal)).status
        await take(journal)
        return accepted, await closings(journal), await journal.asks()

    accepted, closed, waiting = go(story())
    assert ("closed", ANN) == (accepted.status, accepted.entry.by)
    assert ([("Approve", AskOutcome.ANSWERED)], ()) == ([(one.choice, one.outcome) for one in closed], waiting)


def test_row_69_of_two_answers_at_once_one_wins_and_the_other_is_told_who_did(made: Made) -> None:
    async def story() -> tuple[list[Any], list[ev.AskClosed]]:
        journal = made()
        await wait(journal, POINT)
        desk = Desk(journal)
        sent = [desk.answer("point-1", reply, by=by) for reply, by in ((APPROVE, ANN), (ABORT, BEN), (REVISE, CID))]
        ended = await asyncio.gather(*sent, return_exceptions=True)
        await take(journal)
        return ended, await closings(journal)

    ended, closed = go(story())
    (won,) = [one for one in ended if isinstance(one, Accepted)]
    lost = [one for one in ended if isinstance(one, AskTaken)]
    assert (2, 1) == (len(lost), len(closed))
    assert {won.entry.by.name} == {one.winner.by.name for one in lost}
    assert all(str(won.entry.by.name) in str(one) for one in lost)
    assert isinstance(won.entry.body, ev.AskClosed) and won.entry.body.choice == closed[0].choice


def test_rows_83_and_144_the_same_key_twice_is_one_answer_also_after_it_was_taken(made: Made) -> None:
    async def story() -> tuple[list[Accepted], list[ev.AskClosed]]:
        journal = made()
        await wait(journal, POINT)
        desk = Desk(journal, ANN)
        sent = [await desk.answer("point-1", APPROVE, key="k"), await desk.answer("point-1", ABORT, key="k")]
        await take(journal)
        sent.append(await desk.answer("point-1", APPROVE, key="k"))
        return sent, await closings(journal)

    sent, closed = go(story())
    assert (1, ["Approve"]) == (len({one.entry.number for one in sent}), [one.choice for one in closed])


def test_row_29_a_double_click_is_one_answer_and_a_change_of_mind_is_too_late(made: Made) -> None:
    async def story() -> None:
        journal = made()
        await wait(journal, POINT)
        desk = Desk(journal, ANN)
        assert await desk.answer("point-1", APPROVE) == await desk.answer("point-1", APPROVE)
        for reply, by in ((ABORT, ANN), (APPROVE, BEN), (Reply(option="nonsense"), BEN)):
            with pytest.raises(AskTaken, match="ann") as lost:
                await desk.answer("point-1", reply, by=by)
            assert lost.value.hint == "answered by ann: 'Approve'"
        await take(journal)
        assert (await desk.answer("point-1", APPROVE)).entry.by == ANN
        with pytest.raises(AskTaken):
            await desk.answer("point-1", Reply(option="nonsense"))

    go(story())


def test_a_key_that_was_used_for_another_question_answers_nothing(made: Made) -> None:
    async def story() -> list[str]:
        journal = made()
        await wait(journal, POINT, CONFIRM)
        desk = Desk(journal, ANN)
        await desk.answer("point-1", APPROVE, key="k")
        with pytest.raises(AnswerRefused, match="something else"):
            await desk.answer("confirm-1", Reply(is_yes=True), key="k")
        return [one.ask for one in await journal.asks()]

    assert ["confirm-1"] == go(story())


def test_row_70_an_answer_to_what_was_never_asked_is_an_error(made: Made) -> None:
    async def story() -> None:
        journal = made()
        await wait(journal, POINT)
        with pytest.raises(AskNotFound):
            await Desk(journal, ANN).answer("nothing", APPROVE)

    go(story())


def test_a_question_is_found_by_the_beginning_of_its_id_where_that_is_clear(made: Made) -> None:
    async def story() -> None:
        journal = made()
        await wait(journal, POINT, replace(POINT, ask="point-2", key="other"))
        with pytest.raises(AmbiguousAsk):
            await Desk(journal, ANN).answer("point", APPROVE)
        assert "point-2" == (await Desk(journal, ANN).answer("point-2", APPROVE)).ask

    go(story())


def test_a_reply_that_does_not_fit_leaves_the_question_open(made: Made) -> None:
    async def story() -> str:
        journal = made()
        await wait(journal, POINT)
        with pytest.raises(AnswerRefused, match="yes please"):
            await Desk(journal, ANN).answer("point-1", Reply(option="yes please"))
        assert () == await journal.inbox("s1")
        return (await row(journal)).status

    assert "open" == go(story())


def test_row_141_an_answer_to_what_the_run_itself_closed_is_told_so(made: Made) -> None:
    async def story() -> None:
        journal = made()
        gone = ev.AskClosed(ask="point-1", outcome=AskOutcome.WITHDRAWN, comment="the run was cancelled")
        await wait(journal, POINT, gone)  # type: ignore[arg-type]
        for reply in (APPROVE, Reply(option="nonsense")):
            with pytest.raises(AskTaken) as caught:
                await Desk(journal, ANN).answer("point-1", reply)
            assert (0, ActorKind.DRIVER) == (caught.value.winner.number, caught.value.winner.by.kind)

    go(story())


def test_an_answer_the_run_refused_can_be_given_again(made: Made) -> None:
    async def story() -> list[str | None]:
        journal = made()
        await wait(journal, POINT)
        desk = Desk(journal, ANN)
        accepted = await desk.answer("point-1", APPROVE)
        refused = ev.Event(
            seq=4, by=ANN, body=ev.EntryRefused("the run was not ready"), inbox=accepted.entry.number, at=NOW
        )
        await journal.append("s1", 3, 1, [refused])
        assert "open" == (await row(journal)).status
        await desk.answer("point-1", APPROVE)
        await take(journal)
        return [one.choice for one in await closings(journal)]

    assert ["Approve"] == go(story())


# Who may ----------------------------------------------------------------------------------------------------------


def test_only_those_who_are_named_may_answer(made: Made) -> None:
    async def story() -> str | None:
        journal = made()
        await wait(journal, replace(POINT, approvers=("ann",)))
        desk = Desk(journal)
        for by in (BEN, Actor(ActorKind.PERSON)):
            with pytest.raises(AnswerForbidden):
                await desk.answer("point-1", APPROVE, by=by)
        return (await desk.answer("point-1", APPROVE, by=ANN)).entry.by.name

    assert "ann" == go(story())


def test_row_87_who_started_the_run_may_not_approve_it_where_that_is_forbidden(made: Made) -> None:
    async def story() -> None:
        journal = made()
        await wait(journal, replace(POINT, barred=("ann",)))
        for reply in (APPROVE, ABORT):
            with pytest.raises(AnswerForbidden, match="not decided by who asked"):
                await Desk(journal).answer("point-1", reply, by=ANN)
        await Desk(journal).answer("point-1", APPROVE, by=BEN)

    go(story())


@pytest.mark.parametrize(
    "kind", [ActorKind.MODEL, ActorKind.TOOL, ActorKind.STRATEGY, ActorKind.PEER, ActorKind.DRIVER]
)
@pytest.mark.parametrize("opened", ALL, ids=lambda opened: opened.ask)
def test_row_62_models_tools_and_programs_answer_nothing(opened: ev.AskOpened, kind: ActorKind) -> None:
    replies = {"point-1": APPROVE, "approval-1": APPROVE, "edit-1": Reply(edited="x"), "words-1": Reply(words="x")}

    async def story() -> None:
        journal = MemoryJournal()
        await wait(journal, opened)
        with pytest.raises(AnswerForbidden, match="only a person"):
            await Desk(journal).answer(opened.ask, replies.get(opened.ask, Reply(number=1)), by=Actor(kind, "m"))

    go(story())


def test_the_person_at_this_machine_answers_unless_somebody_else_is_named() -> None:
    async def story() -> Actor:
        journal = MemoryJournal()
        await wait(journal, POINT)
        return (await Desk(journal).answer("point-1", APPROVE)).entry.by

    by = go(story())
    assert (this_person(), ActorKind.PERSON, True) == (by, by.kind, bool(by.name))


def test_the_name_of_the_person_is_not_what_a_variable_says(monkeypatch: pytest.MonkeyPatch) -> None:
    before = this_person()
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "the-approver")
    assert before == this_person()


# Several ----------------------------------------------------------------------------------------------------------

BOTH = replace(POINT, quorum=2)


def test_row_86_one_of_two_approvals_leaves_the_question_open_and_the_second_closes_it(made: Made) -> None:
    async def story() -> tuple[Accepted, Accepted, list[ev.AskClosed]]:
        journal = made()
        await wait(journal, BOTH)
        desk = Desk(journal)
        first = await desk.answer("point-1", Reply(option="approve", comment="fine"), by=ANN)
        assert "open" == (await row(journal)).status
        await take(journal)
        second = await desk.answer("point-1", Reply(option="approve", comment="ok"), by=BEN)
        await take(journal)
        return first, second, await closings(journal)

    first, second, closed = go(story())
    assert (("voted", 1, 2), ("closed", 2, 2)) == (
        (first.status, first.cast, first.needed),
        (second.status, second.cast, second.needed),
    )
    assert [("Approve", "ann: fine\nben: ok")] == [(one.choice, one.comment) for one in closed]


@pytest.mark.parametrize("reply", [REVISE, ABORT, Reply(option="edit", edited="# New")])
def test_row_86_one_rejection_closes_it(reply: Reply) -> None:
    async def story() -> list[str | None]:
        journal = MemoryJournal()
        await wait(journal, BOTH)
        desk = Desk(journal)
        await desk.answer("point-1", APPROVE, by=ANN)
        await desk.answer("point-1", reply, by=BEN)
        await take(journal)
        with pytest.raises(AskTaken):
            await desk.answer("point-1", APPROVE, by=CID)
        return [one.choice for one in await closings(journal)]

    assert ["approve"] != [str(one).lower() for one in go(story())]
    assert 1 == len(go(story()))


def test_one_person_is_one_vote(made: Made) -> None:
    async def story() -> tuple[str, int]:
        journal = made()
        await wait(journal, BOTH)
        desk = Desk(journal, ANN)
        await desk.answer("point-1", APPROVE)
        again = await desk.answer("point-1", APPROVE)
        with pytest.raises(AnswerRefused, match="ann has voted already"):
            await desk.answer("point-1", Reply(option="approve", comment="really"))
        await take(journal)
        return (await row(journal)).status, again.cast

    assert ("open", 1) == go(story())


def test_somebody_without_a_name_is_no_vote() -> None:
    async def story() -> None:
        journal = MemoryJournal()
        await wait(journal, BOTH)
        with pytest.raises(AnswerForbidden, match="by name"):
            await Desk(journal).answer("point-1", APPROVE, by=Actor(ActorKind.PERSON))

    go(story())


def test_votes_that_are_complete_are_counted_by_whoever_comes_next(made: Made) -> None:
    async def story() -> tuple[list[str | None], int]:
        journal = made()
        await wait(journal, BOTH)
        desk = Desk(journal)
        for by in (ANN, BEN):
            # The process of the last one dies between the vote and the answer.
            vote = ev.AskVoted(ask="point-1", choice="Approve", digest="d1")
            await journal.post("s1", vote, by, f"vote of {by.name}")
        counted = [*await desk.count_votes(), *await desk.count_votes()]
        await take(journal)
        return [one.choice for one in await closings(journal)], len(counted)

    assert (["Approve"], 1) == go(story())


def test_row_86_the_run_does_not_take_an_approval_that_lacks_a_vote() -> None:
    async def story() -> list[ev.AskClosed]:
        journal = MemoryJournal()
        await wait(journal, BOTH)
        closed = ev.AskClosed(ask="point-1", outcome=AskOutcome.ANSWERED, choice="Approve")
        await journal.post("s1", closed, ANN, "by another door")
        await take(journal)
        return await closings(journal)

    assert [] == go(story())


def test_votes_for_two_ways_on_are_no_agreement() -> None:
    two = replace(BOTH, options=("Ship", "Stage"), effects={"Ship": "approve", "Stage": "approve"})

    async def story() -> str:
        journal = MemoryJournal()
        await wait(journal, two)
        await Desk(journal).answer("point-1", Reply(option="ship"), by=ANN)
        return (await Desk(journal).answer("point-1", Reply(option="stage"), by=BEN)).status

    assert "voted" == go(story())


# Time -------------------------------------------------------------------------------------------------------------


def test_rows_73_and_76_what_is_overdue_is_timed_out_and_approves_nothing(made: Made) -> None:
    async def story() -> tuple[list[str], list[ev.AskClosed]]:
        journal = made()
        await wait(journal, *(replace(opened, deadline=later(60)) for opened in ALL))
        desk = Desk(journal)
        assert () == await desk.expire_due(later(59))
        expired = [one.ask for one in await desk.expire_due(later(60))]
        assert () == await desk.expire_due(later(61))
        await take(journal)
        return expired, await closings(journal)

    expired, closed = go(story())
    assert [opened.ask for opened in ALL] == expired
    assert {(AskOutcome.TIMED_OUT, False, None)} == {(one.outcome, one.is_allowed, one.choice) for one in closed}


def test_only_those_that_are_named_are_looked_at_where_somebody_knows_which_fall_due(made: Made) -> None:
    async def story() -> tuple[list[str], list[str]]:
        journal = made()
        await wait(journal, *(replace(opened, deadline=later(60), remind_at=later(30)) for opened in (POINT, CONFIRM)))
        desk = Desk(journal, ANN)
        reminded = [one.ask for one in await desk.remind_due(later(60), ["confirm-1"])]
        expired = [one.ask for one in await desk.expire_due(later(60), ["confirm-1"])]
        assert () == await desk.expire_due(later(60), ["confirm-1"])
        return reminded, expired

    assert (["confirm-1"], ["confirm-1"]) == go(story())


def test_row_75_what_has_no_deadline_or_outlives_it_waits_for_ever(made: Made) -> None:
    async def story() -> int:
        journal = made()
        await wait(journal, POINT, replace(WORDS, deadline=later(60), may_expire=False))
        assert () == await Desk(journal).expire_due(later(10**9))
        return len(await journal.asks())

    assert 2 == go(story())


def test_row_77_an_answer_in_the_instant_of_the_deadline_wins(made: Made) -> None:
    async def story() -> list[AskOutcome]:
        journal = made()
        await wait(journal, replace(POINT, deadline=later(60)))
        desk = Desk(journal, ANN)
        _, expired = await asyncio.gather(desk.answer("point-1", APPROVE), desk.expire_due(later(60)))
        assert () == expired
        await take(journal)
        return [one.outcome for one in await closings(journal)]

    assert [AskOutcome.ANSWERED] == go(story())


def test_row_74_a_deadline_that_passes_after_the_answer_changes_nothing(made: Made) -> None:
    async def story() -> list[AskOutcome]:
        journal = made()
        await wait(journal, replace(POINT, deadline=later(60)))
        desk = Desk(journal, ANN)
        await desk.answer("point-1", APPROVE)
        assert () == await desk.expire_due(later(61))
        await take(journal)
        assert () == await desk.expire_due(later(62))
        return [one.outcome for one in await closings(journal)]

    assert [AskOutcome.ANSWERED] == go(story())


def test_an_answer_after_the_deadline_has_closed_it_is_told_that_nobody_answered(made: Made) -> None:
    async def story() -> str:
        journal = made()
        await wait(journal, replace(POINT, deadline=later(60)))
        desk = Desk(journal, ANN)
        await desk.expire_due(later(60))
        with pytest.raises(AskTaken) as caught:
            await desk.answer("point-1", APPROVE)
        winner = caught.value.winner
        assert isinstance(winner.body, ev.AskClosed)
        return told(winner.body, winner.by)

    assert "nobody answered before the deadline" == go(story())


def test_somebody_is_reminded_once_when_it_is_due(made: Made) -> None:
    async def story() -> list[list[str]]:
        journal = made()
        await wait(journal, replace(POINT, remind_at=later(60)), WORDS)
        desk = Desk(journal)
        reminded = [[one.ask for one in await desk.remind_due(later(seconds))] for seconds in (59, 60, 61)]
        await take(journal)
        return [*reminded, [one.ask for one in await desk.remind_due(later(62))]]

    assert [[], ["point-1"], [], []] == go(story())


def test_a_reminder_the_run_itself_gave_is_not_given_again(made: Made) -> None:
    async def story() -> int:
        journal = made()
        await wait(journal, replace(POINT, remind_at=later(60)), ev.AskReminded("point-1"))  # type: ignore[arg-type]
        return len(await Desk(journal).remind_due(later(61)))

    assert 0 == go(story())


# Taking back, declining, answering together -----------------------------------------------------------------------


@pytest.mark.parametrize("opened", ALL, ids=lambda opened: opened.ask)
def test_rows_71_and_72_withdrawing_closes_one_question_with_its_reason_and_approves_nothing(
    opened: ev.AskOpened,
) -> None:
    async def story() -> tuple[list[ev.AskClosed], int]:
        journal = MemoryJournal()
        await wait(journal, *ALL)
        desk = Desk(journal, ANN)
        await desk.withdraw(opened.ask, "not needed")
        with pytest.raises(AskTaken):
            await desk.answer(opened.ask, Reply(number=1))
        await take(journal)
        return await closings(journal), len(await journal.asks())

    closed, left = go(story())
    assert ([(AskOutcome.WITHDRAWN, "not needed", False)], len(ALL) - 1) == (
        [(one.outcome, one.comment, one.is_allowed) for one in closed],
        left,
    )


@pytest.mark.parametrize("opened", [CONFIRM, WORDS, REVIEW, EDIT, APPROVAL], ids=lambda opened: opened.ask)
def test_a_question_may_be_declined_with_a_reason(opened: ev.AskOpened) -> None:
    async def story() -> list[ev.AskClosed]:
        journal = MemoryJournal()
        await wait(journal, opened)
        await Desk(journal, ANN).decline(opened.ask, "ask me tomorrow")
        await take(journal)
        return await closings(journal)

    (closed,) = go(story())
    assert (AskOutcome.DENIED, "ask me tomorrow", False) == (closed.outcome, closed.comment, closed.is_allowed)


def test_a_point_is_not_declined_for_it_has_options() -> None:
    async def story() -> None:
        journal = MemoryJournal()
        await wait(journal, POINT)
        with pytest.raises(AnswerRefused, match="not declined"):
            await Desk(journal, ANN).decline("point-1")

    go(story())


def test_row_79_identical_approvals_of_a_tree_of_runs_are_answered_at_once(made: Made) -> None:
    async def story() -> tuple[list[str], list[str]]:
        journal = made()
        twin = [replace(APPROVAL, ask=f"same-{number}", key=f"k{number}") for number in range(3)]
        other = replace(APPROVAL, ask="other", key="o", digest="a2")
        await wait(journal, twin[0], other, session="root")
        await wait(journal, twin[1], session="child", parent="root")
        await wait(journal, twin[2], session="stranger")
        accepted = await Desk(journal, ANN).answer("same-0", APPROVE, alike=True)
        return [one.ask for one in accepted.also], [one.ask for one in await journal.asks()]

    assert (["same-1"], ["other", "same-2"]) == go(story())


def test_a_point_has_nothing_alike() -> None:
    async def story() -> tuple[Accepted, ...]:
        journal = MemoryJournal()
        await wait(journal, POINT, replace(POINT, ask="point-2", key="other"))
        return (await Desk(journal, ANN).answer("point-1", APPROVE, alike=True)).also

    assert () == go(story())


def test_rows_15_and_137_questions_are_answered_in_any_order_each_by_its_id(made: Made) -> None:
    async def story() -> list[str]:
        journal = made()
        await wait(journal, POINT, CONFIRM, WORDS)
        desk = Desk(journal, ANN)
        await desk.answer("words-1", Reply(words="because"))
        await desk.answer("confirm-1", Reply(is_yes=False))
        await desk.answer("point-1", APPROVE)
        await take(journal)
        return [f"{one.ask} {one.choice or one.words}" for one in await closings(journal)]

    assert ["words-1 because", "confirm-1 No", "point-1 Approve"] == go(story())


def test_row_88_all_that_waits_is_gone_through_in_pages() -> None:
    async def story() -> int:
        journal = MemoryJournal()
        asks = [replace(WORDS, ask=f"w{number:04}", key=str(number), deadline=NOW) for number in range(250)]
        await wait(journal, *asks)
        return len(await Desk(journal).expire_due(NOW))

    assert 250 == go(story())


# Five ends, five wordings -----------------------------------------------------------------------------------------


def test_row_127_five_outcomes_have_five_wordings() -> None:
    lines = {told(ev.AskClosed(ask="a", outcome=outcome), ANN) for outcome in AskOutcome}
    assert 5 == len(lines)
    assert ["answered by ann: skipped"] == [line for line in lines if "answered by" in line]


def test_an_answer_is_told_with_what_was_said() -> None:
    closed = ev.AskClosed(ask="a", outcome=AskOutcome.ANSWERED, is_allowed=True, grant="run", comment="go")
    assert "answered by ann: allowed in this run (go)" == told(closed, ANN)
    edited = ev.AskClosed(ask="a", outcome=AskOutcome.ANSWERED, choice="Edit", before="x", after="y")
    assert "answered by somebody: 'Edit' with changes" == told(edited, Actor(ActorKind.PERSON))
    refused = ev.AskClosed(ask="a", outcome=AskOutcome.DENIED, comment="use a copy")
    assert "refused by ben (use a copy)" == told(refused, BEN)


# Whatever is sent -------------------------------------------------------------------------------------------------

said = (
    *(APPROVE, REVISE, ABORT, Reply(), Reply(words="Approve"), Reply(option="yes"), Reply(number=1), Reply(number=9)),
    *(Reply(edited="# New"), Reply(is_yes=True), Reply(option="approve", digest="old")),
)
people = (ANN, BEN, Actor(ActorKind.PERSON), Actor(ActorKind.MODEL, "m"))
acts = ("answer", "answer", "answer", "decline", "withdraw", "expire", "take", "count")
keys = (None, None, "k1", "k2")
doors = (0, 1)
moves = st.lists(st.tuples(*map(st.sampled_from, (acts, people, said, keys, doors))), max_size=14)


def _opened(quorum: int, is_approval: bool) -> ev.AskOpened:
    return APPROVAL if is_approval else replace(POINT, quorum=quorum, deadline=later(60))


@settings(max_examples=150)
@given(moves, st.sampled_from([1, 2]), st.booleans())
def test_whatever_is_sent_each_question_is_closed_once_by_the_winner_and_nothing_invalid_approves(
    sent: list[Any], quorum: int, is_approval: bool
) -> None:
    journal = MemoryJournal()
    asyncio.run(_play(_opened(quorum, is_approval), sent, (journal, journal)))


@settings(max_examples=30)
@given(moves, st.sampled_from([1, 2]), st.booleans())
def test_whatever_is_sent_through_two_doors_to_one_store_is_closed_once(
    sent: list[Any], quorum: int, is_approval: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        doors = (FileJournal(Path(folder)), FileJournal(Path(folder)))
        asyncio.run(_play(_opened(quorum, is_approval), sent, doors))


async def _play(
    opened: ev.AskOpened, sent: list[tuple[str, Actor, Reply, str | None, int]], doors: Sequence[JournalWithBoard]
) -> None:
    journal = doors[0]
    await wait(journal, opened)
    desks = [Desk(door) for door in doors]
    winners: set[int] = set()
    approvers: set[str | None] = set()
    for what, by, reply, key, door in sent:
        desk = desks[door]
        try:
            match what:
                case "answer":
                    accepted = await desk.answer(opened.ask, reply, by=by, key=key)
                    if accepted.status == "closed":
                        winners.add(accepted.entry.number)
                    if reply in (APPROVE, Reply(number=1), Reply(is_yes=True)):
                        approvers.add(by.name)
                case "decline":
                    winners.add((await desk.decline(opened.ask, by=by, key=key)).entry.number)
                case "withdraw":
                    winners.add((await desk.withdraw(opened.ask, "x", by=by, key=key)).entry.number)
                case "expire":
                    await desk.expire_due(later(60))
                case "count":
                    await desk.count_votes()
                case _:
                    await take(journal)
        except (AnswerRefused, AnswerForbidden, AskTaken):
            continue
    await take(journal)
    ends = await closings(journal)
    assert len(ends) <= 1
    assert len(winners) <= 1
    refused = [event.body.why for event in await journal.read("s1") if isinstance(event.body, ev.EntryRefused)]
    assert all("already" in why for why in refused)
    for end in ends:
        is_yes = end.is_allowed or opened.effects.get(end.choice or "") == "approve"
        assert not is_yes or len(approvers) >= opened.quorum
        assert not is_yes or end.outcome is AskOutcome.ANSWERED


_ANSWERING = """
import asyncio, sys
from pathlib import Path
from handrail import Actor, ActorKind
from handrail.journal.port import AskTaken
from handrail.runs.asks.replies import Reply
from handrail.runs.desk import Desk
from handrail.runs.journals.sqlite import SqliteJournal

place, name, option = sys.argv[1:]
journal = SqliteJournal(Path(place))
print("ready", flush=True)
sys.stdin.readline()
try:
    asyncio.run(Desk(journal, Actor(ActorKind.PERSON, name)).answer("point-1", Reply(option=option)))
except AskTaken as problem:
    print("lost to", problem.winner.by.name)
else:
    print("won")
journal.close()
"""


def test_row_27_of_two_processes_that_answer_at_once_one_wins_and_the_other_is_told_who(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "journal.sqlite")
    go(wait(journal, POINT))
    told = {"ann": "approve", "ben": "abort"}
    command = [sys.executable, "-c", _ANSWERING, str(tmp_path / "journal.sqlite")]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    running = {name: subprocess.Popen([*command, name, option], **pipes) for name, option in told.items()}
    for process in running.values():
        assert process.stdout is not None and "ready\n" == process.stdout.readline()
    for process in running.values():
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ended = {name: process.communicate(timeout=20)[0].strip() for name, process in running.items()}
    (winner,) = [name for name, line in ended.items() if line == "won"]
    (loser,) = set(told) - {winner}
    assert f"lost to {winner}" == ended[loser]
    go(take(journal))
    (closed,) = go(closings(journal))
    assert told[winner] == str(closed.choice).lower()
    journal.close()


def test_the_kinds_of_questions_are_all_covered_here() -> None:
    assert set(AskKind) - {AskKind.PAUSE} == {opened.kind for opened in ALL}
