"""Read, Write, Edit, MultiEdit, List, Glob, Grep: in the workspace, letter for letter, or a plain error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from handrail.agents.tools import built_in, built_in_names, built_in_tools
from handrail.errors import UnknownName
from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import Raw
from tests.agents.tools.running import output

READ, WRITE, EDIT, MULTI = (built_in(name) for name in ("read", "write", "edit", "multi_edit"))
LIST, GLOB, GREP = (built_in(name) for name in ("list", "glob", "grep"))

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    (made / "src" / "deep").mkdir(parents=True)
    (made / "src" / "a.py").write_text("import os\n\ndef go():\n    return 1\n")
    (made / "src" / "deep" / "b.py").write_text("import sys\n")
    (made / "notes.md").write_text("# Notes\nimport nothing\n")
    return made


def test_every_built_in_is_found_by_its_module_and_by_its_name() -> None:
    assert set(built_in_names()) == {
        "ask", "ask_user_choice", "ask_user_confirm", "ask_user_text", "bash", "checklist_add", "checklist_done",
        "checklist_note", "context_append", "context_delete", "context_read", "context_write", "edit", "edit_document",
        "fetch", "glob", "grep", "list", "multi_edit", "present_for_review", "read", "read_tool_result", "todo",
        "write",
    }  # fmt: skip
    assert built_in("MultiEdit") is MULTI
    assert [tool.name for tool in built_in_tools(["read", "Bash"])] == ["Read", "Bash"]
    assert len(built_in_tools()) == len(built_in_names())
    with pytest.raises(UnknownName, match="nope"):
        built_in("nope")


@pytest.mark.parametrize(
    ("name", "input"),
    [
        ("Read", {"file_path": "a", "offset": 1, "limit": 2}),
        ("Write", {"file_path": "a", "content": "c"}),
        ("Edit", {"file_path": "a", "old_string": "b", "new_string": "c", "replace_all": True}),
        ("MultiEdit", {"file_path": "a", "edits": [{"old_string": "b", "new_string": "c"}]}),
        ("Bash", {"command": "ls", "workdir": ".", "timeout_ms": 5, "description": "d"}),
    ],
)
def test_what_a_built_in_takes_is_what_the_canonical_model_types(name: str, input: dict[str, object]) -> None:
    assert built_in(name).problems(input) == ()
    assert not isinstance(parse_call(name, input), Raw)


def test_traits_say_what_each_can_do() -> None:
    flags = {
        tool.name: "".join(name[0] for name in tool.traits.__struct_fields__ if getattr(tool.traits, name))
        for tool in built_in_tools()
    }
    assert {name: flag for name, flag in flags.items() if flag} == {
        "Bash": "psd", "Edit": "d", "Fetch": "us", "Glob": "p", "Grep": "p", "List": "p", "MultiEdit": "d", "Read": "p",
        "Write": "d",
    }  # fmt: skip


# Read -------------------------------------------------------------------------------------------------------


def test_lines_come_with_their_numbers(root: Path) -> None:
    assert output(READ, root, file_path="src/a.py", offset=3, limit=1).content == (
        "     3\tdef go():\n[more lines follow; go on with offset=4]"
    )
    assert str(output(READ, root, file_path=str(root / "src/a.py")).content).count("\n") == 3


def test_a_picture_is_a_picture(root: Path) -> None:
    (root / "p.png").write_bytes(PNG)
    (part,) = output(READ, root, file_path="p.png").content
    assert (part["type"], part["media_type"]) == ("image", "image/png")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nope.py", "nope.py does not exist"),
        ("src", "src is a folder"),
        ("notes.md/x", "notes.md/x is no folder"),
        ("../outside", "../outside is outside the workspace"),
        ("/etc/passwd", "/etc/passwd is outside the workspace"),
        ("bin", "bin is binary, not text"),
        ("pipe", "pipe is no ordinary file"),
    ],
)
def test_what_cannot_be_read_is_said_plainly(root: Path, path: str, said: str) -> None:
    (root / "bin").write_bytes(b"\0\1")
    os.mkfifo(root / "pipe")
    got = output(READ, root, file_path=path)
    assert (got.content, got.is_error) == (said, True)


def test_the_end_of_a_file_is_said(root: Path) -> None:
    (root / "empty").touch()
    assert output(READ, root, file_path="empty").content == "[empty is empty]"
    assert output(READ, root, file_path="notes.md", offset=9).content == "[notes.md has only 2 lines]"


def test_a_giant_line_and_bytes_that_are_no_text_can_be_read(root: Path) -> None:
    (root / "odd").write_bytes(b"caf\xe9\r\n" + b"x" * 5000)
    content = str(output(READ, root, file_path="odd").content)
    assert content.startswith("     1\tcaf\ufffd\n")
    assert content.endswith("[3000 more characters in this line]")


@pytest.mark.parametrize("bound", [{"offset": 0}, {"limit": 0}, {"offset": -1}])
def test_lines_are_counted_from_one(root: Path, bound: dict[str, int]) -> None:
    assert output(READ, root, file_path="notes.md", **bound).is_error


# Write ------------------------------------------------------------------------------------------------------


def test_a_file_is_written_whole_and_missing_folders_are_made(root: Path) -> None:
    assert output(WRITE, root, file_path="new/deep/f.txt", content="é\n").content == "Made new/deep/f.txt (3 bytes)."
    assert (root / "new/deep/f.txt").read_text() == "é\n"
    assert output(WRITE, root, file_path="new/deep/f.txt", content="").content == "Replaced new/deep/f.txt (0 bytes)."


def test_half_a_character_cannot_be_written(root: Path) -> None:
    got = output(WRITE, root, file_path="f", content="\ud800")
    assert got.is_error
    assert not (root / "f").exists()


@pytest.mark.parametrize(
    "path", [".git/hooks/pre-commit", ".git/config", "sub/.GIT/config", ".handrail/hooks.toml", ".mcp.json"]
)
def test_what_steers_the_repositorys_tools_is_never_written(root: Path, path: str) -> None:
    got = output(WRITE, root, file_path=path, content="x")
    assert "is protected" in str(got.content)
    assert not (root / path).exists()


def test_a_protected_place_is_not_reached_through_a_link(root: Path) -> None:
    (root / ".git").mkdir()
    (root / "way").symlink_to(root / ".git")
    assert output(WRITE, root, file_path="way/config", content="x").is_error
    assert not (root / ".git/config").exists()


# Edit and MultiEdit -----------------------------------------------------------------------------------------


def test_one_exact_text_is_replaced_and_all_else_stays(root: Path) -> None:
    (root / "odd").write_bytes(b"caf\xe9 old\r\nold\n")
    assert (
        output(EDIT, root, file_path="odd", old_string="\nold\n", new_string="\nnew\n").content
        == "Replaced 1 place in odd."
    )
    assert (root / "odd").read_bytes() == b"caf\xe9 old\r\nnew\n"


def test_a_text_that_is_there_twice_is_refused_with_its_lines(root: Path) -> None:
    (root / "f").write_text("a\nb\na\n")
    got = output(EDIT, root, file_path="f", old_string="a", new_string="c")
    assert "is in f 2 times (lines 1, 3)" in str(got.content)
    assert (
        output(EDIT, root, file_path="f", old_string="a", new_string="c", replace_all=True).content
        == "Replaced 2 places in f."
    )
    assert (root / "f").read_text() == "c\nb\nc\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "x", "old_string is empty"),
        ("import os", "import os", "are the same"),
        ("nowhere", "x", "Read the file again"),
        ("def  go():\n  return 1", "x", "Lines 3-4 differ from it in white space only"),
        ("\ud800", "x", "half a character"),
    ],
)
def test_an_edit_that_cannot_be_made_says_how_to_mend_it_and_changes_nothing(
    root: Path, old: str, new: str, said: str
) -> None:
    before = (root / "src/a.py").read_bytes()
    got = output(EDIT, root, file_path="src/a.py", old_string=old, new_string=new)
    assert got.is_error
    assert said in str(got.content)
    assert (root / "src/a.py").read_bytes() == before


def test_line_ends_of_a_file_are_kept(root: Path) -> None:
    (root / "dos").write_bytes(b"a\r\nb\r\nc\r\n")
    output(EDIT, root, file_path="dos", old_string="a\nb", new_string="x\ny\nz")
    assert (root / "dos").read_bytes() == b"x\r\ny\r\nz\r\nc\r\n"


def test_the_mode_of_a_file_is_kept(root: Path) -> None:
    (root / "run.sh").write_text("old")
    (root / "run.sh").chmod(0o750)
    output(EDIT, root, file_path="run.sh", old_string="old", new_string="new")
    assert (root / "run.sh").stat().st_mode & 0o777 == 0o750


def test_several_edits_are_made_in_order_each_on_what_the_last_one_left(root: Path) -> None:
    steps = [{"old_string": "1", "new_string": "2"}, {"old_string": "return 2", "new_string": "return 3"}]
    assert output(MULTI, root, file_path="src/a.py", edits=steps).content == "Made 2 replacements in src/a.py."
    assert "return 3" in (root / "src/a.py").read_text()


def test_when_one_of_several_edits_fails_none_is_made(root: Path) -> None:
    before = (root / "src/a.py").read_text()
    steps = [{"old_string": "1", "new_string": "2"}, {"old_string": "nope", "new_string": "x"}]
    got = output(MULTI, root, file_path="src/a.py", edits=steps)
    assert str(got.content).startswith("edit 2: old_string is not in src/a.py.")
    assert (root / "src/a.py").read_text() == before
    assert output(MULTI, root, file_path="src/a.py", edits=[]).is_error


# List, Glob, Grep -------------------------------------------------------------------------------------------


def test_a_folder_is_listed_by_name(root: Path) -> None:
    (root / "way").symlink_to("/etc")
    assert output(LIST, root).content == "notes.md  23\nsrc/\nway@"
    assert output(LIST, root, path="way").is_error
    (root / "none").mkdir()
    assert output(LIST, root, path="none").content == "[empty]"


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", "src/a.py\nsrc/deep/b.py"),
        ("src/*.py", "src/a.py"),
        ("**/b.py", "src/deep/b.py"),
        ("src/**", "src/a.py\nsrc/deep/b.py"),
        ("{notes,other}.md", "notes.md"),
        ("nope", "[no file fits]"),
    ],
)
def test_files_are_found_by_the_pattern_of_their_path(root: Path, pattern: str, found: str) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "x.py").touch()
    assert output(GLOB, root, pattern=pattern).content == found


def test_a_walk_follows_no_link_out_of_the_workspace(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").write_text("import secret")
    (root / "way").symlink_to(tmp_path / "outside")
    (root / "file.py").symlink_to(tmp_path / "outside" / "secret.py")
    assert "secret" not in str(output(GLOB, root, pattern="*.py", path="src").content)
    assert "secret" not in str(output(GREP, root, pattern="secret").content)


def test_lines_are_found_by_a_regular_expression(root: Path) -> None:
    got = output(GREP, root, pattern=r"^import \w+$", path="src")
    assert got.content == "src/a.py\n1: import os\n\nsrc/deep/b.py\n1: import sys"
    assert output(GREP, root, pattern="IMPORT", ignore_case=True, glob="*.md").content == "notes.md\n2: import nothing"
    assert output(GREP, root, pattern="go", path="src/a.py").content == "src/a.py\n3: def go():"
    assert output(GREP, root, pattern="nope").content == "[no line fits]"


@pytest.mark.parametrize(
    ("input", "said"),
    [
        ({"pattern": "("}, "no regular expression"),
        ({"pattern": "x", "path": "nope"}, "nope"),
        ({"pattern": "x", "path": ".."}, "outside the workspace"),
    ],
)
def test_a_search_that_cannot_be_made_is_an_error(root: Path, input: dict[str, str], said: str) -> None:
    got = output(GREP, root, **input)
    assert got.is_error
    assert said in str(got.content)


def test_a_module_in_the_workspace_does_not_take_our_place(root: Path) -> None:
    (root / "handrail").mkdir()
    (root / "handrail" / "__init__.py").write_text("raise SystemExit('taken over')")
    assert output(GREP, root, pattern="sys", glob="*.py").content == "src/deep/b.py\n1: import sys"
