"""A second model that reads the answer before it is accepted."""

from __future__ import annotations

from handrail.agents.content import words_of
from handrail.agents.strategy import RoundBoundary, RoundContext, RoundDecision
from handrail.models.errors import MalformedReply
from handrail.models.port import Model, ModelRequest, reply_to
from handrail.transcripts.model import Author, Message, Text

_TASK = """You judge the last answer of this conversation. {criteria}
Say PASS and nothing else when it may stand. Otherwise say in one or two sentences what is wrong with it."""


class Judge:
    """Asks ``model`` about every answer, by ``criteria``; what it finds wrong goes back, ``times`` times at most.

    A judge that says nothing has failed, and passed nothing: ``on_strategy_error`` says what follows.
    What the judge costs counts against the bounds of the run.
    """

    name = "judge"

    def __init__(self, model: Model, criteria: str = "Is it right, and is the task done?", *, times: int = 2) -> None:
        self.model = model
        self.criteria = criteria
        self.times = times
        self._sent_back = 0
        self._judged = 0

    async def on_round(self, ctx: RoundContext) -> RoundDecision:
        """See ``RoundStrategy``."""
        is_answer = ctx.boundary is RoundBoundary.ASSISTANT_MESSAGE_COMMITTED
        if not is_answer or not ctx.can_continue or self._sent_back >= self.times:
            return RoundDecision.proceed()
        task = Message(role="user", content=(Text(_TASK.format(criteria=self.criteria), Author.HOST, self.name),))
        # A talk of its own: this model has replied to it as often as it has judged.
        request = ModelRequest(messages=(*ctx.history, task), run=f"{ctx.run}/{self.name}", replies=self._judged)
        reply = await reply_to(self.model, request, ctx.cancellation)
        ctx.charge(reply.message.usage, reply.cost)
        self._judged += 1
        verdict = words_of(reply.message.content).strip()
        if not verdict:
            raise MalformedReply(f"{self.model.info.name} judged the answer without a word")
        if verdict.strip(".!").upper() == "PASS":
            return RoundDecision.proceed()
        self._sent_back += 1
        return RoundDecision.inject(verdict)


STRATEGY = Judge
