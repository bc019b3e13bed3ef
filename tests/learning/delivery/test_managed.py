"""The block in other tools' files: byte-safe both ways, and the owner's hand in it is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.errors import StoreError
from handrail.learning.delivery.managed import BlockFault, Hand, Wanted, block_in, hand_in, with_block, without_block
from handrail.learning.delivery.targets import TARGETS, TooLarge, place_of, planned, target_named

ONE = (Wanted("r123456", "Run the tests first."), Wanted("r654321", "Never push to main."))
OTHER = (Wanted("r123456", "Run make test first."),)

_files = st.one_of(
    st.binary(max_size=80),
    st.text(max_size=60).map(str.encode),
    st.text("a \n", max_size=20).map(lambda text: text.replace("\n", "\r\n").encode()),
    st.sampled_from((b"", b"\xef\xbb\xbf", b"# Mine\n", b"# Mine", b"a\r\nb\r\n", b"a\r\nb", b"\n\n", b"\r")),
).filter(lambda data: b"handrail:rules" not in data)


@given(_files)
def test_taking_the_block_out_gives_back_the_very_bytes(data: bytes) -> None:
    assert without_block(with_block(data, ONE)) == data


@given(_files, _files)
def test_what_the_owner_wrote_around_it_is_never_touched(before: bytes, after: bytes) -> None:
    first = with_block(before, ONE) + after

    second = with_block(first, OTHER)

    assert second.startswith(before)
    assert second.endswith(after)
    assert block_in(second) == OTHER


@given(_files)
def test_putting_the_same_block_in_again_changes_nothing(data: bytes) -> None:
    once = with_block(data, ONE)

    assert with_block(once, ONE) == once
    assert hand_in(once, ONE) == Hand()
    assert block_in(once) == ONE


def test_no_rules_take_the_block_out() -> None:
    assert with_block(with_block(b"# Mine\n", ONE), ()) == b"# Mine\n"
    assert with_block(b"# Mine\n", ()) == b"# Mine\n"


def test_line_ends_are_those_of_the_file() -> None:
    data = with_block(b"a\r\nb\r\n", ONE)

    assert b"\n" not in data.replace(b"\r\n", b"")


def test_the_owners_hand_is_read_line_by_line() -> None:
    data = with_block(b"# Mine\n", ONE)
    data = data.replace(b"Run the tests first.", b"Run make test first.")
    data = data.replace(b"- Never push to main. <!-- r654321 -->", b"- Speak German.")

    assert hand_in(data, ONE) == Hand(
        changed=(Wanted("r123456", "Run make test first."),), removed=("r654321",), added=("Speak German.",)
    )


def test_a_change_of_white_space_is_a_hand_that_did_nothing() -> None:
    data = with_block(b"", ONE).replace(b"\n- Never", b"\n\n- Never")

    assert not hand_in(data, ONE)


@pytest.mark.parametrize(
    "tear",
    [
        lambda data: data.replace(b"<!-- handrail:rules end -->", b""),
        lambda data: data[data.index(b"\n## ") :],
        lambda data: data + data,
        lambda data: data.replace(b"pad=1", b"pad=x"),
        lambda data: b"<!-- handrail:rules end -->\n" + data.replace(b"<!-- handrail:rules end -->", b""),
    ],
)
def test_torn_marks_change_nothing_and_say_so(tear: object) -> None:
    data = tear(with_block(b"# Mine\n", ONE))  # type: ignore[operator]

    with pytest.raises(BlockFault):
        with_block(data, OTHER)
    with pytest.raises(BlockFault):
        without_block(data)


def test_a_file_that_would_be_larger_than_its_tool_reads_is_refused() -> None:
    target = target_named("agents")

    with pytest.raises(TooLarge, match="32 KiB"):
        planned(target, Path("AGENTS.md"), b"x" * (32 * 1024), ONE)


def test_a_file_of_ours_alone_begins_with_its_head_and_goes_with_its_block() -> None:
    target = target_named("cursor")
    made = planned(target, Path("x"), None, ONE)

    assert made.after is not None and made.after.startswith(b"---\n")
    assert planned(target, Path("x"), made.after, ()).after is None


def test_nothing_is_made_where_there_is_nothing_to_say() -> None:
    for target in TARGETS:
        assert not planned(target, Path("x"), None, ()).changes


def test_a_link_that_leads_out_of_the_repository_is_not_followed(tmp_path: Path) -> None:
    repository = tmp_path / "repo"
    repository.mkdir()
    (tmp_path / "other.md").write_text("theirs")
    (repository / "CLAUDE.md").symlink_to("../other.md")
    (repository / "GEMINI.md").symlink_to("AGENTS.md")

    with pytest.raises(StoreError, match="out of the repository"):
        place_of(repository, target_named("claude"))
    assert place_of(repository, target_named("gemini")) == place_of(repository, target_named("agents"))


def test_an_unknown_target_is_told_what_there_is() -> None:
    with pytest.raises(ValueError, match="agents, claude"):
        target_named("vim")
