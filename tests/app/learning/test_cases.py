"""Moments as cases: what may be shown of each, where it was, and which rules were in the prompt then."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.app.learning.cases import NOBODY, NOT_A_STEPIN, WORDLESS, Excluded, cases_of, root_of
from handrail.app.machine import Judging
from handrail.app.opening import Opened, Source
from handrail.harnesses import harness
from handrail.journal import events as ev
from handrail.journal.port import number
from handrail.journal.vocabulary import DRIVER, EndReason
from handrail.journal.wire import encode_event
from handrail.learning.moment import Trigger
from handrail.learning.provenance import EvidenceKind, Origin
from handrail.learning.reflecting.reflector import Case, asked_about
from handrail.transcripts.model import Author, Block, Message, Meta, Taint, Text, ToolUse, Transcript, Via
from tests.app.desk import START
from tests.learning.build import agent, bash, call, refused, result, stop, user

FOREIGN = "☠"
CLEAN = Taint()
OUTSIDE = Taint(private=True, untrusted=True)


def _opened(*messages: Message, cwd: str | None = "/srv/shop") -> Opened:
    """A session of ours, with the taint that each message says."""
    body = tuple(
        Message(
            role=message.role,
            content=message.content,
            uid=f"u{place}",
            timestamp=START,
            taint=message.taint if message.taint is not None else CLEAN,
        )
        for place, message in enumerate(messages)
    )
    session = Transcript(Meta(id="s1", cwd=cwd, harness="handrail"), body)
    info = harness("handrail")
    return Opened(
        source=Source(harness="handrail", id="s1", locator=""),
        info=info,
        native=info.codec.from_common(session),
        session=session,
    )


def _cases(opened: Opened, *, candidates: bool = False) -> list[Case]:
    found = cases_of(opened, Judging(), candidates=candidates)
    return [one for one in found if isinstance(one, Case)]


def _only(opened: Opened) -> Case:
    (case,) = _cases(opened)
    return case


def _refused_edit(path: str, taint: Taint = CLEAN) -> Opened:
    return _opened(
        user("change it", taint=taint),
        agent(call("Edit", "e", file_path=path, old_string="a", new_string="b"), bash("b"), taint=taint),
        user(refused("e", "not that file"), result("b"), taint=taint),
        cwd="/srv/shop",
    )


def test_a_refusal_is_about_the_call_that_was_refused_and_its_file() -> None:  # J 12
    case = _only(_refused_edit("/srv/shop/src/deep/a.py"))

    assert case.place.tools == ("Edit",)
    assert case.place.files == ("src/deep/a.py",)
    assert (case.place.repository, case.place.harness) == ("/srv/shop", "handrail")
    assert case.source.at == START


def test_a_steer_is_about_the_calls_of_the_last_response() -> None:
    case = _only(
        _opened(
            user("go"),
            agent(bash("b"), call("Read", "r", file_path="x")),
            user(result("b"), result("r"), Text("no, use the other one", Author.PERSON, via=Via.STEER)),
        )
    )

    assert case.moment.trigger is Trigger.STEER
    assert case.place.tools == ("Bash", "Read")


def test_names_of_tools_that_are_not_the_harnesss_own_are_no_part_of_a_place() -> None:  # A.7
    case = _only(_opened(user("go"), agent(call("mcp__evil__push", "e")), user(refused("e", "not that"))))

    assert case.place.tools == ()


@pytest.mark.parametrize("path", ["/etc/passwd", "../bank/a.py", "a\nb.py", "x" * 300, "<!-- -->", "a\0b;c"])
def test_files_elsewhere_and_names_that_could_not_stand_in_a_prompt_are_no_part_of_a_place(path: str) -> None:
    assert _only(_refused_edit(path)).place.files == ()


def test_files_count_only_where_nothing_untrusted_had_entered() -> None:
    case = _only(_refused_edit("src/a.py", OUTSIDE))

    assert case.evidence.kind is EvidenceKind.USER_TURNS
    assert case.place.files == ()


def test_a_followup_to_an_answer_is_about_no_call() -> None:  # A.7
    opened = _opened(user("go"), agent(bash("b")), user(result("b")), agent("Done."), user("that is wrong, redo it"))

    (case,) = _cases(opened, candidates=True)

    assert (case.moment.trigger, case.place.tools) == (Trigger.FOLLOWUP, ())


def test_where_no_folder_was_recorded_the_place_is_unknown() -> None:
    opened = _opened(user("go"), agent(bash("b")), user(refused("b", "not that")), cwd=None)

    assert _only(opened).place.repository is None


@pytest.mark.parametrize(
    ("cwd", "root"),
    [
        (None, None),
        ("", None),
        ("a\0b", None),
        ("C:\\work\\shop", "C:\\work\\shop"),
        ("relative/shop", "relative/shop"),
        ("/gone/shop/.worktrees/fix/one", "/gone/shop"),
        ("/gone/shop/.claude/worktrees/a", "/gone/shop"),
        ("/gone/shop/src", "/gone/shop/src"),
    ],
)
def test_the_repository_of_a_recorded_folder(cwd: str | None, root: str | None) -> None:
    assert root_of(cwd) == root


def test_a_work_tree_that_is_there_is_asked_what_it_is_part_of(tmp_path: Path) -> None:
    here = tmp_path / "shop" / ".worktrees" / "fix"
    (here / ".git").mkdir(parents=True)

    assert root_of(str(here)) == str(here.resolve())


def test_what_is_no_case_says_why() -> None:
    opened = _opened(
        user("go"),
        agent(bash("b")),
        user(refused("b")),
        agent(bash("c")),
        user(stop()),
        agent("Done."),
        user("and the next one please"),
    )

    found = [one.why for one in cases_of(opened, Judging()) if isinstance(one, Excluded)]

    assert set(found) <= {WORDLESS, NOBODY, NOT_A_STEPIN}
    assert WORDLESS in found


_foreign = st.text(alphabet="ab /_", max_size=6).map(lambda text: f"{text}{FOREIGN}{text}")


def _agent_block() -> st.SearchStrategy[Block]:
    return st.one_of(
        st.builds(Text, _foreign, st.just(Author.MODEL)),
        st.builds(lambda text: ToolUse("b", bash("b", text).call), _foreign),
        st.builds(lambda name: call(name, "x", file_path=name), _foreign),
    )


@given(
    st.lists(_agent_block(), min_size=1, max_size=4),
    _foreign,
    st.text(alphabet="no t", min_size=1, max_size=10),
    st.sampled_from([OUTSIDE, None]),
)
def test_no_byte_of_anybody_else_is_sent_where_it_is_not_known_to_be_clean(
    blocks: list[Block], page: str, words: str, taint: Taint | None
) -> None:
    opened = _opened(
        user("go", taint=OUTSIDE),
        agent(*blocks, taint=taint),
        user(result("b", page), Text(f"no, {words}", Author.PERSON, via=Via.STEER), taint=OUTSIDE),
        agent(*blocks, taint=OUTSIDE),
    )

    for case in _cases(opened, candidates=True):
        asked = asked_about(case)
        assert FOREIGN not in asked.prompt
        assert FOREIGN not in "".join((*case.place.files, *case.place.tools))
        assert case.evidence.origin is Origin.CLEAN


# Which rules were in the prompt


def _journalled(*bodies: ev.Known) -> Opened:
    events = number((ev.SessionOpened(Meta(id="s1", cwd="/srv/shop")), *bodies), after=0, by=DRIVER, at=START)
    info = harness("handrail")
    native = info.codec.parse(b"".join(encode_event(event) + b"\n" for event in events))
    return Opened(
        source=Source(harness="handrail", id="s1", locator=""),
        info=info,
        native=native,
        session=info.codec.to_common(native),
    )


def _run(run: str, prompt: str, rules: tuple[str, ...] | None) -> tuple[ev.Known, ...]:
    said = Text(prompt, Author.PERSON, via=Via.PROMPT)
    answer = Message(role="assistant", content=(Text("Here it is."),))
    return (
        ev.RunStarted(run=run, rules=rules),
        ev.PromptGiven((said,)),
        ev.ModelRequested(request=1, round=1),
        ev.ModelReplied(message=answer),
        ev.RunEnded(run=run, reason=EndReason.ANSWERED),
    )


@pytest.mark.parametrize("rules", [None, (), ("r1", "r2")])
def test_the_rules_of_the_run_that_is_corrected_are_recorded_with_the_moment(rules: tuple[str, ...] | None) -> None:
    opened = _journalled(*_run("a", "count them", rules), *_run("b", "that is wrong, count again", ("r0",)))

    (case,) = _cases(opened, candidates=True)

    assert case.riding == rules


def test_of_other_harnesses_nobody_knows_what_rode() -> None:
    assert _only(_refused_edit("a.py")).riding is None
