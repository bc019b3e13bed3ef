"""A command confined by bubblewrap, where it is installed and works; whoever asks is told plainly when not."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from handrail.workspace.confined import PROTECTED

_PROBE_S = 10.0


class Sandbox(Struct, frozen=True, kw_only=True):
    """bubblewrap at ``program``: the whole system to read, ``root`` to write, no network unless ``has_network``."""

    program: str
    has_network: bool = False

    def wrap(self, argv: Sequence[str], *, root: Path, cwd: Path) -> list[str]:
        """The command line that runs ``argv`` in ``cwd``, confined.

        Own processes, own empty ``/tmp`` and ``/run`` (where daemons listen that would work for it), no privileges
        to gain; it dies with the program that started it. What is protected in the workspace stays as it is.
        """
        bounds = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
        bounds += ["--bind", str(root), str(root)]
        for name in sorted(PROTECTED):
            bounds += ["--ro-bind-try", str(root / name), str(root / name)]
        bounds += ["--unshare-all"]
        if self.has_network:
            # Where systemd keeps what names are looked up with.
            resolver = "/run/systemd/resolve"
            bounds += ["--share-net", "--ro-bind-try", resolver, resolver]
        bounds += ["--die-with-parent", "--new-session", "--chdir", str(cwd)]
        return [self.program, *bounds, "--", *argv]


class NoSandbox(Struct, frozen=True):
    """There is no confinement here, and why."""

    reason: str


def find_sandbox(environment: Mapping[str, str], *, has_network: bool = False) -> Sandbox | NoSandbox:
    """The sandbox of this machine, tried once with a command that does nothing."""
    program = shutil.which("bwrap", path=environment.get("PATH"))
    if program is None:
        return NoSandbox("bubblewrap (bwrap) is not installed")
    sandbox = Sandbox(program=program, has_network=has_network)
    here = Path("/")
    try:
        tried = subprocess.run(
            [program, "--ro-bind", "/", "/", "--unshare-all", "--die-with-parent", "--", "true"],
            cwd=here,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return NoSandbox(f"bubblewrap does not run here: {problem}")
    if tried.returncode != 0:
        return NoSandbox(f"bubblewrap does not work here: {tried.stderr.decode('utf-8', 'replace').strip()[:200]}")
    return sandbox
