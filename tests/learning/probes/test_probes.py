"""Going through a moment again: where it branches, what answers tools, how arms are told, and what differs in them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from handrail.learning.interventions import Intervention, find_interventions
from handrail.learning.probes.arms import NEUTRAL, Setting, gone_through, judged_by, tools_of
from handrail.learning.probes.branching import (
    Branch,
    Grading,
    NoBranch,
    RecordedCall,
    branch_at,
    is_sendable,
    unanswered,
    with_results,
)
from handrail.learning.probes.ledger import Arm, standings
from handrail.learning.probes.pairing import Probe, conviction, probed, words_digest
from handrail.learning.probes.verdicts import Performed, answered_from, told
from handrail.learning.rules.model import Life, Rule
from handrail.learning.statistics import Tally
from handrail.models.errors import ModelError
from handrail.models.port import ModelRequest
from handrail.models.scripted import ScriptedModel, call
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import (
    Author,
    Block,
    Json,
    Message,
    Meta,
    Refusal,
    RefusalKind,
    Text,
    ToolResult,
    ToolUse,
    Transcript,
)

AT = datetime(2026, 3, 1, tzinfo=UTC)
Body = tuple[Message, ...]


def _person(*blocks: Block | str) -> Message:
    content = tuple(Text(one, Author.PERSON) if isinstance(one, str) else one for one in blocks)
    return Message(role="user", content=content)


def _agent(*blocks: Block | str) -> Message:
    return Message(role="assistant", content=tuple(Text(one) if isinstance(one, str) else one for one in blocks))


def _use(id: str, name: str, **input: Json) -> ToolUse:
    return ToolUse(id, parse_call(name, input))


STEERED: Body = (
    _person("summarise the notes"),
    _agent(_use("a", "Read", file_path="a.md")),
    _person(ToolResult("a", "AAA"), "only b.md, please"),
    _agent(_use("b", "Read", file_path="b.md")),
    _person(ToolResult("b", "BBB")),
    _agent("B in short."),
)
DENIED: Body = (
    _person("clean up"),
    _agent(_use("a", "Bash", command="ls")),
    _person(ToolResult("a", "x build")),
    _agent(_use("b", "Bash", command="ls"), _use("c", "Bash", command="rm -rf build")),
    _person(ToolResult("b", "x"), ToolResult("c", "no", True, Refusal(RefusalKind.DENIED, "person", "ask me first"))),
    _agent("May I delete build?"),
)
ANSWERED: Body = (_person("tell me"), _agent("A long tale."), _person("shorter!"), _agent("Tale."))


def _moment(body: Body) -> Intervention:
    (moment,) = find_interventions(Transcript(Meta(id="s", harness="handrail"), body))
    return moment


def _branch(body: Body) -> Branch:
    branch = branch_at(body, _moment(body))
    assert isinstance(branch, Branch)
    return branch


def _setting(branch: Branch) -> Setting:
    return Setting(instructions=NEUTRAL, tools=tools_of(branch.tail, {}), approximate=True)


# Where a moment branches


def test_a_steer_keeps_the_results_and_loses_the_words() -> None:  # J 61
    branch = _branch(STEERED)

    assert branch.grading is Grading.STEER
    assert branch.prefix == (*STEERED[:2], _person(ToolResult("a", "AAA")))
    assert [one.input for one in branch.wanted] == [{"file_path": "b.md"}]
    assert [one.input for one in branch.unwanted] == [{"file_path": "a.md"}]


def test_a_denial_cuts_before_the_turn_that_proposed_the_call() -> None:  # J 57, 61
    branch = _branch(DENIED)

    assert branch.prefix == DENIED[:3]
    assert [one.input for one in branch.unwanted] == [{"command": "rm -rf build"}]


def test_an_answer_is_made_anew_and_only_a_judge_can_tell() -> None:
    branch = _branch(ANSWERED)

    assert (branch.grading, branch.prefix, branch.words) == (Grading.JUDGED, ANSWERED[:1], "shorter!")


def test_what_the_person_said_is_in_no_prefix() -> None:
    for body in (STEERED, DENIED, ANSWERED):
        assert _moment(body).words not in str(_branch(body).prefix)


def test_what_was_recorded_after_the_persons_next_turn_answers_nothing() -> None:  # J 58
    later = (
        _agent("B in short."),
        _person("now the letters"),
        _agent(_use("d", "Read", file_path="letters.md")),
        _person(ToolResult("d", "LLL")),
        _agent("Done."),
    )
    for body in (STEERED, DENIED, ANSWERED):
        moment = _moment(body)
        branch = branch_at((*body[:-1], *later), moment)
        last = branch_at(body, moment)

        assert isinstance(branch, Branch) and isinstance(last, Branch)
        assert branch.tail == last.tail
        assert answered_from(branch.tail, set(), "Read", {"file_path": "letters.md"}) is None


def test_a_moment_that_is_not_there_says_so() -> None:
    assert isinstance(branch_at(STEERED[:1], _moment(STEERED)), NoBranch)  # J 61


# How arms are told


def _steer_arm(*calls: RecordedCall, cut_short: str | None = None) -> Arm:
    verdict = told(_branch(STEERED), Performed(calls=calls, answer="x", cut_short=cut_short))
    assert verdict is not None
    return verdict[0]


@pytest.mark.parametrize(("file", "arm"), [("b.md", Arm.PASSED), ("a.md", Arm.FAILED), ("c.md", Arm.FAILED)])
def test_the_right_tool_on_the_wrong_file_is_no_pass(file: str, arm: Arm) -> None:  # J 59, mended
    assert _steer_arm(RecordedCall("Read", {"file_path": file})) is arm


def test_other_arguments_than_the_file_do_not_matter() -> None:
    assert _steer_arm(RecordedCall("Read", {"file_path": "b.md", "limit": 5})) is Arm.PASSED


def test_another_way_to_the_right_file_passes() -> None:
    calls = (RecordedCall("Bash", {"command": "ls"}), RecordedCall("Read", {"file_path": "b.md"}))

    assert _steer_arm(*calls) is Arm.PASSED


def test_an_arm_that_was_cut_short_before_it_showed_anything_cannot_be_told() -> None:
    assert _steer_arm(cut_short="the record ended") is Arm.INCONCLUSIVE


@pytest.mark.parametrize(
    ("command", "arm"),
    [("rm -rf build", Arm.FAILED), ("rm -rf ./build", Arm.PASSED), ("ls", Arm.PASSED)],
)
def test_a_refusal_looks_at_the_exact_call_from_the_decision_on(command: str, arm: Arm) -> None:  # J 60
    verdict = told(_branch(DENIED), Performed(calls=(RecordedCall("Bash", {"command": command}),)))

    assert verdict is not None and verdict[0] is arm


def test_doing_nothing_at_all_is_no_pass() -> None:
    verdict = told(_branch(DENIED), Performed())

    assert verdict is not None and verdict[0] is Arm.INCONCLUSIVE


# What answers tools


def test_tools_answer_from_the_record_once_each() -> None:
    tail = _branch(STEERED).tail
    used: set[int] = set()

    first = answered_from(tail, used, "Read", {"file_path": "b.md"})

    assert first is not None and first.content == "BBB"
    assert answered_from(tail, used, "Read", {"file_path": "b.md"}) is None
    assert answered_from(tail, set(), "Read", {"file_path": "z.md"}) is None


def test_a_refused_call_answers_nothing() -> None:
    assert answered_from(_branch(DENIED).tail, set(), "Bash", {"command": "rm -rf build"}) is None


# Arms


def _obedient(sentence: str, good: Callable[[], object], bad: Callable[[], object]) -> ScriptedModel:
    """A model that does right where the instructions hold ``sentence``."""

    def answer(request: ModelRequest) -> object:
        if request.replies:
            return "Done."
        return good() if sentence in request.instructions else bad()

    return ScriptedModel([answer, answer], repeats=True)  # type: ignore[list-item]


def _reads(file: str) -> Callable[[], object]:
    return lambda: call("Read", file_path=file)


RULE = Rule(id="r1", text="Read b.md only.", life=Life.TRIAL)
OTHER = Rule(id="r2", text="Be brief.", life=Life.ACTIVE)


def _probe(**more: object) -> Probe:
    branch = _branch(STEERED)
    given: dict[str, object] = {"candidate": RULE, "others": (OTHER,), "own": ("Mine.",), **more}
    return Probe(moment="m1", trigger="steer", branch=branch, setting=_setting(branch), **given)  # type: ignore[arg-type]


def test_the_arms_differ_in_the_candidate_and_in_nothing_else() -> None:
    model = _obedient("nothing", _reads("b.md"), _reads("b.md"))

    asyncio.run(probed(model, _probe(), None, repeats=1, at=AT))

    first = [request for request in model.requests if not request.replies]
    control, treatment = first
    assert treatment.instructions.replace(f"\n- {RULE.text}", "") == control.instructions
    assert (control.messages, control.tools) == (treatment.messages, treatment.tools)
    assert "Mine." in control.instructions and "Be brief." in control.instructions


def test_a_rule_that_helps_is_seen_to_help_and_one_that_does_not_is_not() -> None:
    model = _obedient("Read b.md only.", _reads("b.md"), _reads("a.md"))

    rows = asyncio.run(probed(model, _probe(), None, repeats=3, at=AT))

    assert {(row.control, row.treatment) for row in rows} == {(Arm.FAILED, Arm.PASSED)}
    assert standings(rows, {"r1": words_digest(RULE)})["r1"].tally == Tally(1, 0, 0)
    assert all(row.approximate and not row.judged for row in rows)


def test_a_row_tells_what_each_arm_did_and_not_at_any_length() -> None:
    long = _reads("z" * 5_000)
    rows = asyncio.run(probed(_obedient("Read b.md only.", _reads("b.md"), long), _probe(), None, repeats=1, at=AT))

    without, with_rule = rows[0].traces
    assert with_rule.startswith('Read {"file_path":"b.md"}')
    assert without.startswith('Read {"file_path":"zzz')
    assert len(without) < 1_001


def test_a_repeat_goes_on_where_the_last_night_stopped() -> None:
    model = _obedient("x", _reads("b.md"), _reads("b.md"))
    tonight = asyncio.run(probed(model, _probe(), None, repeats=2, at=AT))
    tomorrow = asyncio.run(probed(model, _probe(), None, repeats=2, at=AT, first=2))

    assert len({row.id for row in (*tonight, *tomorrow)}) == 4


def test_a_dead_model_raises_and_gives_no_row() -> None:
    with pytest.raises(ModelError):
        asyncio.run(probed(ScriptedModel([]), _probe(), None, repeats=1, at=AT))


def test_an_arm_that_calls_what_was_never_recorded_stops_there() -> None:
    branch = _branch(STEERED)
    model = ScriptedModel([call("Read", file_path="z.md")])

    ended = asyncio.run(gone_through(model, branch, _setting(branch), "", None, run="x"))

    assert ended.performed.cut_short is not None
    assert len(model.requests) == 1


def test_harm_is_charged_to_the_rule_that_does_it_with_the_owners_in_every_arm() -> None:
    model = _obedient("Read b.md only.", _reads("a.md"), _reads("b.md"))

    assert asyncio.run(conviction(model, _probe(), None)) == RULE
    assert all("Mine." in request.instructions for request in model.requests)


def test_what_the_owner_wrote_is_no_suspect_where_another_rule_is_probed() -> None:
    owners = Rule(id="r0", text="Be brief.", by="owner", life=Life.ACTIVE)
    model = _obedient("Read b.md only.", _reads("a.md"), _reads("b.md"))

    assert asyncio.run(conviction(model, _probe(others=(owners,)), None)) == RULE
    assert all("Be brief." in request.instructions for request in model.requests)

    harmful = Rule(id="r0", text="Read b.md only.", by="owner", life=Life.ACTIVE)
    model = _obedient("Read b.md only.", _reads("a.md"), _reads("b.md"))
    assert asyncio.run(conviction(model, _probe(candidate=OTHER, others=(harmful,)), None)) is None


def test_a_judge_reads_what_was_done_and_not_which_rule_is_probed() -> None:
    judge = ScriptedModel([call("rule", would_say_it_again=False, why="it is short")], repeats=True)
    branch = _branch(ANSWERED)

    ended = asyncio.run(
        gone_through(
            ScriptedModel(["Short."]), branch, _setting(branch), "- SECRET RULE", judged_by(judge, "j"), run="x"
        )
    )

    assert (ended.arm, ended.judged) == (Arm.PASSED, True)
    assert "SECRET RULE" not in str(judge.requests)


@pytest.mark.parametrize("answer", ["perhaps", "{}", ""])
def test_a_judge_that_cannot_be_read_tells_nothing(answer: str) -> None:
    branch = _branch(ANSWERED)
    judge = judged_by(ScriptedModel([answer]), "j")

    ended = asyncio.run(gone_through(ScriptedModel(["x"]), branch, _setting(branch), "", judge, run="x"))

    assert ended.arm is Arm.INCONCLUSIVE


def test_without_a_judge_what_only_one_could_tell_is_not_told() -> None:
    branch = _branch(ANSWERED)

    ended = asyncio.run(gone_through(ScriptedModel(["x"]), branch, _setting(branch), "", None, run="x"))

    assert (ended.arm, ended.reason) == (Arm.INCONCLUSIVE, "only a judge could tell")


def test_tools_that_were_not_recorded_are_stood_in_for_by_what_was_seen() -> None:
    tools = tools_of(_branch(STEERED).tail, {"Grep": None})

    assert [(tool.name, sorted(tool.input_schema["properties"])) for tool in tools] == [
        ("Grep", []),
        ("Read", ["file_path"]),
    ]


def test_a_call_without_a_result_on_record_gets_one_that_says_so() -> None:
    cut = (
        _person("go"),
        _agent(_use("a", "Read", file_path="a.md"), _use("b", "Read", file_path="b.md")),
        _person(ToolResult("a", "AAA")),
        _agent(_use("c", "Read", file_path="c.md")),
        _agent("Well."),
        _agent(_use("d", "Read", file_path="d.md")),
    )

    mended = with_results(cut)

    assert unanswered(mended) == ()
    assert is_sendable(mended)
    assert [message.role[0] for message in mended] == list("uauauaau")
    assert with_results(mended) == mended
    assert with_results(STEERED) is STEERED
