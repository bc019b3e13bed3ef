"""ask_user_confirm: a question to the person that they answer by yes or no."""

from __future__ import annotations

from handrail.agents.tool import Question, ToolContext, ToolOutput, tool
from handrail.agents.tools.families.asking import put, remark, worded

YES, NO = "Yes", "No"


@tool(name="ask_user_confirm", parallel=True, twice_is_safe=True)
async def ask_user_confirm(context: ToolContext, prompt: str = "") -> ToolOutput:
    """Ask the person a question that is answered by yes or no, and wait for it. Only "Yes" is a yes.

    prompt: what to ask, whole, so that it can be answered without looking anything up
    """
    asked = Question(prompt=worded(prompt, "Shall I go on?"), options=(YES, NO), may_type=False)
    answer = await put(context, asked, "answered")
    if isinstance(answer, ToolOutput):
        return answer
    if answer.choice not in (YES, NO):
        return ToolOutput(f"They said neither yes nor no: {answer.text or answer.choice}{remark(answer)}")
    return ToolOutput(f"They answered: {answer.choice}.{remark(answer)}")


TOOL = ask_user_confirm
