"""The owner looks at lessons, puts them right, drops them and takes them back."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.app.learning.lessons import drop_lesson, edit_lesson, list_lessons, restore_lesson, show_lesson
from handrail.app.learning.memory import Memory
from handrail.app.learning.proposals import reject_proposal
from handrail.learning.reflecting.lesson import LessonRefused, NoSuchLesson
from handrail.learning.rules.sentence import NotASentence
from tests.app.desk import put
from tests.app.learning.desk import LATER, WORDS, corrected, files_under, learned, lesson_call, memory, reflected


def _one(root: Path) -> tuple[Memory, str]:
    reflected(put(root, corrected("a")), memory(root), lesson_call(wish="words that nobody said"))
    (lesson,) = memory(root).lessons.load().lessons()
    return memory(root), lesson.id


def test_a_lesson_that_no_rule_may_come_of_is_listed_only_when_wanted_and_says_why(tmp_path: Path) -> None:
    store, id = _one(tmp_path)

    found = list_lessons(store)
    everything = list_lessons(store, everything=True)

    assert (found.lessons, found.others, found.reflected) == ((), 1, 1)
    assert [(line.lesson.id, line.why_not) for line in everything.lessons] == [(id, "cause unknown")]


def test_the_owners_own_words_may_become_a_rule(tmp_path: Path) -> None:  # J 23
    store, id = _one(tmp_path)

    edited = edit_lesson(store, id[:4], " Test  first. ")

    assert (edited.lesson.text, edited.lesson.is_owners, edited.why_not) == ("Test first.", True, None)


def test_saving_a_models_sentence_again_does_not_make_it_the_owners(tmp_path: Path) -> None:  # J 23
    store, id = _one(tmp_path)
    (lesson,) = store.lessons.load().lessons()
    before = files_under(store.folder)

    with pytest.raises(LessonRefused):
        edit_lesson(store, id, f" {lesson.text}  ")
    with pytest.raises(NotASentence):
        edit_lesson(store, id, " ")

    assert files_under(store.folder) == before


def test_what_is_dropped_is_dropped_even_when_edited_and_can_be_taken_back(tmp_path: Path) -> None:  # J 23
    store, id = _one(tmp_path)
    edit_lesson(store, id, "Test first.")

    dropped = drop_lesson(store, id, "one-off")
    with pytest.raises(LessonRefused):
        drop_lesson(store, id)
    restored = restore_lesson(store, id)
    with pytest.raises(LessonRefused):
        restore_lesson(store, id)

    assert (dropped.why_not, dropped.lesson.reason) == ("dropped", "one-off")
    assert (restored.why_not, restored.lesson.text) == (None, "Test first.")


def test_a_lesson_that_a_rejected_proposal_used_up_can_be_taken_back(tmp_path: Path) -> None:
    reflected(put(tmp_path, corrected("a")), memory(tmp_path))
    (proposal,) = learned(memory(tmp_path)).proposals
    reject_proposal(memory(tmp_path), proposal.id, clock=LATER)

    restored = restore_lesson(memory(tmp_path), proposal.lessons[0])

    assert restored.why_not is None
    assert len(learned(memory(tmp_path)).proposals) == 1


def test_a_lesson_is_shown_beside_its_moment(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a"))
    reflected(machine, memory(tmp_path))

    view = show_lesson(machine, memory(tmp_path), "l")

    assert view.moment is not None
    assert (view.moment.words, view.moment.session) == (WORDS, "a")
    assert show_lesson(put(tmp_path / "none"), memory(tmp_path), "l").moment is None


def test_a_wrong_id_creates_nothing(tmp_path: Path) -> None:
    for id in ("", "l", "nonesuch"):
        with pytest.raises(NoSuchLesson):
            drop_lesson(memory(tmp_path), id)
    assert list(tmp_path.iterdir()) == []
