"""ask_user_choice: a question to the person that they answer by one of several options."""

from __future__ import annotations

from handrail.agents.tool import Question, ToolContext, ToolError, ToolOutput, tool
from handrail.agents.tools.families.asking import put, remark, worded


@tool(name="ask_user_choice", parallel=True, twice_is_safe=True)
async def ask_user_choice(
    options: list[str], context: ToolContext, prompt: str = "", may_type: bool = False
) -> ToolOutput:
    """Ask the person to choose one of several options, and wait for it.

    options: the labels to choose from, two at least, each different
    prompt: what is to be chosen, whole, so that it can be answered without looking anything up
    may_type: whether they may answer in their own words instead
    """
    labels = tuple(" ".join(option.split()) for option in options)
    if len(labels) < 2 or not all(labels):
        raise ToolError("a choice needs two options at least, each with a label; nobody was asked")
    if len(set(labels)) < len(labels):
        raise ToolError("two options have the same label; nobody was asked")
    asked = Question(prompt=worded(prompt, "Which one?"), options=labels, may_type=may_type)
    answer = await put(context, asked, "chosen")
    if isinstance(answer, ToolOutput):
        return answer
    if answer.choice is None:
        return ToolOutput(f"They chose none of them and answered: {answer.text}{remark(answer)}")
    words = f" They added: {answer.text}" if answer.text else ""
    return ToolOutput(f"They chose: {answer.choice}{words}{remark(answer)}")


TOOL = ask_user_choice
