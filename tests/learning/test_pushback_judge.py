"""A judge is asked about candidates only, sees nothing secret, and says one bit."""

from __future__ import annotations

import pytest

from handrail.learning.interventions import find_interventions
from handrail.learning.moment import Intervention
from handrail.learning.pushback_judge import Case, case_of, judged_by
from handrail.learning.pushback_turn import Turn
from handrail.transcripts.calls import parse_call
from tests.learning.build import agent, session, user

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4"


def talk(words: str, answer: str = "Sorry, my mistake.") -> tuple[Intervention, ...]:
    return find_interventions(session(user("go"), agent("Done."), user(words), agent(answer)), scorer=None)


def told(words: str, says: bool | None) -> tuple[Intervention, list[Case]]:
    """The moment of one follow-up, judged, and what the judge was shown."""
    shown: list[Case] = []

    def judge(case: Case) -> bool | None:
        shown.append(case)
        return says

    whole = session(user("go"), agent("Done."), user(words), agent("Sorry, my mistake."))
    (moment,) = find_interventions(whole, scorer=judged_by(judge))
    return moment, shown


@pytest.mark.parametrize("says", [True, False])
def test_a_judge_decides_about_a_candidate(says: bool) -> None:
    moment, shown = told("but the total is wrong", says)
    assert (moment.is_stepin, len(shown)) == (says, 1)
    assert moment.verdict is not None
    assert any("the judge calls it" in phrase for phrase in moment.verdict.reasons + moment.verdict.doubts)


def test_a_judge_is_not_asked_about_what_is_no_candidate() -> None:
    moment, shown = told("ok, commit and push", True)
    assert (moment.is_stepin, shown) == (False, [])


def test_without_an_answer_the_scorers_own_word_stands() -> None:
    unjudged = find_interventions(session(user("go"), agent("Done."), user("no, wrong"), agent("Sorry, my mistake.")))
    moment, shown = told("no, wrong", None)
    assert (moment.is_stepin, len(shown)) == (unjudged[0].is_stepin, 1)
    assert moment.verdict is not None
    assert moment.verdict.doubts[0] == "the judge gave no answer"


def test_what_a_judge_sees_is_redacted_and_cut_and_holds_no_arguments() -> None:
    call = parse_call("Bash", {"command": f"curl -H 'Authorization: Bearer {KEY}' x"})
    turn = Turn(
        f"no, use {KEY} and mail ada@example.org",
        previous=KEY,
        said="x" * 5000 + KEY,
        answer=KEY + "y" * 5000,
        calls=[call],
        next_calls=[call],
    )
    case = case_of(turn)
    assert KEY not in str(case)
    assert "ada@example.org" not in str(case)
    assert (case.tools_before, case.tools_after) == (("Bash",), ("Bash",))
    assert max(map(len, (case.said_before, case.answered))) <= 1501


def test_a_key_across_the_cut_leaves_no_half() -> None:
    case = case_of(Turn("a" * 1490 + " " + KEY))
    assert KEY[:8] not in case.turn
