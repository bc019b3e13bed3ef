"""A process that sends the news of one journal to one address; it says how much it sent each time it did."""

from __future__ import annotations

import asyncio
import os
import sys

import httpx2

from handrail.runs.journals.sqlite import SqliteJournal
from handrail.runs.webhooks import Sender, endpoint


async def main(journal: str, url: str) -> None:
    sender = Sender(SqliteJournal(journal), (endpoint(url, os.environ),), first_pause_s=0.05)
    async with httpx2.AsyncClient(trust_env=False) as client:
        while True:
            if count := await sender.send(client):
                os.write(1, f"{count}\n".encode())
                # Whoever listens kills it here, between two tries, or lets it go on.
                sys.stdin.readline()
            await asyncio.sleep(0.02)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
