"""One shape for every tool: what it is called, what it takes, what it can do, and how it is run.

A built-in, a Python function (``@tool``), a command from a tools file and an MCP server's tool are all a ``Tool``;
approval, hooks, taint and limits are put around it and never look inside.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, overload

from msgspec import Struct, field
from msgspec.structs import force_setattr

from handrail.agents.cancellation import CancellationToken
from handrail.agents.containment import told
from handrail.agents.regions import Regions
from handrail.errors import HandrailError, MissingExtra
from handrail.journal.vocabulary import AskKind, RegionEntry
from handrail.transcripts.codec import ToolTraits
from handrail.transcripts.model import Block, Json, Refusal, Taint


class ToolError(HandrailError):
    """Raised by a tool to answer the model with an error in these words; its type and traceback stay out of it.

    ``is_external`` says that the words, or some of them, came from outside.
    """

    code = "tool"

    def __init__(self, message: str, *, hint: str | None = None, is_external: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.is_external = is_external


class ToolSpec(Struct, frozen=True):
    """What a model is told of a tool. ``input_schema`` is a JSON Schema whose type is ``object``."""

    name: str
    description: str
    input_schema: Mapping[str, Json]


class ToolOutput(Struct, frozen=True, omit_defaults=True):
    """What a call came to.

    ``content`` is a string, any JSON value for structured output, or a list of objects with a ``type`` (``text``,
    ``image``) for mixed output. ``details`` is for hosts and hooks and is never sent to a model. ``is_external``
    says that words in it came from outside. ``refusal`` says that the call was not carried out, or that its outcome
    is unknown. ``beside`` holds blocks that ride next to the result in the same delivery: a person's answer, a
    decision. ``regions`` holds context regions that the call changed, by name, each with all it holds now; a call that
    failed changes none.
    """

    content: Json = ""
    is_error: bool = False
    details: Json = None
    is_external: bool = False
    refusal: Refusal | None = None
    beside: tuple[Block, ...] = ()
    regions: Mapping[str, tuple[RegionEntry, ...]] = {}


class Question(Struct, frozen=True, kw_only=True):
    """What a tool asks a person. ``options`` are labels to choose from; without ``may_type`` only they are answers.

    ``kind`` says what is wanted: an answer (``question``), a changed text of ``shown`` (``edit``), or a word on it
    (``review``). ``body_format`` is how ``shown`` is written.
    """

    prompt: str
    options: tuple[str, ...] = ()
    may_type: bool = True
    kind: Literal[AskKind.QUESTION, AskKind.EDIT, AskKind.REVIEW] = AskKind.QUESTION
    title: str | None = None
    shown: str | None = None
    body_format: Literal["plain", "markdown"] = "plain"


class Answer(Struct, frozen=True, kw_only=True):
    """A person's answer: a label that was offered, or words they typed; of an edit, the whole text as it is now.

    ``comment`` came with it. ``refusal`` says why there is no answer.
    """

    choice: str | None = None
    text: str | None = None
    comment: str | None = None
    refusal: Refusal | None = None


class ResultShelf(Protocol):
    """Where the full text of a limited result is kept."""

    def keep(self, call_id: str, text: str) -> None:
        """Keep ``text`` as the full result of ``call_id``; ``StoreError`` when it cannot be kept."""
        ...

    def find(self, call_id: str) -> str | None:
        """The full text kept for ``call_id``, or None."""
        ...


class ResultLimits(Struct, frozen=True, kw_only=True):
    """How much of a result a model is shown at once."""

    max_bytes: int = 50 * 1024
    max_lines: int = 2000


class ToolContext(Struct, frozen=True, kw_only=True):
    """What a call may use of the run it is part of.

    ``environment`` is what child processes get (None: what this process has, but for the keys of models). ``emit``
    shows progress to whoever watches, ``ask`` puts a question to a person, ``spawn`` runs a sub-agent, ``spawn_each``
    one for each of many items of work; each is None where there is none. ``limits`` say how much of a result is shown,
    ``shelf`` keeps the full text of a longer one. ``taint`` is what had entered the conversation when the call was
    made. ``regions`` are the context regions of the
    stage, None where it has none.
    """

    call_id: str
    cancellation: CancellationToken = field(default_factory=CancellationToken)
    workspace_root: Path = field(default_factory=Path.cwd)
    environment: Mapping[str, str] | None = None
    emit: Callable[[str], None] | None = None
    ask: Callable[[Question], Awaitable[Answer]] | None = None
    spawn: Callable[..., Awaitable[Any]] | None = None
    spawn_each: Callable[..., Awaitable[Any]] | None = None
    shelf: ResultShelf | None = None
    limits: ResultLimits = ResultLimits()
    taint: Taint = Taint()
    regions: Regions | None = None


Handler = Callable[[Any, ToolContext], Awaitable[ToolOutput]]
"""Runs a call whose input was checked; raises ``ToolError`` to answer with an error."""

Check = Callable[[Json], tuple[str, ...]]
"""Every problem with an input, in words the model can use; none when it fits."""


def check_is_object(input: Json) -> tuple[str, ...]:
    """The least any input must be: a JSON object."""
    return () if isinstance(input, dict) else (f"the input must be an object, not {_kind(input)}",)


def _kind(value: Json) -> str:
    names = {type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list"}
    return names.get(type(value), type(value).__name__)


class Tool(Struct, frozen=True, kw_only=True):
    """A tool a model can call.

    ``is_parallel``: calls of it may run at the same time as others. ``is_twice_safe``: a call that was started and
    never finished may be run again. ``is_terminal``: a call of it that succeeds ends the run; it is never parallel,
    whatever was said. ``is_alone``: a call of it is refused where its turn holds any other. ``timeout_s`` None means no
    limit. ``function`` is the Python function it was made of, if any.
    """

    spec: ToolSpec
    handler: Handler
    check: Check = check_is_object
    traits: ToolTraits = ToolTraits()
    is_parallel: bool = False
    is_twice_safe: bool = False
    is_terminal: bool = False
    is_alone: bool = False
    timeout_s: float | None = None
    function: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        if self.is_terminal and self.is_parallel:
            # A run that ends while other calls of the response still run would have no one order of events.
            force_setattr(self, "is_parallel", False)

    @property
    def name(self) -> str:
        return self.spec.name

    def problems(self, input: Json) -> tuple[str, ...]:
        """Every problem with ``input``; nothing is run. A check that fails (a validator of the host's) is one more."""
        try:
            return self.check(input)
        except Exception as problem:  # noqa: BLE001 - other people's code; what cannot be checked must not run
            return (f"it could not be checked: {told(problem)}",)

    async def run(self, input: Json, context: ToolContext) -> ToolOutput:
        """Run a call whose input has no problems. ``agents.execution.execute`` is what puts the walls around it."""
        return await self.handler(input, context)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the Python function behind the tool, as if it had not been decorated."""
        if self.function is None:
            raise TypeError(f"the tool {self.name!r} is not made of a Python function")
        return self.function(*args, **kwargs)


def by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    """``tools`` by their names; ``ValueError`` when two have the same: none takes another's place in silence."""
    found: dict[str, Tool] = {}
    for item in tools:
        if item.name in found:
            raise ValueError(f"two tools are called {item.name!r}")
        found[item.name] = item
    return found


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    parallel: bool = False,
    private: bool = False,
    untrusted: bool = False,
    sends: bool = False,
    destructive: bool = False,
    twice_is_safe: bool = False,
    is_terminal: bool = False,
    timeout_s: float | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    parallel: bool = False,
    private: bool = False,
    untrusted: bool = False,
    sends: bool = False,
    destructive: bool = False,
    twice_is_safe: bool = False,
    is_terminal: bool = False,
    timeout_s: float | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a ``Tool`` of a typed Python function, plain or async; a plain one runs in a thread.

    The schema comes from the hints, the description from the docstring, whose ``name: text`` lines describe
    parameters. A parameter hinted ``ToolContext`` is not shown to the model and gets the call's context.
    ``private``, ``untrusted``, ``sends`` and ``destructive`` declare what the tool can do; ``twice_is_safe`` lets an
    interrupted call run again. Raises ``TypeError`` for a signature no schema can be made of.
    """
    tool_of = _binding()
    traits = ToolTraits(private=private, untrusted=untrusted, sends=sends, destructive=destructive)
    # Hints may name types that stand in the function around the decorated one, which only its frame knows.
    names = dict(sys._getframe(1).f_locals)

    def decorate(target: Callable[..., Any]) -> Tool:
        return tool_of(
            target,
            names=names,
            name=name,
            description=description,
            traits=traits,
            is_parallel=parallel,
            is_twice_safe=twice_is_safe,
            is_terminal=is_terminal,
            timeout_s=timeout_s,
        )

    return decorate(function) if function is not None else decorate


def _binding() -> Callable[..., Tool]:
    """What makes tools of functions, loaded when the first is made: pydantic takes its time."""
    try:
        from handrail.agents.bindings.function import tool_of
    except ModuleNotFoundError as problem:
        if problem.name not in {"pydantic", "pydantic_core"}:
            raise
        raise MissingExtra("tools need the extra 'agents'", hint="pip install 'handrail[agents]'") from problem
    return tool_of
