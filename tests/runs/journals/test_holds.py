"""Who is at what, told between connections to a real PostgreSQL."""

from __future__ import annotations

import pytest

from handrail.runs.journals.holding import HeldElsewhere, Holder
from handrail.runs.journals.postgres import PostgresJournal
from handrail.runs.journals.sqlite import SqliteJournal
from handrail.testing.postgres import PostgresServer


def test_what_one_holds_another_is_refused_until_it_is_let_go(postgres_url: str) -> None:
    one, other = PostgresJournal(postgres_url), PostgresJournal(postgres_url)
    with one.holding("run"):
        assert (one.is_held("run"), other.is_held("run"), other.is_held("walk")) == (False, True, False)
        with pytest.raises(HeldElsewhere), other.holding("run"):
            raise AssertionError("both held it")
    with other.holding("run"):
        assert one.is_held("run")
    one.close()
    other.close()


def test_several_share_what_none_may_have_alone_meanwhile(postgres_url: str) -> None:
    one, other = PostgresJournal(postgres_url), PostgresJournal(postgres_url)
    with one.holding("carrying", is_shared=True):
        with other.holding("carrying", is_shared=True):
            assert one.is_held("carrying")
        with pytest.raises(HeldElsewhere), other.holding("carrying"):
            raise AssertionError("it was had alone")
    one.close()
    other.close()


def test_it_is_let_go_with_the_one_that_held_it(postgres_url: str) -> None:
    one, other = PostgresJournal(postgres_url), PostgresJournal(postgres_url)
    held = one.holding("run")
    held.__enter__()
    one.close()
    assert not other.is_held("run")
    other.close()


def test_a_server_that_was_restarted_is_told_again(postgres: PostgresServer) -> None:
    if not postgres.may_restart:
        pytest.skip("the server is not ours to restart")
    with postgres.database() as url:
        one, other = PostgresJournal(url), PostgresJournal(url)
        with one.holding("run"):
            postgres.restart()
            assert not one.is_held("walk")
            assert other.is_held("run")
        assert not other.is_held("run")
        one.close()
        other.close()


def test_a_journal_of_one_machine_knows_nothing_of_that(tmp_path: object) -> None:
    assert isinstance(PostgresJournal("postgresql://nowhere"), Holder)
    assert not isinstance(SqliteJournal(f"{tmp_path}/journal.sqlite"), Holder)
