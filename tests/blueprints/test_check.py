"""What a check finds: a case for every code, each at its line."""

from __future__ import annotations

import re
from typing import Literal

import pytest

from handrail.blueprints.check import problems, problems_of
from handrail.blueprints.checks.known import Known, KnownTool
from handrail.blueprints.forms import from_plain
from handrail.blueprints.problems import CODES, Problem, nearest, spelled
from handrail.blueprints.reading import read_blueprint
from handrail.blueprints.shelf import shipped_names, shipped_text

_TOOLS = (
    KnownTool(name="Read"),
    KnownTool(name="Bash"),
    KnownTool(name="Edit", edits=True),
    KnownTool(name="ask_user_text", asks=True),
    KnownTool(name="ContextWrite", writes_regions=True),
)
_MODELS: dict[str, tuple[Literal["unknown-model", "unreachable-model"], str]] = {
    "nobody:x": ("unknown-model", "no provider is called 'nobody'"),
    "google:x": ("unreachable-model", "no key"),
}
_KNOWN = Known(tools=_TOOLS, strategies=("require_tool", "verify"), judge_model=_MODELS.get)


def _toml(text: str) -> str:
    """``text`` with a stage that has nothing wrong for each line ``@name``, and ``name`` at its head."""
    stage = r'[[stages]]\nname = "\1"\ninstructions = "Do it."\nlimits.max_rounds = 9'
    return 'name = "b"\n' + re.sub(r"^@(\S+)$", stage, text, flags=re.MULTILINE)


def _check(text: str) -> tuple[Problem, ...]:
    return problems_of(read_blueprint(_toml(text).encode(), "toml"), known=_KNOWN)


_POINT = '[[stages.points]]\nname = "p"\nprompt = "Good?"\n'
_CHOICE = 'style = "multiple_choice"\noptions = ["Go", "Stop"]\nabort_options = ["Stop"]\n'

_CASES: dict[str, tuple[str, str]] = {
    "unreadable": ("@a\n= 1", ""),
    "unknown-key": ("colour = 1\n@a", "colour"),
    "missing-key": ("@a\n[[stages]]", "stages[1].name"),
    "bad-value": ("@a\nmax_visits = 0", "stages[0].max_visits"),
    "duplicate-stage": ("@a\n@a", "stages[1].name"),
    "duplicate-region": (
        '[[regions]]\nname="r"\nkind="pinned"\n[[regions]]\nname="r"\nkind="keyed"\n@a',
        "regions[1].name",
    ),
    "duplicate-point": (f"@a\n{_POINT}{_POINT}", "stages[0].points[1].name"),
    "reserved-name": ("@a\n@end", "stages[1].name"),
    "unknown-stage": ('@alpha\nedges = [{ to = "alhpa" }]', "stages[0].edges[0].to"),
    "unknown-region": ('@a\nregions = ["paln"]\n[[regions]]\nname="plan"\nkind="pinned"', "stages[0].regions[0]"),
    "unseen-region": (
        '[[regions]]\nname="r"\nkind="pinned"\n@a\nregions = []\nseeds = { r = "task" }\n@b',
        "stages[0].seeds.r",
    ),
    "not-a-checklist": (
        '[[regions]]\nname="r"\nkind="pinned"\n@a\n'
        'edges = [{ to = "end", when = "region", region = "r", has_open_items = false }, { to = "end" }]',
        "stages[0].edges[0].region",
    ),
    "no-end": ('@a\nedges = [{ to = "b" }]\n@b\nmax_visits = 2\nedges = [{ to = "a" }]', "stages"),
    "endless-self-loop": (
        '@a\nedges = [{ to = "a", when = "tool", tool = "Bash" }, { to = "end" }]\ntools=["Bash"]',
        "stages[0]",
    ),
    "no-default": (
        '@a\nedges = [{ to = "b", when = "model" }, { to = "end", when = "model" }]\n@b',
        "stages[0].edges[0]",
    ),
    "several-defaults": (
        '@a\n[[stages.edges]]\nto = "b"\nwhen = "model"\nis_default = true\n'
        '[[stages.edges]]\nto = "end"\nwhen = "model"\nis_default = true\n@b',
        "stages[0].edges[1].is_default",
    ),
    "unknown-tool": ('@a\ntools = ["Read", "bassh"]', "stages[0].tools[1]"),
    "unknown-strategy": ('@a\nstrategies = ["verify:make", "veryfy"]', "stages[0].strategies[1]"),
    "required-tool-missing": ('@a\ntools = ["Read"]\nstrategies = ["require_tool:Edit"]', "stages[0].strategies[0]"),
    "permission-for-no-tool": (
        '@a\ntools = ["Read"]\npermissions = { ask = ["Bash"] }',
        "stages[0].permissions.ask[0]",
    ),
    "edge-of-no-tool": (
        '@a\ntools = ["Read"]\nedges = [{ to = "end", when = "tool", tool = "Bash" }, { to = "end" }]',
        "stages[0].edges[0].tool",
    ),
    "worker-not-flagged": ('@a\nfan_out = { stage = "w", merge = "m" }\n@m\n@w', "stages[2]"),
    "way-to-a-worker": ('@a\nedges = [{ to = "w" }, { to = "end" }]\n@w\nis_worker = true', "stages[0].edges[0].to"),
    "fan-out-of-itself": (
        '@a\nfan_out.stage = "w"\n@w\nis_worker = true\nfan_out.stage = "w"',
        "stages[1].fan_out.stage",
    ),
    "bad-schema": ('@a\noutput.schema = { type = "objekt" }', "stages[0].output.schema.type"),
    "slow-pattern": ('@a\noutput.schema = { type = "string", pattern = "(a+)+b" }', "stages[0].output.schema.pattern"),
    "budgets-above-all": (
        '[[regions]]\nname="r"\nkind="pinned"\nbudget="60%"\nmax_tokens=1\n'
        '[[regions]]\nname="q"\nkind="pinned"\nbudget="50%"\nmax_tokens=1\n@a',
        "stages[0]",
    ),
    "too-little-room": ('[[regions]]\nname="r"\nkind="pinned"\nmax_tokens=195000\n@a', "stages[0]"),
    "document-not-pinned": (
        f'[[regions]]\nname="r"\nkind="keyed"\n@a\n{_POINT}document_region = "r"',
        "stages[0].points[0].document_region",
    ),
    "unreachable-stage": ("@a\nedges = []\n@b", "stages[1]"),
    "no-way-out": (
        '@a\nedges = [{ to = "b", when = "error" }, { to = "end" }]\n@b\nmax_visits = 2\nedges = [{ to = "b" }]',
        "stages[1]",
    ),
    "endless-cycle": (
        '@a\n@b\ntools = ["Bash"]\nedges = [{ to = "a", when = "tool", tool = "Bash" }, { to = "end" }]',
        "stages[0]",
    ),
    "dead-end": ('@a\ntools = ["Bash"]\nedges = [{ to = "end", when = "tool", tool = "Bash" }]', "stages[0].edges"),
    "edge-never-taken": (
        '@a\ntools = ["Bash"]\nedges = [{ to = "end" }, { to = "b", when = "tool", tool = "Bash" }]\n@b',
        "stages[0].edges[1]",
    ),
    "duplicate-edge": (
        '@a\nedges = [{ to = "end", when = "error" }, { to = "end", when = "error" }, { to = "end" }]',
        "stages[0].edges[1]",
    ),
    "nothing-to-choose": ('@a\nedges = [{ to = "end", when = "model", is_default = true }]', "stages[0].edges[0]"),
    "approval-binds-no-edge": (
        '@a\nedges = [{ to = "b", when = "model", is_default = true }, { to = "end", when = "model" }]\n'
        f"{_POINT}{_CHOICE}@b",
        "stages[0].points[0]",
    ),
    "no-limit": ('[[stages]]\nname = "a"\ninstructions = "Go."', "stages[0]"),
    "never-stuck": (
        '@a\ntools = ["Read"]\nedges = [{ to = "end", when = "stuck", same_file_edits = 3 }, { to = "end" }]',
        "stages[0].edges[0].same_file_edits",
    ),
    "shell-without-rule": ('@a\ntools = ["Bash"]', "stages[0].tools"),
    "asks-while-unattended": ('[unattended]\n@a\ntools = ["ask_user_text"]', "stages[0].tools"),
    "waits-while-unattended": (f"[unattended]\n@a\n{_POINT}", "stages[0].points[0]"),
    "unknown-model": ('models = ["nobody:x"]\n@a', "models[0]"),
    "unreachable-model": ('@a\nmodels = ["openai:x", "google:x"]', "stages[0].models[1]"),
    "region-never-seen": ('[[regions]]\nname="r"\nkind="pinned"\n@a\nregions = []', "regions[0]"),
    "region-never-written": (
        '[[regions]]\nname="r"\nkind="pinned"\nrequired=true\n@a\ntools=["Read"]',
        "regions[0].required",
    ),
    "unbounded-budget": ('[[regions]]\nname="r"\nkind="pinned"\nbudget="10%"\n@a', "regions[0].budget"),
    "document-too-small": (
        f'[[regions]]\nname="r"\nkind="pinned"\nmax_tokens=500\n@a\n{_POINT}document_region = "r"',
        "stages[0].points[0].document_region",
    ),
    "summed-up": (
        '[[regions]]\nname="r"\nkind="compacting"\n@a\noutput = { schema = { type = "string" }, region = "r" }',
        "stages[0].output.region",
    ),
    "unknown-field": (
        '@a\nedges = [{ to = "end", when = "output", field = "verdikt", equals = 1 }, { to = "end" }]\n'
        "[stages.output.schema.properties.verdict]\nenum = [1]",
        "stages[0].edges[0].field",
    ),
    "no-escape": ('@a\nfan_out = { agent = "x", on_failure = "fail" }', "stages[0].fan_out.on_failure"),
    "output-skipped": (
        '@a\nedges = [{ to = "b", when = "model", is_default = true }, { to = "end", when = "model" }]\n'
        '@b\noutput.schema = { type = "string" }',
        "stages[0].edges[1]",
    ),
    "no-instructions": ('limits.max_rounds = 9\n[[stages]]\nname = "a"', "stages[0]"),
    "looks-like-regex": (
        '@a\nedges = [{ to = "end", when = "output", matches = "fail.*" }, { to = "end" }]',
        "stages[0].edges[0].matches",
    ),
    "worker-with-points": (f'@a\nfan_out.stage = "w"\n@w\nis_worker = true\n{_POINT}', "stages[1].points"),
    "holds-unattended": (f'[unattended]\n@a\n{_POINT}remind_after = "1d"', "stages[0].points[0]"),
    "permissions-declared": (
        '@a\ntools = ["Bash"]\npermissions = { allow = ["Bash(command=ls *)"] }',
        "stages[0].permissions.allow",
    ),
    "command-seed": (
        '[[regions]]\nname="r"\nkind="pinned"\nseed = { command = ["git", "log"] }\n@a',
        "regions[0].seed",
    ),
    "unchecked-tool": ('@a\ntools = ["mcp__git__log"]', "stages[0].tools[0]"),
}
"""What is wrong, by code: a blueprint that has it, and where."""


def test_there_is_a_case_for_every_code() -> None:
    assert _CASES.keys() == CODES.keys()


@pytest.mark.parametrize("code", sorted(_CASES))
def test_each_code_is_found_at_its_place(code: str) -> None:
    """A 9, A 10 and the interaction lints listed after them, as far as they are not a point's own."""
    text, path = _CASES[code]
    found = [problem for problem in _check(text) if problem.code == code]
    assert [problem.path for problem in found] == [path]
    assert found[0].level == CODES[code][0]
    assert found[0].line is not None


@pytest.mark.parametrize("code", sorted(_CASES.keys() - {"unreadable", "missing-key", "bad-value", "unknown-key"}))
def test_a_blueprint_without_a_file_is_checked_the_same(code: str) -> None:
    blueprint = read_blueprint(_toml(_CASES[code][0]).encode(), "toml").blueprint
    assert blueprint is not None
    found = [problem for problem in problems(blueprint, known=_KNOWN) if problem.code == code]
    assert [(problem.path, problem.line) for problem in found] == [(_CASES[code][1], None)]


def test_a_blueprint_with_nothing_wrong_has_no_problems() -> None:
    assert _check("@a\n@b") == ()


@pytest.mark.parametrize("name", shipped_names())
def test_what_ships_has_neither_errors_nor_warnings(name: str) -> None:
    found = problems_of(read_blueprint(shipped_text(name), "toml"))
    assert [problem for problem in found if problem.level != "note"] == []


@pytest.mark.parametrize(
    ("text", "code", "suggestion"),
    [
        ("colour = 1\nversio = '2'\n@a", "unknown-key", "version"),
        ('@alpha\nedges = [{ to = "alhpa" }]', "unknown-stage", "alpha"),
        ('@a\ntools = ["read"]', "unknown-tool", "Read"),
        ('@a\nstrategies = ["require-tool:Read"]', "unknown-strategy", "require_tool"),
        ('@a\n[[stages.edges]]\nto = "end"\nwhen = "allways"', "bad-value", "always"),
        ('[[regions]]\nname = "r"\nkind = "pined"\n@a', "bad-value", "pinned"),
        ('@a\n[[stages.points]]\nname="p"\nprompt="?"\nstyle="multiple-choice"', "bad-value", "multiple_choice"),
        ('[[stages]]\nname = "my stage"', "bad-value", "my-stage"),
    ],
)
def test_what_was_probably_meant_is_suggested(text: str, code: str, suggestion: str) -> None:
    assert suggestion in {problem.suggestion for problem in _check(text) if problem.code == code}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('options = ["Go", "Stay"]\nabort_options = ["Stop"]\nstyle="multiple_choice"', "abort_options[0]"),
        ('options = ["Go", "G\\to"]\nstyle="multiple_choice"', ""),
        ('options = ["Re - do", "Re – do"]\nstyle="multiple_choice"', "options[1]"),
        ('options = ["Go"]\nstyle="multiple_choice"', "options"),
        ('options = ["Go", "Stay"]\nstyle="confirm"', "options"),
        (
            'options = ["Go", "Stay"]\nstyle="multiple_choice"\nedit_options=["Go"]\nabort_options=["Go"]',
            "abort_options",
        ),
        ('options = ["A", "B"]\nstyle="multiple_choice"\nedit_options=["A"]\nabort_options=["B"]', "options"),
    ],
)
def test_what_a_point_declares_against_itself_is_found_in_the_file(text: str, path: str) -> None:
    """H 4, H 7, H 8 and the interaction lints of A 10."""
    found = {problem.path for problem in _check(f"@a\n{_POINT}{text}") if problem.level == "error"}
    assert found == ({f"stages[0].points[0].{path}"} if path else set())


def test_every_problem_is_told_at_once_and_in_the_order_of_lines() -> None:
    text = (
        'colour = 1\n@a\ntools = ["Reed"]\nedges = [{ to = "nowhere" }]\nmax_visits = "x"\n@b\n@b\n'
        + _POINT
        + "styl = 1"
    )
    found = [(problem.line, problem.code) for problem in _check(text) if problem.level == "error"]
    assert found == [
        (2, "unknown-key"),
        (7, "unknown-tool"),
        (8, "unknown-stage"),
        (9, "bad-value"),
        (15, "duplicate-stage"),
        (21, "unknown-key"),
    ]


def test_a_fault_behind_a_fault_is_told_too() -> None:
    region = '[[regions]]\nname = "r"\nkind = "pined"\nbudgett = 1'
    text = f'{region}\n@a\n[[stages.edges]]\nto = "a"\nwhen = "stuk"\nroundz = 3'
    found = {(problem.path, problem.suggestion) for problem in _check(text)}
    assert found >= {
        ("regions[0].kind", "pinned"),
        ("regions[0].budgett", "budget"),
        ("stages[0].edges[0].when", "stuck"),
        ("stages[0].edges[0].roundz", "rounds"),
    }


def test_what_could_not_be_read_raises_no_false_alarm() -> None:
    found = _check('@a\nedges = [{ to = "b", when = 3 }]\n[[stages]]\nnamee = "b"')
    assert {problem.code for problem in found} == {"bad-value", "missing-key", "unknown-key"}


def test_row_40_a_document_region_that_is_not_declared_is_an_error() -> None:
    (problem,) = (one for one in _check(f'@a\n{_POINT}document_region = "paln"') if one.level == "error")
    assert (problem.code, problem.path) == ("unknown-region", "stages[0].points[0].document_region")


def test_a_name_that_leads_nowhere_is_told_beside_other_faults_unless_a_name_there_was_not_read() -> None:
    def found(regions: str) -> list[str]:
        text = f'{regions}\n@a\nregions = ["plan"]'
        return [problem.code for problem in _check(text) if problem.level == "error"]

    assert found('[[regions]]\nname = "paln"\nkind = "pined"') == ["bad-value", "unknown-region"]
    assert found('[[regions]]\nnmae = "plan"\nkind = "pinned"') == ["missing-key", "unknown-key"]


def test_a_person_who_sends_a_run_back_is_no_endless_cycle() -> None:
    text = f'@a\n@b\n{_POINT}style = "multiple_choice"\noptions = ["Go", "Back"]\ngoto = {{ Back = "a" }}\n'
    assert _check(text) == ()


def test_visits_of_one_stage_bound_every_cycle_through_it() -> None:
    text = (
        '@a\n@b\nmax_visits = 3\ntools = ["Read"]\nedges = [{ to = "a", when = "tool", tool = "Read" }, { to = "end" }]'
    )
    codes = {problem.code for problem in _check(text)}
    assert "endless-cycle" not in codes
    assert "dead-end" in codes  # a leads to b alone, and b may have been visited three times


def test_a_fallback_behind_bounded_visits_is_no_alternative_and_no_shadow() -> None:
    text = f'@a\nedges = [{{ to = "b" }}, {{ to = "end" }}]\n{_POINT}{_CHOICE}@b\nmax_visits = 2\n'
    assert _check(text) == ()


def test_a_window_decides_how_much_regions_leave() -> None:
    blueprint = from_plain(
        {"name": "b", "regions": [{"name": "r", "kind": "pinned", "max_tokens": 30_000}], "stages": [{"name": "a"}]}
    )
    codes = [
        {problem.code for problem in problems(blueprint, known=Known(window=window))}
        for window in (19_000, 32_000, 38_000)
    ]
    assert ["too-little-room" in found for found in codes] == [False, True, False]


def test_a_name_that_is_like_none_is_not_guessed() -> None:
    assert nearest("zzzz", ["Read", "Bash"]) is None
    assert nearest("READ", ["Read", "Bash"]) == "Read"


def test_places_are_spelled_as_a_reader_writes_them() -> None:
    assert spelled(("stages", 0, "goto", "Plan again", 3)) == 'stages[0].goto."Plan again"[3]'
