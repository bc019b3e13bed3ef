"""One call, whatever the tool does: checked, timed, cancellable, contained, cut."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import pytest
from msgspec.structs import replace

from handrail.agents.cancellation import CancellationToken, Cancelled
from handrail.agents.execution import unknown_tool
from handrail.agents.paging import MemoryShelf
from handrail.agents.tool import ResultLimits, Tool, ToolContext, ToolError, ToolOutput, tool
from handrail.transcripts.model import Refusal, RefusalKind
from tests.agents.tools.running import called, context, output, run


@tool
async def hang() -> str:
    """Hang."""
    await asyncio.Event().wait()
    return "never"


def _raising(problem: BaseException) -> Tool:
    @tool(untrusted=True)
    async def fail() -> None:
        """Fail."""
        raise problem

    return fail


def test_an_input_with_problems_runs_nothing_and_names_them_all() -> None:
    ran: list[str] = []

    @tool
    def note(first: str, second: str) -> None:
        """Note."""
        ran.append(first)

    got = output(note, first=1)
    assert ran == []
    assert got.content == (
        "note was not run. Its input has 2 problems:\n- first: Input should be a valid string\n- second: is missing"
    )
    assert got.refusal == Refusal(RefusalKind.NOT_RUN, "validation")
    assert (got.is_error, got.is_external) == (True, False)


def test_a_check_that_fails_is_a_problem_and_runs_nothing() -> None:
    def check(input: object) -> tuple[str, ...]:
        raise KeyError("lost")

    got = output(replace(_raising(AssertionError("ran")), check=check))
    assert got.refusal == Refusal(RefusalKind.NOT_RUN, "validation")
    assert "it could not be checked: KeyError: 'lost'" in str(got.content)


@pytest.mark.parametrize("problem", [ValueError("bad"), SystemExit(3), ExceptionGroup("many", [OSError("disk")])])
def test_what_a_tool_raises_is_an_error_result_and_may_be_words_from_outside(problem: BaseException) -> None:
    got = output(_raising(problem))
    assert (got.is_error, got.is_external, got.refusal) == (True, True, None)
    assert str(got.content).startswith(f"fail failed: {type(problem).__name__}")


def test_what_a_plain_tool_raises_in_its_thread_is_an_error_result_too() -> None:
    @tool
    def leave() -> None:
        """Leave."""
        sys.exit("bye")

    assert output(leave).content == "leave failed: SystemExit: bye"


def test_stop_iteration_is_contained_as_any_other_exception() -> None:
    @tool
    def stop() -> None:
        """Stop."""
        raise StopIteration("odd")

    assert output(stop).is_error


def test_a_tool_error_says_itself_whether_its_words_came_from_outside() -> None:
    assert output(_raising(ToolError("ours"))).is_external is False
    assert output(_raising(ToolError("theirs", is_external=True))).is_external is True


def test_a_tool_that_cancels_itself_is_an_error_result() -> None:
    assert output(_raising(asyncio.CancelledError())).content == "fail failed: it cancelled itself"


def test_a_timed_out_tool_is_an_error_that_names_the_seconds_and_its_outcome_is_unknown() -> None:
    got = output(replace(hang, timeout_s=0.01))
    assert got.refusal == Refusal(RefusalKind.OUTCOME_UNKNOWN, "timeout")
    assert got.content == "hang ran longer than 0.01 seconds and was stopped. Whether it took effect is unknown."


def test_a_timed_out_thread_is_left_behind_and_its_token_is_cancelled() -> None:
    told = threading.Event()

    @tool(timeout_s=0.01)
    def stubborn(around: ToolContext) -> None:
        """Stubborn."""
        around.cancellation.on_cancel(lambda _: told.set())
        told.wait(10)

    assert output(stubborn).refusal == Refusal(RefusalKind.OUTCOME_UNKNOWN, "timeout")
    assert told.is_set()


def test_a_tool_that_does_not_end_is_told_once_and_left_behind() -> None:
    told: list[str] = []

    @tool(timeout_s=0.01)
    async def stubborn() -> None:
        """Stubborn."""
        for _ in range(2):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                told.append("to end")

    async def story() -> tuple[ToolOutput, int]:
        got = await called(stubborn, {}, context())
        return got, len(told)

    got, times = run(story())
    assert (got.refusal, times) == (Refusal(RefusalKind.OUTCOME_UNKNOWN, "timeout"), 1)


def test_what_a_timed_out_tool_still_had_to_show_is_shown() -> None:
    @tool(timeout_s=0.01)
    async def partial() -> str:
        """Partial."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "half of it"
        return "all of it"

    got = output(partial)
    assert str(got.content).startswith("half of it\n\npartial ran longer")
    assert got.refusal == Refusal(RefusalKind.OUTCOME_UNKNOWN, "timeout")


def test_a_cancelled_call_is_interrupted_and_the_tool_has_ended() -> None:
    ended: list[str] = []

    async def main() -> ToolOutput:
        token = CancellationToken()

        @tool
        async def work() -> None:
            """Work."""
            try:
                token.cancel("the person said stop")
                await asyncio.Event().wait()
            finally:
                ended.append("ended")

        return await called(work, {}, context(cancellation=token))

    got = run(main())
    assert ended == ["ended"]
    assert got.refusal == Refusal(RefusalKind.INTERRUPTED, "cancellation", "the person said stop")
    assert "Whether it took effect is unknown" in str(got.content)


def test_a_call_whose_token_is_cancelled_already_runs_nothing() -> None:
    token = CancellationToken()
    token.cancel("over")
    got = run(called(_raising(AssertionError("ran")), {}, context(cancellation=token)))
    assert got.refusal == Refusal(RefusalKind.NOT_RUN, "cancellation")


def test_a_tool_that_fails_because_it_was_told_to_end_is_interrupted_and_one_that_succeeded_is_not() -> None:
    async def outcome(ends_well: bool) -> ToolOutput:
        token = CancellationToken()

        @tool
        async def work() -> str:
            """Work."""
            token.cancel("stop")
            if ends_well:
                return "done"
            raise OSError("connection shut")

        return await called(work, {}, context(cancellation=token))

    assert run(outcome(ends_well=True)) == ToolOutput("done")
    assert run(outcome(ends_well=False)).refusal == Refusal(RefusalKind.INTERRUPTED, "cancellation", "stop")


def test_a_tool_that_gives_up_by_its_token_is_interrupted() -> None:
    got = output(_raising(Cancelled("told to")))
    assert got.refusal == Refusal(RefusalKind.INTERRUPTED, "cancellation", "told to")


def test_ending_one_call_by_timeout_says_nothing_about_the_run() -> None:
    token = CancellationToken()
    run(called(replace(hang, timeout_s=0.01), {}, context(cancellation=token)))
    assert not token.is_cancelled


def test_cancelling_the_task_ends_the_tool_and_comes_out() -> None:
    ended: list[str] = []

    async def main() -> bool:
        started = asyncio.Event()

        @tool
        async def work() -> None:
            """Work."""
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("ended")

        task = asyncio.ensure_future(called(work, {}, context()))
        await started.wait()
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled()

    assert (run(main()), ended) == (True, ["ended"])


def test_results_of_calls_that_run_at_once_come_in_call_order() -> None:
    async def main() -> list[Any]:
        turns = [asyncio.Event() for _ in range(3)]
        turns[2].set()

        @tool(parallel=True)
        async def take(number: int) -> int:
            """Take."""
            await turns[number].wait()
            turns[number - 1].set()
            return number

        found = await asyncio.gather(*(called(take, {"number": number}, context()) for number in range(3)))
        return [one.content for one in found]

    assert run(main()) == [0, 1, 2]


def test_a_long_result_is_cut_and_the_full_text_is_kept() -> None:
    shelf = MemoryShelf()

    @tool
    def talk() -> str:
        """Talk."""
        return "a\nb\nc"

    got = run(called(talk, {}, context(shelf=shelf, limits=ResultLimits(max_lines=2))))
    assert str(got.content).startswith("a\nb\n[cut here, before line 3 of 3.")
    assert shelf.find("call_1") == "a\nb\nc"


def test_an_unknown_tool_is_a_result_that_lists_the_known() -> None:
    got = unknown_tool("nope", ("probe", "Read"))
    assert got.content == "There is no tool 'nope' here. There are: probe, Read."
    assert got.refusal == Refusal(RefusalKind.NOT_RUN, "policy")
