"""What was put into whose file, and which rules another tool had been given when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from handrail.learning.delivery.managed import Wanted
from handrail.learning.delivery.record import Delivered, ReadRecord, parse_record, render_delivered, riding_at

DAY = timedelta(days=1)
AT = datetime(2026, 3, 1, tzinfo=UTC)


def _row(*ids: str, at: datetime = AT, target: str = "claude") -> Delivered:
    return Delivered(repository="/shop", target=target, lines=tuple(Wanted(id, "x") for id in ids), at=at)


def test_rows_are_read_as_they_were_written_and_a_bad_line_costs_itself() -> None:
    data = render_delivered(_row("ra")) + b"{\n" + render_delivered(_row("rb", at=AT + DAY))

    read = parse_record(data)

    assert read == ReadRecord((_row("ra"), _row("rb", at=AT + DAY)), (2,))


def test_which_rules_a_tool_had_is_known_from_the_first_delivery_on() -> None:
    record = ReadRecord((_row("rb", at=AT + DAY), _row("ra"), _row(at=AT + 2 * DAY)))

    assert riding_at(record, "/shop", ("claude",), AT - DAY) is None
    assert riding_at(record, "/shop", ("claude",), AT) == ("ra",)
    assert riding_at(record, "/shop", ("claude",), AT + DAY) == ("rb",)
    assert riding_at(record, "/shop", ("claude",), AT + 3 * DAY) == ()
    assert riding_at(record, "/bank", ("claude",), AT + DAY) is None
