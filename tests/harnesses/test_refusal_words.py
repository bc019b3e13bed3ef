"""Whose words stand inside a refused call's result."""

from __future__ import annotations

from handrail.harnesses.families.markers import CLAUDE_CODE_REFUSALS, find_refusal
from handrail.transcripts.model import Refusal, RefusalKind

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)


def test_what_follows_the_marker_is_the_persons() -> None:
    assert find_refusal(f"{REJECTED}use tabs", CLAUDE_CODE_REFUSALS) == Refusal(
        RefusalKind.DENIED, "person", "use tabs"
    )


def test_questions_turned_down_hold_no_word_of_the_person() -> None:
    text = (
        f"{REJECTED}The user wants to clarify these questions.\n    This means they may have additional information, "
        'context or questions for you.\n\n    Questions asked:\n- "Which one?"\n  (No answer provided)'
    )
    assert find_refusal(text, CLAUDE_CODE_REFUSALS) == Refusal(RefusalKind.DENIED, "person")
