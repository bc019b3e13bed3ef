"""``handrail run``: what happens in a run, a line or a few for each thing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from handrail import jsonio
from handrail.agents.approval import ApprovalRequest
from handrail.agents.content import words_of
from handrail.agents.result import RunResult
from handrail.agents.run import Happening, Relayed
from handrail.agents.tool import Question
from handrail.cli.cells import cut, one_line, scrub
from handrail.cli.formats import count
from handrail.cli.surface import Surface
from handrail.journal import events as ev
from handrail.journal.refusals import refusal_of
from handrail.journal.vocabulary import Actor, ActorKind, AskKind, Choice, EndReason
from handrail.models.port import Restarted
from handrail.runs.asks.offers import offers_of
from handrail.transcripts.calls import render_call
from handrail.transcripts.model import Block, Json, Message, Refusal, ToolUse

_BODY_CHARS = 300
_LOOKED_AT_CHARS = 20 * _BODY_CHARS

LEAVE = "Leave it as it is (/edit opens it in your editor)"
"""What a person at the keyboard of a run can say to a document they may change."""

ANSWERS = frozenset({EndReason.ANSWERED, EndReason.TOOL_FINISHED, EndReason.STRATEGY_FINISH})
"""The ends of a run that has an answer."""


class RunLines:
    """Renders what happens, in order; calls are called by name where only their id is known.

    ``names_asks``: questions are shown too, with their ids, for whoever answers from elsewhere.
    """

    def __init__(self, surface: Surface, *, names_asks: bool = False) -> None:
        self._surface = surface
        self._names_asks = names_asks
        self._names: dict[str, str] = {}
        self._inputs: dict[str, tuple[str, str]] = {}
        self._asks: dict[str, ev.AskOpened] = {}
        # Ids of calls are a run's own, so those of each agent below are kept apart.
        self._below: dict[tuple[str, ...], RunLines] = {}
        self._history: Sequence[ev.Event] = ()

    def know(self, history: Sequence[ev.Event]) -> None:
        """Know what was recorded before: what stands in ``history`` ahead of the first event that is rendered."""
        self._history = history

    def _recall(self, first: ev.Event) -> None:
        history, self._history = self._history, ()
        for event in history:
            if event.seq < first.seq:
                list(self._event(event))

    def render(self, happening: Happening) -> list[str]:
        """The lines of one thing that happened; none for what streams and is recorded later."""
        match happening:
            case Relayed(origin=origin, item=item):
                below = self._below.setdefault(origin, RunLines(self._surface, names_asks=self._names_asks))
                return [f"  {origin[-1][-8:]} │ {line}" for line in below.render(item)]
            case ev.Event():
                self._recall(happening)
                return list(self._event(happening))
            case Restarted():
                return [self._dim(f"asked again in {happening.delay_s:g} s: {one_line(happening.error)}")]
            case _:
                return []

    def _event(self, event: ev.Event) -> Iterator[str]:
        body = event.body
        match body:
            case ev.ModelReplied(message=message):
                yield from self._reply(message)
            case ev.ToolRewritten():
                name, input = render_call(body.becomes)
                yield f"  runs instead: {_beginning(name)} {_compact(input)}"
            case ev.ToolFinished():
                yield self._finished(body, event.by)
            case ev.ToolOutcomeUnknown():
                yield self._bad(f"← {one_line(body.known)}")
            case ev.InputReceived():
                self._inputs[body.input] = (body.via, one_line(words_of(body.content)))
            case ev.InputDelivered(inputs=inputs):
                for name in inputs:
                    via, text = self._inputs.get(name, ("steer", ""))
                    yield self._person(f"» {via.replace('_', '-')}: {text}  (delivered with round {body.round})")
            case ev.InputReturned():
                _, text = self._inputs.get(body.input, ("", ""))
                yield self._bad(f"» not delivered, {one_line(body.why)}: {text}")
            case ev.AskOpened():
                self._asks[body.ask] = body
                if self._names_asks:
                    yield self._person(f"? {one_line(body.prompt)}  (handrail answer {body.ask})")
                elif body.kind is AskKind.PAUSE:
                    yield self._person(f"? {one_line(body.prompt)}")
            case ev.AskClosed():
                yield from self._closed(body, event.by)
            case ev.StageEntered() | ev.StageLeft() | ev.PointRouted() | ev.StageRepeated() | ev.EdgeAsked():
                yield from self._stage(body)
            case _:
                yield from self._decision(body)

    def _stage(self, body: ev.Body) -> Iterator[str]:
        match body:
            case ev.StageEntered(stage=stage, visit=visit):
                again = f", visit {visit}" if visit > 1 else ""
                yield self._surface.style(f"── {one_line(stage)}{again} ──", bold=True)
            case ev.StageLeft():
                to = "the end" if body.to is None else one_line(body.to)
                yield self._dim(f"{one_line(body.stage)} → {to} ({one_line(body.edge)}){_because(body.reason)}")
            case ev.PointRouted():
                yield self._dim(f"{one_line(body.point)}: {body.route.value}{_because(body.why)}")
            case ev.StageRepeated():
                yield self._dim(f"{one_line(body.stage)} again{_because(body.why)}")
            case ev.EdgeAsked():
                yield self._dim(f"{one_line(body.stage)}: the model is asked which stage is next")

    def _decision(self, body: ev.Body) -> Iterator[str]:
        match body:
            case ev.Injected():
                yield f"+ {one_line(body.strategy)}: {_words(body.content)}"
            case ev.BoundaryDecided(choice=choice) if choice not in (Choice.CONTINUE, Choice.INJECT):
                refused = "" if body.is_accepted else f", refused: {one_line(body.why or '')}"
                note = f": {one_line(body.note)}" if body.note else ""
                yield f"+ {', '.join(map(one_line, body.by))} says {choice.value}{note}{refused}"
            case ev.Interrupted() | ev.StopRequested() | ev.CancelRequested():
                words = {ev.Interrupted: "interrupted", ev.StopRequested: "stop", ev.CancelRequested: "cancelled"}
                yield self._person(f"» {words[type(body)]}{f': {one_line(body.reason)}' if body.reason else ''}")
            case ev.ModelFailed(is_interrupted=False):
                yield self._bad(f"the model gave no answer: {one_line(body.error)}")
            case ev.PauseRequested() | ev.ResumeRequested():
                word = "paused" if isinstance(body, ev.PauseRequested) else "resumed"
                yield self._person(f"» {word}{_because(body.reason)}")
            case ev.Compacted():
                yield self._dim("the conversation was compacted")
            case ev.EntryRefused():
                yield self._bad(f"» had no effect: {one_line(body.why)}")

    def _reply(self, message: Message) -> Iterator[str]:
        text = words_of(message.content)
        if text.strip():
            yield from (scrub(line) for line in text.strip().split("\n"))
        for block in message.content:
            if isinstance(block, ToolUse):
                name, input = render_call(block.call)
                self._names[block.id] = name
                yield self._surface.style(f"→ {_beginning(name)} {_compact(input)}", fg="blue")

    def _finished(self, body: ev.ToolFinished, by: Actor) -> str:
        # Of a call that was made before this process went on with the run only its result is seen.
        tool = by.name if by.kind is ActorKind.TOOL else None
        name = _beginning(self._names.get(body.call) or tool or body.call)
        if body.refusal is not None:
            return self._refused(name, body.refusal)
        text = f"← {name}{' failed' if body.is_error else ''}: {_compact(body.content)}"
        return self._bad(text) if body.is_error else self._dim(text)

    def _closed(self, body: ev.AskClosed, by: Actor) -> Iterator[str]:
        """How a question was answered; an approval that was not given is its call's result."""
        opened = self._asks.pop(body.ask, None)
        refusal = refusal_of(body, by)
        if opened is not None and opened.kind is AskKind.APPROVAL and refusal is not None:
            yield self._refused(self._name(opened.call or ""), refusal)
        elif body.is_allowed:
            yield self._person(f"» allowed{_because(body.comment)}")
        elif body.words or body.choice or body.after is not None:
            changed = "" if body.after is None or body.after == body.before else ", with changes"
            said = one_line(body.choice or body.words or "the document")
            yield self._person(f"» answered: {said}{changed}{_because(body.comment)}")
        else:
            yield self._person(f"» {body.outcome.value.replace('_', ' ')}{_because(body.comment)}")

    def _refused(self, name: str, refusal: Refusal) -> str:
        by = f" by {one_line(refusal.by)}" if refusal.by else ""
        return self._bad(f"← {name} {refusal.kind.value.replace('_', ' ')}{by}{_because(refusal.reason)}")

    def _name(self, call: str) -> str:
        return _beginning(self._names.get(call, call))

    def _person(self, text: str) -> str:
        return self._surface.style(text, fg="cyan", bold=True)

    def _bad(self, text: str) -> str:
        return self._surface.style(text, fg="red")

    def _dim(self, text: str) -> str:
        return self._surface.style(text, dim=True)


def render_asked(request: ApprovalRequest) -> list[str]:
    """A call that waits for a yes, whole: what is not shown cannot be agreed to."""
    who = f" in {' › '.join(one_line(one) for one in request.origin)}" if request.origin else ""
    about = f" ({one_line(request.why)})" if request.why else ""
    return [
        f"? May {one_line(request.tool)} run{who}?{about}",
        *(f"    {scrub(line)}" for line in _whole(request.input)),
        *(f"  a {number}  also {one_line(str(rule))}" for number, rule in enumerate(request.offers, 1)),
    ]


def is_edit(question: Question) -> bool:
    """Whether a whole text is asked for: no line that is typed here is one."""
    return question.kind is AskKind.EDIT


def choices_of(question: Question) -> tuple[str, ...]:
    """The labels a person at the keyboard chooses from; a document can be left as it is, and changed elsewhere."""
    return (LEAVE,) if is_edit(question) else question.options


def render_question(question: Question) -> list[str]:
    """What a tool asks, with the document it is about and the labels that are offered."""
    document = () if question.shown is None else (f"  | {scrub(line)}" for line in question.shown.split("\n"))
    labels = (f"    {number} {one_line(label)}" for number, label in enumerate(choices_of(question), 1))
    return [*document, *(f"? {scrub(line)}" for line in question.prompt.split("\n")), *labels]


def _whole(input: Json) -> Iterable[str]:
    if not isinstance(input, dict):
        return [_spelled(input)]
    return [
        f"{one_line(str(key))}: {line}" if number == 0 else f"  {line}"
        for key, value in input.items()
        for number, line in enumerate((value if isinstance(value, str) else _spelled(value)).split("\n"))
    ]


def render_end(result: RunResult) -> list[str]:
    """How the run ended and how to go on with it."""
    figures = ", ".join((count(result.rounds, "round"), count(result.tool_calls, "call")))
    tokens = result.usage.input_tokens + result.usage.output_tokens
    used = f", {tokens:,} tokens" if tokens else ""
    cost = f", ${result.cost:.4f}" if result.cost else ""
    reason = result.end_reason.value.replace("_", " ")
    end = [f"{reason}{_because(result.detail)}  ({figures}{used}{cost})", f"session {result.session.id}"]
    return [*end, *_left(result)] if result.waits_for or result.is_left else end


def _left(result: RunResult) -> Iterator[str]:
    """What a run that was left open waits for, and how it goes on."""
    for opened in result.waits_for:
        words = ", ".join(f"{offer.number} {one_line(offer.word)}" for offer in offers_of(opened))
        yield f"? {one_line(opened.prompt)}{f'  ({words})' if words else ''}"
        yield f"    handrail answer {opened.ask}{'' if words else ' WORDS'}"
    yield f"it goes on with `handrail resume {result.session.id}`"


def _because(text: str | None) -> str:
    return f": {one_line(text)}" if text else ""


def _words(blocks: Iterable[Block]) -> str:
    return _beginning(words_of(blocks))


def _compact(value: Json) -> str:
    return _beginning(value if isinstance(value, str) else _spelled(value))


def _beginning(text: str) -> str:
    """The beginning of ``text`` on one line. No more of it is looked at than could be shown: it may be megabytes."""
    looked_at = text[:_LOOKED_AT_CHARS]
    return cut(one_line(looked_at) + ("…" if len(text) > len(looked_at) else ""), _BODY_CHARS)


def _spelled(value: Json) -> str:
    return jsonio.encode(value).decode("utf-8", "replace")
