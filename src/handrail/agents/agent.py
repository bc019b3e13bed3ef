"""An agent is a value: a model, tools, instructions. Runs are started from it, as many as one likes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from handrail.agents.content import Content, blocks_of
from handrail.agents.launch import launch
from handrail.agents.opening import Answered, Prompt, Resume
from handrail.agents.options import RunOptions
from handrail.agents.output import ANSWER, output_of
from handrail.agents.result import RunResult, Session
from handrail.agents.run import Run
from handrail.agents.strategies.require_tool import RequireTool
from handrail.agents.tool import Tool, tool
from handrail.clock import Clock, SystemClock
from handrail.journal.refusals import author_of
from handrail.models.port import Model
from handrail.transcripts.model import Taint, Via


class Agent(Struct, frozen=True, kw_only=True):
    """What runs are started from; it holds nothing of any of them.

    ``tools`` are ``Tool``s or typed Python functions. ``models`` are those a strategy may switch to, besides
    ``model``. ``taint`` is what the instructions already bring in. ``name`` is what the agent is called in events.
    """

    model: Model
    tools: Iterable[Tool | Callable[..., Any]] = ()
    instructions: str = ""
    name: str | None = None
    models: tuple[Model, ...] = ()
    taint: Taint = Taint()
    clock: Clock = SystemClock()

    def __post_init__(self) -> None:
        force_setattr(self, "tools", tuple(one if isinstance(one, Tool) else tool(one) for one in self.tools))

    @property
    def toolbox(self) -> tuple[Tool, ...]:
        """The tools, functions made into tools."""
        return tuple(one for one in self.tools if isinstance(one, Tool))

    async def run(
        self,
        prompt: Content,
        options: RunOptions | None = None,
        *,
        session: Session | None = None,
        output: Any = None,
        is_output_only: bool = False,
    ) -> RunResult:
        """Run to the end: ``start`` and await. Cancelling the task that awaits it ends the run."""
        return await self.start(prompt, options, session=session, output=output, is_output_only=is_output_only)

    def start(
        self,
        prompt: Content,
        options: RunOptions | None = None,
        *,
        session: Session | None = None,
        output: Any = None,
        is_output_only: bool = False,
    ) -> Run:
        """Start a run in the running loop and return its handle.

        ``session`` is a conversation to go on with. ``output`` is a type the answer must be of: it is given through
        one terminal tool, and with ``is_output_only`` that is the only tool there is and must be called.
        ``ValueError`` for an empty prompt.
        """
        options = options or RunOptions()
        content = blocks_of(prompt, author_of(options.by), Via.PROMPT, options.by.name)
        if not content:
            raise ValueError("the prompt is empty")
        wanted = None if output is None else output_of(output)
        if wanted is not None:
            options = _typed(options, is_output_only)
        return launch(self, Prompt(content), options, session=session, output=wanted)

    def resume(
        self,
        session: Session,
        options: RunOptions | None = None,
        *,
        answer: str | None = None,
        output: Any = None,
        is_output_only: bool = False,
    ) -> Run:
        """Go on with the run of ``session`` that is open, or with one that waits, given the ``answer`` to its question.

        An open run keeps the bounds it was started with; ``output`` and ``is_output_only`` are to be given again.
        Awaiting it raises ``NotStartable`` where there is no such run, and ``UnknownName`` where it needs a strategy
        that was not passed again.
        """
        options = options or RunOptions()
        wanted = None if output is None else output_of(output)
        if wanted is not None:
            options = _typed(options, is_output_only)
        opening = Resume() if answer is None else Answered(answer)
        return launch(self, opening, options, session=session, output=wanted)

    def run_sync(self, prompt: Content, options: RunOptions | None = None, **more: Any) -> RunResult:
        """``run`` for programs without a loop; ``RuntimeError`` inside one."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.run(prompt, options, **more))
        raise RuntimeError("a loop is running here: await agent.run(...) instead")


def _typed(options: RunOptions, is_output_only: bool) -> RunOptions:
    """``options`` for a run that must end with a typed answer."""
    if is_output_only:
        options = replace(options, tools=(ANSWER,), tool_choice=ANSWER)
    # Also where the tool is forced: not every server heeds that.
    return replace(options, strategies=(*options.strategies, RequireTool(ANSWER)))
