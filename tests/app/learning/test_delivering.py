"""Rules into other tools' files and the owner's hand back: shown first, byte-safe, theirs from then on."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from handrail.app.learning.delivering import SyncOrder, SyncReport, preview_sync, sync
from handrail.app.learning.memory import Memory, memory_in
from handrail.errors import StoreError
from handrail.learning.delivery.store import DeliveryStore
from handrail.learning.rules.model import Life, Rule, RuleBook, RuleScope


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return memory_in(tmp_path / "home" / "learning")


def _rule(id: str, text: str, **scope: tuple[str, ...]) -> Rule:
    return Rule(id=id, text=text, life=Life.ACTIVE, scope=RuleScope(**scope))


def _keep(memory: Memory, *rules: Rule) -> None:
    memory.rules.update(lambda _: RuleBook(rules))


def _sync(memory: Memory, shop: Path, *targets: str, removes: bool = False) -> SyncReport:
    return sync(memory, SyncOrder(folder=shop, targets=targets, removes=removes))


def _text(memory: Memory, id: str) -> tuple[str, Life, str]:
    rule = memory.rules.load().book.find(id)
    return rule.text, rule.life, rule.by


TESTS = _rule("ra00000", "Run the tests first.")
PUSH = _rule("rb00000", "Never push to main.")


def test_looking_writes_nothing(memory: Memory, shop: Path) -> None:
    _keep(memory, TESTS)

    report = preview_sync(memory, SyncOrder(folder=shop))

    assert [one.change for one in report.files] == ["new"]
    assert "+- Run the tests first. <!-- ra00000 -->" in report.files[0].diff
    assert not (shop / "AGENTS.md").exists()
    assert not (memory.folder / "delivered.jsonl").exists()


def test_what_stands_in_a_file_keeps_its_bytes_and_its_mode(memory: Memory, shop: Path) -> None:
    file = shop / "AGENTS.md"
    file.write_bytes(b"# Ours\r\nTabs.\r\n")
    file.chmod(0o664)
    _keep(memory, TESTS)

    _sync(memory, shop)

    assert file.read_bytes().startswith(b"# Ours\r\nTabs.\r\n")
    assert b"Run the tests first." in file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o664
    _sync(memory, shop, removes=True)
    assert file.read_bytes() == b"# Ours\r\nTabs.\r\n"


def test_a_file_of_ours_goes_away_with_its_folders_and_others_stay(memory: Memory, shop: Path) -> None:
    _keep(memory, TESTS)
    before = sorted(shop.rglob("*"))

    _sync(memory, shop, "agents", "cursor", "skill", "copilot", "gemini")
    assert (shop / ".cursor/rules/handrail.mdc").is_file()
    _sync(memory, shop, "agents", "cursor", "skill", "copilot", "gemini", removes=True)

    assert sorted(shop.rglob("*")) == before


def test_only_rules_that_count_there_for_a_tool_that_reads_it_go_in(memory: Memory, shop: Path) -> None:
    _keep(
        memory,
        _rule("ra00000", "Here.", repositories=(str(shop),), harnesses=("claude_code",)),
        _rule("rb00000", "Elsewhere.", repositories=("/srv/bank",)),
        _rule("rc00000", "In Codex.", harnesses=("codex",)),
        _rule("rd00000", "Nowhere.", paths=()),
        Rule(id="re00000", text="Only proposed."),
    )

    report = _sync(memory, shop, "claude", "agents")

    assert {one.target: one.rules for one in report.files} == {"claude": ("ra00000",), "agents": ("rc00000",)}


def test_a_second_time_there_is_nothing_to_do(memory: Memory, shop: Path) -> None:
    _keep(memory, TESTS)
    _sync(memory, shop)

    assert not preview_sync(memory, SyncOrder(folder=shop)).changes


def test_what_the_owner_puts_otherwise_is_theirs(memory: Memory, shop: Path) -> None:
    _keep(memory, TESTS, PUSH)
    _sync(memory, shop)
    file = shop / "AGENTS.md"
    file.write_text(file.read_text().replace("Run the tests first.", "Run make test first."))

    report = preview_sync(memory, SyncOrder(folder=shop))

    assert [line.text for line in report.files[0].hand.changed] == ["Run make test first."]
    assert _text(memory, "ra0") == ("Run the tests first.", Life.ACTIVE, "model")
    _sync(memory, shop)
    assert _text(memory, "ra0") == ("Run make test first.", Life.ACTIVE, "owner")
    assert not preview_sync(memory, SyncOrder(folder=shop)).changes


def test_a_model_cannot_put_the_owners_words_otherwise_afterwards(memory: Memory, shop: Path) -> None:
    _keep(memory, TESTS)
    _sync(memory, shop)
    file = shop / "AGENTS.md"
    file.write_text(file.read_text().replace("Run the tests first.", "Run make test first."))
    _sync(memory, shop)

    assert memory.rules.load().book.find("ra0").history[-1].by == "owner"


def test_what_the_owner_takes_out_no_longer_counts_there(memory: Memory, shop: Path) -> None:
    here = _rule("ra00000", "Run the tests first.", repositories=(str(shop),))
    wide = _rule("rb00000", "Never push to main.", repositories=("/srv/bank", str(shop)))
    _keep(memory, here, wide)
    _sync(memory, shop)
    file = shop / "AGENTS.md"
    file.write_text("".join(line for line in file.read_text().splitlines(True) if not line.startswith("- ")))

    _sync(memory, shop)

    book = memory.rules.load().book
    assert book.find("ra0").life is Life.RETIRED
    assert book.find("ra0").reason == "taken out of AGENTS.md"
    assert book.find("rb0").life is Life.ACTIVE
    assert book.find("rb0").scope.repositories == ("/srv/bank",)


def test_what_counts_everywhere_is_not_put_out_of_force_by_taking_it_out_of_one_repository(
    memory: Memory, shop: Path
) -> None:
    _keep(memory, TESTS)
    _sync(memory, shop)
    file = shop / "AGENTS.md"
    file.write_text("".join(line for line in file.read_text().splitlines(True) if not line.startswith("- ")))
    before = file.read_bytes()

    report = _sync(memory, shop)

    assert report.files[0].change == "problem"
    assert "handrail rules scope ra00000" in (report.files[0].problem or "")
    assert file.read_bytes() == before
    assert memory.rules.load().book.find("ra0").life is Life.ACTIVE


def test_what_the_owner_adds_is_a_rule_of_theirs_there(memory: Memory, shop: Path) -> None:
    _keep(memory, TESTS)
    _sync(memory, shop)
    file = shop / "AGENTS.md"
    file.write_text(file.read_text().replace("<!-- handrail:rules end", "- Use tabs.\n<!-- handrail:rules end"))

    _sync(memory, shop)

    (added,) = [rule for rule in memory.rules.load().book if rule.text == "Use tabs."]
    assert (added.by, added.life, added.scope.repositories) == ("owner", Life.ACTIVE, (str(shop),))
    assert f"- Use tabs. <!-- {added.id} -->" in file.read_text()
    assert not preview_sync(memory, SyncOrder(folder=shop)).changes


@pytest.mark.parametrize("life", list(Life))
def test_what_the_owner_adds_comes_to_count_there_where_a_rule_says_it_already(
    memory: Memory, shop: Path, life: Life
) -> None:
    elsewhere = _rule("rc00000", "Use tabs.", repositories=("/srv/bank",), harnesses=("codex",))
    _keep(memory, TESTS, replace(elsewhere, life=life, reason="it harms" if life is Life.RETIRED else None))
    _sync(memory, shop, "agents", "claude")
    for name in ("AGENTS.md", "CLAUDE.md"):
        file = shop / name
        file.write_text(file.read_text().replace("<!-- handrail:rules end", "- Use tabs.\n<!-- handrail:rules end"))

    _sync(memory, shop, "agents", "claude")

    rule = memory.rules.load().book.find("rc0")
    assert (rule.life, rule.scope.repositories) == (Life.ACTIVE, tuple(sorted(("/srv/bank", str(shop)))))
    assert all("- Use tabs. <!-- rc00000 -->" in (shop / name).read_text() for name in ("AGENTS.md", "CLAUDE.md"))
    assert not preview_sync(memory, SyncOrder(folder=shop)).changes


def test_one_new_line_in_files_of_two_tools_is_one_rule_for_both(memory: Memory, shop: Path) -> None:
    _keep(memory, TESTS)
    _sync(memory, shop, "agents", "claude")
    for name in ("AGENTS.md", "CLAUDE.md"):
        file = shop / name
        file.write_text(file.read_text().replace("<!-- handrail:rules end", "- Use tabs.\n<!-- handrail:rules end"))

    _sync(memory, shop, "agents", "claude")

    (added,) = [rule for rule in memory.rules.load().book if rule.text == "Use tabs."]
    assert all(f"- Use tabs. <!-- {added.id} -->" in (shop / name).read_text() for name in ("AGENTS.md", "CLAUDE.md"))


def test_words_over_a_rule_that_was_retired_since_are_a_rule_of_the_owners(memory: Memory, shop: Path) -> None:
    _keep(memory, TESTS)
    _sync(memory, shop)
    _keep(memory, replace(TESTS, life=Life.RETIRED, reason="it harms"))
    file = shop / "AGENTS.md"
    file.write_text(file.read_text().replace("Run the tests first.", "Run make test first."))

    _sync(memory, shop)

    assert memory.rules.load().book.find("ra0").life is Life.RETIRED
    (added,) = [rule for rule in memory.rules.load().book if rule.text == "Run make test first."]
    assert (added.by, added.life) == ("owner", Life.ACTIVE)
    assert f"- Run make test first. <!-- {added.id} -->" in file.read_text()


def test_words_that_another_rule_has_leave_the_file_alone(memory: Memory, shop: Path) -> None:
    _keep(memory, TESTS, PUSH)
    _sync(memory, shop)
    file = shop / "AGENTS.md"
    file.write_text(file.read_text().replace("Run the tests first.", "Never push to main!"))
    before = file.read_bytes()

    report = _sync(memory, shop)

    assert report.files[0].change == "problem"
    assert "rb00000 says that already" in (report.files[0].problem or "")
    assert file.read_bytes() == before


def test_one_hand_in_two_files_is_taken_in_once(memory: Memory, shop: Path) -> None:
    _keep(memory, _rule("ra00000", "Run the tests first.", repositories=(str(shop),)))
    _sync(memory, shop, "agents", "claude")
    for name in ("AGENTS.md", "CLAUDE.md"):
        file = shop / name
        file.write_text("".join(line for line in file.read_text().splitlines(True) if "ra00000" not in line))

    _sync(memory, shop, "agents", "claude")

    assert [change.did for change in memory.rules.load().book.find("ra0").history] == ["retire"]


def test_a_line_that_can_be_no_rule_leaves_its_file_alone(memory: Memory, shop: Path) -> None:
    _keep(memory, TESTS)
    _sync(memory, shop)
    file = shop / "AGENTS.md"
    file.write_text(file.read_text().replace("<!-- handrail:rules end", f"- {'x' * 300}\n<!-- handrail:rules end"))
    before = file.read_bytes()

    report = _sync(memory, shop)

    assert report.files[0].change == "problem"
    assert "at most 280" in (report.files[0].problem or "")
    assert file.read_bytes() == before


def test_torn_marks_leave_the_file_alone_and_others_are_written(memory: Memory, shop: Path) -> None:
    (shop / "AGENTS.md").write_text("<!-- handrail:rules end -->\n")
    _keep(memory, TESTS)

    report = _sync(memory, shop, "agents", "claude")

    assert [one.change for one in report.files] == ["problem", "new"]
    assert (shop / "AGENTS.md").read_text() == "<!-- handrail:rules end -->\n"


def test_a_block_that_was_taken_out_by_hand_retires_nothing_and_is_told_of(memory: Memory, shop: Path) -> None:
    _keep(memory, TESTS)
    _sync(memory, shop)
    (shop / "AGENTS.md").unlink()

    report = preview_sync(memory, SyncOrder(folder=shop))

    assert "taken out by hand" in (report.files[0].note or "")
    assert _text(memory, "ra0")[1] is Life.ACTIVE


def test_nothing_is_written_but_what_was_shown(memory: Memory, shop: Path) -> None:
    _keep(memory, TESTS)
    shown = preview_sync(memory, SyncOrder(folder=shop))
    (shop / "AGENTS.md").write_text("meanwhile\n")

    with pytest.raises(StoreError):
        sync(memory, SyncOrder(folder=shop), shown=shown)
    assert (shop / "AGENTS.md").read_text() == "meanwhile\n"


def test_a_link_out_of_the_repository_is_not_followed(memory: Memory, shop: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("mine\n")
    (shop / "AGENTS.md").symlink_to(outside)
    _keep(memory, TESTS)

    report = _sync(memory, shop)

    assert report.files[0].change == "problem"
    assert outside.read_text() == "mine\n"


def test_a_file_too_large_for_its_tool_is_left_alone(memory: Memory, shop: Path) -> None:
    (shop / "AGENTS.md").write_bytes(b"x" * 32 * 1024)
    _keep(memory, TESTS)

    assert "32 KiB" in (_sync(memory, shop).files[0].problem or "")


def test_what_other_tools_were_given_is_on_record(memory: Memory, shop: Path) -> None:
    _keep(memory, TESTS)
    _sync(memory, shop)
    _sync(memory, shop, removes=True)

    rows = DeliveryStore(memory.folder).load().rows
    assert [[line.id for line in row.lines] for row in rows] == [["ra00000"], []]


def test_a_hand_is_read_against_what_was_written_and_not_against_newer_words(memory: Memory, shop: Path) -> None:
    _keep(memory, TESTS, PUSH)
    _sync(memory, shop)
    _keep(memory, _rule("ra00000", "Run all tests first."), PUSH)
    file = shop / "AGENTS.md"
    file.write_text(file.read_text().replace("Never push to main.", "Never push."))

    _sync(memory, shop)

    assert _text(memory, "ra0")[::2] == ("Run all tests first.", "model")
    assert _text(memory, "rb0")[::2] == ("Never push.", "owner")
    assert "Run all tests first." in file.read_text()
