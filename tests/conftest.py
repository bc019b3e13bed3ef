"""Settings of every test: properties draw the same examples every time, leave nothing on disk and watch no clock.

And the one server that tests of PostgreSQL share, started when the first of them runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from handrail.testing.postgres import PostgresServer, postgres_server

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")

NEEDED = "HANDRAIL_TEST_ALL"
"""Set where nothing may be skipped for want of a program."""


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server; tests of it are skipped where there is none, unless nothing may be."""
    with postgres_server() as server:
        if server is None:
            if os.environ.get(NEEDED):
                pytest.fail("PostgreSQL is not installed")
            pytest.skip("PostgreSQL is not installed")
        yield server


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """The URL of an empty database."""
    with postgres.database() as url:
        yield url
