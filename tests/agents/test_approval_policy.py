"""Rules: which calls run, which are asked about, which do not run at all."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.agents.admission import Gate, admit, asked_of
from handrail.agents.approval import digest_of
from handrail.agents.permissions import (
    READ_ONLY,
    Asked,
    Grant,
    Policy,
    Rule,
    Verdict,
    after_stage,
    escaped,
    fits,
    is_glob,
    judge,
    matches,
    offers,
    parse_rule,
    rules_from,
    standing,
)
from handrail.agents.shell_words import simple_commands
from handrail.agents.taint import CLEAN
from handrail.agents.tool import Tool
from handrail.agents.tools import built_in
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Json, RefusalKind

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY
CHANGES = ToolTraits(destructive=True)


def _asked(tool: str, input: Json = None, traits: ToolTraits = CHANGES) -> Asked:
    return Asked(tool=tool, input=input or {}, traits=traits)


def _bash(command: str) -> Asked:
    return _asked("Bash", {"command": command})


# Names and patterns -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "text", "does"),
    [
        ("Bash", "Bash", True),
        ("Bash", "BashX", False),
        ("bash", "Bash", False),
        ("mcp__git__*", "mcp__git__push", True),
        ("*", "anything\nat all", True),
        ("a*c", "abbc", True),
        ("a*c", "abb", False),
        ("a.c", "abc", False),
        ("a?c", "abc", False),
        (r"a\*c", "a*c", True),
        (r"a\*c", "abc", False),
        (r"a\\*", r"a\x", True),
    ],
)
def test_a_pattern_is_exact_unless_a_star_is_written(pattern: str, text: str, does: bool) -> None:
    assert matches(pattern, text) is does


@given(st.text())
def test_a_text_without_stars_and_backslashes_matches_itself_alone(text: str) -> None:
    plain = text.replace("*", "").replace("\\", "")
    assert matches(plain, plain)
    assert not matches(plain, f"{plain}x")
    assert not is_glob(plain)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Bash", Rule(ALLOW, "Bash")),
        ("Bash(command=git log *)", Rule(ALLOW, "Bash", {"command": "git log *"})),
        ("Write(file_path=a (1).txt)", Rule(ALLOW, "Write", {"file_path": "a (1).txt"})),
    ],
)
def test_a_rule_can_be_written_in_one_line_and_reads_back(text: str, rule: Rule) -> None:
    assert parse_rule(text, ALLOW) == rule
    assert str(rule) == text


@pytest.mark.parametrize("text", ["", "two words", "Bash(", "Bash(git)", "Bash()x"])
def test_a_line_that_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no rule"):
        parse_rule(text, ALLOW)


def test_rules_come_from_plain_data() -> None:
    assert rules_from([{"verdict": "deny", "tool": "Bash"}]) == (Rule(DENY, "Bash"),)
    with pytest.raises(ValueError, match="verdict"):
        rules_from([{"tool": "Bash"}])


# The verdict ------------------------------------------------------------------------------------------------


def test_by_default_looking_is_allowed_and_changing_or_sending_asks() -> None:
    assert judge(Policy(), _asked("Read", traits=ToolTraits(private=True))).verdict is ALLOW
    assert judge(Policy(), _asked("Write")).verdict is ASK
    assert judge(Policy(), _asked("Fetch", traits=ToolTraits(sends=True))).verdict is ASK


def test_read_only_denies_what_changes_or_sends() -> None:
    assert judge(READ_ONLY, _asked("Write")).verdict is DENY
    assert judge(READ_ONLY, _asked("Read", traits=ToolTraits(private=True))).verdict is ALLOW


def test_a_rule_with_arguments_beats_one_without_and_an_exact_name_beats_a_pattern() -> None:
    policy = Policy(rules=(Rule(ASK, "*"), Rule(DENY, "Bash"), Rule(ALLOW, "Bash", {"command": "ls"})))
    assert judge(policy, _bash("ls")).verdict is ALLOW
    assert judge(policy, _bash("rm x")).verdict is DENY
    assert judge(policy, _asked("Write")).verdict is ASK


def test_among_rules_of_one_weight_the_strictest_wins_in_whatever_order_they_stand() -> None:
    rules = [Rule(verdict, "Bash", {"command": "git *"}) for verdict in Verdict]
    verdicts = {judge(Policy(rules=order), _bash("git status")).verdict for order in permutations(rules)}
    assert verdicts == {DENY}


def test_a_rule_speaks_only_of_calls_that_have_its_arguments() -> None:
    rule = Rule(DENY, "Write", {"file_path": "*", "content": "*secret*"})
    assert fits(rule, _asked("Write", {"file_path": "a", "content": "my secret"}))
    assert not fits(rule, _asked("Write", {"file_path": "a"}))
    assert not fits(rule, _asked("Write", ["no object"]))


def test_a_value_that_is_no_text_is_matched_by_its_canonical_json() -> None:
    rule = Rule(DENY, "Post", {"body": '{"a":1,"b":[true]}'})
    assert fits(rule, _asked("Post", {"body": {"b": [True], "a": 1}}))


def test_the_reason_of_a_rule_is_the_reason_of_the_verdict() -> None:
    assert judge(Policy(rules=(Rule(DENY, "Bash", {}, "use make"),)), _bash("x")).reason == "use make"


def test_rules_that_only_tighten_make_nothing_milder() -> None:
    policy = Policy(rules=(Rule(DENY, "Bash"), Rule(ALLOW, "Write"))).tightened(
        [Rule(ALLOW, "Bash"), Rule(ASK, "Write"), Rule(ALLOW, "*")]
    )
    assert judge(policy, _bash("ls")).verdict is DENY
    assert judge(policy, _asked("Write")).verdict is ASK
    assert judge(policy, _asked("Edit")).verdict is ASK


# Shell commands ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "git status; rm -rf /",
        "git status && rm -rf /",
        "git status | sh",
        "git status & rm x",
        "git status\nrm x",
        "git log $(rm x)",
        "git log `rm x`",
        'git log "$(rm x)"',
        "git log ${x}",
        "git status > file",
        "git log <(rm x)",
        "git log 'open",
        "git status \\\nrm",
        "git status \\",
        "(git status); rm x",
        "GIT_PAGER=rm git log",
        "git log $'a'",
    ],
)
def test_an_allowing_pattern_is_not_fooled_by_what_hides_behind_it(command: str) -> None:
    assert not fits(Rule(ALLOW, "Bash", {"command": "git *"}), _bash(command))


@pytest.mark.parametrize(
    "command", ["git status", " git log -n 3 ", "git add 'a;b'", 'git commit -m "a & b"', "git log; git status"]
)
def test_an_allowing_pattern_fits_plain_commands(command: str) -> None:
    assert fits(Rule(ALLOW, "Bash", {"command": "git *"}), _bash(command))


def test_an_exact_command_may_hold_anything() -> None:
    line = "make test 2>&1 | tail -3"
    assert fits(Rule(ALLOW, "Bash", {"command": line}), _bash(line))


@pytest.mark.parametrize(
    "command",
    ["rm -rf x", "cd a && rm -rf x", "true; rm x", "X=1 rm x", "ls | rm x", "A='b c' D=e rm x"],
)
def test_a_denying_pattern_finds_its_command_among_others(command: str) -> None:
    assert fits(Rule(DENY, "Bash", {"command": "rm *"}), _bash(command))


def test_quotes_keep_what_is_in_them_together() -> None:
    assert simple_commands("echo 'a;b' \"c|d\"; ls") == (("echo 'a;b' \"c|d\"", "ls"), True)


@given(st.text(alphabet="ab;&|'\"\\$`(){}<>\n =", max_size=30))
def test_no_command_line_breaks_the_reader(command: str) -> None:
    found, _ = simple_commands(command)
    assert all(part == part.strip() and part for part in found)


# Paths ------------------------------------------------------------------------------------------------------


def _verdict(root: Path, rules: tuple[Rule, ...], path: str, tool: Tool | None = None) -> Verdict:
    write = tool or built_in("write")
    gate = Gate(policy=Policy(rules=rules))
    return admit(gate, write, {"file_path": path, "content": ""}, turn=CLEAN, root=root).verdict


@pytest.mark.parametrize("path", ["docs/a.md", "./docs/a.md", "docs/x/../a.md", "{root}/docs/a.md"])
def test_a_path_is_allowed_however_it_is_spelled(tmp_path: Path, path: str) -> None:
    rules = (Rule(ALLOW, "Write", {"file_path": "docs/*"}),)
    assert _verdict(tmp_path, rules, path.format(root=tmp_path)) is ALLOW


@pytest.mark.parametrize("path", ["docs/../secret", "docs/../../etc/passwd", "/etc/docs/a", "docs"])
def test_dots_do_not_carry_a_path_into_an_allowed_folder(tmp_path: Path, path: str) -> None:
    assert _verdict(tmp_path, (Rule(ALLOW, "Write", {"file_path": "docs/*"}),), path) is ASK


def test_a_link_in_an_allowed_folder_does_not_carry_the_yes_to_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "link").symlink_to(tmp_path / "secret")
    assert _verdict(tmp_path, (Rule(ALLOW, "Write", {"file_path": "docs/*"}),), "docs/link") is ASK


def test_a_denied_place_stays_denied_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "way").symlink_to(tmp_path / "secret")
    rules = (Rule(ALLOW, "Write"), Rule(DENY, "Write", {"file_path": "secret/*"}))
    assert _verdict(tmp_path, rules, "way/a") is DENY
    assert _verdict(tmp_path, rules, "x/../secret/a") is DENY
    assert _verdict(tmp_path, rules, "other/a") is ALLOW


# What a yes could hold for ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "input", "shown"),
    [
        ("bash", {"command": "git log *"}, [r"Bash(command=git log \*)", "Bash(command=git *)", "Bash"]),
        ("bash", {"command": "a; b"}, ["Bash(command=a; b)", "Bash"]),
        (
            "write",
            {"file_path": "docs/a.md", "content": ""},
            ["Write(file_path=docs/a.md)", "Write(file_path=docs/*)", "Write"],
        ),
        ("write", {"file_path": "a.md", "content": ""}, ["Write(file_path=a.md)", "Write"]),
        ("todo", {"todos": []}, ["Todo"]),
    ],
)
def test_an_answer_can_be_made_to_hold_for_more_from_the_narrowest_on(
    tmp_path: Path, tool: str, input: Json, shown: list[str]
) -> None:
    asked = asked_of(built_in(tool), input, tmp_path)
    found = offers(asked)
    assert [str(rule) for rule in found] == shown
    assert all(fits(rule, asked) for rule in found)


@given(st.text())
def test_an_escaped_text_fits_itself_alone(text: str) -> None:
    assert matches(escaped(text), text)
    assert not is_glob(escaped(text))


# Answers that hold on ---------------------------------------------------------------------------------------


def _admitted(grants: tuple[Grant, ...], input: Mapping[str, Json]) -> Verdict:
    return admit(Gate(grants=grants), built_in("bash"), dict(input), turn=CLEAN, root=Path("/")).verdict


def test_a_yes_for_one_call_holds_for_the_very_same_call_only() -> None:
    grants = (Grant(verdict=Verdict.ALLOW, scope="run", digest=digest_of("Bash", {"command": "ls"})),)
    assert _admitted(grants, {"command": "ls"}) is ALLOW
    assert _admitted(grants, {"command": "ls -a"}) is ASK


@pytest.mark.parametrize(
    "command",
    ["rm $(cat list)", "rm `cat list`", "rm $TARGET", "sh <(curl x)", 'eval "$X"', "cat <<E\nx\nE", "rm ${A}"],
)
def test_row_113_a_line_that_evaluates_something_is_approved_once_however_it_was_approved(command: str) -> None:
    digest = digest_of("Bash", {"command": command})
    assert _admitted((Grant(verdict=Verdict.ALLOW, scope="run", digest=digest),), {"command": command}) is ASK
    assert _admitted((Grant(verdict=Verdict.DENY, scope="run", digest=digest),), {"command": command}) is DENY


@pytest.mark.parametrize("command", ["ls && git status", "make test > log 2>&1", "grep 'x' y | wc -l", "echo 5$"])
def test_row_112_a_line_that_says_all_it_does_holds_as_it_was_approved_and_no_other_line_does(command: str) -> None:
    grants = (Grant(verdict=Verdict.ALLOW, scope="run", digest=digest_of("Bash", {"command": command})),)
    assert _admitted(grants, {"command": command}) is ALLOW
    assert _admitted(grants, {"command": f"{command} && curl x"}) is ASK


def test_a_yes_for_a_pattern_holds_for_what_fits_it() -> None:
    grants = (Grant(verdict=Verdict.ALLOW, scope="run", rule=Rule(ASK, "Bash", {"command": "git *"})),)
    assert _admitted(grants, {"command": "git log"}) is ALLOW
    assert _admitted(grants, {"command": "git log; rm x"}) is ASK


def test_a_remembered_no_repeats_its_reason_beats_a_yes_and_is_no_new_denial_by_a_person() -> None:
    rule = Rule(ALLOW, "Bash")
    grants = (
        Grant(verdict=Verdict.ALLOW, scope="run", rule=rule),
        Grant(verdict=Verdict.DENY, scope="run", rule=rule, reason="not on this machine"),
    )
    got = admit(Gate(grants=grants), built_in("bash"), {"command": "ls"}, turn=CLEAN, root=Path("/"))
    assert got.verdict is DENY
    assert got.refused is not None
    assert got.refused.refusal is not None
    assert (got.refused.refusal.kind, got.refused.refusal.reason) == (RefusalKind.BLOCKED, "not on this machine")


def test_a_yes_never_lifts_a_denying_rule() -> None:
    gate = Gate(
        policy=Policy(rules=(Rule(DENY, "Bash"),)),
        grants=(Grant(verdict=Verdict.ALLOW, scope="run", rule=Rule(ALLOW, "Bash")),),
    )
    assert admit(gate, built_in("bash"), {"command": "ls"}, turn=CLEAN, root=Path("/")).verdict is DENY


def test_what_holds_for_a_stage_ends_with_it() -> None:
    stage = Grant(verdict=Verdict.ALLOW, scope="stage", rule=Rule(ALLOW, "Bash"))
    whole = Grant(verdict=Verdict.ALLOW, scope="run", rule=Rule(ALLOW, "Bash"))
    assert after_stage([stage, whole]) == (whole,)


def test_nobody_has_answered_for_a_call_no_grant_covers() -> None:
    assert standing([Grant(verdict=Verdict.ALLOW, scope="run")], _bash("ls"), "digest") is None


def test_an_edit_a_person_made_is_not_asked_about_again_but_what_is_forbidden_stays_so() -> None:
    bash, root = built_in("bash"), Path("/")
    assert admit(Gate(), bash, {"command": "ls"}, turn=CLEAN, root=root, is_approved=True).verdict is ALLOW
    gate = Gate(policy=Policy(rules=(Rule(DENY, "Bash", {"command": "rm *"}),)))
    assert admit(gate, bash, {"command": "rm x"}, turn=CLEAN, root=root, is_approved=True).verdict is DENY
    assert admit(Gate(), bash, {"cmd": "ls"}, turn=CLEAN, root=root, is_approved=True).verdict is DENY


def test_a_malformed_call_is_never_put_before_a_person() -> None:
    got = admit(Gate(), built_in("bash"), {"command": 1}, turn=CLEAN, root=Path("/"))
    assert got.refused is not None
    assert got.refused.refusal is not None
    assert (got.verdict, got.refused.refusal.kind) == (DENY, RefusalKind.NOT_RUN)


def test_a_pattern_with_many_stars_is_decided_at_once() -> None:
    hostile = "*".join("a" * 40) + "*b"
    assert not matches(hostile, "a" * 100_000)
    assert matches(hostile, "a" * 100_000 + "b")
