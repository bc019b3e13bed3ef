"""How a run begins in the journal: with a prompt, with an answer to what it waits for, or where its driver died."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from handrail.agents.options import RunOptions
from handrail.agents.staging import Frozen
from handrail.agents.taint import CLEAN, taint_of_input
from handrail.agents.writer import Said, Writer
from handrail.clock import Clock
from handrail.errors import JournalError
from handrail.journal import events as ev
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind, AskKind, AskOutcome, EndReason
from handrail.transcripts.model import Block, Meta, Parent, Taint

HOST = Actor(ActorKind.HOST)


class NotStartable(JournalError):
    """The session is in no state for what is asked: a run of it is open, or none is that could be gone on with."""

    code = "not_startable"


class Prompt(Struct, frozen=True):
    """A new run begins with these blocks."""

    content: tuple[Block, ...]


class Resume(Struct, frozen=True):
    """Go on with the run that is open: what drove it is gone."""


class Answered(Struct, frozen=True):
    """Go on with the run that waits: this answers its question."""

    words: str


Opening: TypeAlias = Prompt | Resume | Answered


class Started(Struct, frozen=True, kw_only=True):
    """What a run is started with: who it is, what it is asked to be, and what a new session is opened with.

    ``blueprint`` is what a run of one obeys. ``instructions`` and ``tools``, by name, are those of its agent.
    """

    run: str
    model: str
    agent: str | None
    strategies: tuple[str, ...]
    taint: Taint
    parent: Parent | None
    blueprint: Frozen | None = None
    instructions: str = ""
    tools: tuple[str, ...] = ()


async def opened(writer: Writer, opening: Opening, started: Started, options: RunOptions, clock: Clock) -> str:
    """Record how the run begins and return its id; ``NotStartable`` where it cannot, and then nothing is recorded."""
    state = writer.state
    if isinstance(opening, Resume):
        if state.run is None:
            paused = await _answered_since(writer)
            if paused is None:
                raise NotStartable(f"no run of session {writer.session} is open", hint="start a new one with a prompt")
            await writer.record_by(*_run_started(started, options, continues=paused), *_wishes(options))
            return started.run
        given = None if started.blueprint is None else started.blueprint.digest
        if state.run.started.blueprint != given:
            # What a stage may do is said by its blueprint: without it, it would be driven by anybody's rules.
            raise NotStartable(
                f"run {state.run.started.run} goes on only by the blueprint it was started with",
                hint="resume_blueprint, or handrail run --session",
            )
        await writer.record(ev.DriverTookOver(max(writer.epoch, state.epoch + 1)))
        await writer.record_by(*_wishes(options))
        return state.run.started.run
    if state.run is not None:
        raise NotStartable(
            f"run {state.run.started.run} of session {writer.session} is open", hint="resume it, or end it"
        )
    said: list[Said] = [] if state.is_open else _session(writer, started, options, clock)
    if isinstance(opening, Answered):
        said += _answered(writer, opening, started, options)
    else:
        said += [(one, DRIVER) for one in _withdrawn(writer)]
        said += _prompted(opening, started, options)
    await writer.record_by(*said, *_wishes(options))
    return started.run


def _session(writer: Writer, started: Started, options: RunOptions, clock: Clock) -> list[Said]:
    meta = Meta(
        id=writer.session,
        timestamp=clock.now(),
        cwd=str(options.workspace),
        cli_version=options.cli_version,
        parent=started.parent,
    )
    titled = [] if options.title is None else [(ev.SessionTitled(options.title), HOST)]
    return [(ev.SessionOpened(meta), HOST), *titled]


def _run_started(started: Started, options: RunOptions, continues: str | None = None) -> list[Said]:
    frozen = started.blueprint
    event = ev.RunStarted(
        run=started.run,
        model=started.model,
        agent=started.agent,
        limits=options.bounds(),
        strategies=started.strategies,
        steers=options.steers,
        follow_ups=options.follow_ups,
        compact_at=options.compact_at,
        continues=continues,
        blueprint=None if frozen is None else frozen.digest,
        is_unattended=options.is_unattended,
        order=options.order,
        instructions=started.instructions or None,
        tools=started.tools,
        rules=options.rules,
        rules_digest=options.rules_digest,
    )
    if frozen is None:
        return [(event, HOST)]
    source = ev.BlueprintFrozen(name=frozen.name, digest=frozen.digest, source=frozen.source)
    return [(event, HOST), (source, HOST)]


def _prompted(opening: Prompt, started: Started, options: RunOptions) -> list[Said]:
    said = _run_started(started, options)
    taint = started.taint | taint_of_input(CLEAN, opening.content, options.by)
    if taint != CLEAN:
        said.append((ev.TaintRaised(taint, "what the run was given"), HOST))
    said.append((ev.PromptGiven(opening.content), options.by))
    return said


def _answered(writer: Writer, opening: Answered, started: Started, options: RunOptions) -> list[Said]:
    ended = writer.conversation.ended
    asks = _pauses(writer)
    if ended is None or ended.reason is not EndReason.WAITING or not asks:
        raise NotStartable(f"no run of session {writer.session} waits for an answer")
    closed = ev.AskClosed(ask=asks[-1].ask, outcome=AskOutcome.ANSWERED, words=opening.words)
    return [(closed, options.by), *_run_started(started, options, continues=ended.run)]


async def _answered_since(writer: Writer) -> str | None:
    """The run that a strategy paused, where its question was answered since, and nothing went on with it."""
    pauses: set[str] = set()
    paused = answered = None
    for event in await writer.journal.read(writer.session):
        body = event.body
        if isinstance(body, ev.AskOpened) and body.kind is AskKind.PAUSE:
            pauses.add(body.ask)
        elif isinstance(body, ev.RunStarted):
            paused = answered = None
        elif isinstance(body, ev.RunEnded):
            paused = body.run if body.reason is EndReason.WAITING else None
        elif isinstance(body, ev.AskClosed) and body.ask in pauses and body.outcome is AskOutcome.ANSWERED:
            answered = paused
    return answered


def _withdrawn(writer: Writer) -> list[ev.Known]:
    """A prompt instead of an answer: nobody waits for that any more."""
    return [ev.AskClosed(ask=ask.ask, outcome=AskOutcome.WITHDRAWN) for ask in _pauses(writer)]


def _pauses(writer: Writer) -> Sequence[ev.AskOpened]:
    return [ask for ask in writer.state.asks if ask.kind is AskKind.PAUSE]


def _wishes(options: RunOptions) -> list[Said]:
    """A token that was cancelled before the run began is heard before it does anything."""
    said: list[Said] = []
    if options.stop is not None and options.stop.is_cancelled:
        said.append((ev.StopRequested(options.stop.reason), HOST))
    if options.cancellation is not None and options.cancellation.is_cancelled:
        said.append((ev.CancelRequested(options.cancellation.reason), HOST))
    return said
