"""What the tools that ask a person share: putting the question, and saying why there is no answer.

Nothing here claims what nobody said. A question that was not answered says so in words of its own: silence is no no,
a no is no silence, and neither is consent. A call of these tools may be run twice: its question is asked once.
"""

from __future__ import annotations

from handrail.agents.tool import Answer, Question, ToolContext, ToolOutput
from handrail.transcripts.model import Refusal, RefusalKind

_NOBODY = Refusal(RefusalKind.NOT_RUN, "policy", "there is nobody to ask")


async def put(context: ToolContext, question: Question, done: str) -> Answer | ToolOutput:
    """The person's answer to ``question``, or the output that says why there is none.

    ``done`` is what they were to do with it, as in "nobody has …": "answered", "edited the document".
    """
    if context.ask is None:
        text = f"There is nobody to ask here: nobody has {done}. Decide yourself where you may, or end."
        return ToolOutput(text, is_error=True, refusal=_NOBODY)
    answer = await context.ask(question)
    if answer.refusal is not None:
        return ToolOutput(unanswered(answer.refusal, done), is_error=True, refusal=answer.refusal)
    if answer.choice is None and (answer.text is None or not answer.text.strip()):
        return ToolOutput(f"They left it open: nobody has {done}.{remark(answer)}", is_error=True)
    return answer


def unanswered(refusal: Refusal, done: str) -> str:
    """What a model is told where nobody ``done`` it, worded so that it can tell the ways of not answering apart."""
    because = f": {refusal.reason.rstrip('.')}." if refusal.reason else "."
    match refusal.kind:
        case RefusalKind.EXPIRED:
            return f"Nobody has {done} in time. Nobody agreed and nobody refused: do not act as if somebody had."
        case RefusalKind.WITHDRAWN:
            return f"The question was withdrawn before anybody had {done}{because}"
        case RefusalKind.DENIED:
            return f"They declined and have not {done}{because} Do not ask for the same again."
        case _:
            return f"Nobody was asked, and nobody has {done}{because}"


def remark(answer: Answer) -> str:
    """The comment that came with an answer, as one more sentence."""
    return f" They added: {answer.comment}" if answer.comment else ""


def worded(given: str | None, default: str) -> str:
    """``given``, or ``default`` where there is nothing in it."""
    return default if given is None or not given.strip() else given
