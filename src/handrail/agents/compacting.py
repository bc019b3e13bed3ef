"""Making the model's context smaller: a summary in its place, people's words and refusals kept word for word.

The model sums up the work. What people said is not left to it: their words, and their reasons for refusing, are
taken from the transcript by code and stand in the summary as they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from handrail.agents.cancellation import CancellationToken, CancelledItself
from handrail.agents.charging import charge_of, take, uncounted
from handrail.agents.containment import Raised, contained
from handrail.agents.content import words_of
from handrail.agents.replies import recordable
from handrail.agents.requesting import model_of, reasoning_of
from handrail.agents.work import Work
from handrail.agents.writer import Writer
from handrail.journal import events as ev
from handrail.journal.effects import Compact
from handrail.journal.state import adjustment_of
from handrail.models.errors import MalformedReply
from handrail.models.port import ModelReply, ModelRequest, reply_to
from handrail.transcripts.model import Author, Message, RefusalKind, Text, ToolResult

KEPT_CHARACTERS = 40_000
"""How much of what people said stands in a summary; the newest is kept when it is more."""

_TASK = """Stop working. Sum up this conversation for yourself, who will go on with the work and see nothing but your
summary: the goal; what was done, with the files and commands that matter; what was decided and why; what stands in
the way; what is to be done next. Be exact with names and figures. Do not call a tool."""


class Compactor:
    """Carries out ``Compact`` effects of one run."""

    def __init__(self, work: Work, writer: Writer) -> None:
        self._work = work
        self._writer = writer

    async def compact(self, effect: Compact, cancellation: CancellationToken) -> None:
        """Record a summary, or that there is none; ``Cancelled`` when cut off, and then nothing is recorded."""
        began = self._work.clock.monotonic_s()
        try:
            got = await cancellation.guard(contained(self._summary(cancellation)))
        except CancelledItself as problem:
            got = Raised(problem)
        if isinstance(got, Raised):
            cancellation.raise_if_cancelled()
            elapsed_s = self._work.clock.monotonic_s() - began
            await self._writer.record(ev.CompactionFailed(error=got.told, elapsed_s=elapsed_s))
            return
        reply = got.value
        charge = charge_of(reply.message.usage, reply.cost)
        take(self._work.purses, (charge,))
        run = self._writer.state.run
        await self._writer.record(
            ev.Compacted(
                summary=self._kept(words_of(reply.message.content)),
                trigger="auto",
                tokens_before=effect.context_tokens,
                keeps_from=self._keeps_from(),
                elapsed_s=self._work.clock.monotonic_s() - began,
                tokens=charge.tokens or 0,
                cost=charge.cost or 0.0,
                is_unpriced=charge.cost is None,
            ),
            *(() if run is None else uncounted(run, "the model that summed up", (charge,))),
        )

    async def _summary(self, cancellation: CancellationToken) -> ModelReply:
        adjustment = adjustment_of(self._writer.state)
        pending = self._writer.conversation.pending
        task = Message(role="user", content=(Text(_TASK, Author.HOST, "compaction"),))
        request = ModelRequest(
            messages=(*self._writer.conversation.sent, *(() if pending is None else (pending,)), task),
            instructions=self._work.instructions,
            tools=tuple(tool.spec for tool in self._work.tools.values()),
            tool_choice="none",
            reasoning=reasoning_of(self._work.options.reasoning, adjustment),
            session=self._work.place.session,
            run=self._work.place.run,
            replies=self._writer.conversation.replies,
        )
        reply = recordable(await reply_to(model_of(self._work, adjustment), request, cancellation))
        if not words_of(reply.message.content).strip():
            raise MalformedReply("the model gave no summary")
        return reply

    def _kept(self, summary: str) -> str:
        said = "\n".join(f"- {line}" for line in newest(people_said(self._writer.conversation.transcript().body)))
        return f"{summary}\n\nWhat people said, word for word:\n{said}" if said else summary

    def _keeps_from(self) -> int | None:
        """The event of the last response, so that the results on their way to the model still have their calls."""
        conversation = self._writer.conversation
        for index in range(len(conversation.messages) - 1, -1, -1):
            if conversation.messages[index].role == "assistant":
                return conversation.seq_of(index)
        return None


def people_said(messages: Iterable[Message]) -> Iterator[str]:
    """The words of people in ``messages``, and their refusals, oldest first."""
    for message in messages:
        for block in message.content:
            if isinstance(block, Text) and block.author is Author.PERSON:
                yield block.text
            elif isinstance(block, ToolResult) and block.refusal and block.refusal.kind is RefusalKind.DENIED:
                yield f"(refused a call) {block.refusal.reason or 'without a reason'}"


def newest(said: Iterable[str], room: int = KEPT_CHARACTERS) -> Sequence[str]:
    """As many of ``said`` as fit into ``room`` characters, counted from the end, in their order."""
    kept: list[str] = []
    for words in reversed(tuple(said)):
        room -= len(words)
        if room < 0:
            break
        kept.append(words)
    return kept[::-1]
