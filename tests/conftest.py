"""Settings of every test: properties draw the same examples every time, leave nothing on disk and watch no clock.

Programs that tests start can be told to end, and one server is shared by the tests of PostgreSQL, started when the
first of them runs.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from handrail.testing.postgres import PostgresServer, postgres_server

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")

# What runs in the background (nohup, a script's `&`) is left with these ignored, and so would be what tests start.
# A handler does as well for the tests themselves, and no child inherits it.
for _number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, lambda _number, _frame: None)

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
