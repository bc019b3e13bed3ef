"""Reflecting over sessions: each moment once, whole sessions only, and nothing sent in a dry run."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from handrail import files
from handrail.app.learning.asking import Bounds
from handrail.app.learning.cases import NOBODY, NOT_A_STEPIN, WORDLESS
from handrail.app.learning.reflecting import ALREADY, ReflectOrder, preview, reflect
from handrail.app.listing import SessionFilter
from handrail.learning.reflecting.lesson import Cause
from handrail.models.errors import BadRequest, ConnectionLost
from handrail.models.port import ModelRequest
from handrail.models.scripted import Call, Reply, ScriptedModel, call
from handrail.transcripts.model import Usage
from tests.app.desk import model, person, put, session, talk
from tests.app.learning.desk import (
    BANK,
    LESSON,
    WORDS,
    clock,
    corrected,
    files_under,
    lesson_call,
    memory,
    prompt_of,
    quoting,
    reflected,
)

SECRET = "use AKIAABCDEFGHIJKLMNOP and not the other"


def test_a_moment_becomes_a_lesson_that_knows_where_it_was(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a"))

    report = reflected(machine, memory(tmp_path), lesson_call())

    (lesson,) = memory(tmp_path).lessons.load().lessons()
    assert (report.moments, lesson.text, lesson.why_not) == (1, LESSON, None)
    assert lesson.reflected.place.repository == "/srv/shop"
    assert lesson.reflected.words == WORDS
    assert lesson.reflected.riding is None


def test_nothing_is_asked_twice(tmp_path: Path) -> None:  # J 31
    machine = put(tmp_path, corrected("a"), corrected("b", "no, not that table"))
    reflected(machine, memory(tmp_path))
    silent = ScriptedModel([])

    report = reflect(machine, memory(tmp_path), ReflectOrder(), silent, clock=clock())

    assert (report.moments, report.excluded, silent.requests) == (0, {ALREADY: 2}, [])


def test_a_fork_holds_the_same_moments_and_a_resumed_session_is_gone_on_with(tmp_path: Path) -> None:  # I.2, A.4 5
    machine = put(tmp_path, corrected("a"), corrected("fork", copied="a"))
    first = reflected(machine, memory(tmp_path))
    longer = corrected("a")
    more = talk([person("go on")], [model("I will push.")])
    tail = corrected("a-later", "no, do not push yet").body[1:]
    put(tmp_path / "again", replace(longer, body=(*longer.body, *more, *tail)))

    second = reflected(put(tmp_path / "again"), memory(tmp_path))

    assert (first.moments, first.excluded[ALREADY]) == (1, 1)
    assert second.moments == 1
    assert [row.words for row in second.rows] == ["no, do not push yet"]


def test_a_model_that_cannot_be_reached_loses_nothing_and_keeps_what_was_whole(tmp_path: Path) -> None:  # I.1 5
    two = corrected("new", day=9)
    second = corrected("new-2", "no, not there either").body[1:]
    machine = put(tmp_path, replace(two, body=(*two.body, *second)), corrected("old", "no, use the other", day=1))
    # The newer session has two moments; the model fails at the older one.
    report = reflected(machine, memory(tmp_path), quoting, quoting, ConnectionLost("gone"))

    assert (report.moments, report.left, report.failure) == (2, 1, "gone")
    assert reflected(machine, memory(tmp_path)).moments == 1


def test_a_session_is_reflected_on_whole_or_not_at_all(tmp_path: Path) -> None:
    two = corrected("a")
    body = (*two.body, *corrected("a-2", "no, not there either").body[1:])
    machine = put(tmp_path, replace(two, body=body))

    report = reflected(machine, memory(tmp_path), quoting, ConnectionLost("gone"))

    assert (report.moments, report.left, report.rows) == (0, 2, ())
    assert memory(tmp_path).lessons.load().rows == ()
    assert reflected(machine, memory(tmp_path)).moments == 2


def test_a_request_that_the_model_never_takes_holds_up_no_other(tmp_path: Path) -> None:
    two = corrected("a", day=2)
    body = (*two.body, *corrected("a-2", "no, not there either").body[1:])
    machine = put(tmp_path, replace(two, body=body), corrected("b", "no, not that table", day=1))

    report = reflected(machine, memory(tmp_path), quoting, BadRequest("too odd"), quoting)

    assert (report.moments, report.left, report.ended, report.failure) == (2, 1, None, "too odd")
    assert reflected(machine, memory(tmp_path)).moments == 1


def test_requests_that_are_refused_now_and_then_end_nothing(tmp_path: Path) -> None:
    machine = put(tmp_path, *(corrected(f"s{number}", f"no, not {number}", day=9 - number) for number in range(8)))

    async def odd_then_fine(request: ModelRequest) -> Call:
        if len(asked.requests) % 2:
            raise BadRequest("odd")
        return quoting(request)

    asked = ScriptedModel([odd_then_fine], repeats=True)
    report = reflect(machine, memory(tmp_path), ReflectOrder(), asked, clock=clock())

    assert (report.moments, report.left, report.ended) == (4, 4, None)


def test_a_model_that_takes_no_request_ends_it(tmp_path: Path) -> None:
    machine = put(tmp_path, *(corrected(f"s{number}", f"no, not {number}", day=9 - number) for number in range(5)))
    broken = ScriptedModel([BadRequest("never")])

    report = reflect(machine, memory(tmp_path), ReflectOrder(), broken, clock=clock())

    assert (report.moments, report.left, len(broken.requests)) == (0, 5, 3)


def test_a_dry_run_shows_what_would_be_sent_and_costs_and_writes_nothing(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a", SECRET))
    before = files_under(tmp_path)

    report = preview(machine, memory(tmp_path), ReflectOrder())

    (sent,) = report.would_send
    assert "[redacted: cloud key]" in sent.prompt
    assert "AKIAABCDEFGHIJKLMNOP" not in sent.prompt
    assert files_under(tmp_path) == before
    assert not memory(tmp_path).folder.exists()


def test_very_long_words_are_cut_in_the_middle(tmp_path: Path) -> None:
    words = f"no, read this log: {'x' * 500_000} and test first"
    machine = put(tmp_path, corrected("a", words))

    (sent,) = preview(machine, memory(tmp_path), ReflectOrder()).would_send

    assert len(sent.prompt) < 20_000
    assert "no, read this log" in sent.prompt
    assert "and test first" in sent.prompt


def test_what_is_sent_is_what_the_dry_run_showed(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a", SECRET))
    shown = preview(machine, memory(tmp_path), ReflectOrder())
    asked = ScriptedModel([call("reflect", skip=True)])

    reflect(machine, memory(tmp_path), ReflectOrder(), asked, clock=clock())

    (request,) = asked.requests
    assert (prompt_of(request), request.instructions) == (shown.would_send[0].prompt, shown.instructions)


def test_what_nobody_is_asked_about_is_counted_by_why(tmp_path: Path) -> None:  # B.6
    chat = talk([person("count the files")], [model("Seven.")], [person("now sort them")], [model("Sorted.")])
    machine = put(tmp_path, corrected("a", ""), session("b", chat))

    report = preview(machine, memory(tmp_path), ReflectOrder())

    assert report.excluded.keys() <= {NOBODY, NOT_A_STEPIN, WORDLESS}
    assert report.excluded[NOT_A_STEPIN] == 1
    assert sum(report.excluded.values()) == 2


def test_what_becomes_no_rule_is_counted_by_cause_apart_from_skips(tmp_path: Path) -> None:  # B.6, J 79
    machine = put(tmp_path, *(corrected(f"s{number}", f"no, not {number}", day=9 - number) for number in range(3)))

    report = reflected(
        machine,
        memory(tmp_path),
        call("reflect", skip=True),
        lesson_call(about="task", wish="no, not 1"),
        lesson_call(wish="words that nobody said"),
    )

    assert report.skipped == {"no lesson drawn": 1}
    assert report.unlearnable == {f"cause {Cause.ONE_OFF}": 1, f"cause {Cause.UNKNOWN}": 1}


def test_a_bound_ends_between_two_moments_and_what_was_paid_for_is_kept(tmp_path: Path) -> None:
    machine = put(tmp_path, *(corrected(f"s{number}", f"no, not {number}", day=9 - number) for number in range(4)))
    reply = Reply(content=(call("reflect", skip=True),), usage=Usage(input_tokens=60, output_tokens=40))
    order = ReflectOrder(bounds=Bounds(max_tokens=150))

    report = reflected(machine, memory(tmp_path), reply, reply, reply, order=order)

    assert (report.moments, report.left, report.spent.tokens, report.failure) == (2, 2, 200, None)
    assert len(memory(tmp_path).lessons.load().mined) == 2


def test_a_bound_on_money_is_reached_where_nobody_knows_the_price(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a"), corrected("b", "no, not that table"))

    report = reflected(machine, memory(tmp_path), order=ReflectOrder(bounds=Bounds(max_cost=1.0)))

    assert (report.moments, report.left) == (1, 1)
    assert report.ended is not None
    assert "price" in report.ended


def test_a_limit_counts_moments_and_filters_choose_sessions(tmp_path: Path) -> None:
    machine = put(tmp_path, corrected("a"), corrected("b", "no, not that table", cwd=BANK))

    one = preview(machine, memory(tmp_path), ReflectOrder(limit=1))
    bank = preview(machine, memory(tmp_path), ReflectOrder(sessions=SessionFilter(project="bank")))

    assert (one.moments, one.left) == (1, 1)
    assert [sent.session for sent in bank.would_send] == ["b"]


def test_two_who_reflect_at_once_are_one(tmp_path: Path) -> None:  # J 32
    machine = put(tmp_path, corrected("a"))
    asked, goes_on = threading.Event(), threading.Event()

    async def slowly(request: object) -> object:
        asked.set()
        goes_on.wait(30)
        return lesson_call()

    first = threading.Thread(target=lambda: reflected(machine, memory(tmp_path), slowly))  # type: ignore[arg-type]
    first.start()
    assert asked.wait(30)
    with pytest.raises(files.Locked):
        reflected(machine, memory(tmp_path))
    goes_on.set()
    first.join(30)

    assert len(memory(tmp_path).lessons.load().rows) == 1


def test_a_torn_line_costs_that_line_and_its_moment_is_asked_about_again(tmp_path: Path) -> None:  # J 34
    machine = put(tmp_path, corrected("a"))
    reflected(machine, memory(tmp_path))
    file = memory(tmp_path).lessons.file
    torn = file.read_bytes()[:-20]
    file.write_bytes(torn)

    report = reflected(machine, memory(tmp_path))

    assert (report.moments, report.bad_lines) == (1, 1)
    assert file.read_bytes().startswith(torn + b"\n")


def test_what_is_remembered_is_private(tmp_path: Path) -> None:
    reflected(put(tmp_path, corrected("a")), memory(tmp_path))

    folder = memory(tmp_path).folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
