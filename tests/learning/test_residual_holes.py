"""Holes of the design that this one follows, each closed: its own list, by number."""

from __future__ import annotations

import pytest

from handrail.learning.interventions import Trigger, find_interventions
from handrail.transcripts.model import Author, Compaction, RefusalKind, Text, Via
from tests.learning.build import agent, bash, noted, refused, result, session, typed, user


@pytest.mark.parametrize("author", [Author.HARNESS, Author.HOST, Author.PEER, Author.UNKNOWN])
def test_hole_1_nudges_and_peers_beside_results_are_no_steers(author: Author) -> None:
    nudge = Text("your turn was empty", author, via=Via.STEER)
    assert find_interventions(session(user("go"), agent(bash("c1")), user(result("c1"), nudge), agent("ok"))) == ()


@pytest.mark.parametrize("kind", [RefusalKind.WITHDRAWN, RefusalKind.EXPIRED])
def test_hole_2_a_dialog_that_went_away_is_nobodys_no(kind: RefusalKind) -> None:
    whole = session(user("go"), agent(bash("c1")), user(refused("c1", "the user declined", kind)), agent("ok"))
    assert find_interventions(whole) == ()


@pytest.mark.parametrize("words", ["/etc/hosts is the wrong file", "/etc/hosts", "/tmp, not here", "/tmp/"])
def test_hole_3_a_correction_that_begins_with_a_path_is_kept(words: str) -> None:
    whole = session(user("go"), agent(bash("c1")), user(result("c1"), typed(words)), agent("ok"))
    (moment,) = find_interventions(whole)
    assert moment.text == words


def test_hole_4_moments_before_a_compaction_are_found() -> None:
    whole = session(
        user("go"),
        agent(bash("c1")),
        user(refused("c1", "not there")),
        agent("ok"),
        user(Compaction("a summary")),
        agent("on I go"),
    )
    assert [moment.text for moment in find_interventions(whole)] == ["not there"]


def test_hole_5_later_moments_of_a_resumed_session_have_ids_of_their_own_and_old_ones_keep_theirs() -> None:
    messages = [user("go"), agent("x"), user("more"), agent("y")]
    before = find_interventions(session(*messages))
    after = find_interventions(session(*messages, user("and more"), agent("z")))
    assert [moment.id for moment in after[:1]] == [moment.id for moment in before]
    assert len({moment.id for moment in after}) == 2


def test_hole_6_refusals_without_words_have_no_canned_ones_and_stay_apart() -> None:
    whole = session(
        user("go"), agent(bash("c1")), user(refused("c1")), agent("hm", bash("c2")), user(refused("c2")), agent("ok")
    )
    moments = find_interventions(whole)
    assert [moment.words for moment in moments] == ["", ""]
    assert len({moment.id for moment in moments}) == 2


def test_blocks_are_judged_one_by_one_and_joined_with_a_gap_between_them() -> None:
    whole = session(user("go"), agent(bash("c1")), user(result("c1"), typed("use"), noted("hm"), typed("tabs")))
    (moment,) = find_interventions(whole)
    assert (moment.trigger, moment.text) == (Trigger.STEER, "use\n\ntabs")
