"""What a workspace and a person's configuration contribute, and what a stranger's repository may not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from handrail.transcripts.model import Json
from handrail.workspace.declared import WorkspaceError
from handrail.workspace.discovery import Workspace, config_folder, discover

TOOL = {"description": "d", "input_schema": {"type": "object"}, "command": ["run"]}


class Home:
    """A configuration folder and a repository two folders deep."""

    def __init__(self, top: Path) -> None:
        self.config = top / "config"
        self.outer = top / "outer"
        self.root = self.outer / "inner" / "repo"
        self.root.mkdir(parents=True)
        self.config.mkdir()

    def put(self, path: Path, content: str | Json) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def found(self, *, is_trusted: bool = True, **environment: str) -> Workspace:
        return discover(self.root, config=self.config, environment=environment, is_trusted=is_trusted)

    def fill_repository(self) -> None:
        """One of everything in the repository."""
        ours = self.root / ".handrail"
        self.put(self.root / "AGENTS.md", "repository words")
        self.put(ours / "tools.json", {"schema": 1, "tools": {"t": TOOL}})
        self.put(ours / "hooks.json", {"schema": 1, "hooks": [{"name": "h", "command": ["x"]}]})
        rules = [{"verdict": "allow", "tool": "Bash"}, {"verdict": "deny", "tool": "Fetch"}]
        self.put(ours / "permissions.json", {"schema": 1, "rules": rules})
        self.put(self.root / ".mcp.json", {"mcpServers": {"s": {"command": "x", "env": {"K": "${KEY}"}}}})
        self.put(ours / "skills" / "sk" / "SKILL.md", "---\ndescription: when\n---\nskill words")
        self.put(ours / "templates" / "sub" / "t.md", "---\ndescription: d\n---\nprompt")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_nothing_there_is_nothing_found(home: Home) -> None:
    assert home.found() == Workspace(root=home.root, is_trusted=True)
    assert discover(home.root, config=None, environment={}, is_trusted=False).withheld == ()


def test_context_comes_from_the_widest_place_to_the_nearest_and_each_file_once(home: Home) -> None:
    home.put(home.config / "AGENTS.md", "global")
    home.put(home.outer / "AGENTS.md", "outer")
    (home.outer / "inner" / "AGENTS.md").symlink_to(home.outer / "AGENTS.md")
    home.put(home.root / "AGENTS.md", "own")
    assert [(file.scope, file.text) for file in home.found().context] == [
        ("global", "global"),
        ("ancestor", "outer"),
        ("workspace", "own"),
    ]


@pytest.mark.parametrize("is_trusted", [False, True])
def test_words_further_up_in_the_same_repository_are_no_more_trusted_than_it_is(home: Home, is_trusted: bool) -> None:
    (home.outer / "inner" / ".git").mkdir()
    home.put(home.outer / "AGENTS.md", "mine")
    home.put(home.outer / "inner" / "AGENTS.md", "theirs")
    found = home.found(is_trusted=is_trusted).context
    assert [(file.text, file.is_trusted) for file in found] == [("mine", True), ("theirs", is_trusted)]


def test_words_further_up_in_the_same_repository_are_no_link_to_elsewhere(home: Home) -> None:
    secret = home.put(home.outer / "secret", "a secret")
    (home.outer / "inner" / ".git").write_text("gitdir: elsewhere")
    (home.outer / "inner" / "AGENTS.md").symlink_to(secret)
    found = home.found(is_trusted=False)
    assert found.context == ()
    assert "AGENTS.md" in found.withheld[0]


@pytest.mark.parametrize("text", ["", " \n"])
def test_empty_context_is_passed_over(home: Home, text: str) -> None:
    home.put(home.root / "AGENTS.md", text)
    assert home.found().context == ()


def test_a_trusted_repository_contributes_all_it_has(home: Home) -> None:
    home.fill_repository()
    found = home.found(KEY="k")
    assert [tool.name for tool in found.tools] == ["t"]
    assert [hook.name for hook in found.hooks] == ["h"]
    assert [(server.name, server.env) for server in found.servers] == [("s", {"K": "k"})]
    assert [rule.verdict for rule in found.rules] == ["allow", "deny"]
    assert [skill.name for skill in found.skills] == ["sk"]
    assert [template.name for template in found.templates] == ["sub:t"]
    assert (found.tightening, found.withheld) == ((), ())


def test_an_untrusted_repository_tightens_and_never_loosens(home: Home) -> None:
    home.fill_repository()
    found = home.found(is_trusted=False, KEY="k")
    assert (found.tools, found.hooks, found.servers, found.rules) == ((), (), (), ())
    assert [(rule.verdict, rule.tool) for rule in found.tightening] == [("deny", "Fetch")]
    assert [file.is_trusted for file in found.context] == [False]
    assert [skill.is_trusted for skill in found.skills] == [False]
    assert [template.is_trusted for template in found.templates] == [False]
    assert found.withheld == (
        "the tool t of an untrusted repository",
        "the hook h of an untrusted repository",
        "the MCP server s of an untrusted repository",
        "the rule allow Bash of an untrusted repository",
    )


def test_in_an_untrusted_repository_the_persons_own_things_still_count(home: Home) -> None:
    home.put(home.config / "tools.json", {"schema": 1, "tools": {"mine": TOOL}})
    home.put(home.config / "mcp.json", {"mcpServers": {"mine": {"url": "https://e.org"}}})
    home.put(home.config / "skills" / "sk" / "SKILL.md", "my words")
    home.fill_repository()
    found = home.found(is_trusted=False)
    assert [tool.name for tool in found.tools] == ["mine"]
    assert [server.name for server in found.servers] == ["mine"]
    assert [skill.text for skill in found.skills] == ["my words"]


def test_a_trusted_repository_shadows_what_is_wider(home: Home) -> None:
    home.put(home.config / "skills" / "sk" / "SKILL.md", "my words")
    home.put(home.config / "templates" / "sub" / "t.md", "---\ndescription: mine\n---\n")
    home.put(home.config / "tools.json", {"schema": 1, "tools": {"t": {**TOOL, "description": "mine"}}})
    home.fill_repository()
    found = home.found(KEY="k")
    assert [skill.text for skill in found.skills] == ["skill words"]
    assert [template.description for template in found.templates] == ["d"]
    assert [tool.description for tool in found.tools] == ["d"]


def test_the_persons_hooks_are_asked_before_the_repositorys(home: Home) -> None:
    home.put(home.config / "hooks.json", {"schema": 1, "hooks": [{"name": "mine", "command": ["x"]}]})
    home.fill_repository()
    assert [hook.name for hook in home.found(KEY="k").hooks] == ["mine", "h"]


@pytest.mark.parametrize("name", ["tools.json", "hooks.toml", "permissions.json"])
def test_a_broken_file_stops_a_run_in_a_trusted_repository_and_is_withheld_in_another(home: Home, name: str) -> None:
    home.put(home.root / ".handrail" / name, "{ broken")
    with pytest.raises(WorkspaceError, match=name):
        home.found()
    (said,) = home.found(is_trusted=False).withheld
    assert name in said


def test_a_repositorys_files_must_not_be_links_to_elsewhere(home: Home, tmp_path: Path) -> None:
    secret = home.put(tmp_path / "secret", "private words")
    (home.root / "AGENTS.md").symlink_to(secret)
    with pytest.raises(PermissionError, match="outside the workspace"):
        home.found()
    found = home.found(is_trusted=False)
    assert found.context == ()
    assert "outside the workspace" in found.withheld[0]


def test_a_person_may_link_their_own_configuration_from_anywhere(home: Home, tmp_path: Path) -> None:
    elsewhere = home.put(tmp_path / "dotfiles" / "SKILL.md", "my words").parent
    (home.config / "skills").mkdir()
    (home.config / "skills" / "linked").symlink_to(elsewhere)
    assert [(skill.name, skill.text) for skill in home.found().skills] == [("linked", "my words")]


def test_two_skills_of_one_name_in_one_place_are_an_error(home: Home) -> None:
    for folder in ("a", "b"):
        home.put(home.config / "skills" / folder / "SKILL.md", "---\nname: same\n---\n")
    with pytest.raises(WorkspaceError, match="second skill is called 'same'"):
        home.found()


def test_one_tool_in_two_files_of_one_place_is_an_error(home: Home) -> None:
    home.put(home.config / "tools.json", {"schema": 1, "tools": {"t": TOOL}})
    toml = 'schema = 1\n[tools.t]\ndescription = "d"\ncommand = ["run"]\ninput_schema = {}\n'
    home.put(home.config / "tools.toml", toml)
    with pytest.raises(WorkspaceError, match="second tool is called 't'"):
        home.found()


def test_a_template_without_a_description_stops_a_trusted_run(home: Home) -> None:
    home.put(home.root / ".handrail" / "templates" / "t.md", "no head")
    with pytest.raises(WorkspaceError, match=r"t\.md"):
        home.found()


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"HANDRAIL_CONFIG_DIR": "/own", "XDG_CONFIG_HOME": "/x", "HOME": "/h"}, "/own"),
        ({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}, "/x/handrail"),
        ({"XDG_CONFIG_HOME": "relative", "HOME": "/h"}, "/h/.config/handrail"),
        ({}, None),
    ],
)
def test_where_a_persons_configuration_lies(environment: dict[str, Any], folder: str | None) -> None:
    assert config_folder(environment) == (None if folder is None else Path(folder))
