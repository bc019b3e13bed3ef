"""Plain functions beside the loop: all at once, with their context, and never in each other's way."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading

import pytest

from handrail.agents.threads import in_thread
from tests.agents.tools.running import run


def test_a_value_and_an_exception_come_back() -> None:
    def fail(what: str) -> None:
        raise KeyError(what)

    async def main() -> int:
        with pytest.raises(KeyError, match="lost"):
            await in_thread(fail, "lost")
        return await in_thread(max, 3, 4)

    assert run(main()) == 4


def test_as_many_run_at_once_as_are_called() -> None:
    meeting = threading.Barrier(64, timeout=20)

    async def main() -> int:
        return len(await asyncio.gather(*(in_thread(meeting.wait) for _ in range(64))))

    assert run(main()) == 64


def test_a_thread_is_used_again_for_the_next_call() -> None:
    async def main() -> set[int]:
        return {await in_thread(threading.get_ident) for _ in range(20)}

    assert len(run(main())) < 10


def test_the_tasks_context_variables_are_seen_and_not_changed() -> None:
    variable = contextvars.ContextVar("variable", default="default")

    def look() -> str:
        seen = variable.get()
        variable.set("changed")
        return seen

    async def main() -> tuple[str, str]:
        variable.set("given")
        return await in_thread(look), variable.get()

    assert run(main()) == ("given", "given")


def test_a_call_that_is_given_up_runs_on_and_disturbs_nobody() -> None:
    going, gone = threading.Event(), threading.Event()

    def slow() -> None:
        going.wait(20)
        gone.set()

    async def main() -> None:
        task = asyncio.ensure_future(in_thread(slow))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})

    run(main())
    going.set()
    assert gone.wait(20)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_starts_threads_of_its_own() -> None:
    run(in_thread(max, 1, 2))
    child = os.fork()
    if child == 0:
        answer = asyncio.run(asyncio.wait_for(in_thread(max, 1, 2), 20))
        os._exit(answer)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 2
