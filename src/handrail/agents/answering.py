"""Putting a question to an answerer; whatever goes wrong with one counts as no answer."""

from __future__ import annotations

import inspect

from handrail.agents.cancellation import CancellationToken, Cancelled, CancelledItself
from handrail.agents.containment import Raised, contained, misfit
from handrail.agents.options import Answerer
from handrail.agents.threads import in_thread
from handrail.agents.tool import Answer, Question
from handrail.transcripts.model import Refusal, RefusalKind


async def put(answerer: Answerer | None, question: Question, token: CancellationToken) -> Answer | None:
    """The answer; what goes wrong with an answerer counts as none. None when the question was taken back."""
    if answerer is None:
        return _no_answer("there is nobody to ask")

    async def ask() -> object:
        given = answerer(question) if inspect.iscoroutinefunction(answerer) else await in_thread(answerer, question)
        return await given if inspect.isawaitable(given) else given

    try:
        given = await token.guard(contained(ask()))
    except Cancelled:
        return None
    except CancelledItself as problem:
        return _no_answer(f"the answerer failed: {problem}")
    if isinstance(given, Raised):
        return _no_answer(f"the answerer failed: {given.told}")
    if not isinstance(given.value, Answer):
        return _no_answer(f"the answerer gave no answer but {type(given.value).__name__}")
    if misfits := misfit(given.value):
        return _no_answer(f"the answerer's answer does not fit: {misfits}")
    return given.value


def _no_answer(told: str) -> Answer:
    return Answer(refusal=Refusal(RefusalKind.BLOCKED, "answerer", told))
