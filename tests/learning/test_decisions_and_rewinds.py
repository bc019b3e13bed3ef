"""Edits, revisions and going back: moments that a decision or another line shows."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from handrail.learning.interventions import Trigger, find_interventions
from handrail.transcripts.codec import Branch
from handrail.transcripts.model import Author, Decision
from tests.learning.build import agent, bash, branch, call, chose, refused, result, session, stop, typed, user


def test_an_edit_shows_the_lines_that_differ() -> None:
    edit = chose("c1", "edit", before="rm -r build\nmake", after="rm -r out\nmake")
    whole = session(user("go"), agent(bash("c1")), user(edit, result("c1")), agent("ok"))
    (moment,) = find_interventions(whole)
    assert (moment.trigger, moment.text) == (Trigger.EDIT, "- rm -r build\n+ rm -r out")
    assert moment.words == ""
    assert moment.is_stepin


def test_an_edit_of_a_call_that_kept_no_texts_shows_the_call() -> None:
    whole = session(
        user("go"), agent(bash("c1", "make all"), call("Grep", "c2")), user(chose("c1", "edit"), result("c1"))
    )
    (moment,) = find_interventions(whole)
    assert (moment.trigger, moment.tools_before) == (Trigger.EDIT, ("Grep", "Bash"))
    assert "make all" in moment.text


def test_an_edit_that_kept_the_new_text_only_shows_it() -> None:
    plan = call("ExitPlanMode", "c1", plan="old")
    (moment,) = find_interventions(
        session(user("go"), agent(plan), user(result("c1"), chose("c1", "edit", after="new")))
    )
    assert (moment.trigger, moment.text) == (Trigger.EDIT, "+ new")


def test_an_approval_that_changed_nothing_is_no_moment() -> None:
    same = chose("c1", "approve", before="make", after="make")
    assert find_interventions(session(user("go"), agent(bash("c1")), user(same, result("c1")))) == ()


@pytest.mark.parametrize("author", [author for author in Author if author != Author.PERSON])
def test_a_decision_that_no_person_is_known_to_have_made_is_no_moment(author: Author) -> None:
    decision = Decision("plan", author, "Revise", comment="use tabs", before="a", after="b")
    assert find_interventions(session(user("go"), agent("plan"), user(decision))) == ()


@pytest.mark.parametrize("label", ["Revise - I'll describe changes", "Abort", "abort—now", "No", "Reject the plan"])
def test_an_option_that_is_no_yes_is_a_revision(label: str) -> None:
    (moment,) = find_interventions(session(user("go"), agent("plan"), user(chose("plan", label))))
    assert (moment.trigger, moment.text, moment.words) == (Trigger.REVISION, label, "")


@pytest.mark.parametrize("label", ["Approve", "Yes, go on", "Staging", "Notify me", None])
def test_an_option_that_sends_nothing_back_is_no_moment(label: str | None) -> None:
    assert find_interventions(session(user("go"), agent("plan"), user(chose("plan", label)))) == ()


@pytest.mark.parametrize(
    ("choice", "effect", "text"),
    [("Noch einmal", "revise", "Noch einmal"), ("Weg damit", "abort", "Weg damit"), ("Ändern", "edit", "- old\n+ new")],
)
def test_at_a_point_a_revise_an_edit_and_an_abort_are_revisions_whatever_their_labels_say(
    choice: str, effect: str, text: str
) -> None:
    texts = ("old", "new") if effect == "edit" else (None, None)
    decision = Decision("Approve?", Author.PERSON, choice, before=texts[0], after=texts[1], effect=effect)
    (moment,) = find_interventions(session(user("go"), agent("plan"), user(decision), agent("ok")))
    assert (moment.trigger, moment.text, moment.words) == (Trigger.REVISION, text, "")
    assert "new" not in moment.user_evidence_only().text


@pytest.mark.parametrize("effect", ["approve", "skip"])
def test_at_a_point_what_approves_is_no_moment_whatever_its_label_says(effect: str) -> None:
    decision = Decision("Approve?", Author.PERSON, "Stop reviewing and go", effect=effect)
    assert find_interventions(session(user("go"), agent("plan"), user(decision))) == ()


def test_a_comment_makes_even_an_approval_a_revision() -> None:
    (moment,) = find_interventions(
        session(user("go"), agent("plan"), user(chose("plan", "Approve", comment="but fast")))
    )
    assert (moment.trigger, moment.text, moment.words) == (Trigger.REVISION, "but fast", "but fast")


def test_a_revision_and_the_words_that_follow_are_one_moment() -> None:
    whole = session(user("go"), agent("plan"), user(chose("plan", "Revise")), user("drop step two"), agent("ok"))
    (moment,) = find_interventions(whole)
    assert (moment.trigger, moment.text) == (Trigger.REVISION, "drop step two")


def test_a_refusal_and_the_decision_behind_it_are_one_denial_with_its_comment() -> None:
    whole = session(user("go"), agent(bash("c1")), user(chose("c1", "Deny", comment="use make"), refused("c1")))
    (moment,) = find_interventions(whole)
    assert (moment.trigger, moment.text) == (Trigger.DENIAL, "use make")


def test_no_as_the_answer_to_the_agents_own_question_is_no_moment() -> None:
    asked = call("AskUserQuestion", "c1", questions=[{"question": "Commit?", "options": [{"label": "No"}]}])
    by_text = session(user("go"), agent(asked), user(result("c1"), chose("Commit?", "No")))
    by_call = session(user("go"), agent(asked), user(result("c1"), chose("c1", "No")))
    assert find_interventions(by_text) == find_interventions(by_call) == ()


def test_an_interrupted_prompt_said_again_in_similar_words_is_a_rewind_on_the_same_line() -> None:
    whole = session(
        user("rename the parser to reader everywhere"),
        agent("I begin"),
        user(stop()),
        user("rename the parser to reader everywhere but in the docs"),
        agent("ok"),
    )
    (moment,) = find_interventions(whole)
    assert moment.trigger == Trigger.REWIND
    assert moment.left is None


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("rename the parser to reader", "rename the writer, it is in the other folder"),
        ("add a test for the parser", "do we even need to commit this?"),
        ("go", "continue"),
        ("在这里加一个测试", "先别提交"),
    ],
)
def test_other_words_after_a_stop_are_no_rewind(first: str, then: str) -> None:
    (moment,) = find_interventions(session(user(first), agent("I begin"), user(stop()), user(then), agent("ok")))
    assert moment.trigger == Trigger.INTERRUPT


def test_a_prompt_said_again_with_much_more_after_it_is_a_rewind() -> None:
    prompt = "print something better than that warning"
    more = f"{prompt}, for example this: " + "you are in another session now, leave it first. " * 5
    (moment,) = find_interventions(session(user(prompt), agent("I begin"), user(stop()), user(more), agent("ok")))
    assert moment.trigger == Trigger.REWIND


def test_a_prompt_interrupted_before_any_response_and_said_again_is_a_rewind() -> None:
    whole = session(user("把解析器改名为读取器"), user(stop()), user("把解析器改名为阅读器"), agent("好"))
    (moment,) = find_interventions(whole)
    assert (moment.trigger, moment.text) == (Trigger.REWIND, "把解析器改名为阅读器")


def test_a_line_left_for_another_way_is_one_rewind_with_the_new_words() -> None:
    whole = session(user("go"), agent("done"), user("now in red", uid="u2"), agent("red"))
    left = branch(2, user("now in blue"), agent("painting", bash("c1")), user(result("c1")), agent("blue"))
    (followup, rewind) = find_interventions(whole, [left])
    assert (rewind.trigger, rewind.text, rewind.at, rewind.branch) == (Trigger.REWIND, "now in red", 2, None)
    assert (rewind.uid, rewind.left) == ("u2", "b1")
    assert (rewind.context, rewind.aftermath, rewind.tools_before) == ("blue", "red", ("Bash",))
    assert (followup.trigger, followup.text, followup.at, followup.branch) == (Trigger.FOLLOWUP, "now in blue", 0, "b1")


def test_the_task_said_anew_from_the_start_is_a_rewind() -> None:
    whole = session(user("paint it red"), agent("red"))
    (moment,) = find_interventions(whole, [branch(0, user("paint it blue"), agent("blue"))])
    assert (moment.trigger, moment.text, moment.at) == (Trigger.REWIND, "paint it red", 0)


def test_the_stop_that_ended_a_left_line_is_part_of_the_rewind() -> None:
    whole = session(user("go"), agent("done"), user("now in red"), agent("red"))
    left = branch(2, user("now in blue"), agent("painting"), user(stop()))
    assert [moment.trigger for moment in find_interventions(whole, [left])] == [Trigger.FOLLOWUP, Trigger.REWIND]


def test_a_stop_before_the_fork_is_part_of_the_rewind() -> None:
    whole = session(user("go"), agent("painting"), user(stop()), user("in red"), agent("red"))
    moments = find_interventions(whole, [branch(3, user("quite another colour"), agent("blue"))])
    assert [moment.trigger for moment in moments] == [Trigger.REWIND]


def test_a_line_without_a_persons_words_is_left_silently() -> None:
    whole = session(user("go"), agent("done"), user("now in red"), agent("red"))
    moments = find_interventions(whole, [branch(1, agent("nearly done"))])
    assert [moment.trigger for moment in moments] == [Trigger.FOLLOWUP]


def test_where_the_line_taken_begins_without_words_nobody_is_said_to_have_gone_back() -> None:
    whole = session(user("go"), agent("done"), agent("more"))
    (moment,) = find_interventions(whole, [branch(2, user("now in blue"), agent("blue"))])
    assert (moment.trigger, moment.branch, moment.at, moment.is_stepin) == (Trigger.FOLLOWUP, "b1", 0, False)


def test_moments_of_a_branch_count_from_its_own_first_message() -> None:
    whole = session(user("go"), agent("done"), user("now in red"), agent("red"))
    left = branch(2, user("now in blue"), agent("x", bash("c1")), user(refused("c1", "no shell")), agent("ok"))
    denial = next(moment for moment in find_interventions(whole, [left]) if moment.trigger == Trigger.DENIAL)
    assert (denial.branch, denial.at, denial.uid) == ("b1", 2, "b1-2")
    assert denial.context.startswith("x\nBash")


def test_tries_from_one_place_were_each_left_for_the_next() -> None:
    whole = session(user("go"), agent("done"), user("third"), agent("3"))
    second = dated(branch(2, user("second"), agent("2"), name="b2"), 2)
    first = dated(branch(2, user("first"), agent("1"), name="b1"), 1)
    rewinds = [m for m in find_interventions(whole, [second, first]) if m.trigger == Trigger.REWIND]
    assert [(m.left, m.text, m.branch) for m in rewinds] == [("b1", "second", "b2"), ("b2", "third", None)]


def test_a_steer_beside_the_fork_stays_a_steer() -> None:
    whole = session(user("go"), agent(bash("c1")), user(result("c1"), typed("use tabs")), agent("ok"), user("on"))
    moments = find_interventions(whole, [branch(4, user("off"), agent("hm"))])
    assert [m.trigger for m in moments] == [Trigger.STEER, Trigger.FOLLOWUP, Trigger.REWIND]


def dated(line: Branch, day: int) -> Branch:
    at = datetime(2025, 1, day, tzinfo=UTC)
    return Branch(
        id=line.id, at=line.at, body=tuple(msgspec.structs.replace(message, timestamp=at) for message in line.body)
    )


def test_far_down_a_long_session_a_branch_still_knows_what_came_before() -> None:
    talk = [message for _ in range(300) for message in (user("go"), agent("hm", bash("c1")), user(result("c1")))]
    whole = session(*talk, agent("done"), user("in red"), agent("red"))
    tries = [branch(901, user("in blue"), agent("blue"), name="b1"), branch(901, user("in green"), name="b2")]
    one, two, last = find_interventions(whole, [dated(line, day) for day, line in enumerate(tries, 1)])[-3:]
    assert (one.trigger, one.at, one.context) == (Trigger.FOLLOWUP, 0, "done")
    assert (two.trigger, two.at, two.branch, two.context) == (Trigger.REWIND, 0, "b2", "blue")
    assert (last.trigger, last.at, last.left) == (Trigger.REWIND, 901, "b2")


def test_words_on_a_branch_after_long_silent_work_are_a_followup() -> None:
    work = [message for _ in range(300) for message in (agent(bash("c1")), user(result("c1")))]
    whole = session(user("go"), agent("I begin"), user("on"), *work, agent("done"))
    moments = find_interventions(whole, [branch(601, user("faster"), agent("yes"))])
    assert [(moment.branch, moment.text) for moment in moments] == [(None, "on"), ("b1", "faster")]
