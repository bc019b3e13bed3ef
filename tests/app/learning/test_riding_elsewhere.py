"""Which rules another tool had been given at a moment: what we put into its files before the session began."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from handrail.app.learning.cases import cases_of, root_of
from handrail.app.machine import Judging, open_machine
from handrail.app.opening import open_session
from handrail.learning.delivery.managed import Wanted
from handrail.learning.delivery.record import Delivered, ReadRecord
from handrail.learning.reflecting.reflector import Case
from tests.cli.homes import CLAUDE_ID, make_home

BEGAN = datetime(2026, 5, 1, 8, 0, tzinfo=UTC)


def _record(at: datetime, target: str = "claude") -> ReadRecord:
    root = root_of("/srv/shop")
    assert root is not None
    return ReadRecord((Delivered(repository=root, target=target, lines=(Wanted("ra00000", "x"),), at=at),))


@pytest.mark.parametrize(
    ("record", "riding"),
    [
        (ReadRecord(), None),
        (_record(BEGAN - timedelta(days=1)), ("ra00000",)),
        (_record(BEGAN + timedelta(minutes=1)), None),
        (_record(BEGAN - timedelta(days=1), "gemini"), None),
    ],
)
def test_a_rule_rode_where_it_stood_in_a_file_before_the_session_began(
    tmp_path: Path, record: ReadRecord, riding: tuple[str, ...] | None
) -> None:
    make_home(tmp_path)
    machine = open_machine({"claude_code": tmp_path / ".claude" / "projects"}, only_given=True)

    cases = cases_of(open_session(machine, CLAUDE_ID), Judging(), delivered=record)

    assert [case.riding for case in cases if isinstance(case, Case)] == [riding]
