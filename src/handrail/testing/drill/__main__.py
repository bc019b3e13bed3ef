"""``python -m handrail.testing.drill``: a thousand seeded kills over each journal that is there.

``DRILL_KILLS`` and ``DRILL_SEED`` say how many and which, ``DRILL_JOURNALS`` (names, by commas) over what,
``DRILL_JOBS`` on how many processors. Progress goes to standard error; the last line on standard output counts kills,
losses and doubles. It ends with 0 only where nothing at all was found, and with 2 where a variable makes no sense.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from functools import partial
from typing import NoReturn

from handrail.testing.drill.drilling import Tally, batches, drill
from handrail.testing.drill.journals import HOSTS, Absent
from handrail.testing.drill.settings import BadSetting, read_settings


def main(environment: Mapping[str, str]) -> int:
    """Drill every journal that ``environment`` asks for and that is there; the exit code."""
    try:
        told = read_settings(environment)
    except BadSetting as problem:
        _say(f"error: {problem}")
        return 2
    total = Tally()
    covered: list[str] = []
    for host in HOSTS:
        with host() as kind:
            if kind.name not in told.journals:
                _say(f"{kind.name}: left out, DRILL_JOURNALS does not name it")
            elif isinstance(kind, Absent):
                _say(f"{kind.name}: left out, {kind.why}")
            else:
                tally = drill(batches(kind, told.kills, told.seed), told.jobs, partial(_progress, kind.name))
                covered.append(f"{kind.name} {tally.kills}")
                total += tally
    others = total.count("halt", "difference")
    sys.stdout.write(
        f"{total.kills} kills ({', '.join(covered) or 'no journal'}; seed {told.seed}):"
        f" {total.count('loss')} losses, {total.count('double')} doubles"
        f"{f', {others} halts and differences' if others else ''}\n"
    )
    return 0 if covered and not total.broken else 1


def _progress(name: str, total: Tally, latest: Tally) -> None:
    for broken in latest.broken:
        _say("\n".join((f"{name}, {broken.schedule}", *(f"  {finding}" for finding in broken.findings))))
    _say(f"{name}: {total.kills} kills, {len(total.broken)} broken runs")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _end(*_: object) -> NoReturn:
    """Told to end, the drill takes its processes and servers with it."""
    raise SystemExit(143)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    sys.exit(main(os.environ))
