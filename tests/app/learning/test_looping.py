"""The loop unattended: within its budget, nothing in force without a gate, and it says what it left out and why."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pydantic")

from msgspec.structs import replace

from handrail.app.learning.asking import Bounds
from handrail.app.learning.gating import disposed
from handrail.app.learning.looping import AutoOrder, AutoReport, learn_by_itself
from handrail.app.learning.probing import ProbeOrder, probe
from handrail.learning.probes.store import LedgerStore
from handrail.learning.proposals.model import Status
from handrail.learning.rules.model import Life, Rule, RuleScope
from handrail.models.errors import Overloaded
from handrail.models.port import ModelRequest
from handrail.models.scripted import Call, Item, ScriptedModel, call
from handrail.transcripts.model import Text
from tests.app.learning.world import ASK_FIRST, REFUSED, WORDS, World, make_world, obedient

ORDER = AutoOrder(bounds=Bounds(max_requests=200), repeats=1, holdout=0.0)
HARM = "Delete without asking."


def _teaching(lesson: str, good: Callable[[], object], bad: Callable[[], object]) -> ScriptedModel:
    """A model that reflects, learns, and does ``good`` where its instructions hold ``lesson``, else ``bad``."""

    def answer(request: ModelRequest) -> object:
        if request.tool_choice == "reflect":
            return call("reflect", skip=False, lesson=lesson, about="behaviour", wish=WORDS)
        if request.tool_choice == "change_rules":
            (block,) = request.messages[0].content
            assert isinstance(block, Text)
            labels = re.findall(r"^(L\d+) \[", block.text, re.MULTILINE)
            return Call("change_rules", {"changes": [{"do": "add", "lessons": labels, "text": lesson}]})
        if request.replies:
            return "Done."
        return good() if lesson in request.instructions else bad()

    script: list[Item] = [answer, answer]  # type: ignore[list-item]
    return ScriptedModel(script, repeats=True)


def _asks() -> str:
    return "May I?"


def _deletes() -> Call:
    return call("Bash", command=REFUSED)


def _night(world: World, model: ScriptedModel, order: AutoOrder = ORDER) -> AutoReport:
    return learn_by_itself(world.machine(), world.memory(), order, model)


def _rule(world: World) -> Rule:
    (rule,) = world.memory().rules.load().book
    return rule


@pytest.mark.parametrize(
    ("regressed", "graded", "did"),
    [(1, 0, "rejected_by_gate"), (1, 4, "rejected_by_gate"), (0, 0, "trial_on_leash"), (0, 2, "trial")],
)
def test_what_a_gate_does(regressed: int, graded: int, did: str) -> None:  # J 54
    assert disposed(regressed=regressed, graded=graded) == did


def test_a_correction_becomes_a_rule_on_trial_only_through_the_gate(tmp_path: Path) -> None:
    world = make_world(tmp_path)

    report = _night(world, _teaching(ASK_FIRST, good=_asks, bad=_deletes))

    (gated,) = report.gated
    assert (gated.did, gated.graded, gated.regressed) == ("trial", 1, 0)
    rule = _rule(world)
    assert (rule.text, rule.life, rule.is_guarded, rule.by) == (ASK_FIRST, Life.TRIAL, False, "model")
    assert report.probed is not None and report.probed.pairs == 1
    assert report.stopped is None


def test_a_rule_that_makes_it_worse_is_rejected_by_the_gate_and_its_lesson_is_free(tmp_path: Path) -> None:
    world = make_world(tmp_path)

    report = _night(world, _teaching(HARM, good=_deletes, bad=_asks))

    (gated,) = report.gated
    assert gated.did == "rejected_by_gate"
    assert len(world.memory().rules.load().book) == 0
    (proposal,) = world.memory().proposals.load()
    assert proposal.status is Status.REJECTED_BY_GATE
    (lesson,) = world.memory().lessons.load().lessons()
    assert (lesson.rule, lesson.used) == (None, None)


def test_a_rule_that_would_count_in_more_places_waits_for_the_owner(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    elsewhere = world.rule(scope=RuleScope(repositories=("/srv/bank",), harnesses=("handrail",)), sources=())
    world.keep(elsewhere)

    report = _night(world, _teaching(ASK_FIRST, good=_asks, bad=_deletes))

    (gated,) = report.gated
    assert gated.did == "waits"
    assert "count in more places" in gated.why
    assert _rule(world).scope == elsewhere.scope


def test_what_cannot_be_measured_is_on_a_shorter_leash(tmp_path: Path) -> None:
    world = make_world(tmp_path)

    # It calls what nobody recorded, so no arm can be told.
    report = _night(world, _teaching(ASK_FIRST, good=lambda: "", bad=lambda: ""))

    (gated,) = report.gated
    assert (gated.did, gated.why) == ("trial_on_leash", "nothing of it could be measured")
    assert _rule(world).is_guarded is True


def test_a_second_night_with_nothing_new_changes_no_rule_and_asks_about_no_moment_again(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    model = _teaching(ASK_FIRST, good=_asks, bad=_deletes)
    _night(world, model)
    before = world.memory().rules.file.read_bytes()
    asked = len(model.requests)

    report = _night(world, model)

    assert report.reflected.moments == 0
    assert report.gated == ()
    assert world.memory().rules.file.read_bytes() == before
    assert not any(request.tool_choice in ("reflect", "change_rules") for request in model.requests[asked:])


def test_no_more_is_spent_than_was_stated(tmp_path: Path) -> None:
    for bound in range(8):
        world = make_world(tmp_path / str(bound), sessions=2)
        model = _teaching(ASK_FIRST, good=_asks, bad=_deletes)

        report = _night(world, model, replace(ORDER, bounds=Bounds(max_requests=bound)))

        assert len(model.requests) <= bound
        assert report.spent.requests == len(model.requests)
        assert (report.stopped is not None, report.is_bound) == (True, True)


def test_a_proposal_that_there_was_no_budget_to_probe_waits(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    model = _teaching(ASK_FIRST, good=_asks, bad=_deletes)

    # One request reflects, one learns, one is an arm; the other arm is one too many.
    report = _night(world, model, replace(ORDER, bounds=Bounds(max_requests=3)))

    (gated,) = report.gated
    assert gated.did == "waits"
    assert len(world.memory().rules.load().book) == 0
    another = _night(world, model)
    assert [one.did for one in another.gated] == ["trial"]


def test_a_dead_model_loses_nothing(tmp_path: Path) -> None:
    world = make_world(tmp_path)

    report = _night(world, ScriptedModel([Overloaded("the line is dead")]))

    assert (report.stopped, report.is_bound) == ("the line is dead", False)
    assert report.learned is None
    assert _night(world, _teaching(ASK_FIRST, good=_asks, bad=_deletes)).reflected.moments == 1


def test_what_was_measured_is_credited_and_what_harms_is_retired(tmp_path: Path) -> None:
    world = make_world(tmp_path, sessions=7)
    good = world.rule(id="raaaaaa")
    world.keep(good)
    probe(world.machine(), world.memory(), ProbeOrder(), obedient(ASK_FIRST))
    quiet = replace(ORDER, bounds=Bounds(max_requests=0))

    credited = _night(world, obedient(ASK_FIRST), quiet)

    assert [(one.rule, one.kind, one.did) for one in credited.moved] == [("raaaaaa", "credit", "applied")]
    assert _rule(world).life is Life.ACTIVE
    world.keep(_rule(world), world.rule(id="rbbbbbb", text=HARM))
    harming = obedient(HARM, good=_deletes, bad=_asks)
    probe(world.machine(), world.memory(), ProbeOrder(rules=("rb",)), harming)
    retired = _night(world, harming, quiet)
    assert [(one.rule, one.kind, one.did) for one in retired.moved] == [("rbbbbbb", "retire", "applied")]


def test_the_owners_own_rule_is_never_retired_by_itself(tmp_path: Path) -> None:
    world = make_world(tmp_path, sessions=7)
    world.keep(world.rule(text=HARM, by="owner", life=Life.ACTIVE))
    probe(world.machine(), world.memory(), ProbeOrder(), obedient(HARM, good=_deletes, bad=_asks))

    report = _night(world, obedient(HARM), replace(ORDER, bounds=Bounds(max_requests=0)))

    assert [(one.kind, one.did, one.why) for one in report.moved] == [("retire", "waits", "the rule is the owner's")]
    assert _rule(world).life is Life.ACTIVE
    # It is proposed once, and not again the next night.
    assert _night(world, obedient(HARM), replace(ORDER, bounds=Bounds(max_requests=0))).moved == ()


def test_a_leash_ends_with_a_measurement_and_with_nothing_else(tmp_path: Path) -> None:  # J 55
    world = make_world(tmp_path)
    world.keep(world.rule(is_guarded=True))
    quiet = replace(ORDER, bounds=Bounds(max_requests=0))
    probe(world.machine(), world.memory(), ProbeOrder(), obedient(ASK_FIRST, good=lambda: "", bad=lambda: ""))
    assert _night(world, obedient(ASK_FIRST), quiet).off_the_leash == ()

    probe(world.machine(), world.memory(), ProbeOrder(), obedient(ASK_FIRST))

    assert len(LedgerStore(world.memory().folder).load().rows) == 6
    assert _night(world, obedient(ASK_FIRST), quiet).off_the_leash == ("raaaaaa",)
    assert (_rule(world).is_guarded, _rule(world).life) == (False, Life.TRIAL)
