"""Several journals on one SQLite file in one process, and what another process does meanwhile."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from handrail.journal.events import SessionOpened, SessionTitled
from handrail.journal.port import number
from handrail.journal.vocabulary import DRIVER
from handrail.runs.journals.sqlite import SqliteJournal
from handrail.transcripts.model import Meta

_LOOKS = """
import asyncio, sys
from handrail.journal.events import PauseRequested
from handrail.journal.vocabulary import DRIVER
from handrail.runs.journals.sqlite import SqliteJournal

async def main():
    journal = SqliteJournal(sys.argv[1])
    await journal.post("s1", PauseRequested(), DRIVER, sys.argv[2])
    print(len(await journal.read("s1")))
    journal.close()

asyncio.run(main())
"""


def _elsewhere(path: Path, key: str) -> int:
    """Another process opens the file, writes, reads and closes it; how many events it saw."""
    done = subprocess.run([sys.executable, "-c", _LOOKS, str(path), key], capture_output=True, check=True, timeout=60)
    return int(done.stdout)


def test_a_second_journal_in_a_process_does_not_cost_the_first_its_log(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"

    async def story() -> None:
        first, second = SqliteJournal(path), SqliteJournal(path)
        epoch = await first.take_over("s1")
        await first.append("s1", 0, epoch, number([SessionOpened(Meta(id="s1"))], after=0, by=DRIVER))
        # The second opens the file and lets go of it while the first stays connected.
        await second.read("s1")
        second.close()
        assert _elsewhere(path, "one") == 1
        await first.append("s1", 1, epoch, number([SessionTitled("kept")], after=1, by=DRIVER))
        assert _elsewhere(path, "two") == 2
        first.close()

    asyncio.run(story())
