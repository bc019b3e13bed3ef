"""Use case: drive a recorded session against today's loop and tools, and report where it goes another way.

The model's replies come from the recording, and so does what people put in. Tools run anew, but what changes
things or sends them out does not: such a call gets its recorded result, unless the person lets it run. A call that
was refused then is refused again. The replay itself leaves no session behind.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from handrail.agents.agent import Agent
from handrail.agents.environment import handed_on
from handrail.agents.options import RunOptions
from handrail.agents.result import RunFailed, RunResult
from handrail.agents.strategy import RoundBoundary, RoundContext, RoundDecision
from handrail.agents.tool import Tool, ToolContext, ToolOutput
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.opening import Opened, Source, open_session
from handrail.app.running import require_extra
from handrail.errors import MalformedSession
from handrail.journal.vocabulary import EndReason
from handrail.models.replay import Divergence, ReplayModel
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Artifact, Block, Common, Image, Json, Message, Text, ToolResult, Transcript

_PUT_IN = (Text, Image, Artifact)
_STAND_IN = "[what led on from here cannot be put in again]"


class Replayed(Struct, frozen=True, kw_only=True):
    """What a replay came to.

    ``replies`` are those of the recording. ``calls_run`` ran with today's tools, ``calls_recorded`` got their
    recorded result. ``end_reason`` and ``detail`` are how the run ended.
    """

    schema_version: int = SCHEMA_VERSION
    source: Source
    replies: int
    calls_run: int
    calls_recorded: int
    end_reason: EndReason
    detail: str | None
    divergences: tuple[Divergence, ...]


class ReplayOrder(Struct, frozen=True, kw_only=True):
    """What is to be replayed, where, and which tools may run although they change things or send them out."""

    reference: str
    harness: str | None = None
    workspace: Path
    allow: tuple[str, ...] = ()
    is_trusted: bool = False


async def replay(machine: Machine, order: ReplayOrder, environment: Mapping[str, str]) -> Replayed:
    """Replay the session (or its range) that ``order`` names.

    Raises as ``open_session`` does, ``MalformedSession`` when it holds no prompt or no reply, ``MissingExtra``, and
    what reading the workspace raises.
    """
    require_extra()
    from handrail.agents.spawn import spawn_tool
    from handrail.app.outfitting import Wish, fitted_out, is_consequential

    opened = open_session(machine, order.reference, harness=order.harness)
    session = opened.session.crop_to(opened.spans()) if opened.ranges else opened.session
    prompt = _put_in(_before_reply(session.body, 0))
    if not prompt or all(message.role != "assistant" for message in session.body):
        raise MalformedSession(f"{opened.source.locator} holds no prompt with a reply, so there is nothing to replay")
    # Rules that were learned since are no tools of today's, and their checks would refuse what was recorded.
    wish = Wish(workspace=order.workspace, allow=order.allow, is_trusted=order.is_trusted, has_rules=False)
    async with fitted_out(wish, environment) as outfit:
        recording = _Recording(session)
        model = ReplayModel(session)
        agent = Agent(
            model=model,
            tools=(
                *(
                    recording.answering(tool, runs=tool.name in order.allow or not is_consequential(tool))
                    for tool in outfit.tools
                ),
                # Its work was another model's, which is not asked again.
                recording.answering(spawn_tool(Agent(model=model)), runs=False),
            ),
            instructions=outfit.instructions,
        )
        options = RunOptions(
            strategies=(_AsRecorded(session.body),),
            max_injections=len(session.body),
            gate=outfit.gate,
            hooks=outfit.hooks,
            workspace=order.workspace,
            environment=handed_on(environment),
        )
        result = await _ended(agent, prompt, options)
    return _report(opened, session, recording, model, result)


async def _ended(agent: Agent, prompt: Sequence[Block], options: RunOptions) -> RunResult:
    try:
        return await agent.run(tuple(prompt), options)
    except RunFailed as problem:
        # A run that fails today is a finding like any other.
        return problem.result


def _report(
    opened: Opened, session: Transcript[Common], recording: _Recording, model: ReplayModel, result: RunResult
) -> Replayed:
    return Replayed(
        source=opened.source,
        replies=sum(1 for message in session.body if message.role == "assistant"),
        calls_run=recording.calls_run,
        calls_recorded=recording.calls_recorded,
        end_reason=result.end_reason,
        detail=result.detail,
        divergences=model.report(),
    )


class _Recording:
    """The results of a recorded session, and how many of them were given again."""

    def __init__(self, session: Transcript[Common]) -> None:
        self._results: dict[str, deque[ToolResult]] = {}
        for message in session.body:
            for block in message.content:
                if type(block) is ToolResult:
                    self._results.setdefault(block.tool_use_id, deque()).append(block)
        self.calls_run = 0
        self.calls_recorded = 0

    def answering(self, tool: Tool, *, runs: bool) -> Tool:
        """``tool``, answered from the recording where a call was refused then, and unless it ``runs`` at all."""

        async def handle(input: Json, context: ToolContext) -> ToolOutput:
            recorded = self._result(context.call_id)
            if runs and (recorded is None or recorded.refusal is None):
                self.calls_run += 1
                return await tool.handler(input, context)
            self.calls_recorded += 1
            if recorded is None:
                return ToolOutput("No result of this call was recorded, and it was not run.", is_error=True)
            return ToolOutput(recorded.content, is_error=recorded.is_error, refusal=recorded.refusal)

        traits = tool.traits if runs else ToolTraits(private=tool.traits.private)
        return replace(tool, handler=handle, traits=traits, function=None)

    def _result(self, call: str) -> ToolResult | None:
        """The next recorded result of ``call``: an id may be used again by a later run of the session."""
        results = self._results.get(call)
        return results.popleft() if results else None


class _AsRecorded:
    """Puts in what people put in, at the same places, and ends where the recording ends."""

    name = "as_recorded"

    def __init__(self, body: Common) -> None:
        self._body = body
        self._replies = sum(1 for message in body if message.role == "assistant")

    async def on_round(self, ctx: RoundContext) -> RoundDecision:
        """See ``RoundStrategy``."""
        is_answer = ctx.boundary is RoundBoundary.ASSISTANT_MESSAGE_COMMITTED
        if ctx.rounds_completed >= self._replies:
            return RoundDecision.proceed() if is_answer else RoundDecision.stop("the recording ends here")
        told = _put_in(_before_reply(self._body, ctx.rounds_completed))
        if told:
            return RoundDecision.inject(told)
        # Something led on to the next reply that no host can put in, such as a command of the person's own.
        return RoundDecision.inject(_STAND_IN) if is_answer else RoundDecision.proceed()


def _before_reply(body: Common, index: int) -> Sequence[Message]:
    """The deliveries between the response before the one at ``index`` (from 0) and that one."""
    places = [place for place, message in enumerate(body) if message.role == "assistant"]
    start = places[index - 1] + 1 if index else 0
    return body[start : places[index] if index < len(places) else len(body)]


def _put_in(messages: Sequence[Message]) -> tuple[Block, ...]:
    """What was put in besides results, as it can be put in again."""
    return tuple(block for message in messages for block in message.content if isinstance(block, _PUT_IN))
