"""Whatever happens in whatever order, rows that are kept, folded and made anew are the same."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.journal import events as ev
from handrail.journal.board import JournalWithBoard
from handrail.journal.memory import MemoryJournal
from handrail.journal.port import AskTaken, NoSuchAsk
from handrail.journal.vocabulary import Actor, ActorKind, AskKind, AskOutcome, EndReason
from handrail.runs.journals.sqlite import SqliteJournal
from handrail.testing.clock import ManualClock
from handrail.testing.tape import Tape

_ASKS = st.sampled_from(["q1", "q2", "q3"])
_NAMES = st.sampled_from(["Ada", "Bo"])
_BODIES = st.one_of(
    st.builds(lambda ask: ev.AskOpened(ask=ask, kind=AskKind.POINT, prompt="?"), _ASKS),
    st.builds(lambda ask: ev.AskClosed(ask=ask, outcome=AskOutcome.TIMED_OUT), _ASKS),
    st.just(ev.PauseRequested()),
    st.just(ev.ResumeRequested()),
    st.builds(ev.StageEntered, stage=st.sampled_from(["plan", "build"])),
    st.just(ev.RunEnded(run="r", reason=EndReason.WAITING)),
    st.just(ev.RunEnded(run="r", reason=EndReason.ANSWERED)),
    st.just(ev.RunStarted(run="r")),
    st.builds(ev.ChildSpawned, child=st.sampled_from(["c1", "c2"]), call=st.just("c")),
    st.builds(ev.ChildEnded, child=st.sampled_from(["c1", "c2"]), reason=st.just(EndReason.ANSWERED)),
)
_STEPS = st.one_of(
    st.tuples(st.just("append"), _BODIES),
    st.tuples(st.just("answer"), _ASKS, _NAMES),
    st.tuples(st.just("vote"), _ASKS, _NAMES),
    st.tuples(st.just("take")),
    st.tuples(st.just("refuse")),
)


async def _play(journal: JournalWithBoard, steps: list[tuple[object, ...]]) -> list[str]:
    """Do ``steps`` in a session; what was refused to whom."""
    tape, told = Tape(journal), list[str]()
    await tape.begin()
    for index, step in enumerate(steps):
        try:
            await _do(tape, index, step)
        except (AskTaken, NoSuchAsk) as problem:
            told.append(f"{index}: {problem.code} {problem}")
    return told


async def _do(tape: Tape, index: int, step: tuple[object, ...]) -> None:
    match step:
        case ("append", body):
            await tape.add(body)  # type: ignore[arg-type]
        case ("answer" | "vote" as what, str(ask), str(name)):
            body = (
                ev.AskVoted(ask=ask, choice="yes")
                if what == "vote"
                else ev.AskClosed(ask=ask, outcome=AskOutcome.ANSWERED, words=name)
            )
            await tape.journal.post(tape.session, body, Actor(ActorKind.PERSON, name), f"k{index}")
        case ("take",):
            await tape.take_inbox()
        case ("refuse",):
            entry = await tape.next_entry()
            if entry is not None:
                await tape.add(ev.EntryRefused("no"), by=entry.by, inbox=entry.number)


@settings(max_examples=60)
@given(st.lists(_STEPS, max_size=25))
def test_kept_rows_are_folded_rows_and_rows_made_anew(steps: list[tuple[object, ...]]) -> None:
    async def story() -> None:
        clock = ManualClock()
        memory = MemoryJournal(clock)
        with tempfile.TemporaryDirectory() as folder:
            kept = SqliteJournal(Path(folder) / "journal.sqlite", clock)
            try:
                assert await _play(kept, steps) == await _play(memory, steps)
                folded = await memory.asks(is_open=None), await memory.run("s1")
                assert (await kept.asks(is_open=None), await kept.run("s1")) == folded
                await kept.rebuild_board()
                assert (await kept.asks(is_open=None), await kept.run("s1")) == folded
            finally:
                kept.close()

    asyncio.run(story())
