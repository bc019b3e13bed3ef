"""Which project a session belongs to."""

from __future__ import annotations

import pytest

from handrail.library import in_project, project_name


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/home/me/shop", "shop"),
        ("/home/me/shop/", "shop"),
        ("C:\\code\\Shop", "Shop"),
        (None, None),
        ("/", None),
        ("/w/shop/.worktrees/1", "shop"),
        ("D:\\shop\\.claude\\worktrees\\x-1", "shop"),
    ],
)
def test_a_project_is_called_by_its_folder(cwd: str | None, name: str | None) -> None:
    assert project_name(cwd) == name


@pytest.mark.parametrize(
    ("cwd", "wanted", "expected"),
    [
        ("/home/me/shop", "shop", True),
        ("/home/me/Shop", "shop", True),
        ("/home/me/shop-api", "shop", False),
        ("/home/me/shop-api", "shop*", True),
        ("/home/me/shop/web", "/home/me/shop", True),
        ("/home/me/shop-api", "/home/me/shop", False),
        ("c:\\code\\x", "C:\\code", True),
        (None, "shop", False),
        (None, "*", False),
    ],
)
def test_a_project_is_asked_for_by_name_glob_or_folder(cwd: str | None, wanted: str, expected: bool) -> None:
    assert in_project(cwd, wanted) is expected
