"""Checks: what they say of calls and replies, over past sessions, and which specs are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from handrail.learning.checks.history import done_of, past_of
from handrail.learning.checks.judging import Done, Past, changed_paths, judge_call, judge_reply
from handrail.learning.checks.replaying import Tested, occasions, summed
from handrail.learning.checks.spec import (
    AskBefore,
    CallPattern,
    Check,
    Forbid,
    KeepWithin,
    NotACheck,
    Order,
    Reply,
    check_from,
    to_json,
)
from handrail.learning.interventions import find_interventions
from handrail.learning.rules.model import RuleScope
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import (
    Author,
    Block,
    Decision,
    Json,
    Message,
    Meta,
    Refusal,
    RefusalKind,
    Text,
    ToolResult,
    ToolUse,
    Transcript,
)
from tests.corpus import corpus_files

PUSH = CallPattern(tool="Bash", command="git push*")
TESTS = CallPattern(tool="Bash", command="make test*")
COMMIT = CallPattern(tool="Bash", command="git commit*")


def _bash(command: str, id: str = "c1") -> Done:
    return Done(id, "Bash", {"command": command})


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git push", False),
        ("git push origin main", False),
        ("cd x && git push --force", False),
        ("GIT_SSH=x git push", False),
        ("git status", True),
        ("echo 'git push'", True),
    ],
)
def test_a_forbidden_command_is_found_wherever_it_stands_in_a_line(command: str, expected: bool) -> None:
    assert judge_call(Forbid(call=PUSH), _bash(command), Past()) is expected


def test_a_call_of_another_tool_is_no_occasion() -> None:
    assert judge_call(Forbid(call=PUSH), Done("c", "Read", {"file_path": "git push"}), Past()) is None


def test_a_command_given_as_words_is_a_command() -> None:
    shell = Done("c", "shell", {"command": ["git", "push"]})

    assert judge_call(Forbid(call=CallPattern(command="git push*")), shell, Past()) is False


@pytest.mark.parametrize(("since", "expected"), [("session", True), ("person", True), ("change", False)])
def test_what_must_come_first_counts_from_where_the_rule_says(since: str, expected: bool) -> None:
    past = Past()
    past.spoke()
    past.called(_bash("make test", "t"))
    past.ended("t", went_well=True)
    past.called(Done("e", "Edit", {"file_path": "a.py", "old_string": "x", "new_string": "y"}))

    assert judge_call(Order(call=COMMIT, first=TESTS, since=since), _bash("git commit -m x"), past) is expected  # type: ignore[arg-type]


def test_a_first_call_that_failed_did_not_come_first() -> None:
    past = Past()
    past.called(_bash("make test", "t"))
    past.ended("t", went_well=False)

    assert judge_call(Order(call=COMMIT, first=TESTS), _bash("git commit"), past) is False


def test_the_person_speaking_again_starts_the_order_anew() -> None:
    past = Past()
    past.called(_bash("make test", "t"))
    past.ended("t", went_well=True)
    past.spoke()

    assert judge_call(Order(call=COMMIT, first=TESTS, since="person"), _bash("git commit"), past) is False


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/a.py", True),
        ("/repo/src/a.py", True),
        ("./src/a.py", True),
        ("docs/a.md", False),
        ("src/../docs/a.md", False),
    ],
)
def test_changes_are_kept_within_folders(path: str, expected: bool) -> None:
    write = Done("c", "Write", {"file_path": path, "content": "x"})

    assert judge_call(KeepWithin(inside=("src/",)), write, Past()) is expected


def test_one_file_of_a_patch_outside_is_a_violation() -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n*** Add File: vendor/b.py\n*** End Patch"
    call = Done("c", "apply_patch", {"input": patch})

    assert list(changed_paths(call)) == ["src/a.py", "vendor/b.py"]
    assert judge_call(KeepWithin(outside=("vendor/**",)), call, Past()) is False
    assert judge_call(KeepWithin(outside=("third/**",)), call, Past()) is True


def test_reading_is_no_change() -> None:
    assert judge_call(KeepWithin(inside=("src/",)), Done("c", "Read", {"file_path": "x"}), Past()) is None


@pytest.mark.parametrize(
    ("check", "text", "expected"),
    [
        (Reply(without=("you're absolutely right",)), "You're ABSOLUTELY right, sorry.", False),
        (Reply(without=("great question",)), "Done.", True),
        (Reply(with_=("tests pass*", "not run")), "All tests passed.", True),
        (Reply(with_=("tests pass",)), "Done.", False),
        (Reply(words=3), "one two three four", False),
        (Reply(words=3), "  ", None),
    ],
)
def test_replies_are_judged_by_what_they_hold_and_how_long_they_are(
    check: Check, text: str, expected: bool | None
) -> None:
    assert judge_reply(check, text) is expected


# Over past sessions


def _session(*messages: Message) -> Transcript[tuple[Message, ...]]:
    return Transcript(Meta(id="s", harness="handrail"), messages)


def _said(text: str) -> Message:
    return Message(role="user", content=(Text(text, Author.PERSON),))


def _call(id: str, name: str, input: Json) -> Message:
    return Message(role="assistant", content=(ToolUse(id, parse_call(name, input)),))


def _result(id: str, *more: Block, refusal: Refusal | None = None) -> Message:
    return Message(role="user", content=(ToolResult(id, "x", refusal is not None, refusal), *more))


def test_a_call_that_a_person_refused_would_have_been_refused_rightly() -> None:
    session = _session(
        _said("ship it"),
        _call("a", "Bash", {"command": "git push"}),
        _result("a", refusal=Refusal(RefusalKind.DENIED, "person", "not yet")),
        _call("b", "Bash", {"command": "git status"}),
        _result("b"),
    )
    steps = [moment.at for moment in find_interventions(session)]

    found = occasions(Forbid(call=PUSH), session, steps)

    assert [(one.call, one.is_obeyed, one.is_rightly) for one in found] == [("a", False, True), ("b", True, False)]
    assert summed(found) == Tested(occasions=2, fired=1, rightly=1, sessions=1)


def test_a_call_that_policy_blocked_is_no_occasion() -> None:
    session = _session(
        _said("ship it"),
        _call("a", "Bash", {"command": "git push"}),
        _result("a", refusal=Refusal(RefusalKind.BLOCKED, "policy")),
    )

    assert occasions(Forbid(call=PUSH), session) == ()


def test_a_violation_nobody_minded_did_not_fire_rightly() -> None:
    session = _session(_said("ship it"), _call("a", "Bash", {"command": "git push"}), _result("a"), _said("thanks"))

    assert summed(occasions(Forbid(call=PUSH), session, ())).rightly == 0


def test_asking_first_is_told_from_recorded_answers_and_unknown_elsewhere() -> None:
    check = AskBefore(call=PUSH)
    asked = _session(
        _said("go"),
        _call("a", "Bash", {"command": "git push"}),
        _result("a", Decision("a", Author.PERSON, "approve")),
    )
    unknown = _session(_said("go"), _call("a", "Bash", {"command": "git push"}), _result("a"))

    elsewhere = Transcript(Meta(id="s", harness="codex"), unknown.body)

    assert [one.is_obeyed for one in occasions(check, asked)] == [True]
    assert [one.is_obeyed for one in occasions(check, unknown)] == [False]  # ours records every question
    assert occasions(check, elsewhere) == ()


def test_what_was_copied_from_another_session_counts_there() -> None:
    session = _session(_said("go"), replace(_call("a", "Bash", {"command": "git push"}), origin="other"), _result("a"))

    assert occasions(Forbid(call=PUSH), session) == ()


def test_a_rule_for_some_paths_says_nothing_of_changes_elsewhere() -> None:
    check = Forbid(call=CallPattern(tool="Write"))
    scope = RuleScope(paths=("src/**",))
    session = _session(
        _call("a", "Write", {"file_path": "/repo/src/a.py", "content": ""}),
        _result("a"),
        _call("b", "Write", {"file_path": "/repo/docs/b.md", "content": ""}),
        _result("b"),
    )

    assert [one.call for one in occasions(check, session, scope=scope, root="/repo")] == ["a"]


def test_no_occasion_has_no_rate() -> None:
    assert Tested().rate is None
    assert Tested(occasions=4, fired=1).rate == 0.25


@pytest.mark.parametrize("harness", ["claude-code", "codex"])
def test_checks_replay_over_every_real_session(harness: str) -> None:
    from handrail.harnesses import harness as named

    files = corpus_files(harness)
    if not files:
        pytest.skip("there is no corpus here")
    codec = named(harness.replace("-", "_")).codec
    checks = (Forbid(call=PUSH), Order(call=COMMIT, first=TESTS, since="change"), KeepWithin(inside=("src/",)))
    total = Tested()
    for file in files[:40]:
        session = codec.to_common(codec.parse(file.read_bytes()))
        for check in checks:
            total += summed(occasions(check, session, ()))

    assert total.occasions > 0


_COMMANDS = st.sampled_from(["make test", "git commit -m x", "git push", "ls", "cd x && git commit"])
_STEPS = st.lists(st.tuples(st.sampled_from(["call", "failed", "edit", "person"]), _COMMANDS), max_size=12)
_CHECKS = st.sampled_from(
    [
        Forbid(call=PUSH),
        Order(call=COMMIT, first=TESTS),
        Order(call=COMMIT, first=TESTS, since="person"),
        Order(call=COMMIT, first=TESTS, since="change"),
        KeepWithin(outside=("vendor/",)),
    ]
)


@given(_STEPS, _CHECKS)
def test_a_run_and_a_replay_of_it_judge_every_call_alike(steps: list[tuple[str, str]], check: Check) -> None:
    session = _session(*(message for at, step in enumerate(steps) for message in _played(f"c{at}", *step)))
    uses = [block for message in session.body for block in message.content if type(block) is ToolUse]

    live = {
        use.id: verdict
        for use in uses
        if (verdict := judge_call(check, done_of(use), past_of(session.body, until=use.id))) is not None
    }

    assert live == {one.call: one.is_obeyed for one in occasions(check, session)}


def _played(id: str, what: str, command: str) -> tuple[Message, ...]:
    if what == "person":
        return (_said(command),)
    if what == "edit":
        written = {"file_path": f"{command.split()[0]}.py", "content": ""}
        return _call(id, "Write", written), _result(id)
    failed = Message(role="user", content=(ToolResult(id, "no", True),))
    return _call(id, "Bash", {"command": command}), failed if what == "failed" else _result(id)


# Specs


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "forbid", "call": {"tool": "*"}},
        {"kind": "forbid", "call": {"tool": "Bash", "command": " "}},
        {"kind": "order", "call": {"tool": "Bash"}, "first": {"tool": "Bash"}},
        {"kind": "keep_within"},
        {"kind": "keep_within", "inside": []},
        {"kind": "reply"},
        {"kind": "reply", "words": 0},
        {"kind": "reply", "without": ["x" * 501]},
        {"kind": "magic"},
        {"call": {"tool": "Bash"}},
        [],
        None,
    ],
)
def test_what_says_nothing_or_everything_is_no_check(data: Json) -> None:
    with pytest.raises(NotACheck):
        check_from(data)


@given(
    st.one_of(
        st.builds(Forbid, call=st.just(PUSH), among=st.none() | st.just(CallPattern())),
        st.builds(Order, call=st.just(COMMIT), first=st.just(TESTS), since=st.sampled_from(("person", "change"))),
        st.just(AskBefore(call=PUSH)),
        st.builds(KeepWithin, outside=st.just(("vendor/",))),
        st.builds(Reply, with_=st.just(("a",)), words=st.none() | st.integers(1, 99)),
    )
)
def test_a_check_is_read_as_it_was_written(check: Check) -> None:
    assert check_from(to_json(check)) == check


@given(st.text(max_size=200), st.text("ab*\\", max_size=40))
def test_no_pattern_and_no_command_take_for_ever_or_raise(command: str, pattern: str) -> None:
    judge_call(Forbid(call=CallPattern(command=pattern)), _bash(command), Past())
