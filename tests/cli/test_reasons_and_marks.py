"""``handrail moments --why``, ``--judge`` and ``moments mark``, run as processes."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from tests.cli.homes import make_home
from tests.cli.shell import handrail

Home = dict[str, str]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


def test_why_shows_reasons_and_the_id_that_mark_takes(home: Home) -> None:
    row = handrail(home, "moments", "--json").value["moments"][0]
    text = handrail(home, "moments", "--why").text
    assert row["id"] in text
    assert row["reasons"][0] in text
    assert row["id"] not in handrail(home, "moments").text


def test_a_mark_is_kept_shown_and_counted(home: Home) -> None:
    before = handrail(home, "moments", "--json").value
    moment = before["moments"][0]["id"]
    ended = handrail(home, "moments", "mark", moment, "no")
    assert (ended.code, ended.err) == (0, "")
    assert f"{moment} counts as no step-in from now on" in ended.text
    after = handrail(home, "moments", "--json", "--all").value
    assert after["summary"]["stepins"] == before["summary"]["stepins"] - 1
    assert "you marked it as no step-in" in next(row for row in after["moments"] if row["id"] == moment)["reasons"]
    handrail(home, "moments", "mark", moment, "yes")
    assert handrail(home, "moments", "--json").value["summary"]["stepins"] == before["summary"]["stepins"]


def test_mark_prints_one_object_with_json(home: Home) -> None:
    moment = handrail(home, "moments", "--json").value["moments"][0]["id"]
    value = handrail(home, "moments", "mark", moment, "no", "--json").value
    assert (value["schema_version"], value["moment"]["id"], value["is_stepin"]) == (1, moment, False)


def test_an_unknown_id_is_not_found_and_a_strange_answer_is_a_wrong_use(home: Home) -> None:
    assert handrail(home, "moments", "mark", "0123456789ab", "yes").code == 5
    assert handrail(home, "moments", "mark", "0123456789ab", "perhaps").code == 2
    assert not Path(home["HANDRAIL_HOME"], "corrections.jsonl").exists()


def test_a_session_called_mark_can_still_be_named(home: Home) -> None:
    ended = handrail(home, "moments", "--", "mark")
    assert (ended.code, "no session answers to 'mark'" in ended.err) == (5, True)


def test_a_judge_is_announced_and_one_that_cannot_be_run_is_an_error(home: Home) -> None:
    judge = shlex.join([sys.executable, "-c", "print('{\"stepin\": false}')"])
    ended = handrail(home, "moments", "--json", "--judge", judge)
    assert ended.code == 0
    assert "given to the judge" in ended.err
    assert handrail(home, "moments", "--judge", "").code == 1
