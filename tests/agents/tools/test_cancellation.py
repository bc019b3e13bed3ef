"""The token: once, for all below it, from any thread."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref

import pytest

from handrail.agents.cancellation import CancellationToken, Cancelled, within
from tests.agents.tools.running import run


def test_it_is_cancelled_once_and_the_first_reason_stands() -> None:
    token = CancellationToken()
    assert [token.is_cancelled, token.reason] == [False, None]
    assert token.cancel("first") is True
    assert token.cancel("second") is False
    assert [token.is_cancelled, token.reason] == [True, "first"]


def test_children_are_cancelled_with_their_parent_and_never_the_other_way_round() -> None:
    parent = CancellationToken()
    first, second = parent.child(), parent.child()
    grandchild = first.child()
    first.cancel("only this one")
    assert (parent.is_cancelled, second.is_cancelled) == (False, False)
    assert grandchild.reason == "only this one"
    parent.cancel("all")
    assert (first.reason, second.reason) == ("only this one", "all")


def test_a_child_of_a_cancelled_token_is_cancelled() -> None:
    parent = CancellationToken()
    parent.cancel("over")
    assert parent.child().reason == "over"


def test_a_token_does_not_keep_its_children_alive() -> None:
    parent = CancellationToken()
    child = weakref.ref(parent.child())
    gc.collect()
    assert child() is None


def test_callbacks_are_called_once_with_the_reason_and_at_once_when_it_is_over() -> None:
    token = CancellationToken()
    said: list[str] = []
    token.on_cancel(said.append)
    take_back = token.on_cancel(lambda _: said.append("never"))
    take_back()
    token.cancel("now")
    token.cancel("again")
    token.on_cancel(said.append)
    assert said == ["now", "now"]


def test_a_callback_that_raises_keeps_no_other_from_running() -> None:
    token = CancellationToken()
    said: list[str] = []

    def fail(reason: str) -> None:
        raise ValueError(reason)

    token.on_cancel(fail)
    token.on_cancel(said.append)
    child = token.child()
    with pytest.raises(ExceptionGroup) as caught:
        token.cancel("now")
    assert [type(problem) for problem in caught.value.exceptions] == [ValueError]
    assert (said, child.reason) == (["now"], "now")


def test_it_can_be_waited_for_while_another_thread_cancels_it() -> None:
    async def main() -> str:
        token = CancellationToken()
        waiting = asyncio.ensure_future(token.wait())
        await asyncio.sleep(0)
        threading.Thread(target=token.cancel, args=("from a thread",)).start()
        return await waiting

    assert run(main()) == "from a thread"


def test_guarded_work_is_cancelled_and_has_ended_when_the_token_fires() -> None:
    async def main() -> list[str]:
        token = CancellationToken()
        said: list[str] = []

        async def work() -> None:
            try:
                token.cancel("enough")
                await asyncio.Event().wait()
            finally:
                said.append("ended")

        with pytest.raises(Cancelled, match="enough"):
            await token.guard(work())
        return said

    assert run(main()) == ["ended"]


def test_guarded_work_gives_its_value_when_nothing_happens() -> None:
    async def main() -> int:
        return await CancellationToken().guard(asyncio.sleep(0, 7))

    assert run(main()) == 7


def test_cancelling_the_task_that_guards_stays_a_cancelled_task() -> None:
    async def main() -> bool:
        token = CancellationToken()
        task = asyncio.ensure_future(token.guard(asyncio.Event().wait()))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled() and not token.is_cancelled

    assert run(main())


def test_raise_if_cancelled_carries_the_reason() -> None:
    token = CancellationToken()
    token.raise_if_cancelled()
    token.cancel("over")
    with pytest.raises(Cancelled, match="over"):
        token.raise_if_cancelled()


def test_work_within_its_time_gives_its_value_or_what_it_raises() -> None:
    async def fail() -> None:
        raise KeyError("lost")

    async def main() -> int:
        with pytest.raises(KeyError):
            await within(fail(), 20)
        return await within(asyncio.sleep(0, 7), None)

    assert run(main()) == 7


def test_work_that_takes_too_long_has_ended_when_that_is_said() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    with pytest.raises(TimeoutError, match=r"within 0\.01 seconds"):
        run(within(work(), 0.01))
    assert ended == ["ended"]


def test_cancelling_the_task_that_waits_ends_the_work() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    async def main() -> bool:
        task = asyncio.ensure_future(within(work(), None))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled()

    assert (run(main()), ended) == (True, ["ended"])
