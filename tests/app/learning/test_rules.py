"""The owner has the last word on each rule, in files a person can read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from handrail.app.learning.memory import memory_in
from handrail.app.learning.rules import (
    accept_rule,
    add_rule,
    edit_rule,
    lint_rules,
    list_rules,
    reject_rule,
    rescope_rule,
    restore_rule,
    retire_rule,
    show_rule,
)
from handrail.errors import StoreError
from handrail.learning.delivery.managed import lines_of, with_block
from handrail.learning.rules.lint import Code
from handrail.learning.rules.model import Life, NoSuchRule, Rule, RuleBook, RuleScope
from handrail.learning.rules.operations import Add, Refused, apply
from handrail.learning.rules.sentence import NotASentence
from tests.app.desk import put
from tests.app.learning.desk import LATER, SHOP, corrected, files_under, learned, memory, reflected

TESTS = "Run the tests before committing."


def _candidate(root: Path, text: str = TESTS, repository: str = SHOP) -> Rule:
    """A rule in a model's words."""
    from tests.learning.rules.build import source

    scope = RuleScope(repositories=(repository,), harnesses=("handrail",))
    add = Add(text=text, sources=(source(),), scope=scope)
    book = memory(root).rules.update(lambda book: apply(book, add, by="model", at=LATER.now()))
    return next(rule for rule in book if rule.text == text)


def test_a_rule_goes_from_candidate_to_trial_into_force_and_out_and_back(tmp_path: Path) -> None:  # J 66
    store, id = memory(tmp_path), _candidate(tmp_path).id

    lives = [
        accept_rule(store, id).rule.life,
        accept_rule(store, id).rule.life,
        retire_rule(store, id, "it harmed").rule.life,
        restore_rule(store, id).rule.life,
    ]

    assert lives == [Life.TRIAL, Life.ACTIVE, Life.RETIRED, Life.CANDIDATE]
    assert [change.by for change in store.rules.load().book.rules[0].history[1:]] == ["owner"] * 4


def test_what_is_done_twice_is_refused(tmp_path: Path) -> None:  # J 66
    store, id = memory(tmp_path), _candidate(tmp_path).id
    with pytest.raises(Refused):
        restore_rule(store, id)
    accept_rule(store, id)
    accept_rule(store, id)
    with pytest.raises(Refused):
        accept_rule(store, id)
    with pytest.raises(Refused):
        reject_rule(store, id, "no")
    retire_rule(store, id, "it harmed")
    with pytest.raises(Refused):
        retire_rule(store, id, "again")


def test_a_models_sentence_saved_again_does_not_become_the_owners(tmp_path: Path) -> None:
    store, id = memory(tmp_path), _candidate(tmp_path).id

    with pytest.raises(Refused, match="says that already"):
        edit_rule(store, id, f"  {TESTS} ")

    assert store.rules.load().book.find(id).by == "model"
    assert edit_rule(store, id, "Test first.").rule.by == "owner"


def test_a_rule_of_the_owner_is_in_force_at_once(tmp_path: Path) -> None:
    rule = add_rule(memory(tmp_path), TESTS, RuleScope(repositories=(SHOP,)), clock=LATER).rule

    assert (rule.by, rule.life, rule.sources) == ("owner", Life.ACTIVE, ())


def test_what_a_rule_says_already_is_not_added_twice(tmp_path: Path) -> None:
    _candidate(tmp_path)

    with pytest.raises(Refused, match="says that already, and is candidate") as caught:
        add_rule(memory(tmp_path), TESTS.upper(), RuleScope(), clock=LATER)
    assert caught.value.hint


@pytest.mark.parametrize("text", ["", "<!-- x -->", "x" * 300, "a\u202eb"])
def test_what_is_no_sentence_is_no_rule(tmp_path: Path, text: str) -> None:
    with pytest.raises(NotASentence):
        add_rule(memory(tmp_path), text, RuleScope(), clock=LATER)
    assert memory(tmp_path).rules.load().book == RuleBook()


def test_the_owner_widens_where_a_rule_counts(tmp_path: Path) -> None:
    store, id = memory(tmp_path), _candidate(tmp_path).id

    wider = rescope_rule(store, id, lambda before: replace(before, repositories=None)).rule

    assert wider.scope == RuleScope(harnesses=("handrail",))
    with pytest.raises(Refused, match="counts there already"):
        rescope_rule(store, id, lambda before: before)


def test_an_id_that_is_wrong_creates_nothing(tmp_path: Path) -> None:
    for id in ("", "r", "nonesuch"):
        with pytest.raises(NoSuchRule):
            retire_rule(memory(tmp_path), id, "x")
    assert list(tmp_path.iterdir()) == []


def test_the_owners_own_file_is_read_and_never_written(tmp_path: Path) -> None:
    store = memory(tmp_path)
    _candidate(tmp_path)
    own = b"# Mine\r\n- Ask first.\n\xff<!-- not this -->\n* Say less.\n"
    store.rules.own.write_bytes(own)

    found = list_rules(store)
    add_rule(store, "One thing more.", RuleScope(), clock=LATER)
    lint_rules(store, clock=LATER)

    assert found.own[0] == "Ask first."
    assert store.rules.own.read_bytes() == own


def test_lists_leave_out_what_is_retired_or_counts_elsewhere(tmp_path: Path) -> None:
    store = memory(tmp_path)
    here, there = _candidate(tmp_path), _candidate(tmp_path, "Say less.", "/srv/bank")
    retire_rule(store, there.id, "x")

    assert [line.rule.id for line in list_rules(store).rules] == [here.id]
    assert len(list_rules(store, everything=True).rules) == 2
    assert list_rules(store, repository="/srv/other").rules == ()


def test_a_rule_is_shown_beside_its_moments(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a"))
    reflected(machine, memory(tmp_path))
    learned(memory(tmp_path))
    (proposal,) = memory(tmp_path).proposals.load().pending()
    from handrail.app.learning.proposals import accept_proposal

    (rule,) = accept_proposal(memory(tmp_path), proposal.id, clock=LATER).rules

    view = show_rule(machine, memory(tmp_path), rule.id[:5])

    assert [moment.words for moment in view.moments] == ["no, run the tests before you commit"]
    assert [lesson.rule for lesson in view.lessons] == [rule.id]
    assert view.last_evidence == view.moments[0].at


def test_lines_of_instruction_files_are_held_against_rules_and_our_own_block_is_not(tmp_path: Path) -> None:
    repository = tmp_path / "shop"
    repository.mkdir()
    rule = _candidate(tmp_path, "Use npm in this folder.", str(repository))
    theirs = b"# Shop\n\n- Never use npm in this folder.\n\n```\nNever use npm in this folder.\n```\n"
    (repository / "AGENTS.md").write_bytes(with_block(theirs, lines_of([rule])))
    (repository / "CLAUDE.md").symlink_to("/etc/passwd")
    (repository / "GEMINI.md").write_bytes(b"\xff\xfe\x00Never use npm in this folder\n")

    report = lint_rules(memory(tmp_path), clock=LATER)

    against = [one.place for one in report.findings if one.code is Code.CONTRADICTION]
    assert against[0] == "AGENTS.md:3"
    assert len([place for place in against if place and place.startswith("AGENTS.md")]) == 1
    assert Code.DUPLICATE not in {one.code for one in report.findings}


def test_a_torn_line_is_a_problem_that_lint_tells(tmp_path: Path) -> None:
    _candidate(tmp_path)
    file = memory(tmp_path).rules.file
    file.write_bytes(file.read_bytes() + b'{"id":"torn')

    report = lint_rules(memory(tmp_path), clock=LATER)

    assert (report.findings[0].code, report.rules) == (Code.BAD_LINE, 1)


def test_two_processes_that_add_rules_at_once_lose_none(tmp_path: Path) -> None:  # J 32
    folder = memory(tmp_path).folder
    code = """
import sys
from pathlib import Path
from handrail.app.learning.memory import memory_in
from handrail.app.learning.rules import add_rule
from handrail.learning.rules.model import RuleScope
for number in range(20):
    add_rule(memory_in(Path(sys.argv[1])), f"Rule {sys.argv[2]} number {number}.", RuleScope())
"""
    running = [subprocess.Popen([sys.executable, "-c", code, str(folder), name]) for name in ("a", "b")]

    assert [one.wait(timeout=120) for one in running] == [0, 0]
    assert len(memory_in(folder).rules.load().book) == 40


def test_looking_creates_nothing(tmp_path: Path) -> None:
    list_rules(memory(tmp_path))
    lint_rules(memory(tmp_path), clock=LATER)

    assert files_under(tmp_path) == {}


def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")

    with pytest.raises(StoreError):
        add_rule(memory(tmp_path), TESTS, RuleScope(), clock=LATER)
    with pytest.raises(StoreError):
        reflected(put(tmp_path, corrected("a")), memory(tmp_path))
