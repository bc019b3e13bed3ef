"""Rules probed at the moments they came from: what is shared, what is kept, what it costs, what may be said."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pydantic")

from handrail.app.learning.asking import Bounds
from handrail.app.learning.probed import ProbedMoment, ProbeReport
from handrail.app.learning.probing import ProbeOrder, preview_probes, probe
from handrail.errors import MomentNotFound
from handrail.learning.probes.arms import NEUTRAL
from handrail.learning.probes.ledger import Arm
from handrail.learning.probes.pairing import words_digest
from handrail.learning.probes.store import LedgerStore
from handrail.learning.rules.block import HEADING
from handrail.learning.rules.model import Life, NoSuchRule, Source
from handrail.models.errors import ModelError
from handrail.models.scripted import Item, ScriptedModel, call
from tests.app.learning.world import ASK_FIRST, REFUSED, WORDS, World, make_world, obedient


def _probe(world: World, model: ScriptedModel, **order: object) -> ProbeReport:
    return probe(world.machine(), world.memory(), ProbeOrder(**order), model)  # type: ignore[arg-type]


def _only(report: ProbeReport) -> ProbedMoment:
    (rule,) = report.rules
    (moment,) = rule.moments
    return moment


def test_a_rule_that_helps_is_seen_to_help_at_the_moment_it_came_from(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule())

    report = _probe(world, obedient(ASK_FIRST))

    moment = _only(report)
    assert (moment.outcome, moment.pairs, moment.better) == ("improved", 3, 3)
    # One moment is no proof, however often it is gone through.
    assert report.rules[0].finding.outcome == "no_effect"


def test_seven_moments_that_all_go_better_earn_credit(tmp_path: Path) -> None:
    world = make_world(tmp_path, sessions=7)
    world.keep(world.rule())

    report = _probe(world, obedient(ASK_FIRST))

    assert report.rules[0].finding.outcome == "improved"


def test_both_arms_have_the_recorded_prompt_and_tools_and_no_word_of_the_person(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule())
    model = obedient(ASK_FIRST)

    report = _probe(world, model, repeats=1)

    control, treatment = (request for request in model.requests if not request.replies)
    assert control.instructions == "You work in a shop."
    assert treatment.instructions.startswith(f"You work in a shop.\n\n{HEADING}")
    assert {tool.name for tool in control.tools} >= {"Bash", "Read", "Edit"}
    assert control.tools == treatment.tools
    assert WORDS not in str(control.messages)
    assert _only(report).approximate is False


def test_what_was_measured_is_kept_and_gone_on_with(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule())

    _probe(world, obedient(ASK_FIRST), repeats=2)
    _probe(world, obedient(ASK_FIRST), repeats=2)

    rows = LedgerStore(world.memory().folder).load().rows
    assert [row.repeat for row in rows] == [0, 1, 2, 3]
    assert {(row.control, row.treatment) for row in rows} == {(Arm.FAILED, Arm.PASSED)}


def test_what_was_measured_of_other_words_counts_for_nothing(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule())
    _probe(world, obedient(ASK_FIRST), repeats=1)
    world.keep(world.rule(text="Say hello."))

    report = preview_probes(world.machine(), world.memory(), ProbeOrder(), has_judge=False)

    assert report.rules[0].finding.outcome == "not_measured"


def test_a_model_that_dies_ends_the_pass_and_what_was_done_stands(tmp_path: Path) -> None:
    world = make_world(tmp_path, sessions=2)
    world.keep(world.rule())
    answers: list[Item] = [call("Bash", command=REFUSED), "Done.", "May I?", ModelError("the line is dead")]

    report = _probe(world, ScriptedModel(answers), repeats=1)

    assert report.stopped == "the line is dead"
    assert report.pairs == 1
    assert len(LedgerStore(world.memory().folder).load().rows) == 1


def test_a_bound_ends_the_pass_before_another_request(tmp_path: Path) -> None:
    world = make_world(tmp_path, sessions=3)
    world.keep(world.rule())
    model = obedient(ASK_FIRST)

    report = _probe(world, model, repeats=1, bounds=Bounds(max_requests=3))

    assert len(model.requests) == 3
    assert (report.pairs, report.stopped) == (1, "3 requests are made")


def test_the_first_repeat_of_every_moment_comes_before_the_second_of_any(tmp_path: Path) -> None:
    world = make_world(tmp_path, sessions=3)
    world.keep(world.rule())

    report = _probe(world, obedient(ASK_FIRST), repeats=2)

    rows = LedgerStore(world.memory().folder).load().rows
    assert [row.repeat for row in rows] == [0, 0, 0, 1, 1, 1]
    assert report.pairs == 6


def test_a_dry_run_asks_nobody_and_writes_nothing(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule())
    before = sorted(world.memory().folder.iterdir())

    report = preview_probes(world.machine(), world.memory(), ProbeOrder(repeats=2), has_judge=False)

    assert report.requests_at_most == 2 * 2 * 6
    assert sorted(world.memory().folder.iterdir()) == before


def test_harm_is_charged_to_the_rule_that_does_it(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    bad = world.rule(id="rbbbbbb", text="Delete without asking.", sources=())
    world.keep(world.rule(), bad)
    # It asks, unless it is told not to.
    model = obedient("Delete without asking.", good=lambda: call("Bash", command=REFUSED), bad=lambda: "May I?")
    (source,) = world.sources()

    report = _probe(world, model, rules=("rb",), moment=source.moment)

    *_, row = LedgerStore(world.memory().folder).load().rows
    assert (row.convicted, row.convicted_words) == ("rbbbbbb", words_digest(bad))
    assert row.riding == ("raaaaaa",)
    assert _only(report).outcome == "regressed"
    assert _only(report).held_out is True


def test_nobody_is_charged_twice_for_one_moment(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    bad = world.rule(text="Delete without asking.")
    world.keep(bad)
    model = obedient("Delete without asking.", good=lambda: call("Bash", command=REFUSED), bad=lambda: "May I?")

    _probe(world, model, repeats=5)

    rows = LedgerStore(world.memory().folder).load().rows
    # When the moment counts, and not again.
    assert [row.convicted for row in rows] == [None, None, "raaaaaa", None, None]


def test_a_moment_whose_session_is_gone_says_so(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    gone = Source(harness="handrail", session="nonesuch", uid="", moment="abc")
    world.keep(world.rule(sources=(gone,)))

    moment = _only(_probe(world, obedient(ASK_FIRST)))

    assert (moment.pairs, moment.outcome) == (0, "not_measured")
    assert moment.reason == "its session is not on this machine any more"


def test_a_rule_without_moments_is_not_measured_and_costs_nothing(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule(sources=()))
    model = obedient(ASK_FIRST)

    report = _probe(world, model)

    assert report.rules[0].finding.outcome == "not_measured"
    assert model.requests == []


def test_retired_rules_are_probed_only_when_they_are_named(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule(life=Life.RETIRED))

    assert _probe(world, obedient(ASK_FIRST)).rules == ()
    assert len(_probe(world, obedient(ASK_FIRST), rules=("raaa",), repeats=1).rules) == 1


@pytest.mark.parametrize(
    ("order", "error"), [({"rules": ("nonesuch",)}, NoSuchRule), ({"moment": "nonesuch"}, MomentNotFound)]
)
def test_what_is_not_there_is_an_error(tmp_path: Path, order: dict[str, object], error: type[Exception]) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule())

    with pytest.raises(error):
        _probe(world, obedient(ASK_FIRST), **order)


def test_a_session_without_a_recorded_prompt_is_probed_with_a_neutral_one_and_marked(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    file = world.sessions / "s00.jsonl"
    (told,) = (line for line in file.read_bytes().splitlines() if b'"You work in a shop."' in line)
    stripped = told.replace(b'"instructions":"You work in a shop.",', b"")
    file.write_bytes(file.read_bytes().replace(told, stripped))
    world.keep(world.rule())
    model = obedient(ASK_FIRST)

    report = _probe(world, model, repeats=1)

    assert model.requests[0].instructions == NEUTRAL
    assert _only(report).approximate is True


def test_less_work_is_not_what_was_refused(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule())

    _probe(world, obedient(ASK_FIRST), repeats=1)

    (row,) = LedgerStore(world.memory().folder).load().rows
    assert row.calls == (0, 0)


def test_a_moment_that_was_gone_through_too_few_times_is_not_measured_yet(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.keep(world.rule())

    report = _probe(world, obedient(ASK_FIRST), repeats=2)

    finding = report.rules[0].finding
    assert (finding.outcome, finding.reason) == (
        "not_measured",
        "1 moments were gone through too few times to count",
    )
