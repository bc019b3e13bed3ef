"""From what a person types to an open session."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.app import open_session
from handrail.errors import AmbiguousSession, MalformedSession, SessionNotFound, StoreError
from handrail.transcripts.spans import Span
from tests.app.desk import DENIAL, put, session
from tests.privileges import without_privileges


@pytest.mark.parametrize("typed", ["alpha-1", "alp", "About alpha-1"])
def test_a_session_answers_to_its_id_a_unique_start_of_it_and_its_title(tmp_path: Path, typed: str) -> None:
    machine = put(tmp_path, session("alpha-1", DENIAL), session("beta-2", DENIAL))
    assert open_session(machine, typed).session.meta.id == "alpha-1"


def test_a_range_after_the_id_names_messages_from_one(tmp_path: Path) -> None:
    opened = open_session(put(tmp_path, session("alpha-1", DENIAL)), "alpha#2-3")
    assert opened.spans() == (Span(1, 3),)


def test_an_id_that_looks_like_a_range_is_tried_whole_first(tmp_path: Path) -> None:
    machine = put(tmp_path, session("alpha#2-3", DENIAL), session("alpha", DENIAL))
    opened = open_session(machine, "alpha#2-3")
    assert (opened.source.id, opened.ranges) == ("alpha#2-3", ())


def test_a_file_is_read_by_the_harness_that_is_named(tmp_path: Path) -> None:
    machine = put(tmp_path / "store", session("alpha-1", DENIAL))
    copy = tmp_path / "copy.txt"
    copy.write_bytes((tmp_path / "store" / "alpha-1.echo").read_bytes())
    opened = open_session(machine, f"{copy}#1-2", harness="echo")
    assert (opened.session.meta.id, opened.spans()) == ("alpha-1", (Span(0, 2),))


def test_a_file_that_nobody_recognises_asks_for_its_harness(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing like a session")
    with pytest.raises(MalformedSession, match="recognises") as caught:
        open_session(put(tmp_path / "store"), str(tmp_path / "notes.txt"))
    assert "--from" in str(caught.value.hint)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(StoreError, match="is empty"):
        open_session(put(tmp_path / "store"), str(tmp_path / "empty.jsonl"))


def test_a_dash_is_standard_input(tmp_path: Path) -> None:
    machine = put(tmp_path, session("alpha-1", DENIAL))
    data = (tmp_path / "alpha-1.echo").read_bytes()
    opened = open_session(machine, "-#2", harness="echo", stdin=lambda: data)
    assert (opened.session.meta.id, opened.spans()) == ("alpha-1", (Span(1, 2),))


@pytest.mark.parametrize("typed", ["a\x00b", "a" * 5000, "\ud800"])
def test_what_cannot_be_the_name_of_a_file_is_just_not_found(tmp_path: Path, typed: str) -> None:
    with pytest.raises(SessionNotFound):
        open_session(put(tmp_path), typed)


def test_a_folder_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder") as caught:
        open_session(put(tmp_path / "store"), str(tmp_path))
    assert "--root" in str(caught.value.hint)


def test_a_path_into_a_closed_folder_is_not_said_to_lead_nowhere(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    machine = put(tmp_path / "store")
    with without_privileges(), pytest.raises(StoreError, match="Permission denied"):
        open_session(machine, str(closed / "a.jsonl"))


def test_several_sessions_that_start_alike_are_ambiguous(tmp_path: Path) -> None:
    machine = put(tmp_path, session("alpha-1", DENIAL), session("alpha-2", DENIAL))
    with pytest.raises(AmbiguousSession, match=r"alpha-1.*alpha-2|alpha-2.*alpha-1"):
        open_session(machine, "alpha")
