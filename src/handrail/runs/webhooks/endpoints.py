"""Where notices go: an address, what is sent there, and the secret it is signed with."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

from msgspec import Struct

from handrail.errors import HandrailError
from handrail.runs.journals.outbox import Topic

TOPICS: tuple[Topic, ...] = get_args(Topic)
SECRET_VARIABLE = "HANDRAIL_WEBHOOK_SECRET"
"""Holds the secret of an address that names no other variable."""

_KEYS = ("url", "secret_env", "topics", "redacts")
_LEAST_SECRET_BYTES = 16


class BadWebhooks(HandrailError, ValueError):
    """Where notices are to go cannot be read, or makes no sense; all that is wrong with it is said."""

    code = "bad_webhooks"
    exit_code = 2


class Endpoint(Struct, frozen=True, kw_only=True):
    """One address. ``redacts`` takes secrets and personal marks out of what is sent, and leaves documents out."""

    url: str
    secret: bytes
    topics: tuple[Topic, ...] = TOPICS
    redacts: bool = True

    def __repr__(self) -> str:
        return f"Endpoint(url={shown(self.url)!r}, topics={self.topics!r}, redacts={self.redacts!r})"


def shown(url: str) -> str:
    """An address as it may be shown: without what may be a secret in it."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


def endpoint(url: str, environment: Mapping[str, str]) -> Endpoint:
    """The address ``url`` with the usual secret; ``BadWebhooks`` where it is none, or there is no secret."""
    return _endpoints([{"url": url}], environment, "--webhook")[0]


def load_endpoints(path: Path, environment: Mapping[str, str]) -> tuple[Endpoint, ...]:
    """The addresses that the TOML file at ``path`` holds, each a table ``[[webhook]]``; raises ``BadWebhooks``."""
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise BadWebhooks(f"{path} cannot be read: {problem.strerror}") from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise BadWebhooks(f"{path} is no TOML: {problem}") from problem
    tables = plain.pop("webhook", [])
    if plain or not isinstance(tables, list) or not tables:
        raise BadWebhooks(f"{path}: holds tables [[webhook]] and nothing else, one at least")
    return _endpoints(tables, environment, str(path))


def _endpoints(tables: list[Any], environment: Mapping[str, str], where: str) -> tuple[Endpoint, ...]:
    problems: list[str] = []
    found: list[Endpoint] = []
    for number, table in enumerate(tables, 1):
        own = _problems(table, environment)
        problems += [f"{where}, webhook {number}: {problem}" for problem in own]
        if not own:
            secret = environment[table.get("secret_env", SECRET_VARIABLE)].encode()
            topics = tuple(table.get("topics", TOPICS))
            found.append(Endpoint(url=table["url"], secret=secret, topics=topics, redacts=table.get("redacts", True)))
    if problems:
        raise BadWebhooks("\n".join(problems))
    return tuple(found)


def _problems(table: Any, environment: Mapping[str, str]) -> list[str]:
    if not isinstance(table, dict):
        return ["must be a table"]
    problems = [f"{key}: there is no such key; there are {', '.join(_KEYS)}" for key in table if key not in _KEYS]
    url = table.get("url")
    if not isinstance(url, str) or not _is_address(url):
        problems.append("url: must be an http:// or https:// address")
    variable = table.get("secret_env", SECRET_VARIABLE)
    if not isinstance(variable, str) or len(environment.get(variable, "").encode()) < _LEAST_SECRET_BYTES:
        problems.append(f"secret: the environment variable {variable} must hold {_LEAST_SECRET_BYTES} bytes at least")
    topics = table.get("topics", list(TOPICS))
    if not isinstance(topics, list) or not topics or any(topic not in TOPICS for topic in topics):
        problems.append(f"topics: must be a list of {', '.join(TOPICS)}")
    if not isinstance(table.get("redacts", True), bool):
        problems.append("redacts: must be true or false")
    return problems


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
