"""Which repository a folder is part of."""

from __future__ import annotations

from pathlib import Path

from handrail.workspace.repository import repository_of


def _worktree(main: Path, tree: Path, *, is_known: bool = True) -> None:
    """What git leaves behind when it makes a work tree."""
    kept = main / ".git" / "worktrees" / tree.name
    kept.mkdir(parents=True)
    tree.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {kept}\n")
    if is_known:
        (kept / "gitdir").write_text(f"{tree / '.git'}\n")


def test_a_folder_below_a_checkout_is_part_of_it(tmp_path: Path) -> None:
    inner = tmp_path / "shop" / "src" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "shop" / ".git").mkdir()

    assert repository_of(inner) == tmp_path.resolve() / "shop"


def test_a_folder_of_no_checkout_stands_for_itself_there_or_not(tmp_path: Path) -> None:
    assert repository_of(tmp_path / "gone") == tmp_path.resolve() / "gone"


def test_a_work_tree_is_part_of_the_checkout_it_was_made_from(tmp_path: Path) -> None:
    main, tree = tmp_path / "shop", tmp_path / "elsewhere" / "feature"
    _worktree(main, tree)

    assert repository_of(tree / "src") == main.resolve()


def test_a_folder_that_calls_itself_a_work_tree_is_not_believed(tmp_path: Path) -> None:
    main, tree = tmp_path / "shop", tmp_path / "stranger"
    _worktree(main, tree, is_known=False)

    assert repository_of(tree) == tree.resolve()


def test_hostile_links_are_no_error(tmp_path: Path) -> None:
    for number, content in enumerate((b"gitdir: \x00", b"\xff" * 10_000, b"gitdir:", b"")):
        root = tmp_path / str(number)
        root.mkdir()
        (root / ".git").write_bytes(content)
        assert repository_of(root) == root.resolve()
