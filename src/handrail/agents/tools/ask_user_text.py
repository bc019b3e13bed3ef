"""ask_user_text: a question to the person that they answer in their own words."""

from __future__ import annotations

from handrail.agents.tool import Question, ToolContext, ToolOutput, tool
from handrail.agents.tools.families.asking import put, remark, worded


@tool(name="ask_user_text", parallel=True, twice_is_safe=True)
async def ask_user_text(context: ToolContext, prompt: str = "") -> ToolOutput:
    """Ask the person a question that they answer in their own words, and wait for it.

    prompt: what to ask, whole, so that it can be answered without looking anything up
    """
    asked = Question(prompt=worded(prompt, "What should I know to go on?"))
    answer = await put(context, asked, "answered")
    if isinstance(answer, ToolOutput):
        return answer
    return ToolOutput(f"They answered: {answer.text or answer.choice}{remark(answer)}")


TOOL = ask_user_text
