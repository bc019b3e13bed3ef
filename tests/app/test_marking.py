"""A person's corrections: kept in a file that can be read, and believed."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from handrail import app
from handrail.app import Judging, Machine, MomentFilter
from handrail.errors import MomentNotFound, StoreError
from handrail.testing.clock import ManualClock
from tests.app.desk import DENIAL, model, person, put, session, talk

FOLLOWUP = talk([person("count the files")], [model("Seven.")], [person("now sort them")], [model("Sorted.")])
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def believing(machine: Machine, environment: dict[str, str]) -> Machine:
    return msgspec.structs.replace(machine, judging=Judging(corrections=app.load_corrections(environment)))


def test_a_marked_followup_is_a_stepin_from_then_on(tmp_path: Path) -> None:
    environment = {"HANDRAIL_HOME": str(tmp_path / "state")}
    machine = put(tmp_path, session("a", FOLLOWUP))
    (row,) = app.moments(machine, MomentFilter(candidates=True)).moments
    marked = app.mark(machine, row.id, is_stepin=True, environment=environment)
    assert (marked.moment.id, marked.moment.is_stepin, marked.is_stepin) == (row.id, False, True)
    found = app.moments(believing(machine, environment))
    assert [(item.id, item.is_stepin) for item in found.moments] == [(row.id, True)]
    assert app.overview(believing(machine, environment)).stepins == 1


def test_a_denial_marked_no_is_counted_no_more(tmp_path: Path) -> None:
    environment = {"HANDRAIL_HOME": str(tmp_path / "state")}
    machine = put(tmp_path, session("a", DENIAL))
    (row,) = app.moments(machine).moments
    app.mark(machine, row.id, is_stepin=False, environment=environment)
    found = app.moments(believing(machine, environment), MomentFilter(candidates=True))
    assert (found.summary.stepins, found.moments[0].reasons[0]) == (0, "you marked it as no step-in")


def test_the_file_is_private_and_one_readable_object_a_line(tmp_path: Path) -> None:
    environment = {"HANDRAIL_HOME": str(tmp_path / "state")}
    machine = put(tmp_path, session("a", DENIAL))
    (row,) = app.moments(machine).moments
    clock = ManualClock(NOON)
    marked = app.mark(machine, row.id.upper(), is_stepin=False, environment=environment, clock=clock)
    file = Path(marked.file)
    assert file == tmp_path / "state" / "corrections.jsonl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [json.loads(line) for line in file.read_text().splitlines()] == [
        {"moment": row.id, "is_stepin": False, "at": "2026-05-04T12:00:00Z"}
    ]


def test_corrections_that_cannot_be_looked_for_are_a_store_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot look at"):
        app.load_corrections({"HANDRAIL_HOME": str(tmp_path / ("n" * 300))})


def test_a_torn_last_line_takes_no_later_one_with_it(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "corrections.jsonl").write_bytes(b'{"moment":"torn')
    environment = {"HANDRAIL_HOME": str(state)}
    machine = put(tmp_path, session("a", DENIAL))
    (row,) = app.moments(machine).moments
    app.mark(machine, row.id, is_stepin=False, environment=environment)
    assert list(app.load_corrections(environment)) == [row.id]
    assert (state / "corrections.jsonl").read_bytes().startswith(b'{"moment":"torn\n')


def test_marks_made_at_once_are_all_kept(tmp_path: Path) -> None:
    environment = {"HANDRAIL_HOME": str(tmp_path / "state")}
    machine = put(tmp_path, *(session(f"s{number}", DENIAL) for number in range(6)))
    ids = [row.id for row in app.moments(machine).moments]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda id: app.mark(machine, id, is_stepin=False, environment=environment), ids))
    assert sorted(app.load_corrections(environment)) == sorted(ids)


def test_an_id_that_no_moment_has_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    environment = {"HANDRAIL_HOME": str(tmp_path / "state")}
    with pytest.raises(MomentNotFound):
        app.mark(put(tmp_path, session("a", DENIAL)), "0123456789ab", is_stepin=True, environment=environment)
    assert not (tmp_path / "state").exists()


def test_without_a_home_there_is_nothing_to_load_and_nowhere_to_mark(tmp_path: Path) -> None:
    machine = put(tmp_path, session("a", DENIAL))
    assert app.load_corrections({}) == {}
    with pytest.raises(StoreError):
        app.mark(machine, app.moments(machine).moments[0].id, is_stepin=True, environment={})
