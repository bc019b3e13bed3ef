"""Use case: the hook in Claude Code and Codex: put in, taken out, and asked whether the host really calls it."""

from __future__ import annotations

import difflib
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal

from msgspec import Struct

from handrail import files
from handrail.app.learning.places import learning_folder
from handrail.app.machine import SCHEMA_VERSION
from handrail.clock import Clock, SystemClock
from handrail.errors import StoreError
from handrail.harnesses.claude_code.store import default_roots as claude_code_roots
from handrail.harnesses.codex.store import default_roots as codex_roots
from handrail.learning.checks import settings_json, settings_toml
from handrail.learning.checks.firing import FiringStore, Installed
from handrail.learning.checks.hosts import EVENTS, HOSTS, Host
from handrail.learning.checks.settings_json import Unchangeable

Scope = Literal["user", "project"]

TIMEOUT_S = 10
"""How long a host waits for the hook before it goes on without it."""

_CODEX_JSON = "hooks.json"
_CODEX_TOML = "config.toml"
_NEVER = {
    "claude_code": "start a new session of it, and look at /hooks there",
    "codex": "start a new session of it, and trust the hook in /hooks there",
}


class HookChange(Struct, frozen=True, kw_only=True):
    """What putting the hook in, or taking it out, changes in ``file``: ``diff`` in unified form, empty where nothing.

    ``is_applied`` says that it was written.
    """

    schema_version: int = SCHEMA_VERSION
    host: str
    scope: str
    file: str
    diff: tuple[str, ...]
    is_applied: bool = False


class HookRemoval(Struct, frozen=True, kw_only=True):
    """What taking the hook out changes, file by file; none where it stands in no settings."""

    schema_version: int = SCHEMA_VERSION
    changes: tuple[HookChange, ...]


class EventState(Struct, frozen=True, kw_only=True, gc=False):
    """When a host last called the hook for an event, and what went wrong then; None where it never did."""

    event: str
    last_at: datetime | None
    why: str | None


class HostState(Struct, frozen=True, kw_only=True):
    """What is known of the hook in one host. ``files`` are the settings it stands in.

    ``is_loaded``: the host called it since it was installed; None where it is installed nowhere. ``problems`` say in
    sentences what is wrong.
    """

    host: str
    files: tuple[str, ...]
    installed_at: datetime | None
    events: tuple[EventState, ...]
    is_loaded: bool | None
    problems: tuple[str, ...]


class HookReport(Struct, frozen=True, kw_only=True):
    """The hook in every host."""

    schema_version: int = SCHEMA_VERSION
    hosts: tuple[HostState, ...]

    @property
    def has_problems(self) -> bool:
        return any(one.problems for one in self.hosts)


def install_hook(
    environment: Mapping[str, str],
    host: Host,
    project: Path | None = None,
    *,
    apply: bool = False,
    clock: Clock | None = None,
) -> HookChange:
    """Put the hook into the settings of ``host``: those of the person, or those of the folder ``project``.

    Without ``apply`` nothing is written. Raises ``Unchangeable`` for settings that cannot be changed without risk, and
    ``StoreError`` where they cannot be read or written.
    """
    file = _file(environment, host, project)
    before = _read(file)
    command = hook_command(environment, host)
    cleared = _without(file, before, host)
    after = before if _with(file, cleared, command) == before else _with(file, cleared, command)
    change = _change(host, project, file, before, after)
    if not apply:
        return change
    _write(file, before, after)
    store = FiringStore(learning_folder(environment))
    store.note_installed(Installed(at=(clock or SystemClock()).now(), host=host, file=str(file)))
    return _applied(change)


def remove_hook(
    environment: Mapping[str, str], host: Host, project: Path | None = None, *, apply: bool = False
) -> tuple[HookChange, ...]:
    """Take the hook out of the settings of ``host``, of every file there it stands in; as ``install_hook``."""
    done: list[HookChange] = []
    for file in _candidates(environment, host, project):
        before = _read(file)
        after = _without(file, before, host)
        if before == after:
            continue
        change = _change(host, project, file, before, after)
        if apply:
            _write(file, before, after)
            change = _applied(change)
        done.append(change)
    if apply:
        FiringStore(learning_folder(environment)).forget_installed(host)
    return tuple(done)


def hook_report(environment: Mapping[str, str], project: Path | None) -> HookReport:
    """Whether the hook is installed, and whether the hosts call it; ``project`` is the folder to look in besides."""
    store = FiringStore(learning_folder(environment))
    return HookReport(hosts=tuple(_state(environment, host, project, store) for host in HOSTS))


def hook_command(environment: Mapping[str, str], host: Host) -> str:
    """What a host runs. With ``-P`` no folder of a repository can put itself in the program's place."""
    home = environment.get("HANDRAIL_HOME")
    moved = ["env", f"HANDRAIL_HOME={os.path.abspath(home)}"] if home else []  # noqa: PTH100 - links left alone
    return shlex.join([*moved, sys.executable, "-P", *_mark(host).split()])


def _mark(host: Host) -> str:
    """What tells the command of ours from any other."""
    return f"-m handrail hook run {host}"


# Where -----------------------------------------------------------------------------------------------------


def _folder(environment: Mapping[str, str], host: Host, project: Path | None) -> Path:
    if project is not None:
        return project / (".claude" if host == "claude_code" else ".codex")
    roots = claude_code_roots(environment) if host == "claude_code" else codex_roots(environment)
    if not roots:
        raise StoreError(f"there is no home folder with the settings of {host}", hint="set HOME")
    return roots[0].parent


def _candidates(environment: Mapping[str, str], host: Host, project: Path | None) -> tuple[Path, ...]:
    """The settings that may hold the hook, the preferred first.

    A project's hook in Claude Code stands in its local settings, which are not shared: the path of a program on this
    machine is nobody else's business.
    """
    folder = _folder(environment, host, project)
    if host == "claude_code":
        return (folder / ("settings.json" if project is None else "settings.local.json"),)
    return (folder / _CODEX_TOML, folder / _CODEX_JSON)


def _file(environment: Mapping[str, str], host: Host, project: Path | None) -> Path:
    """Where the hook is put. Codex reads hooks from two files and wants them in one: in that which has some already."""
    first, *others = _candidates(environment, host, project)
    return next((file for file in others if files.look_at(file) is not None), first)


def _is_toml(file: Path) -> bool:
    return file.suffix == ".toml"


# Changing --------------------------------------------------------------------------------------------------


def _with(file: Path, data: bytes, command: str) -> bytes:
    add = settings_toml.with_hook if _is_toml(file) else settings_json.with_hook
    return _named(file, lambda: add(data, command, TIMEOUT_S))


def _without(file: Path, data: bytes, host: Host) -> bytes:
    take = settings_toml.without_hook if _is_toml(file) else settings_json.without_hook
    return _named(file, lambda: take(data, _mark(host)))


def _has(file: Path, host: Host) -> bool:
    look = settings_toml.has_hook if _is_toml(file) else settings_json.has_hook
    data = _read(file)
    return look(data, _mark(host))


def _named(file: Path, change: Callable[[], bytes]) -> bytes:
    try:
        return change()
    except Unchangeable as problem:
        raise Unchangeable(f"{file}: {problem.message}; nothing was changed", hint=problem.hint) from problem


def _read(file: Path) -> bytes:
    if files.look_at(file) is None:
        return b""
    with files.OpenFile(file) as opened:
        return b"".join(opened.chunks())


def _write(file: Path, before: bytes, after: bytes) -> None:
    """Write the settings whole, through a link and with the mode they had; refused where they changed meanwhile."""
    if before == after:
        return
    place = Path(os.path.realpath(file))
    found = files.look_at(place)
    if _read(place) != before:
        raise StoreError(f"{file} was changed in the meantime", hint="look at the difference again")
    mode = files.PRIVATE_FILE if found is None else found.st_mode & 0o777
    files.write_stream_atomically(place, (after,), replace=True, check=lambda temporary: temporary.chmod(mode))


def _change(host: Host, project: Path | None, file: Path, before: bytes, after: bytes) -> HookChange:
    lines = difflib.unified_diff(
        before.decode("utf-8", "replace").splitlines(), after.decode("utf-8", "replace").splitlines(), lineterm="", n=2
    )
    shown = tuple(line for line in lines if not line.startswith(("---", "+++")))
    return HookChange(host=host, scope="user" if project is None else "project", file=str(file), diff=shown)


def _applied(change: HookChange) -> HookChange:
    return HookChange(host=change.host, scope=change.scope, file=change.file, diff=change.diff, is_applied=True)


# The doctor ------------------------------------------------------------------------------------------------


def _state(environment: Mapping[str, str], host: Host, project: Path | None, store: FiringStore) -> HostState:
    problems: list[str] = []
    found = tuple(_installed_in(environment, host, project, problems))
    installed = store.installed(host)
    last = [store.last(host, event) for event in EVENTS]
    events = tuple(
        EventState(event=event, last_at=None if one is None else one.at, why=None if one is None else one.why)
        for event, one in zip(EVENTS, last, strict=True)
    )
    since = None if installed is None else installed.at
    called = [one for one in last if one is not None and (since is None or one.at >= since)]
    if found and not called:
        problems.append(f"it is installed and was never called since: {_NEVER[host]}")
    problems += [f"the last call for {one.event} failed: {one.why}" for one in called if one.why]
    unknown = store.last(host, "unknown")
    if found and unknown is not None and unknown.why and (since is None or unknown.at >= since):
        problems.append(f"something was called that is no call of {host}: {unknown.why}")
    return HostState(
        host=host,
        files=found,
        installed_at=since if found else None,
        events=events,
        is_loaded=bool(called) if found else None,
        problems=tuple(problems),
    )


def _installed_in(
    environment: Mapping[str, str], host: Host, project: Path | None, problems: list[str]
) -> Iterator[str]:
    """The settings the hook stands in; what cannot be read, or calls another Handrail, goes to ``problems``."""
    for scope in dict.fromkeys((None, project)):
        for file in _candidates(environment, host, scope):
            try:
                if not _has(file, host):
                    continue
                if _with(file, _without(file, _read(file), host), hook_command(environment, host)) != _read(file):
                    problems.append(f"{file} calls another Handrail than this one, or in another way: install it again")
            except (Unchangeable, StoreError) as problem:
                problems.append(problem.message)
                continue
            yield str(file)
