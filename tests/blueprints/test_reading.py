"""Files as they come: broken, foreign, hostile. A clear word with a line, and soon."""

from __future__ import annotations

import pytest

from handrail.blueprints.check import problems_of
from handrail.blueprints.problems import Problem
from handrail.blueprints.reading import MAX_BYTES, Form, read_blueprint
from handrail.blueprints.toml import BlueprintError, NoToml, parse_json, parse_toml, render_json, render_toml
from handrail.blueprints.toml_places import MAX_DEPTH, find_places

_STAGE = b'name = "b"\n[[stages]]\nname = "a"\n'


def _first(raw: bytes, form: Form = "toml") -> Problem:
    return problems_of(read_blueprint(raw, form))[0]


@pytest.mark.parametrize(
    ("raw", "line", "words"),
    [
        (b"", 1, "'name' is missing"),
        (b'name = "b"\n= 1', 2, "not TOML"),
        (b'name = "b"\nname = "c"', 2, "overwrite"),
        (b'name = "b"\n[limits]\nmax_rounds = 1\n[limits]\n', 4, "not TOML"),
        (b'name = "b\xff"', 1, "not UTF-8"),
        (b'a = 1\nb = "\xe2\x82"', 2, "not UTF-8"),
        (b"\xff\xfen\x00a\x00", 1, "not UTF-8"),
        (b'name = "b\x00"', 1, "not TOML"),
        (b"when = 2026-13-41", 1, "not TOML"),
        (b'text = """never closed', 1, "not TOML"),
        (b"\x7fELF\x02\x01", 1, "not TOML"),
        (b'{"name": "b"}', 1, "not TOML"),
        (b"a = " + b"[" * 50_000, 1, f"deeper than {MAX_DEPTH}"),
        (b"a = " + b"{a=" * 50_000, 1, f"deeper than {MAX_DEPTH}"),
        (b"x = 1\n" + b"a." * 50_000 + b"a = 1", 2, f"deeper than {MAX_DEPTH}"),
        (b"[" + b"a." * 50_000 + b"a]", 1, f"deeper than {MAX_DEPTH}"),
        (b"#" * (MAX_BYTES + 1), None, "more than 262,144 bytes"),
        (b"a = 1" + b"0" * 10_000, 1, "not TOML"),
    ],
    ids=range(18),
)
def test_a_file_that_cannot_be_read_is_told_with_its_line(raw: bytes, line: int | None, words: str) -> None:
    found = _first(raw)
    assert words in found.message
    assert (found.line, found.level) == (line, "error")


@pytest.mark.parametrize(
    ("raw", "line", "words"),
    [
        (b"", 1, "not JSON"),
        (b'{"name": "b",\n}', 2, "not JSON"),
        (b'{"name": "b", "name": "c"}', None, "twice"),
        (b'{"name": NaN}', None, "no number"),
        (b"[" * 50_000, None, "nested too deeply"),
        (b"[]", None, "table"),
        (b'"x"', None, "table"),
        (b"null", None, "table"),
    ],
)
def test_a_json_file_that_cannot_be_read_is_told(raw: bytes, line: int | None, words: str) -> None:
    found = _first(raw, "json")
    assert (found.line, words in found.message) == (line, True)


@pytest.mark.parametrize(
    "raw",
    [
        _STAGE + b"".join(b"k%d = 1\n" % n for n in range(20_000)),
        _STAGE + b"".join(b'[[stages]]\nname = "s%d"\n' % n for n in range(8_000)),
        b'name = "b"\n[[stages]]\nname = "a"\ntools = [' + b'"x",' * 60_000 + b"]",
        _STAGE + b"edges = [" + b'{to="a"},' * 25_000 + b"]",
        _STAGE + b"[stages.output.schema]\n" + b"".join(b"k%d = {}\n" % n for n in range(20_000)),
        _STAGE + b'[[stages.points]]\nname = "p"\nprompt = "?"\noptions = [' + b'"x",' * 60_000 + b"]",
        b'""' * 130_000,
        b"[[a]]\n" * 40_000,
        b"a = '''" + b"'' " * 80_000,
    ],
    ids=["keys", "stages", "tools", "edges", "schema", "options", "quotes", "tables", "text"],
)
def test_a_file_that_is_full_of_something_is_checked_to_the_end(raw: bytes) -> None:
    """The suite's own limit of time is the bound: what takes quadratic time would take hours here."""
    assert len(raw) <= MAX_BYTES
    assert all(len(problem.message) < 1000 for problem in problems_of(read_blueprint(raw, "toml")))


def test_stages_that_lead_round_in_a_long_ring_are_told_once() -> None:
    count = 400
    ring = b"".join(
        b'[[stages]]\nname = "s%d"\nedges = [{ to = "s%d" }]\n' % (n, (n + 1) % count) for n in range(count)
    )
    codes = [problem.code for problem in problems_of(read_blueprint(b'name = "b"\n' + ring, "toml"))]
    assert (codes.count("endless-cycle"), codes.count("no-end")) == (1, 1)


def test_control_characters_of_a_file_do_not_reach_a_message() -> None:
    found = problems_of(read_blueprint(_STAGE + b'"\\u001b[31m\\u0007" = 1\n', "toml"))
    assert [problem.code for problem in found if "\x1b" in problem.message + problem.path] == []
    assert any(problem.code == "unknown-key" for problem in found)


def test_the_line_of_every_place_is_found_in_every_spelling() -> None:
    text = """# a comment with = and [brackets]
name = "x"
a.b = [1, # [ not an array
  2, {x = "]", y = ['q#']}]
[[stages]]
instructions = \"""
hello = 3
[x]
\"""
[[stages.edges]]
to = 'b'
[[stages.edges]]
"q \\u0041" = 1
[[stages]]
[stages.limits]
max_rounds = 3
"""
    places = find_places(text)
    expected = {
        ("name",): 2,
        ("a", "b"): 3,
        ("a", "b", 1): 4,
        ("a", "b", 2, "y", 0): 4,
        ("stages", 0): 5,
        ("stages", 0, "instructions"): 6,
        ("stages", 0, "edges", 0, "to"): 11,
        ("stages", 0, "edges", 1): 12,
        ("stages", 0, "edges", 1, "q A"): 13,
        ("stages", 1, "limits", "max_rounds"): 16,
    }
    assert {place: places.get(place) for place in expected} == expected
    assert ("hello",) not in places


def test_an_error_lists_what_is_wrong_and_carries_all_of_it() -> None:
    with pytest.raises(
        BlueprintError, match=r"flow\.toml cannot be run: line 1: colour: nothing reads 'colour'"
    ) as raised:
        parse_toml('colour = 1\nname = "b"\n[[stages]]\nname = "a"\nage = 1\n', name="flow.toml")
    assert raised.value.exit_code == 3
    assert [problem.path for problem in raised.value.problems if problem.code == "unknown-key"] == [
        "colour",
        "stages[0].age",
    ]


def test_an_error_of_many_faults_is_not_endless() -> None:
    with pytest.raises(BlueprintError, match=r"and [0-9]+ more$"):
        parse_toml("".join(f"k{number} = 1\n" for number in range(500)))


def test_text_with_a_lone_surrogate_is_no_blueprint() -> None:
    with pytest.raises(BlueprintError, match="not UTF-8"):
        parse_toml('name = "\ud800"')


def test_what_toml_cannot_spell_is_refused_and_json_takes_it() -> None:
    schema = {"enum": [None, 1]}
    blueprint = parse_json('{"name": "b", "stages": [{"name": "a", "output": {"schema": {"enum": [null, 1]}}}]}')
    assert blueprint.stages[0].output is not None
    assert blueprint.stages[0].output.json_schema == schema
    assert parse_json(render_json(blueprint)) == blueprint
    with pytest.raises(NoToml, match="no null"):
        render_toml(blueprint)


def test_texts_of_several_lines_are_written_as_such_and_read_back_to_the_last_character() -> None:
    for text in ("one\ntwo\n", "\n\nlead", "trail  \n", 'quote """ in it\n', "back\\slash\n", "cr\r\nlf", "tab\t\n"):
        blueprint = parse_json(render_json(parse_toml('name = "b"\n[[stages]]\nname = "a"\n')))
        stage = blueprint.stages[0].model_copy(update={"instructions": text})
        changed = blueprint.model_copy(update={"stages": (stage,)})
        assert parse_toml(render_toml(changed)) == changed
    assert '"""' in render_toml(changed)
