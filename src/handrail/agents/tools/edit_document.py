"""edit_document: a text that the person may change, and that is theirs afterwards."""

from __future__ import annotations

from handrail.agents.tool import Question, ToolContext, ToolOutput, tool
from handrail.agents.tools.families.asking import put, remark, worded
from handrail.journal.vocabulary import AskKind


@tool(name="edit_document", parallel=True, twice_is_safe=True)
async def edit_document(content: str, context: ToolContext, prompt: str = "") -> ToolOutput:
    """Open a text for the person to change, and get it back as they left it. What they made of it is what holds.

    content: the whole text
    prompt: what they are to look at
    """
    asked = Question(
        prompt=worded(prompt, "Change this document as you want it."), kind=AskKind.EDIT, shown=content, may_type=True
    )
    answer = await put(context, asked, "edited the document, which stands as it was")
    if isinstance(answer, ToolOutput):
        return answer
    if answer.text is None or answer.text == content:
        return ToolOutput(f"They left the document as it is.{remark(answer)}", details={"is_changed": False})
    told = (
        f"They changed the document.{remark(answer)} This is its text now; build on it as it stands:\n\n{answer.text}"
    )
    return ToolOutput(told, details={"is_changed": True})


TOOL = edit_document
