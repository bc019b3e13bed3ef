"""Use case: a run in the background, in a process of its own that outlives this one and whoever started it.

The process begins the run, says so, and drives it until it ends or waits for a person; then it ends too, and whoever
answers, or one that serves, has the run gone on with.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from handrail import jsonio
from handrail.app.machine import SCHEMA_VERSION
from handrail.app.ordering import Order, to_plain
from handrail.errors import HandrailError
from handrail.transcripts.model import Json

_CARRIER = "handrail.app.carrier"
_TOLD_CHARS = 2_000


class Charge(Struct, frozen=True, kw_only=True):
    """What a carrier is given: the order, as plain data, and where harnesses keep their sessions."""

    order: Json
    roots: Mapping[str, str] = {}


class Detached(Struct, frozen=True, kw_only=True):
    """A run that goes on in the background: its session, and the process that drives it until it waits or ends."""

    schema_version: int = SCHEMA_VERSION
    session: str
    model: str
    pid: int
    blueprint: str | None = None
    notices: tuple[str, ...] = ()


class Trouble(Struct, frozen=True, kw_only=True):
    """Why a carrier did not begin, as the error that it was."""

    code: str
    message: str
    hint: str | None = None
    exit_code: int = 1


class Report(Struct, frozen=True, kw_only=True):
    """What a carrier says once, on its standard output."""

    begun: Detached | None = None
    trouble: Trouble | None = None


class NotDetached(HandrailError):
    """The run did not begin; the code, the hint and the exit code are those of what went wrong in the background."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.message, hint=trouble.hint)
        self.code = trouble.code
        self.exit_code = trouble.exit_code


def detach(order: Order, environment: Mapping[str, str], roots: Mapping[str, Path]) -> Detached:
    """Begin what ``order`` says in the background; ``NotDetached`` with whatever kept it from beginning."""
    charge = Charge(order=to_plain(order), roots={name: str(path) for name, path in roots.items()})
    carrier = subprocess.Popen(
        [sys.executable, "-m", _CARRIER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=order.workspace,
        env=dict(environment),
        start_new_session=True,
    )
    if carrier.stdin is None or carrier.stdout is None or carrier.stderr is None:
        raise RuntimeError("the carrier was started without pipes")
    with carrier.stdin, carrier.stdout, carrier.stderr:
        carrier.stdin.write(jsonio.encode(charge))
        carrier.stdin.close()
        told = carrier.stdout.readline()
        if not told:
            left = carrier.stderr.read().decode("utf-8", "replace")[-_TOLD_CHARS:]
            raise NotDetached(Trouble(code="not_detached", message=f"the background process ended: {left.strip()}"))
    # It is nobody's child once this process ends; until then it is not to be warned of.
    carrier.returncode = 0
    return _begun(told)


def _begun(told: bytes) -> Detached:
    report: Any = msgspec.json.decode(told, type=Report)
    if report.trouble is not None:
        raise NotDetached(report.trouble)
    if report.begun is None:
        raise NotDetached(Trouble(code="not_detached", message="the background process said nothing"))
    found: Detached = report.begun
    return found
