"""The same scripted agent in other libraries, for those of them that can be imported here.

Each runs ``rounds`` responses that call one tool (``calls`` times each), then an answer, with no tracing and no limit.
Loaded by name: none is a dependency, and what is not there is left out.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeAlias

Start: TypeAlias = Callable[[], Awaitable[object]]
"""Starts one run and ends with it; may be called again, also while others run."""

ANSWER = "done"


_PLACE: ContextVar[list[int]] = ContextVar("place")
"""How many responses the run that is in progress has had, in a list that the tasks below it share."""


class Door:
    """Where runs wait in their first request; ``all_wait`` is set when ``count`` of them do."""

    def __init__(self, count: int) -> None:
        self.all_wait = asyncio.Event()
        self.is_open = asyncio.Event()
        self._left = count

    async def pass_through(self) -> None:
        """Wait until the door is open."""
        self._left -= 1
        if self._left == 0:
            self.all_wait.set()
        await self.is_open.wait()


def scripted(rounds: int, calls: int, door: Door | None) -> Callable[[], Awaitable[list[str] | None]]:
    """What the model says next: the ids of the calls it makes, or None for its answer.

    The first response waits at ``door``.
    """

    async def reply() -> list[str] | None:
        place = _PLACE.get()
        if door is not None and place[0] == 0:
            await door.pass_through()
        place[0] += 1
        return None if place[0] > rounds else [f"call_{place[0]}_{number}" for number in range(calls)]

    return reply


def _from_the_start(run: Start) -> Start:
    """``run``, each time from the beginning of the script."""

    async def start() -> object:
        _PLACE.set([0])
        return await run()

    return start


def pydantic_ai(rounds: int, calls: int = 1, door: Door | None = None) -> Start:
    """pydantic-ai, with its function model."""
    ai, messages = importlib.import_module("pydantic_ai"), importlib.import_module("pydantic_ai.messages")
    function = importlib.import_module("pydantic_ai.models.function")
    reply = scripted(rounds, calls, door)

    async def model(history: list[Any], info: Any) -> Any:
        said = await reply()
        if said is None:
            return messages.ModelResponse(parts=[messages.TextPart(ANSWER)])
        return messages.ModelResponse(parts=[messages.ToolCallPart("probe", {"value": "a"}, id) for id in said])

    async def probe(value: str) -> str:
        """Look at one thing."""
        return f"seen {value}"

    agent = ai.Agent(function.FunctionModel(model), tools=[probe])
    limits = importlib.import_module("pydantic_ai.usage").UsageLimits(request_limit=None)
    return _from_the_start(lambda: agent.run("go", usage_limits=limits))


def openai_agents(rounds: int, calls: int = 1, door: Door | None = None) -> Start:
    """openai-agents, with a model of our own behind its interface."""
    agents, responses = importlib.import_module("agents"), importlib.import_module("openai.types.responses")
    reply = scripted(rounds, calls, door)

    class Scripted:
        async def get_response(self, *given: Any, **named: Any) -> Any:
            said = await reply()
            if said is None:
                words = responses.ResponseOutputText(type="output_text", text=ANSWER, annotations=[])
                output = [
                    responses.ResponseOutputMessage(
                        id="m", type="message", role="assistant", status="completed", content=[words]
                    )
                ]
            else:
                output = [
                    responses.ResponseFunctionToolCall(
                        type="function_call", call_id=id, name="probe", arguments='{"value":"a"}'
                    )
                    for id in said
                ]
            return agents.ModelResponse(output=output, usage=agents.Usage(), response_id=None)

        async def close(self) -> None:
            """Nothing is open."""

        async def _cleanup_on_run_end(self, owner: object) -> None:
            """Nothing is open."""

        def get_retry_advice(self, request: Any) -> None:
            """Nothing is retried."""

    agents.Model.register(Scripted)

    async def probe(value: str) -> str:
        """Look at one thing."""
        return f"seen {value}"

    agent = agents.Agent(name="a", model=Scripted(), tools=[agents.function_tool(probe)])
    config = agents.RunConfig(tracing_disabled=True)
    return _from_the_start(lambda: agents.Runner.run(agent, "go", max_turns=rounds + 2, run_config=config))


def langgraph(rounds: int, calls: int = 1, door: Door | None = None) -> Start:
    """LangGraph: a model node and its own tool node, without a checkpointer."""
    graph, prebuilt = importlib.import_module("langgraph.graph"), importlib.import_module("langgraph.prebuilt")
    said_by = importlib.import_module("langchain_core.messages")
    reply = scripted(rounds, calls, door)

    async def model(state: Any) -> Any:
        said = await reply()
        if said is None:
            return {"messages": [said_by.AIMessage(ANSWER)]}
        asked = [{"name": "probe", "args": {"value": "a"}, "id": id} for id in said]
        return {"messages": [said_by.AIMessage("", tool_calls=asked)]}

    async def probe(value: str) -> str:
        """Look at one thing."""
        return f"seen {value}"

    made = graph.StateGraph(graph.MessagesState)
    made.add_node("model", model)
    made.add_node("tools", prebuilt.ToolNode([probe]))
    made.add_edge(graph.START, "model")
    made.add_conditional_edges("model", prebuilt.tools_condition)
    made.add_edge("tools", "model")
    compiled = made.compile()
    return _from_the_start(
        lambda: compiled.ainvoke({"messages": [("user", "go")]}, {"recursion_limit": 2 * rounds + 5})
    )


PEERS: dict[str, tuple[str, Callable[..., Start]]] = {
    "pydantic-ai": ("pydantic_ai", pydantic_ai),
    "openai-agents": ("agents", openai_agents),
    "langgraph": ("langgraph.graph", langgraph),
}
"""Name, the module that must be there, and what makes a run of it."""


def present() -> dict[str, Callable[..., Start]]:
    """The peers that can be imported here."""
    return {name: make for name, (module, make) in PEERS.items() if _is_there(module)}


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False
