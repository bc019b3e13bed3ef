"""The round loop: what a round and a call cost beside the model and the tool, and what a run costs while it waits.

Everything is scripted and costs next to nothing itself. Times are processor time; peers that can be imported run the
same script and tool in the same run, in turn.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.peers import ANSWER, PEERS, Door, Start, present
from benchmarks.timing import fresh_process, side_by_side_s
from handrail.journal.port import Journal

ROUNDS = (50, 200, 800)
AIM_MS = 0.5
"""What a round may cost with the file journal on, at any length."""

OURS = "handrail"
OURS_ON_FILE = "handrail, file journal"
OURS_ON_SQLITE = "handrail, SQLite journal"


def _handrail(rounds: int, calls: int = 1, door: Door | None = None, journal: Journal | None = None) -> Start:
    """A run of ours; its journal is in memory when none is given."""
    from handrail import Agent, RunOptions, ScriptedModel, call, tool
    from handrail.models.scripted import Answer, Item

    async def wait(request: object) -> Answer:
        if door is not None:
            await door.pass_through()
        return asked

    def answer(request: object) -> Answer:
        # What it keeps for tests would be the larger part of the memory; the peers' stand-ins keep nothing.
        model.requests.clear()
        return asked

    async def probe(value: str) -> str:
        """Look at one thing. value: what to look at."""
        return f"seen {value}"

    asked: Answer = [call("probe", value="a")] * calls
    script: list[Item] = [answer] * rounds
    if door is not None:
        script[0] = wait
    model = ScriptedModel([*script, ANSWER], repeats=True)
    agent = Agent(model=model, tools=[tool(parallel=True)(probe)])
    return lambda: agent.run("go", RunOptions(journal=journal))


def _makers() -> dict[str, Callable[..., Start]]:
    return {OURS: _handrail, **present()}


def rounds(trials: int) -> Iterator[dict[str, object]]:
    """Milliseconds of processor time a round, for runs of so many rounds with one call each."""
    for count in ROUNDS:
        figures = _side_by_side(count, 1, trials)
        yield {
            "what": f"a round, of {count}, one call in each",
            "ms": {name: round(seconds / count * 1000, 3) for name, seconds in figures.items()},
            "aim_ms": AIM_MS,
        }


def calls(trials: int, count: int = 100, more: int = 8) -> Iterator[dict[str, object]]:
    """Milliseconds of processor time a call, as what a round with ``more`` calls costs beyond one with one call."""
    one, many = _side_by_side(count, 1, trials), _side_by_side(count, more, trials)
    each = {name: (many[name] - one[name]) / count / (more - 1) for name in one}
    yield {
        "what": f"one more call in a round, {count} rounds",
        "ms": {name: round(seconds * 1000, 3) for name, seconds in each.items()},
    }


def _side_by_side(count: int, calls: int, trials: int) -> dict[str, float]:
    """Processor time in seconds of one whole run, by library; agents and tools are made before."""
    from handrail import FileJournal, SqliteJournal

    with tempfile.TemporaryDirectory() as folder:
        in_files, in_sqlite = FileJournal(folder), SqliteJournal(Path(folder) / "journal.sqlite")
        starts = {
            OURS_ON_FILE: _handrail(count, calls, journal=in_files),
            OURS_ON_SQLITE: _handrail(count, calls, journal=in_sqlite),
        }
        starts |= {name: make(count, calls) for name, make in _makers().items()}
        works = [partial(_to_its_end, start) for start in starts.values()]
        try:
            return dict(zip(starts, side_by_side_s(*works, trials=trials), strict=True))
        finally:
            in_files.close()
            in_sqlite.close()


def _to_its_end(start: Start) -> None:
    async def story() -> object:
        return await start()

    asyncio.run(story())


# In a process of their own -----------------------------------------------------------------------------------


def idle(count: int = 1000) -> Iterator[dict[str, object]]:
    """What a run that waits for its model holds in memory, and what it takes to start and finish many at once.

    Memory is the growth of the resident set until all of them wait (Linux only; 0 elsewhere).
    """
    for name in _makers():
        code = f"from benchmarks.loop import at_once\nRESULT = at_once({name!r}, {count})"
        run = fresh_process(code)
        yield {
            "what": f"{count:,} runs at once in one process, {name}",
            "kib_an_idle_run": round(run["idle_kib"], 1),
            "ms_a_run": round(run["processor_s"] / count * 1000, 2),
            "wall_s": round(run["wall_run_s"], 2),
            "peak_mib": round(run["peak_mib"]),
        }


def at_once(name: str, count: int) -> dict[str, float]:
    """Start ``count`` runs that all wait for their model, then let them make a call and answer."""
    import time

    make = _makers()[name]
    _to_its_end(make(1))

    async def story() -> dict[str, float]:
        door = Door(count)
        start = make(1, 1, door)
        before = _resident_kib()
        began, began_wall = time.process_time(), time.perf_counter()
        tasks = [asyncio.ensure_future(start()) for _ in range(count)]
        await door.all_wait.wait()
        held = _resident_kib() - before
        door.is_open.set()
        await asyncio.gather(*tasks)
        return {
            "idle_kib": held / count,
            "processor_s": time.process_time() - began,
            "wall_run_s": time.perf_counter() - began_wall,
        }

    return asyncio.run(story())


def _resident_kib() -> int:
    """The resident set now."""
    status = Path("/proc/self/status")
    return int(status.read_text().split("VmRSS:")[1].split()[0]) if status.exists() else 0


_IMPORT = """
import importlib, time
start = time.process_time()
for name in {modules!r}:
    importlib.import_module(name)
{after}
RESULT = {{"processor_s": time.process_time() - start}}
"""


def imports(trials: int) -> Iterator[dict[str, object]]:
    """Seconds of processor time to import what a scripted agent needs, the least of ``trials`` fresh processes."""
    cases = {
        "handrail, Agent named": (["handrail"], "importlib.import_module('handrail').Agent"),
        "handrail, Agent named and a tool made": (["handrail"], _WITH_TOOL),
    }
    needs = {
        "pydantic-ai": ["pydantic_ai", "pydantic_ai.models.function"],
        "openai-agents": ["agents"],
        "langgraph": ["langgraph.graph", "langgraph.prebuilt"],
    }
    cases |= {name: (needs[name], "") for name in PEERS if name in present()}
    for name, (modules, after) in cases.items():
        code = _IMPORT.format(modules=modules, after=after)
        took = min(float(fresh_process(code)["processor_s"]) for _ in range(trials))
        yield {"what": f"import, {name}", "s": round(took, 3)}


_WITH_TOOL = """
handrail = importlib.import_module("handrail")
handrail.Agent
@handrail.tool
def probe(value: str) -> str:
    return value
"""


def all_figures(trials: int) -> Iterator[dict[str, object]]:
    """All of it."""
    versions = {name: _version(name) for name in present()}
    yield {"what": "peers", "versions": versions}
    yield from rounds(trials)
    yield from calls(trials)
    yield from idle()
    yield from imports(trials)


def _version(name: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return metadata.version(f"{name}-slim")
