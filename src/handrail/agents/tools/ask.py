"""Ask: a question to the person."""

from __future__ import annotations

from handrail.agents.tool import Answer, Question, ToolContext, ToolError, ToolOutput, tool
from handrail.agents.tools.families.asking import unanswered
from handrail.transcripts.model import Author, Block, Decision, Refusal, RefusalKind, Text, Via


@tool(name="Ask", parallel=True, twice_is_safe=True)
async def ask(
    question: str, context: ToolContext, options: list[str] | None = None, may_type: bool = True
) -> ToolOutput:
    """Ask the person something that only they can decide, and wait for their answer.

    question: what to ask, whole, so that it can be answered without looking anything up
    options: labels to choose from, if there are any
    may_type: whether they may answer in their own words instead
    """
    if not question.strip():
        raise ToolError("the question is empty")
    if not options and not may_type:
        raise ToolError("there is no way to answer: give options or let them type")
    if context.ask is None:
        refusal = Refusal(RefusalKind.NOT_RUN, "policy", "there is nobody to ask")
        return ToolOutput("There is nobody to ask here. Decide yourself, or end.", is_error=True, refusal=refusal)
    asked = Question(prompt=question, options=tuple(options or ()), may_type=may_type)
    return _output(await context.ask(asked), asked, context.call_id)


def _output(answer: Answer, asked: Question, call_id: str) -> ToolOutput:
    if answer.refusal is not None:
        return ToolOutput(unanswered(answer.refusal, "answered"), is_error=True, refusal=answer.refusal)
    beside: tuple[Block, ...] = ()
    if answer.choice is not None:
        beside = (Decision(call_id, Author.PERSON, answer.choice),)
    if answer.text is not None:
        beside = (*beside, Text(answer.text, Author.PERSON, via=Via.ANSWER))
    said = [part for part in (answer.choice, answer.text) if part is not None]
    return ToolOutput(f"They answered: {' – '.join(said)}" if said else "They gave no answer.", beside=beside)


TOOL = ask
