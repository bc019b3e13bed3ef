"""The owner says yes or no: once, to rules that are as they were, and whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from handrail.app.learning.memory import Memory
from handrail.app.learning.proposals import (
    accept_proposal,
    list_proposals,
    reject_proposal,
    settle_interrupted,
    show_proposal,
)
from handrail.app.learning.rules import add_rule, show_rule
from handrail.learning.probes.ledger import Arm, ProbeRow
from handrail.learning.probes.pairing import words_digest
from handrail.learning.probes.store import LedgerStore
from handrail.learning.proposals.model import NotPending, Proposal, RulesMoved, Status
from handrail.learning.rules.model import Life, Rule, RuleScope
from handrail.learning.rules.sentence import NotASentence
from tests.app.desk import put
from tests.app.learning.desk import LATER, SHOP, corrected, files_under, learned, memory, reflected

WORDS = "no, run the tests first"


def _proposal(root: Path) -> tuple[Memory, Proposal]:
    reflected(put(root, corrected("a", WORDS)), memory(root))
    (proposal,) = learned(memory(root)).proposals
    return memory(root), proposal


def test_accepting_puts_its_rules_on_trial_and_uses_its_lessons_up(tmp_path: Path) -> None:
    store, proposal = _proposal(tmp_path)

    decided = accept_proposal(store, proposal.id, clock=LATER)

    (rule,) = store.rules.load().book
    (lesson,) = store.lessons.load().lessons()
    assert decided.rules == (rule,)
    assert (rule.life, rule.is_guarded, rule.by) == (Life.TRIAL, True, "model")
    assert (lesson.rule, lesson.why_not) == (rule.id, "learned already")
    assert store.proposals.load().find(proposal.id).status is Status.ACCEPTED


def test_rejecting_keeps_the_reason_and_changes_no_rule(tmp_path: Path) -> None:
    store, proposal = _proposal(tmp_path)

    reject_proposal(store, proposal.id, "too narrow", clock=LATER)

    kept = store.proposals.load().find(proposal.id)
    assert (kept.status, kept.reason, store.rules.load().book.rules) == (Status.REJECTED, "too narrow", ())


@pytest.mark.parametrize("decide", [accept_proposal, reject_proposal])
def test_a_proposal_is_decided_once(tmp_path: Path, decide: object) -> None:  # J 53
    store, proposal = _proposal(tmp_path)
    reject_proposal(store, proposal.id, clock=LATER)

    with pytest.raises(NotPending):
        decide(store, proposal.id)  # type: ignore[operator]


def test_rules_that_moved_are_an_error_unless_it_is_forced(tmp_path: Path) -> None:  # J 53
    store, proposal = _proposal(tmp_path)
    add_rule(store, "Ask before deleting.", RuleScope(repositories=(SHOP,)), clock=LATER)
    before = files_under(store.folder)

    with pytest.raises(RulesMoved, match="came since"):
        accept_proposal(store, proposal.id, clock=LATER)
    assert files_under(store.folder) == before

    accept_proposal(store, proposal.id, force=True, clock=LATER)
    assert len(store.rules.load().book) == 2


def test_what_is_shown_is_the_change_beside_its_moment(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a", WORDS))
    reflected(machine, memory(tmp_path))
    (proposal,) = learned(memory(tmp_path)).proposals

    view = show_proposal(machine, memory(tmp_path), proposal.id[:4])

    assert [(line.mark, line.text) for line in view.diff] == [("+", "Run the tests first")]
    assert [(moment.words, moment.trigger) for moment in view.moments] == [(WORDS, "denial")]
    assert [lesson.text for lesson in view.lessons] == ["Run the tests first"]
    assert view.moved == ()


def test_what_was_measured_of_its_words_is_shown(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a", WORDS))
    reflected(machine, memory(tmp_path))
    (proposal,) = learned(memory(tmp_path)).proposals
    (line,) = show_proposal(machine, memory(tmp_path), proposal.id).diff
    rule = Rule(id=line.rule, text=line.text)
    row = ProbeRow(
        moment=proposal.sources[0].moment,
        rule=rule.id,
        words=words_digest(rule),
        repeat=0,
        control=Arm.FAILED,
        treatment=Arm.PASSED,
        trigger="denial",
        model="scripted",
    )
    of_other_words = replace(row, words="0" * 16)
    LedgerStore(memory(tmp_path).folder).add((row, of_other_words))

    assert show_proposal(machine, memory(tmp_path), proposal.id).rows == (row,)
    accept_proposal(memory(tmp_path), proposal.id, clock=LATER)
    assert show_rule(machine, memory(tmp_path), rule.id).rows == (row,)


def test_a_moment_whose_session_is_gone_leaves_its_words(tmp_path: Path) -> None:
    store, proposal = _proposal(tmp_path)

    view = show_proposal(put(tmp_path / "empty"), store, proposal.id)

    assert (view.moments, view.lessons[0].reflected.words) == ((), WORDS)


def test_only_what_waits_is_listed_unless_everything_is_wanted(tmp_path: Path) -> None:
    store, proposal = _proposal(tmp_path)
    reject_proposal(store, proposal.id, clock=LATER)

    assert list_proposals(store).proposals == ()
    assert [one.id for one in list_proposals(store, everything=True).proposals] == [proposal.id]


def test_code_that_puts_one_into_force_is_on_record(tmp_path: Path) -> None:
    store, proposal = _proposal(tmp_path)

    decided = accept_proposal(store, proposal.id, by="code", is_measured=True, clock=LATER)

    assert (decided.proposal.status, decided.proposal.by) == (Status.APPLIED, "code")
    assert not store.rules.load().book.rules[0].is_guarded


_CUT_OFF = """
import os, signal, sys
from pathlib import Path
from handrail.app.learning.memory import Memory
from handrail.app.learning.proposals import accept_proposal
from handrail.learning.proposals.store import ProposalStore
from handrail.learning.reflecting.store import LessonStore
from handrail.learning.rules.store import RuleStore

folder, target, step = Path(sys.argv[1]), sys.argv[2], sys.argv[3]

class DyingLessons(LessonStore):
    def add(self, make):
        os.kill(os.getpid(), signal.SIGKILL)

class DyingProposals(ProposalStore):
    def put(self, *proposals):
        os.kill(os.getpid(), signal.SIGKILL)

lessons = DyingLessons if step == "lessons" else LessonStore
shelf = DyingProposals if step == "proposal" else ProposalStore
accept_proposal(Memory(folder, lessons(folder), RuleStore(folder), shelf(folder)), target)
"""


@pytest.mark.parametrize("step", ["lessons", "proposal"])
def test_an_acceptance_that_was_killed_half_way_is_finished_and_not_done_twice(tmp_path: Path, step: str) -> None:
    store, proposal = _proposal(tmp_path)
    command = [sys.executable, "-c", _CUT_OFF, str(store.folder), proposal.id, step]
    killed = subprocess.run(command, check=False, env=os.environ, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    book = store.rules.load().book
    assert (len(book), store.proposals.load().find(proposal.id).status) == (1, Status.PENDING)

    settle_interrupted(store, LATER.now())

    assert store.rules.load().book == book
    assert store.proposals.load().find(proposal.id).status is Status.ACCEPTED
    assert store.lessons.load().lessons()[0].rule == book.rules[0].id


def test_accepting_again_finishes_what_was_cut_off(tmp_path: Path) -> None:
    store, proposal = _proposal(tmp_path)
    command = [sys.executable, "-c", _CUT_OFF, str(store.folder), proposal.id, "lessons"]
    subprocess.run(command, check=False, env=os.environ, capture_output=True)

    accept_proposal(store, proposal.id, clock=LATER)

    assert len(store.rules.load().book) == 1
    assert store.lessons.load().lessons()[0].rule is not None


def test_nothing_is_settled_where_nothing_was_cut_off(tmp_path: Path) -> None:
    store, _ = _proposal(tmp_path)
    before = files_under(store.folder)

    assert settle_interrupted(store, LATER.now()) == ()
    assert files_under(store.folder) == before


def test_two_who_accept_at_once_are_one(tmp_path: Path) -> None:  # J 32
    store, proposal = _proposal(tmp_path)

    def accept(_number: int) -> bool:
        try:
            accept_proposal(store, proposal.id, clock=LATER)
        except NotPending:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(accept, range(4))) == [False, False, False, True]
    assert len(store.rules.load().book) == 1


def test_a_proposal_spoilt_by_hand_is_shown_and_refused_and_holds_up_nothing(tmp_path: Path) -> None:
    store, proposal = _proposal(tmp_path)
    file = store.proposals.folder / f"{proposal.id}.json"
    file.write_text(file.read_text().replace("Run the tests first", "<!-- x -->"))

    assert show_proposal(put(tmp_path / "none"), store, proposal.id).diff == ()
    with pytest.raises(NotASentence):
        accept_proposal(store, proposal.id, clock=LATER)
    assert settle_interrupted(store, LATER.now()) == ()
