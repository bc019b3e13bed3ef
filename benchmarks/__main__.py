"""``python -m benchmarks [reading|listing|…] [--trials N] [--monster-gb G]``: one JSON object a line."""

from __future__ import annotations

import argparse
import json
import platform
import sys

from benchmarks import adding, listing, loop, mending, reading, waiting

GROUPS = {
    "reading": lambda options: reading.against_floor(options.trials),
    "conversion": lambda options: reading.text_to_text(options.trials),
    "listing": lambda options: listing.many(options.trials),
    "monster": lambda options: listing.monster(int(options.monster_gb * 1e9)),
    "stats": lambda options: adding.stats(),
    "following": lambda options: adding.following(),
    "diagnosis": lambda options: mending.speed(options.trials),
    "diagnosis-memory": lambda options: mending.memory(int(options.monster_gb * 1e9)),
    "damage": lambda options: mending.thousand(),
    "loop": lambda options: loop.all_figures(options.trials),
    "waiting": lambda options: waiting.all_figures(),
    "startup": lambda options: listing.startup(options.trials),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("groups", nargs="*", choices=[[], *GROUPS], help="which to run (default: all)")
    parser.add_argument("--trials", type=int, default=5, help="calls per figure; the median is shown")
    parser.add_argument("--monster-gb", type=float, default=5.0, help="size of the one huge session")
    options = parser.parse_args()
    print(json.dumps({"python": platform.python_version(), "machine": platform.machine(), "trials": options.trials}))
    for group in options.groups or GROUPS:
        for row in GROUPS[group](options):
            print(json.dumps(row))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
