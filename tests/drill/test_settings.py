"""What `make drill` takes from its environment, and what it says of a variable that makes no sense."""

from __future__ import annotations

import subprocess
import sys

import pytest

from handrail.testing.drill.__main__ import main
from handrail.testing.drill.journals import HOSTS, NAMES, Absent
from handrail.testing.drill.settings import read_settings

WHOLE = "DRILL_{} takes a whole number{}, not {!r}"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("DRILL_KILLS", "abc", WHOLE.format("KILLS", " from 1", "abc")),
        ("DRILL_KILLS", "0", WHOLE.format("KILLS", " from 1", "0")),
        ("DRILL_KILLS", "1.5", WHOLE.format("KILLS", " from 1", "1.5")),
        ("DRILL_SEED", "one", WHOLE.format("SEED", "", "one")),
        ("DRILL_JOBS", "-2", WHOLE.format("JOBS", " from 0", "-2")),
        (
            "DRILL_JOURNALS",
            "file,redis",
            "DRILL_JOURNALS takes names of file, sqlite, postgres, by commas, not 'redis'",
        ),
    ],
)
def test_a_variable_that_makes_no_sense_is_named_in_one_line(
    capsys: pytest.CaptureFixture[str], name: str, value: str, said: str
) -> None:
    assert main({name: value}) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", f"error: {said}\n")


def test_the_process_ends_with_2_and_without_a_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "handrail.testing.drill"],
        env={"DRILL_KILLS": "abc"},
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_what_is_not_set_or_empty_is_as_the_page_says() -> None:
    assert read_settings({}) == read_settings({"DRILL_KILLS": "", "DRILL_SEED": " ", "DRILL_JOURNALS": ","})
    told = read_settings({"DRILL_KILLS": "7", "DRILL_SEED": "-3", "DRILL_JOBS": "2", "DRILL_JOURNALS": "sqlite, file"})
    assert (told.kills, told.seed, told.jobs, told.journals) == (7, -3, 2, ["sqlite", "file"])
    assert (read_settings({}).kills, read_settings({}).seed, read_settings({}).journals) == (1000, 1, NAMES)


def test_every_journal_can_be_named() -> None:
    """The third one may not be there; where it is, it is called as it is named."""
    kinds = []
    for host in HOSTS[:2]:
        with host() as kind:
            assert not isinstance(kind, Absent)
            kinds.append(kind.name)
    assert (*kinds, "postgres") == NAMES
