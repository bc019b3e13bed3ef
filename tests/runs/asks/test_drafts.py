"""Drafts: what was typed is kept until the question is closed, and it is nobody else's to read."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from handrail.errors import StoreError, UnsafeId
from handrail.runs.asks.drafts import Drafts
from tests.runs.waiting import APPROVAL, EDIT, POINT


@pytest.fixture
def drafts(tmp_path: Path) -> Drafts:
    return Drafts(tmp_path / "drafts")


def test_an_edit_begins_with_what_is_shown(drafts: Drafts) -> None:
    assert None is drafts.read(EDIT)
    drafts.open(EDIT)
    assert "one\n" == drafts.read(EDIT)


def test_row_129_what_was_typed_before_a_crash_is_there_again(drafts: Drafts, tmp_path: Path) -> None:
    drafts.open(EDIT).write_text("one\ntwo, half typ")
    again = Drafts(tmp_path / "drafts")
    assert "one\ntwo, half typ" == again.open(EDIT).read_text() == again.read(EDIT)


def test_a_draft_is_gone_when_it_is_discarded_and_may_be_discarded_twice(drafts: Drafts) -> None:
    drafts.open(EDIT)
    drafts.discard(EDIT)
    drafts.discard(EDIT)
    assert None is drafts.read(EDIT)


def test_a_draft_belongs_to_its_owner(drafts: Drafts) -> None:
    path = drafts.open(EDIT)
    assert (0o600, 0o700) == (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode))


def test_each_question_has_its_own_draft_and_an_editor_knows_what_it_holds(drafts: Drafts) -> None:
    assert ["edit-1.txt", "point-1.md", "approval-1.json"] == [drafts.open(one).name for one in (EDIT, POINT, APPROVAL)]


@pytest.mark.parametrize("ask", ["../../escape", "/etc/passwd", "a/b", "", "..", "a\0b"])
def test_no_question_names_a_file_elsewhere(drafts: Drafts, ask: str) -> None:
    with pytest.raises(UnsafeId):
        drafts.open(replace(EDIT, ask=ask))


def test_a_draft_that_is_no_text_is_an_error_and_not_half_a_document(drafts: Drafts) -> None:
    drafts.open(EDIT).write_bytes(b"one \xff\xfe two")
    with pytest.raises(StoreError, match="UTF-8"):
        drafts.read(EDIT)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_document_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, shown: str) -> None:
    drafts = Drafts(tmp_path_factory.mktemp("drafts"))
    opened = replace(EDIT, shown=shown)
    drafts.open(opened)
    assert shown == drafts.read(opened)
