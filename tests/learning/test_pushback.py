"""The push-back scorer: what it must see, what must not fool it, and that it explains itself truly."""

from __future__ import annotations

from math import exp, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.learning.interventions import find_interventions
from handrail.learning.moment import Trigger
from handrail.learning.pushback import PushbackModel, shipped_model
from handrail.learning.pushback_cues import PHRASES, Cue, spoken_of
from handrail.learning.pushback_features import REASONS, SIGNS, features_of
from handrail.learning.pushback_replies import AFTER, BEFORE
from handrail.learning.pushback_turn import Turn
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import Raw
from tests.learning.build import agent, call, session, user

EDIT = parse_call("Edit", {"file_path": "/srv/app/cart.py", "old_string": "a", "new_string": "total_price"})
DONE = "Done. I changed the total in cart.py and all tests pass."


def likelihood(turn: Turn) -> float:
    value = shipped_model().judge(turn).likelihood
    assert value is not None
    return value


@pytest.mark.parametrize(
    "turn",
    [
        Turn("No, revert that. I wanted the old name.", said=DONE, calls=[EDIT]),
        Turn("it still crashes when I open the page", said=DONE, calls=[EDIT], answer="You're right, let me fix it."),
        Turn("but that's not what I asked for, the total should be rounded", said=DONE, calls=[EDIT]),
        Turn("don't mock the database, use the real one", said=DONE, calls=[EDIT]),
        Turn("$ make test\nerror: 2 tests failed\nexit status 2", said=DONE, calls=[EDIT], next_calls=[EDIT]),
        Turn("hmm, this isn't working, the cart shows nothing", said=DONE, calls=[EDIT], next_calls=[EDIT]),
    ],
)
def test_plain_push_back_is_a_step_in(turn: Turn) -> None:
    verdict = shipped_model().judge(turn)
    assert verdict.is_stepin
    assert verdict.reasons


@pytest.mark.parametrize(
    "turn",
    [
        Turn("yes", said="Shall I commit this?"),
        Turn("ok go on", said="The first part is done. Continue?"),
        Turn("thanks, looks great", said=DONE, calls=[EDIT]),
        Turn("B", said="Which option, A or B?"),
        Turn("now add a test for the parser", said=DONE, calls=[EDIT]),
        Turn("commit and push", said=DONE, calls=[EDIT]),
        Turn("no", said="Do you want me to add a changelog?"),
        Turn("what does this function do?", said=DONE, answer="Good question: it adds up the cart."),
        Turn("can you also write the docs?", said=DONE, calls=[EDIT]),
    ],
)
def test_going_on_is_not_even_a_candidate(turn: Turn) -> None:
    verdict = shipped_model().judge(turn)
    assert (verdict.is_stepin, verdict.is_candidate) == (False, False)


@pytest.mark.parametrize(
    ("plain", "telling"),
    [
        (Turn("no", said="Do you want tests too?"), Turn("no", said=DONE, calls=[EDIT])),
        (
            Turn("$ make\nerror: it broke", said="Please paste the output of make."),
            Turn("$ make\nerror: it broke", said=DONE, calls=[EDIT]),
        ),
        (
            Turn("why is it cached?", answer="Good question."),
            Turn("why is it cached?", answer="You're right, my mistake."),
        ),
        (Turn("is it rounded?", calls=[EDIT]), Turn("is it rounded?", calls=[EDIT], next_calls=[EDIT])),
        (Turn("and the total?", said=DONE), Turn("and the total?", said=DONE, is_stopped_next=True)),
    ],
    ids=["a no to a question", "output that was asked for", "a concession", "work done over", "stopped soon after"],
)
def test_context_tells_the_same_words_apart(plain: Turn, telling: Turn) -> None:
    assert likelihood(plain) < likelihood(telling)


def test_a_negative_word_alone_is_no_step_in() -> None:
    assert not shipped_model().judge(Turn("add a check that it is not empty", said=DONE)).is_stepin


@pytest.mark.parametrize(
    ("turn", "misread"),
    [
        (Turn("it passes, push if you haven't and update the title", said=DONE), "says_not_working"),
        (Turn("can't we see the files from the call?", said=DONE), "says_not_working"),
        (Turn("no, let's wait", said="Want me to set it now?", answer="Fair enough."), "agent_conceded"),
        (Turn("I'd prefer the list in the registry", said="Which way would you like it?"), "says_i_want"),
        (Turn("see whether it keeps growing", said=DONE, calls=[EDIT]), "fails_after_change"),
        (Turn("go on", said=DONE, answer="There's a new branch now."), "agent_revised"),
    ],
    ids=["a clause of its own", "a suggestion", "a no that was asked for", "a wish asked for", "no failure", "there's"],
)
def test_what_only_looks_like_a_sign_is_none(turn: Turn, misread: str) -> None:
    assert misread not in features_of(turn)


def test_talk_about_what_nobody_made_yet_is_told_from_talk_about_work() -> None:
    talk = Turn("but that only covers half of it", said="We could log it.", answer="Right.")
    assert "nothing_was_made" in features_of(talk)
    assert "nothing_was_made" not in features_of(talk._replace(calls=[EDIT]))
    assert "nothing_was_made" not in features_of(talk._replace(next_calls=[EDIT]))


@pytest.mark.parametrize("family", [cue for cue in (*PHRASES, *BEFORE, *AFTER) if cue.leads], ids=lambda cue: cue.name)
@given(data=st.data())
@settings(max_examples=40)
def test_no_phrase_is_missed_for_how_its_first_word_begins(family: Cue, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(family.pattern, alphabet="abcdefghijklmnoprstuvwxy '.,?-:\n"))
    assert (family in spoken_of([family], text)) == bool(family.pattern.search(text))


def test_taking_back_is_seen_through_any_harness_edit_tool() -> None:
    patch = Raw("apply_patch", {"input": "*** Begin Patch\n*** Update File: src/cart.py\n+x\n"})
    for change in (EDIT, patch):
        assert "undoes_change" in features_of(Turn("please remove the new column", calls=[change]))
        assert "agent_reworks" in features_of(Turn("x y z", calls=[change], next_calls=[change]))
    assert "undoes_change" not in features_of(Turn("please remove the new column"))


def test_every_weight_has_a_phrase_and_keeps_its_direction() -> None:
    for name, weight in shipped_model().weights.items():
        assert name in REASONS
        assert weight * SIGNS[name] >= 0


def test_a_step_in_needs_more_than_a_candidate() -> None:
    assert shipped_model().stepin > shipped_model().candidate


@pytest.mark.parametrize("words", ["no, wrong file", "now write the docs", "hmm why?"])
def test_the_likelihood_is_the_sum_that_the_model_says(words: str) -> None:
    model, turn = shipped_model(), Turn(words, said=DONE)
    odds = model.bias + sum(model.weights.get(name, 0) * value for name, value in features_of(turn).items())
    assert likelihood(turn) == round(1 / (1 + exp(-odds)), 3)


def test_reasons_are_the_weightiest_first_and_doubts_speak_against() -> None:
    model = PushbackModel(
        version=1,
        bias=0.0,
        weights={"says_but": 0.5, "opens_contrasting": 2.0, "ends_asking": -1.0, "is_short": -0.01},
        candidate=log(1),
        stepin=log(3),
    )
    verdict = model.judge(Turn("but why?"))
    assert verdict.reasons == (REASONS["opens_contrasting"], REASONS["says_but"])
    assert verdict.doubts == (REASONS["ends_asking"],)
    assert (verdict.is_candidate, verdict.is_stepin) == (True, True)


def test_followups_are_judged_by_the_shipped_scorer_unless_told_otherwise() -> None:
    whole = session(
        user("write the cart"),
        agent(DONE, call("Edit", "c1", file_path="cart.py", old_string="a", new_string="b")),
        user("No, revert that. I wanted the old name."),
        agent("Sorry, my mistake. Reverting."),
        user("thanks"),
        agent("Welcome."),
    )
    pushed, thanked = find_interventions(whole)
    assert (pushed.trigger, pushed.is_stepin, thanked.is_stepin) == (Trigger.FOLLOWUP, True, False)
    assert pushed.verdict is not None
    assert pushed.reasons == pushed.verdict.reasons
    assert [moment.is_stepin for moment in find_interventions(whole, scorer=None)] == [False, False]


def test_no_reason_holds_a_byte_of_the_session() -> None:
    turn = Turn("No, that's wrong: zebra-7", said=f"{DONE} zebra-8", answer="You're right, zebra-9", calls=[EDIT])
    verdict = shipped_model().judge(turn)
    assert set(verdict.reasons + verdict.doubts) <= set(REASONS.values())


@given(st.text(max_size=400), st.text(max_size=400), st.text(max_size=200))
def test_any_text_gets_a_verdict_between_never_and_surely(words: str, said: str, answer: str) -> None:
    verdict = shipped_model().judge(Turn(words, previous=said, said=said, answer=answer))
    assert verdict.likelihood is not None
    assert 0 <= verdict.likelihood <= 1
    assert set(features_of(Turn(words, said=said, answer=answer))) <= set(SIGNS)


@given(st.integers(1, 60))
def test_the_same_turn_gets_the_same_verdict_however_long_the_line_before_it(rounds: int) -> None:
    talk = [
        message for number in range(rounds) for message in (user(f"part {number}"), agent(f"Part {number} stands."))
    ]
    whole = session(*talk, user("but the last part is missing"), agent("Adding it."))
    last = find_interventions(whole)[-1]
    again = find_interventions(session(*talk[-4:], user("but the last part is missing"), agent("Adding it.")))[-1]
    if rounds > 2:
        assert last.verdict == again.verdict


@pytest.mark.parametrize(
    "piece", ["a.", "x=1 ", "=-", "a:1:", "what is ", "or ", "isn't ", "$ ", "\n", "error: x\n", '{"']
)
def test_a_turn_of_any_length_is_judged_by_a_bounded_part_of_it(piece: str) -> None:
    """A rule that ran over the whole of it again and again would not come back from the longer one."""
    short, long = piece * 10_000, piece * 200_000
    assert features_of(Turn(short, previous=short, said=short, answer=short)).keys() == (
        features_of(Turn(long, previous=long, said=long, answer=long)).keys()
    )
