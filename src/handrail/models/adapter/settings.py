"""What a request asks for beside its messages, as each API has it.

An effort or summary that an API has no word for is a ``BadRequest``: nothing is turned into something near it.
"""

from __future__ import annotations

from typing import Any, Literal, cast

from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from handrail.models.endpoints import Api, Endpoint
from handrail.models.errors import BadRequest
from handrail.models.port import Effort, ModelRequest, ReasoningOptions

_GOOGLE_LEVELS = {Effort.LOW: "LOW", Effort.MEDIUM: "MEDIUM", Effort.HIGH: "HIGH"}


def parameters_of(request: ModelRequest) -> ModelRequestParameters:
    """The tools on offer."""
    tools = [
        ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=dict(tool.input_schema))
        for tool in request.tools
    ]
    return ModelRequestParameters(function_tools=tools)


def settings_of(request: ModelRequest, endpoint: Endpoint) -> ModelSettings:
    """Everything else. Retries of the provider's SDK are off: ours are counted."""
    # The library would tell some models of frames that it may use; we use none and put in no words of our own.
    settings = ModelSettings(max_retries=0, framing_announcement="never")
    if request.max_output_tokens is not None:
        settings["max_tokens"] = request.max_output_tokens
    if request.tools:
        settings["tool_choice"] = _tool_choice(request)
    return cast(ModelSettings, {**settings, **_caching(request, endpoint), **_reasoning(request.reasoning, endpoint)})


def _tool_choice(request: ModelRequest) -> Literal["auto", "none", "required"] | list[str]:
    match request.tool_choice:
        case "auto" | "none" | "required" as choice:
            return choice
    if request.tool_choice not in {tool.name for tool in request.tools}:
        raise BadRequest(f"the tool {request.tool_choice!r} must be called and is not on offer")
    return [request.tool_choice]


def _caching(request: ModelRequest, endpoint: Endpoint) -> dict[str, Any]:
    match endpoint.api:
        case Api.ANTHROPIC:
            # The two fixed breakpoints survive a change of what comes after them; the moving one serves the next round.
            return {
                "anthropic_cache_tool_definitions": True,
                "anthropic_cache_instructions": True,
                "anthropic_cache": True,
            }
        case Api.RESPONSES:
            # Nothing is stored there: all that a reply needs comes back with the request.
            key = {} if request.session is None else {"openai_prompt_cache_key": request.session[:64]}
            return {"openai_store": False, **key}
        case Api.CHAT | Api.GOOGLE:
            # Both cache by themselves, and compatible servers may refuse a field they do not know.
            return {}


def _reasoning(options: ReasoningOptions | None, endpoint: Endpoint) -> dict[str, Any]:
    if options is None:
        return {}
    match endpoint.api:
        case Api.ANTHROPIC:
            return _anthropic(options, endpoint)
        case Api.RESPONSES:
            effort = {} if options.effort is None else {"openai_reasoning_effort": options.effort.value}
            summary = {} if options.summary is None else {"openai_reasoning_summary": options.summary}
            return {**effort, **summary}
        case Api.CHAT:
            if options.summary is not None:
                raise _unsupported("a summary of the reasoning", endpoint)
            return {} if options.effort is None else {"openai_reasoning_effort": options.effort.value}
        case Api.GOOGLE:
            return _google(options, endpoint)


def _anthropic(options: ReasoningOptions, endpoint: Endpoint) -> dict[str, Any]:
    if options.summary not in (None, "auto"):
        raise _unsupported(f"a {options.summary} summary", endpoint)
    thinking = {"type": "adaptive"}
    if options.summary is not None:
        thinking["display"] = "summarized"
    effort = {} if options.effort is None else {"anthropic_effort": options.effort.value}
    return {"anthropic_thinking": thinking, **effort}


def _google(options: ReasoningOptions, endpoint: Endpoint) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if options.effort is not None:
        if options.effort not in _GOOGLE_LEVELS:
            raise _unsupported(f"the effort {options.effort}", endpoint)
        config["thinking_level"] = _GOOGLE_LEVELS[options.effort]
    if options.summary is not None:
        if options.summary != "auto":
            raise _unsupported(f"a {options.summary} summary", endpoint)
        config["include_thoughts"] = True
    return {"google_thinking_config": config} if config else {}


def _unsupported(what: str, endpoint: Endpoint) -> BadRequest:
    return BadRequest(f"{endpoint.provider} has no word for {what}")
