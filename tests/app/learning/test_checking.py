"""From a rule to its check: proposed or written, proved on its moments, switched, counted over the past."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from handrail import app, jsonio
from handrail.app.learning.asking import Bounds
from handrail.app.learning.checking import (
    Compilation,
    compile_checks,
    list_checks,
    preview_compiling,
    remove_check,
    rules_named,
    set_check,
    switch_check,
    uncompiled,
)
from handrail.app.learning.violations import replay_checks
from handrail.app.machine import Machine
from handrail.learning.checks.spec import CallPattern, Check, Forbid, NotACheck, Order, Reply, to_json
from handrail.learning.rules.model import Life, Rule, RuleBook, RuleScope, Source
from handrail.learning.rules.operations import Amend, Refused, apply
from handrail.learning.rules.store import RuleStore
from handrail.models.errors import ConnectionLost
from handrail.models.scripted import Item, ScriptedModel, call
from handrail.transcripts.model import ToolResult
from tests.app.desk import START, denied, model, person, put, session, talk
from tests.app.desk import call as shell
from tests.app.learning.desk import BANK, LESSON, SHOP, clock, corrected, prompt_of

COMMIT, TESTS = CallPattern(command="git commit*"), CallPattern(command="make test*")
GOOD = Order(call=COMMIT, first=TESTS)


def _store(root: Path, *rules: Rule) -> RuleStore:
    store = RuleStore(root / "learning")
    store.update(lambda _: RuleBook(rules))
    return store


def _rule(machine: Machine, id: str = "r1", *sessions: str, life: Life = Life.ACTIVE) -> Rule:
    """A rule that came from the moments of ``sessions``."""
    found = app.moments(machine).moments
    sources = tuple(
        Source(harness=row.harness, session=row.session, uid="", moment=row.id)
        for row in found
        if row.session in sessions
    )
    return Rule(id=id, text=LESSON, life=life, sources=sources, scope=RuleScope(repositories=(SHOP,)))


def _compiled(machine: Machine, store: RuleStore, *said: Item, bounds: Bounds = Bounds()) -> Compilation:  # noqa: B008
    rules = uncompiled(rules_named(store, ()))
    return asyncio.run(compile_checks(machine, store, rules, ScriptedModel(said), bounds, clock()))


def _proposal(check: Check) -> Item:
    return call("propose_check", checkable=True, why="", check=to_json(check))


# Compiling


def test_a_check_that_fires_on_the_moment_and_on_nothing_after_it_is_published_and_off(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a"))
    store = _store(tmp_path, _rule(machine, "r1", "a"))

    (done,) = _compiled(machine, store, _proposal(GOOD)).rules

    assert (done.is_published, done.why_not) == (True, None)
    assert done.proof is not None
    assert [(one.kind, one.is_passed) for one in done.proof.examples] == [
        ("positive", True),
        ("negative", True),
        ("not_applicable", True),
    ]
    (rule,) = store.load().book
    assert (rule.check, rule.enforced) == (to_json(GOOD), "off")


def test_a_repeat_that_the_person_minded_too_does_not_speak_against_a_check(tmp_path: Path) -> None:
    again = talk(
        [person("ship it")],
        [shell("c1", "git commit")],
        [denied("c1", "no, run the tests before you commit")],
        [shell("c2", "git commit -m x")],
        [denied("c2", "no, the tests first")],
        [model("Running the tests.")],
    )
    machine = put(tmp_path, session("a", again))
    store = _store(tmp_path, _rule(machine, "r1", "a"))

    (done,) = _compiled(machine, store, _proposal(GOOD)).rules

    assert done.is_published
    assert done.proof is not None
    assert [one.kind for one in done.proof.examples if not one.is_passed] == []


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (Forbid(call=CallPattern(command="rm*")), "it fires on 0 of the 1 moments that the rule came from"),
        (Forbid(call=CallPattern(tool="Bash")), "after 1 of the moments it fires on what the person's words led to"),
    ],
)
def test_a_check_that_fails_on_the_persons_own_sessions_is_not_kept(tmp_path: Path, check: Check, why: str) -> None:
    # K.1: positive, negative and not-applicable examples before publication.
    machine = put(tmp_path, corrected("a"))
    store = _store(tmp_path, _rule(machine, "r1", "a"))

    (done,) = _compiled(machine, store, _proposal(check)).rules

    assert (done.is_published, done.why_not) == (False, why)
    (rule,) = store.load().book
    assert rule.check is None


def test_a_model_says_that_a_rule_cannot_be_checked_and_is_not_asked_again(tmp_path: Path) -> None:
    # K.2: most lines cannot be checked; each rule says whether it can.
    machine = put(tmp_path, corrected("a"))
    store = _store(tmp_path, _rule(machine, "r1", "a"))

    (done,) = _compiled(machine, store, call("propose_check", checkable=False, why="It is a matter of taste.")).rules

    assert (done.is_checkable, done.is_published) == (False, False)
    (row,) = list_checks(store).rules
    assert (row.is_checkable, row.why_not) == (False, "It is a matter of taste.")
    assert uncompiled(rules_named(store, ())) == ()


def test_a_rule_in_other_words_is_to_be_tried_again(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a"))
    store = _store(tmp_path, _rule(machine, "r1", "a"))
    _compiled(machine, store, call("propose_check", checkable=False, why="Taste."))

    store.update(lambda book: apply(book, Amend(rule="r1", text="Test before you commit."), by="owner", at=START))

    (row,) = list_checks(store).rules
    assert row.is_checkable is None
    assert [rule.id for rule in uncompiled(rules_named(store, ()))] == ["r1"]


@pytest.mark.parametrize(
    "said",
    [
        "no idea",
        call("propose_check", checkable=True),
        call("propose_check", checkable=True, check={"kind": "magic"}),
        call("propose_check", checkable=True, check={"kind": "forbid", "call": {"tool": "*"}}),
    ],
)
def test_what_is_no_check_changes_nothing_and_may_be_asked_again(tmp_path: Path, said: Item) -> None:
    machine = put(tmp_path, corrected("a"))
    store = _store(tmp_path, _rule(machine, "r1", "a"))
    before = store.file.read_bytes()

    (done,) = _compiled(machine, store, said).rules

    assert (done.is_checkable, done.is_published) == (None, False)
    assert done.why_not
    assert store.file.read_bytes() == before


def test_a_rule_whose_moments_are_gone_has_nothing_to_be_proved_on(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a"))
    rule = _rule(machine, "r1", "a")
    store = _store(tmp_path, rule)

    (done,) = _compiled(put(tmp_path / "elsewhere", corrected("b")), store, _proposal(GOOD)).rules

    assert done.is_published is False
    assert "nothing to prove it on" in (done.why_not or "")


def test_only_the_rule_and_names_are_sent(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a", "no, my password is hunter2"))
    store = _store(tmp_path, _rule(machine, "r1", "a"))
    silent = ScriptedModel([_proposal(GOOD)])

    (request,) = preview_compiling(machine, rules_named(store, ())).requests
    asyncio.run(compile_checks(machine, store, rules_named(store, ()), silent, Bounds(), clock()))

    assert request.prompt == prompt_of(silent.requests[0])
    assert LESSON in request.prompt
    assert "Bash(command" in request.prompt
    for secret in ("hunter2", "git commit", "I will commit"):
        assert secret not in request.prompt


def test_bounds_leave_rules_for_another_time(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a"))
    store = _store(tmp_path, _rule(machine, "r1", "a"), _rule(machine, "r2", "a"))

    done = _compiled(machine, store, _proposal(GOOD), bounds=Bounds(max_requests=1))

    assert ([one.rule for one in done.rules], done.left) == (["r1"], ("r2",))
    assert done.stopped is not None


def test_a_model_that_cannot_be_reached_loses_nothing_that_was_published(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a"))
    store = _store(tmp_path, _rule(machine, "r1", "a"), _rule(machine, "r2", "a"))

    with pytest.raises(ConnectionLost):
        _compiled(machine, store, _proposal(GOOD), ConnectionLost("gone"))

    assert [rule.check is not None for rule in store.load().book] == [True, False]


def test_a_rule_that_was_changed_meanwhile_takes_no_check_of_its_old_words(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a"))
    store = _store(tmp_path, _rule(machine, "r1", "a"))
    (rule,) = rules_named(store, ())
    store.update(lambda book: apply(book, Amend(rule="r1", text="Never commit."), by="owner", at=START))

    with pytest.raises(Refused, match="meantime"):
        set_check(machine, store, rule, jsonio.encode(to_json(GOOD)))


# By hand


def test_a_check_written_by_hand_is_held_to_the_moments_too(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a"))
    store = _store(tmp_path, _rule(machine, "r1", "a"))
    (rule,) = rules_named(store, ["r1"])
    wrong = jsonio.encode(to_json(Forbid(call=CallPattern(command="rm*"))))

    assert set_check(machine, store, rule, wrong).is_published is False
    assert set_check(machine, store, rule, wrong, is_anyway=True).is_published is True


def test_a_rule_that_no_moment_stands_behind_takes_the_owners_word(tmp_path: Path) -> None:
    machine = put(tmp_path)
    store = _store(tmp_path, Rule(id="own", text="Say less.", by="owner", life=Life.ACTIVE))
    (rule,) = rules_named(store, ["own"])

    assert set_check(machine, store, rule, jsonio.encode(to_json(Reply(words=50)))).is_published is True


@pytest.mark.parametrize("spec", [b"", b"{", b"[]", b'{"kind": "forbid"}', b"\xff"])
def test_what_spells_no_check_is_refused(tmp_path: Path, spec: bytes) -> None:
    machine = put(tmp_path)
    store = _store(tmp_path, Rule(id="own", text="Say less."))

    with pytest.raises(NotACheck):
        set_check(machine, store, rules_named(store, ["own"])[0], spec)


# Off, in shadow, on


def _with_check(root: Path, life: Life = Life.ACTIVE) -> RuleStore:
    return _store(root, Rule(id="r1", text=LESSON, life=life, check=to_json(GOOD)))


def test_a_check_is_on_only_after_it_was_in_shadow(tmp_path: Path) -> None:
    store = _with_check(tmp_path)

    with pytest.raises(Refused, match="never in shadow"):
        switch_check(store, rules_named(store, ["r1"])[0], "on")
    switch_check(store, rules_named(store, ["r1"])[0], "shadow", clock=clock())
    done = switch_check(store, rules_named(store, ["r1"])[0], "on", clock=clock())

    assert (done.before, done.enforced) == ("shadow", "on")
    (rule,) = store.load().book
    assert [(change.did, change.by) for change in rule.history] == [("set_check", "owner")] * 2


def test_a_candidate_may_be_watched_and_not_enforced(tmp_path: Path) -> None:
    store = _with_check(tmp_path, Life.CANDIDATE)
    switch_check(store, rules_named(store, ["r1"])[0], "shadow")

    with pytest.raises(Refused, match="candidate"):
        switch_check(store, rules_named(store, ["r1"])[0], "on", is_anyway=True)


def test_a_rule_without_a_check_cannot_be_switched(tmp_path: Path) -> None:
    store = _store(tmp_path, Rule(id="r1", text=LESSON))

    with pytest.raises(Refused, match="no check"):
        switch_check(store, rules_named(store, ["r1"])[0], "shadow")


def test_a_check_that_is_taken_away_leaves_the_rule(tmp_path: Path) -> None:
    store = _with_check(tmp_path)

    remove_check(store, rules_named(store, ["r1"])[0])

    (rule,) = store.load().book
    assert (rule.text, rule.check, rule.enforced) == (LESSON, None, "off")


# Over past sessions


def _ok(id: str) -> ToolResult:
    return ToolResult(id, "ok")


def test_the_past_is_counted_where_the_rule_counts_and_nowhere_else(tmp_path: Path) -> None:
    good = talk(
        [person("go")],
        [
            shell("t", "make test"),
        ],
        [_ok("t")],
        [shell("c", "git commit")],
        [_ok("c")],
        [model("Done.")],
    )
    machine = put(tmp_path, corrected("a"), session("b", good, cwd=SHOP), corrected("elsewhere", cwd=BANK))
    rule = Rule(id="r1", text=LESSON, check=to_json(GOOD), scope=RuleScope(repositories=(SHOP,)))

    found = replay_checks(machine, [rule])

    (figures,) = found.rules
    assert (found.sessions, figures.sessions) == (2, 2)
    assert (figures.occasions, figures.violations, figures.rightly, figures.rate) == (2, 1, 1, 0.5)
    assert figures.interval is not None
    assert figures.interval.low < 0.5 < figures.interval.high
    (shown,) = figures.shown
    assert (shown.session, shown.is_rightly, shown.what) == ("a", True, 'Bash {"command":"git commit"}')


def test_no_occasion_is_no_rate_and_no_zero(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a"))
    rule = Rule(id="r1", text=LESSON, check=to_json(Forbid(call=CallPattern(tool="Web"))))

    (figures,) = replay_checks(machine, [rule]).rules

    assert (figures.occasions, figures.rate, figures.interval) == (0, None, None)


def test_a_check_that_cannot_be_read_is_said_and_a_retired_rule_is_not_counted(tmp_path: Path) -> None:
    rules = [
        Rule(id="bad", text="x", check={"kind": "magic"}),
        Rule(id="old", text="y", check=to_json(GOOD), life=Life.RETIRED),
    ]

    found = replay_checks(put(tmp_path, corrected("a")), rules)

    assert ([one.rule for one in found.bad], found.rules) == (["bad"], ())
