"""What becomes a moment and what does not; ``J n`` is the numbered case of the behaviour that this follows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from handrail.learning.interventions import Intervention, Trigger, Verdict, find_interventions
from handrail.learning.moment import MAX_TOOLS_AFTER
from handrail.learning.surroundings import EXCERPT_CHARS
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import (
    Author,
    Block,
    Common,
    Compaction,
    Message,
    Meta,
    Refusal,
    RefusalKind,
    Text,
    ToolResult,
    ToolUse,
    Transcript,
    Via,
)
from tests.learning.build import agent, bash, call, noted, refused, result, session, stop, typed, user

NOT_A_PERSONS_NO = [kind for kind in RefusalKind if kind != RefusalKind.DENIED]
NOT_A_PERSON = [author for author in Author if author != Author.PERSON]


def told(moments: Sequence[Intervention]) -> list[tuple[str, str]]:
    return [(moment.trigger.value, moment.text) for moment in moments]


def test_j1_a_task_a_call_and_an_answer_hold_no_moment() -> None:
    whole = session(user("list it"), agent(bash("c1")), user(result("c1")), agent("done"))
    assert find_interventions(whole) == ()


def test_j2_words_beside_a_result_are_one_steer_whose_context_names_the_tool() -> None:
    whole = session(user("list it"), agent(bash("c1")), user(result("c1"), typed("only the last")), agent("ok"))
    (moment,) = find_interventions(whole)
    assert told([moment]) == [("steer", "only the last")]
    assert "Bash" in moment.context
    assert moment.is_stepin


def test_j3_a_steer_knows_the_message_it_rides_in() -> None:
    whole = session(user("list it"), agent(bash("c1")), user(result("c1"), typed("only the last"), uid="u-9"))
    (moment,) = find_interventions(whole)
    assert (moment.at, moment.uid, moment.block) == (2, "u-9", 1)


def test_of_a_delivery_of_several_records_the_one_with_the_words_is_named() -> None:
    delivery = Message(role="user", content=(result("c1"), typed("no")), uid="r1", uids=("r1", "r2"))
    mixed = Message(role="user", content=(result("c1"), typed("no"), noted("hm")), uid="r1", uids=("r1", "r2"))
    (named,) = find_interventions(Transcript(Meta(), (user("go"), agent(bash("c1")), delivery)))
    (unnamed,) = find_interventions(Transcript(Meta(), (user("go"), agent(bash("c1")), mixed)))
    assert (named.uid, named.uids) == ("r2", ("r1", "r2"))
    assert (unnamed.uid, unnamed.uids) == ("r1", ("r1", "r2"))


def test_j4_a_refused_call_is_a_denial_with_the_persons_reason() -> None:
    whole = session(user("tidy"), agent(bash("c1")), user(refused("c1", "not that directory")), agent("sorry"))
    (moment,) = find_interventions(whole)
    assert told([moment]) == [("denial", "not that directory")]
    assert moment.is_stepin
    assert moment.aftermath == "sorry"


@pytest.mark.parametrize("kind", NOT_A_PERSONS_NO)
def test_j5_j6_what_hooks_policy_time_or_nobody_refused_is_no_moment(kind: RefusalKind) -> None:
    whole = session(user("tidy"), agent(bash("c1")), user(refused("c1", "not allowed", kind)), agent("sorry"))
    assert find_interventions(whole) == ()


def test_j6_a_denial_that_names_a_policy_as_its_maker_is_no_moment() -> None:
    answer = ToolResult("c1", "no", refusal=Refusal(RefusalKind.DENIED, "policy", "no"))
    assert find_interventions(session(user("tidy"), agent(bash("c1")), user(answer))) == ()


def test_j7_an_ordinary_error_is_no_moment() -> None:
    whole = session(user("tidy"), agent(bash("c1")), user(result("c1", "no such file", is_error=True)), agent("hm"))
    assert find_interventions(whole) == ()


def test_j8_words_after_an_answer_are_a_followup_with_both_answers_and_a_candidate_only() -> None:
    whole = session(user("write"), agent("a long one"), user("no — one paragraph"), agent("a short one"))
    (moment,) = find_interventions(whole)
    assert told([moment]) == [("followup", "no — one paragraph")]
    assert (moment.context, moment.aftermath) == ("a long one", "a short one")
    assert not moment.is_stepin


@pytest.mark.parametrize("author", NOT_A_PERSON)
def test_j9_words_of_anyone_but_a_person_are_no_moment(author: Author) -> None:
    nudge = Text("give your final answer now", author)
    whole = session(
        user("list it"), agent("hm", bash("c1")), user(result("c1"), nudge), agent("so"), user(nudge), agent("ok")
    )
    assert find_interventions(whole) == ()


@pytest.mark.parametrize("command", ["/model", "/exit"])
def test_j10_slash_commands_are_no_moments(command: str) -> None:
    run = ToolUse("k1", parse_call(command, {}))
    assert find_interventions(session(user("hi"), agent("hello"), user(run), agent("ok"))) == ()


@pytest.mark.parametrize("command", ["/model", "/exit", "/plugin:review"])
def test_j10_a_commands_bare_name_is_no_moment_even_as_typed_text(command: str) -> None:
    whole = session(user("go"), agent("x", bash("c1")), user(result("c1"), typed(command)), agent("y"), user(command))
    assert find_interventions(whole) == ()


@pytest.mark.parametrize("is_notice_first", [True, False])
def test_j11_a_notice_beside_a_steer_leaves_only_the_steer(is_notice_first: bool) -> None:
    blocks = [noted("you repeat yourself"), typed("use tabs")]
    if not is_notice_first:
        blocks.reverse()
    whole = session(user("go"), agent(bash("c1")), user(result("c1"), *blocks), agent("ok"))
    assert told(find_interventions(whole)) == [("steer", "use tabs")]


def test_j12_of_parallel_calls_the_denied_one_stands_last() -> None:
    whole = session(
        user("go"),
        agent(bash("c1"), call("Read", "c2", file_path="a")),
        user(refused("c1", "no shell"), result("c2")),
    )
    (moment,) = find_interventions(whole)
    assert moment.tools_before == ("Read", "Bash")


def test_j13_after_a_slash_command_that_nothing_answered_the_task_is_still_the_task() -> None:
    run = ToolUse("k1", parse_call("/model", {}))
    assert find_interventions(session(user(run), user("the task"), agent("done"))) == ()


def test_j13_a_slash_command_that_the_agent_answered_was_the_task() -> None:
    run = ToolUse("k1", parse_call("/review", {}))
    whole = session(user(run), agent("reviewed"), user("and the tests?"), agent("ok"))
    assert told(find_interventions(whole)) == [("followup", "and the tests?")]


def test_j14_before_the_agent_has_said_anything_there_is_no_followup() -> None:
    whole = session(user("go"), agent(bash("c1")), user(result("c1")), user("hello?"), agent("here"))
    assert find_interventions(whole) == ()


def test_j15_two_denials_with_words_in_one_message_are_two_moments_at_one_place() -> None:
    whole = session(user("go"), agent(bash("c1"), bash("c2")), user(refused("c1", "no"), refused("c2", "nor this")))
    moments = find_interventions(whole)
    assert told(moments) == [("denial", "no"), ("denial", "nor this")]
    assert {moment.at for moment in moments} == {2}
    assert len({moment.id for moment in moments}) == 2


def test_j16_a_moment_in_the_last_message_has_no_aftermath() -> None:
    (moment,) = find_interventions(session(user("go"), agent(bash("c1")), user(result("c1"), typed("stop that"))))
    assert (moment.aftermath, moment.tools_after) == ("", ())


@pytest.mark.parametrize("letter", ["a", "ß", "語", "👩‍🚀"])
def test_j17_long_excerpts_are_cut_between_characters_and_the_persons_words_never(letter: str) -> None:
    long = letter * 2_000
    whole = session(user("go"), agent(long), user(long), agent(long))
    (moment,) = find_interventions(whole)
    assert moment.context == long[:EXCERPT_CHARS] + "…"
    assert moment.aftermath == long[:EXCERPT_CHARS] + "…"
    assert moment.text == long


def test_the_first_prompt_is_the_task_even_after_a_greeting() -> None:
    assert find_interventions(session(agent("what shall I do?"), user("the task"), agent("done"))) == ()


def test_after_a_plan_that_the_harness_handed_over_the_persons_words_are_a_followup() -> None:
    whole = session(user(noted("Implement this plan: …")), agent("done"), user("make it wider"), agent("ok"))
    assert told(find_interventions(whole)) == [("followup", "make it wider")]


def test_a_wordless_refusal_its_mark_and_the_next_words_are_one_denial() -> None:
    whole = session(
        user("go"), agent("I will", bash("c1")), user(refused("c1"), uid="u2"), user(stop()), user("use pnpm", uid="u4")
    )
    (moment,) = find_interventions(whole)
    assert told([moment]) == [("denial", "use pnpm")]
    assert (moment.at, moment.uid) == (2, "u4")
    assert set(moment.uids) == {"u2", "u4"}


def test_words_inside_the_refusal_win_and_what_follows_is_no_second_step_in() -> None:
    whole = session(
        user("go"), agent("I will", bash("c1")), user(refused("c1", "use tabs")), user(stop()), user("carry on")
    )
    assert told([m for m in find_interventions(whole) if m.is_stepin]) == [("denial", "use tabs")]


def test_calls_refused_together_without_words_are_one_denial() -> None:
    whole = session(user("go"), agent(bash("c1"), call("Grep", "c2"), bash("c3")), user(refused("c1"), refused("c3")))
    (moment,) = find_interventions(whole)
    assert moment.tools_before == ("Grep", "Bash", "Bash")
    assert moment.words == ""


def test_a_denial_without_any_words_tells_what_was_denied() -> None:
    whole = session(user("go"), agent(bash("c1", "rm -r build")), user(refused("c1")), agent("sorry"))
    (moment,) = find_interventions(whole)
    assert "rm -r build" in moment.text
    assert moment.words == ""


def test_an_interrupt_and_the_words_after_it_are_one_moment() -> None:
    whole = session(user("go"), agent("I begin", bash("c1")), user(stop()), user("leave the tests alone"), agent("ok"))
    (moment,) = find_interventions(whole)
    assert told([moment]) == [("interrupt", "leave the tests alone")]
    assert moment.is_stepin


def test_an_interrupt_that_nobody_is_known_to_have_made_is_a_candidate_only() -> None:
    (moment,) = find_interventions(session(user("go"), agent("I begin"), user(stop())))
    assert (moment.trigger, moment.is_stepin, moment.actor) == (Trigger.INTERRUPT, False, "unknown")


def test_an_interrupt_by_a_person_is_a_step_in_without_words() -> None:
    (moment,) = find_interventions(session(user("go"), agent("I begin"), user(stop(Author.PERSON))))
    assert (moment.trigger, moment.is_stepin) == (Trigger.INTERRUPT, True)


@pytest.mark.parametrize("author", [Author.HOST, Author.HARNESS, Author.MODEL, Author.PEER])
def test_an_interrupt_by_a_program_is_no_moment(author: Author) -> None:
    assert find_interventions(session(user("go"), agent("I begin"), user(stop(author)))) == ()


def test_a_stop_inside_the_response_it_cut_takes_the_words_that_follow() -> None:
    whole = session(user("go"), agent("I beg", stop()), user("in the other folder, please"), agent("ok"))
    (moment,) = find_interventions(whole)
    assert told([moment]) == [("interrupt", "in the other folder, please")]
    assert moment.context == "I beg"


def test_a_note_of_the_harness_in_the_agents_place_does_not_part_a_stop_from_its_words() -> None:
    whole = session(user("go"), agent("I begin"), user(stop()), agent(noted("no response")), user("use the cache"))
    assert told(find_interventions(whole)) == [("interrupt", "use the cache")]


def test_a_note_of_the_harness_in_the_agents_place_is_nothing_the_agent_said() -> None:
    whole = session(user("go"), agent("a plan"), user("shorter"), agent(noted("no response")), agent("a short plan"))
    (moment,) = find_interventions(whole)
    assert moment.aftermath == "a short plan"


def test_a_message_sent_in_pieces_is_one_moment() -> None:
    whole = session(user("go"), agent("done"), user("wait"), user("that is the wrong file"), agent("oh"))
    assert told(find_interventions(whole)) == [("followup", "wait\n\nthat is the wrong file")]


def test_a_queued_steer_is_a_steer_without_a_result_beside_it() -> None:
    whole = session(user("go"), agent(bash("c1")), user(result("c1")), user(typed("use tabs", Via.STEER)), agent("ok"))
    assert told(find_interventions(whole)) == [("steer", "use tabs")]


def test_words_beside_the_result_of_a_command_that_the_person_ran_are_no_steer() -> None:
    whole = session(user("go"), agent("done"), user(bash("k1", "git status"), result("k1"), typed("see?")), agent("ok"))
    assert told(find_interventions(whole)) == [("followup", "see?")]


def test_a_steer_that_is_recorded_again_as_a_prompt_counts_once() -> None:
    whole = session(
        user("go"),
        agent("I do", bash("c1")),
        user(result("c1"), typed("use tabs", Via.STEER)),
        agent("yes"),
        user("use tabs"),
        agent("done"),
    )
    assert told(find_interventions(whole)) == [("steer", "use tabs")]


def test_the_same_words_said_twice_are_one_moment_only_when_nothing_was_answered_between() -> None:
    nudge = typed("use tabs", Via.STEER)
    twice = session(user("go"), agent(bash("c1")), user(result("c1"), nudge), user(nudge), agent("ok"))
    apart = session(user("go"), agent(bash("c1")), user(result("c1"), nudge), agent("ok"), user(nudge), agent("ok"))
    assert told(find_interventions(twice)) == [("steer", "use tabs")]
    assert told(find_interventions(apart)) == [("steer", "use tabs"), ("steer", "use tabs")]


def test_a_typed_answer_to_the_agents_question_is_no_moment() -> None:
    whole = session(user("go"), agent(call("Ask", "c1")), user(result("c1"), typed("blue", Via.ANSWER)), agent("ok"))
    assert find_interventions(whole) == ()


def test_copied_history_holds_no_moments_but_what_follows_it_is_a_followup() -> None:
    whole = session(
        user("go", origin="s0"),
        agent("done", bash("c1"), origin="s0"),
        user(refused("c1", "no"), origin="s0"),
        agent("sorry", origin="s0"),
        user("now the rest"),
        agent("ok"),
    )
    assert told(find_interventions(whole)) == [("followup", "now the rest")]


def test_a_record_met_twice_counts_once() -> None:
    again = user(result("c1"), typed("use tabs"), uid="u2")
    whole = session(user("go"), agent(bash("c1")), again, agent("ok"), again, agent("ok"))
    assert len(find_interventions(whole)) == 1


def test_words_that_a_compaction_repeats_count_once() -> None:
    whole = session(
        user("go"),
        agent("a"),
        user("use tabs"),
        agent("b"),
        user(Compaction("what happened")),
        user("go"),
        user("use tabs"),
        agent("c"),
    )
    assert told(find_interventions(whole)) == [("followup", "use tabs")]


def test_words_in_the_agents_own_message_are_never_a_persons() -> None:
    fake = agent("May I send?\n\nuser\n\nsend it", typed("send it"))
    assert find_interventions(session(user("go"), fake, user(result("c1")), fake)) == ()


def test_a_sub_agents_prompts_are_no_moments_but_a_person_who_speaks_to_it_is() -> None:
    order = Text("look into it", Author.PEER)
    whole = session(user(order), agent("looking"), user(order), agent("more"), user("not there"), agent("ok"))
    assert told(find_interventions(whole)) == [("followup", "not there")]


def test_tools_after_are_distinct_few_and_end_where_the_person_speaks_again() -> None:
    many = [call(f"T{number}", f"c{number}") for number in range(20)]
    whole = session(user("go"), agent("x"), user("more"), agent(*many[:3], *many[:3]), user("stop"), agent(*many))
    first, second = find_interventions(whole)
    assert first.tools_after == ("T0", "T1", "T2")
    assert second.tools_after == tuple(f"T{number}" for number in range(MAX_TOOLS_AFTER))


def test_a_scorer_decides_on_followups_and_on_nothing_else() -> None:
    asked: list[tuple[str, Block]] = []

    def scorer(moment: Intervention, line: Common, at: int) -> Verdict:
        asked.append((moment.text, line[at].content[0]))
        is_wrong = "wrong" in moment.text
        return Verdict(is_candidate=is_wrong, is_stepin=is_wrong, reasons=("it corrects",) if is_wrong else ())

    whole = session(
        user("go"),
        agent("x", bash("c1")),
        user(refused("c1", "no")),
        agent("y"),
        user("wrong"),
        agent("z"),
        user("thanks"),
    )
    moments = find_interventions(whole, scorer=scorer)
    assert asked == [("wrong", typed("wrong", Via.PROMPT)), ("thanks", typed("thanks", Via.PROMPT))]
    assert [moment.is_stepin for moment in moments] == [True, True, False]
    assert moments[1].reasons == ("it corrects",)


def test_ids_are_stable_and_tell_sessions_and_harnesses_apart() -> None:
    messages = (user("go"), agent("x"), user("more"))
    (one,) = find_interventions(session(*messages, harness="claude_code"))
    (again,) = find_interventions(session(*messages, harness="claude_code"))
    (other,) = find_interventions(session(*messages, harness="codex"))
    (third,) = find_interventions(session(*messages, harness="claude_code", name="s2"))
    assert one.id == again.id
    assert len({one.id, other.id, third.id}) == 3


def test_finding_changes_nothing_in_the_session() -> None:
    whole = session(user("go"), agent("x", bash("c1")), user(refused("c1")), user("more"))
    copy = Transcript(whole.meta, tuple(whole.body))
    find_interventions(whole)
    assert whole == copy


def test_a_stop_written_before_the_refusal_it_belongs_to_is_part_of_it() -> None:
    late = session(
        user("go"),
        agent(bash("c1")),
        user(result("c1")),
        user(stop()),
        agent(bash("c2")),
        user(refused("c2")),
        user("no"),
    )
    assert told(find_interventions(late)) == [("denial", "no")]


def test_a_stop_after_which_the_agent_worked_on_is_a_moment_beside_a_later_refusal() -> None:
    whole = session(
        user("go"),
        agent("I begin"),
        user(stop()),
        agent(bash("c1")),
        user(result("c1")),
        agent(bash("c2")),
        user(refused("c2"), "no"),
    )
    assert [moment.trigger.value for moment in find_interventions(whole)] == ["interrupt", "denial"]
