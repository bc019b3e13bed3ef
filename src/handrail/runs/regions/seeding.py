"""What a region begins with, fetched: the task, a text, files of the workspace, what a command prints.

The only part of regions that touches disk or starts anything. Paths are those of one workspace, links resolved, and
nothing else; a command runs only with permission.
"""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias, assert_never

from msgspec import Struct

from handrail.agents.process import Ran, run_process
from handrail.agents.regions import RegionRefused
from handrail.agents.threads import in_thread
from handrail.blueprints.regions import CommandSeed, FilesSeed, GlobSeed, LiteralSeed, Region, Seed
from handrail.errors import HandrailError
from handrail.journal.vocabulary import RegionEntry
from handrail.runs.regions.drafts import Origin
from handrail.runs.regions.filling import Piece, filled
from handrail.runs.regions.size import Size, size_bytes
from handrail.transcripts.model import Taint
from handrail.workspace.confined import Confined, PathRefused
from handrail.workspace.patterns import compile_pattern
from handrail.workspace.sandbox import NoSandbox, Sandbox, find_sandbox

_PROBED_BYTES = 8_192
_PRIVATE = Taint(private=True)

Permit: TypeAlias = Callable[[CommandSeed], Awaitable[bool]]
"""Whether a command may run; asking a person is its business."""


class SeedFailed(HandrailError, ValueError):
    """A region cannot begin with what it declares."""

    code = "seed"


class Ground(Struct, frozen=True, kw_only=True):
    """What seeds are fetched from.

    ``task`` is what the run was started with. ``permit`` None refuses every command. ``sandbox`` confines those that
    may run (None: what this machine has, looked for once one may); ``environment`` is theirs (None: that of this
    process, without the keys of models).
    """

    workspace: Path
    task: str | None = None
    permit: Permit | None = None
    sandbox: Sandbox | NoSandbox | None = None
    environment: Mapping[str, str] | None = None


async def seeded(region: Region, seed: Seed, ground: Ground, size: Size) -> tuple[RegionEntry, ...]:
    """All that ``region`` holds once it begins with ``seed``; what is too long is cut, and says so.

    Raises ``SeedFailed``: a file is missing, outside the workspace or no text, a command was not permitted or could
    not be run, or there is no room for even a start.
    """
    got = await _fetched(seed, ground, _wanted_bytes(region, size))
    try:
        return filled(region, got.pieces, size, Origin(got.taint), left_out=got.left_out, unread=got.unread)
    except RegionRefused as problem:
        raise SeedFailed(str(problem)) from problem


def _wanted_bytes(region: Region, size: Size) -> int:
    """How much of one text is worth reading: all the region can hold, and a little more, to know what is too long."""
    return int(region.budget_tokens(size.window) * size.estimate.bytes_per_token) + 1024


class _Got(Struct, frozen=True, kw_only=True):
    pieces: tuple[Piece, ...] = ()
    left_out: tuple[str, ...] = ()
    unread: int = 0
    taint: Taint = Taint()


async def _fetched(seed: Seed, ground: Ground, wanted_bytes: int) -> _Got:
    match seed:
        case "task":
            return _Got(pieces=(Piece(text=ground.task),) if ground.task else ())
        case LiteralSeed():
            return _Got(pieces=(Piece(text=seed.literal),))
        case FilesSeed():
            return await in_thread(_listed, seed, Confined(ground.workspace), wanted_bytes)
        case GlobSeed():
            return await in_thread(_fitting, seed, Confined(ground.workspace), wanted_bytes)
        case CommandSeed():
            return _Got(pieces=(Piece(text=await _printed(seed, ground, wanted_bytes)),), taint=_PRIVATE)
        case _:
            assert_never(seed)


# Files ------------------------------------------------------------------------------------------------------


def _listed(seed: FilesSeed, confined: Confined, wanted_bytes: int) -> _Got:
    pieces: list[Piece] = []
    for path in dict.fromkeys(seed.files):
        try:
            pieces.append(_read(confined, path, wanted_bytes))
        except OSError as problem:
            raise SeedFailed(f"{path}: {_why(problem)}") from problem
    return _Got(pieces=tuple(pieces), taint=_PRIVATE)


def _fitting(seed: GlobSeed, confined: Confined, wanted_bytes: int) -> _Got:
    """The files that fit; one that cannot be read, or leads outside, is named as left out."""
    pieces: list[Piece] = []
    left_out: list[str] = []
    room, unread = wanted_bytes, 0
    for path in _matches(seed, confined):
        if room <= 0:
            unread += 1
            continue
        try:
            piece = _read(confined, path, room)
        except OSError as problem:
            left_out.append(f"{path} ({_why(problem)})")
        else:
            pieces.append(piece)
            room -= size_bytes(piece.text)
    return _Got(pieces=tuple(pieces), left_out=tuple(left_out), unread=unread, taint=_PRIVATE)


def _matches(seed: GlobSeed, confined: Confined) -> Iterator[str]:
    try:
        fits = compile_pattern(seed.glob).fullmatch
    except re.error as problem:
        raise SeedFailed(f"{seed.glob!r} is no pattern: {problem}") from problem
    try:
        yield from (path for path in confined.walk() if fits(path))
    except OSError as problem:
        raise SeedFailed(f"the workspace cannot be read: {_why(problem)}") from problem


def _read(confined: Confined, path: str, wanted_bytes: int) -> Piece:
    with confined.open(path) as stream:
        data = stream.read(wanted_bytes)
        whole_bytes = os.fstat(stream.fileno()).st_size
    if b"\0" in data[:_PROBED_BYTES]:
        raise PathRefused("it is no text")
    text = data.decode("utf-8", "replace")
    return Piece(text=text, name=path, whole_bytes=whole_bytes if whole_bytes > len(data) else None)


def _why(problem: OSError) -> str:
    return problem.message if isinstance(problem, PathRefused) else problem.strerror or str(problem)


# Commands ---------------------------------------------------------------------------------------------------


async def _printed(seed: CommandSeed, ground: Ground, wanted_bytes: int) -> str:
    told = " ".join(seed.command)
    if ground.permit is None or not await ground.permit(seed):
        raise SeedFailed(f"the command {told!r} was not permitted")
    argv = await _confined(list(seed.command), ground)
    try:
        ran = await run_process(
            argv,
            cwd=ground.workspace,
            environment=ground.environment,
            timeout_s=seed.timeout_s,
            is_merged=True,
            kept_bytes=2 * wanted_bytes,
        )
    except (OSError, ValueError) as problem:
        # ValueError: a null byte, which no command line can hold.
        raise SeedFailed(f"the command {told!r} could not be started: {problem}") from problem
    return _told(ran, seed)


async def _confined(argv: list[str], ground: Ground) -> list[str]:
    environment = os.environ if ground.environment is None else ground.environment
    sandbox = await in_thread(find_sandbox, environment) if ground.sandbox is None else ground.sandbox
    if isinstance(sandbox, Sandbox):
        return sandbox.wrap(argv, root=ground.workspace, cwd=ground.workspace)
    return argv


def _told(ran: Ran, seed: CommandSeed) -> str:
    if ran.is_timed_out:
        return f"{ran.output.rstrip()}\n[stopped after {seed.timeout_s:g} seconds]".lstrip()
    if ran.exit_code != 0:
        return f"{ran.output.rstrip()}\n[exit code {ran.exit_code}]".lstrip()
    return ran.output
