"""The same rounds in other libraries, each with the smallest stand-in for a model that it takes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any


async def pydantic_ai(rounds: int) -> object:
    """pydantic-ai: a ``FunctionModel`` that calls the tool until it has been called often enough."""
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.usage import UsageLimits

    left = rounds

    def answer(messages: Any, info: Any) -> ModelResponse:
        nonlocal left
        left -= 1
        return ModelResponse(parts=[TextPart("done") if left < 0 else ToolCallPart("probe", {"value": "a"})])

    agent = Agent(FunctionModel(answer))

    @agent.tool_plain
    async def probe(value: str) -> str:
        return "seen"

    return await agent.run("go", usage_limits=UsageLimits(request_limit=None))


async def openai_agents(rounds: int) -> object:
    """openai-agents: a ``Model`` of our own that returns response items."""
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    import agents  # type: ignore[import-not-found, unused-ignore]

    left = rounds

    class Scripted(agents.Model):  # type: ignore[misc, unused-ignore]
        async def get_response(self, *args: Any, **kwargs: Any) -> Any:
            nonlocal left
            left -= 1
            item: Any
            if left < 0:
                text = ResponseOutputText(text="done", type="output_text", annotations=[])
                item = ResponseOutputMessage(
                    id="m", content=[text], role="assistant", status="completed", type="message"
                )
            else:
                item = ResponseFunctionToolCall(
                    arguments='{"value":"a"}', call_id=f"call_{left}", name="probe", type="function_call"
                )
            return agents.ModelResponse(output=[item], usage=agents.Usage(), response_id=None)

        def stream_response(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

    @agents.function_tool  # type: ignore[untyped-decorator, unused-ignore]
    async def probe(value: str) -> str:
        return "seen"

    agents.set_tracing_disabled(True)
    agent = agents.Agent(name="a", model=Scripted(), tools=[probe])
    return await agents.Runner.run(agent, "go", max_turns=rounds + 2)


async def langgraph(rounds: int) -> object:
    """LangGraph: a graph of two nodes, a model and its tools, with the prebuilt message reducer."""
    from langchain_core.messages import (  # type: ignore[import-not-found, unused-ignore]
        AIMessage,
        ToolMessage,
    )
    from langgraph.graph import (  # type: ignore[import-not-found, unused-ignore]
        END,
        START,
        MessagesState,
        StateGraph,
    )

    left = rounds

    async def model(state: Any) -> dict[str, Any]:
        nonlocal left
        left -= 1
        if left < 0:
            return {"messages": [AIMessage("done")]}
        calls = [{"name": "probe", "args": {"value": "a"}, "id": f"call_{left}"}]
        return {"messages": [AIMessage("", tool_calls=calls)]}

    async def tools(state: Any) -> dict[str, Any]:
        return {"messages": [ToolMessage("seen", tool_call_id=one["id"]) for one in state["messages"][-1].tool_calls]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    graph.add_edge("tools", "model")
    graph.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else END)
    return await graph.compile().ainvoke({"messages": [("user", "go")]}, {"recursion_limit": 2 * rounds + 5})


PEERS: dict[str, tuple[str, Callable[[int], Awaitable[object]]]] = {
    "pydantic-ai": ("pydantic_ai", pydantic_ai),
    "openai-agents": ("agents", openai_agents),
    "langgraph": ("langgraph", langgraph),
}
"""By name: the module that must be installed, and what runs the rounds."""
