"""present_for_review: a text shown to the person, who acknowledges it or says what they think of it."""

from __future__ import annotations

from handrail.agents.tool import Question, ToolContext, ToolError, ToolOutput, tool
from handrail.agents.tools.families.asking import put, remark, worded
from handrail.journal.vocabulary import AskKind

ACKNOWLEDGE = "Acknowledge"


@tool(name="present_for_review", parallel=True, twice_is_safe=True)
async def present_for_review(markdown: str, context: ToolContext, title: str = "") -> ToolOutput:
    """Show the person a text and wait until they acknowledge it or say what they think of it.

    markdown: the text
    title: a short name for it
    """
    if not markdown.strip():
        raise ToolError("there is nothing to review; nobody was asked")
    named = worded(title, "Review")
    asked = Question(
        prompt=f"{named}: acknowledge it, or say what you think.",
        title=named,
        kind=AskKind.REVIEW,
        shown=markdown,
        body_format="markdown",
        options=(ACKNOWLEDGE,),
    )
    answer = await put(context, asked, "reviewed it")
    if isinstance(answer, ToolOutput):
        return answer
    if answer.text:
        return ToolOutput(f"They reviewed it and said: {answer.text}{remark(answer)}")
    return ToolOutput(f"They acknowledged it, without anything to say.{remark(answer)}")


TOOL = present_for_review
