"""A PostgreSQL server of one's own for tests: in a folder of its own, on a socket in that folder, gone afterwards."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

VARIABLE = "HANDRAIL_TEST_POSTGRES"
"""Names a server to use instead, by URL; its user must be allowed to make databases."""

_PLACES = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt/postgresql")
_USER = "postgres"
_SETTINGS = "-c listen_addresses='' -c max_connections=60 -c log_min_messages=fatal"


class PostgresServer:
    """A server that runs. ``url`` is that of its first database."""

    def __init__(
        self, url: str, folder: Path | None = None, programs: Path | None = None, *, is_durable: bool = False
    ) -> None:
        self.url = url
        self._is_durable = is_durable
        self._folder = folder
        self._programs = programs
        self._names = (f"handrail_{os.getpid()}_{index}" for index in itertools.count())

    @property
    def may_restart(self) -> bool:
        """Whether it is ours to stop."""
        return self._folder is not None

    @contextlib.contextmanager
    def database(self) -> Iterator[str]:
        """The URL of a new, empty database; it is dropped at the end of the block, with whoever is in it."""
        import psycopg

        name = next(self._names)
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        try:
            yield _url_of(self.url, name)
        finally:
            with psycopg.connect(self.url, autocommit=True) as connection:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())

    def restart(self) -> None:
        """Stop it at once, with what everybody is doing cut off, and start it again."""
        self._control("restart", "-m", "immediate")

    def stop(self) -> None:
        """Stop it at once."""
        self._control("stop", "-m", "immediate")

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._control("start")

    def _control(self, *words: str) -> None:
        if self._folder is None or self._programs is None:
            raise RuntimeError("this server was not started here")
        data, log = self._folder / "data", self._folder / "log"
        options = f"-k {self._folder} {_SETTINGS} -c fsync={'on' if self._is_durable else 'off'}"
        command = [str(self._programs / "pg_ctl"), "-w", "-s", "-D", str(data), "-l", str(log), "-o", options, *words]
        _run_as_server(command)


def find_programs() -> Path | None:
    """The folder of the newest server that is installed; None where there is none."""
    on_path = shutil.which("pg_ctl")
    if on_path is not None:
        return Path(on_path).resolve().parent
    found = [path.parent for place in _PLACES for path in Path(place).glob("**/bin/pg_ctl")]
    return max(found, default=None, key=lambda path: [int(part) for part in path.parts if part.isdigit()])


@contextlib.contextmanager
def postgres_server(*, is_durable: bool = False) -> Iterator[PostgresServer | None]:
    """The server that ``VARIABLE`` names, else one that runs for the length of the block; None: none is installed.

    One that is not ``is_durable`` waits for no disk; what it holds outlives it, but no power cut.
    """
    given = os.environ.get(VARIABLE)
    if given:
        yield PostgresServer(given)
        return
    programs = find_programs()
    if programs is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="handrail-pg-", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        user = _server_user()
        if user is not None:
            shutil.chown(folder, user)
        data = folder / "data"
        _run_as_server([str(programs / "initdb"), "-D", str(data), "-U", _USER, "-A", "trust", "-E", "UTF8", "-N"])
        url = f"postgresql://{_USER}@/postgres?host={quote(str(folder), safe='')}"
        server = PostgresServer(url, folder, programs, is_durable=is_durable)
        with _ended_with_us(folder, programs):
            server.start()
            yield server


@contextlib.contextmanager
def _ended_with_us(folder: Path, programs: Path) -> Iterator[None]:
    """Stop the server in ``folder`` and take it away at the end of the block, or when this process dies before."""
    script = 'read -r _; "$0" -s -D "$1/data" -m immediate stop; rm -rf "$1"'
    watcher = subprocess.Popen(
        ["/bin/sh", "-c", script, str(programs / "pg_ctl"), str(folder)],
        user=_server_user(),
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        # It waits for a line that never comes, or for the end of whoever could write one.
        watcher.communicate()


def _server_user() -> str | None:
    """Who runs the server: it refuses to run as root."""
    return _USER if os.geteuid() == 0 else None


def _run_as_server(command: list[str]) -> None:
    done = subprocess.run(
        command, user=_server_user(), cwd="/", stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode != 0:
        told = (done.stderr + done.stdout).decode(errors="replace").strip()
        raise RuntimeError(f"{Path(command[0]).name} ended with {done.returncode}: {told}")


def _url_of(url: str, name: str) -> str:
    from psycopg.conninfo import make_conninfo

    return make_conninfo(url, dbname=name)
