"""Handrail keeps a person's hand on AI agents.

Everything here is loaded when it is first used, so ``import handrail`` costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take the name for true; importing typing would cost more than all the rest

if TYPE_CHECKING:
    from typing import Any

    from handrail.errors import HandrailError as HandrailError
    from handrail.errors import TranscriptError as TranscriptError
    from handrail.harnesses import convert as convert
    from handrail.harnesses import harness as harness
    from handrail.harnesses import harness_names as harness_names
    from handrail.learning.interventions import Intervention as Intervention
    from handrail.learning.interventions import Trigger as Trigger
    from handrail.learning.interventions import find_interventions as find_interventions
    from handrail.learning.provenance import covering as covering
    from handrail.learning.provenance import evidence_for as evidence_for
    from handrail.learning.provenance import taint_timeline as taint_timeline
    from handrail.transcripts.codec import Branch as Branch
    from handrail.transcripts.codec import Codec as Codec
    from handrail.transcripts.codec import Fault as Fault
    from handrail.transcripts.codec import HarnessInfo as HarnessInfo
    from handrail.transcripts.codec import Loss as Loss
    from handrail.transcripts.codec import LossItem as LossItem
    from handrail.transcripts.codec import Store as Store
    from handrail.transcripts.model import Artifact as Artifact
    from handrail.transcripts.model import Author as Author
    from handrail.transcripts.model import Bash as Bash
    from handrail.transcripts.model import Block as Block
    from handrail.transcripts.model import Command as Command
    from handrail.transcripts.model import Common as Common
    from handrail.transcripts.model import Compaction as Compaction
    from handrail.transcripts.model import Decision as Decision
    from handrail.transcripts.model import Edit as Edit
    from handrail.transcripts.model import EditStep as EditStep
    from handrail.transcripts.model import Image as Image
    from handrail.transcripts.model import Interrupt as Interrupt
    from handrail.transcripts.model import Message as Message
    from handrail.transcripts.model import Meta as Meta
    from handrail.transcripts.model import MultiEdit as MultiEdit
    from handrail.transcripts.model import Parent as Parent
    from handrail.transcripts.model import Raw as Raw
    from handrail.transcripts.model import Read as Read
    from handrail.transcripts.model import Refusal as Refusal
    from handrail.transcripts.model import RefusalKind as RefusalKind
    from handrail.transcripts.model import Taint as Taint
    from handrail.transcripts.model import Text as Text
    from handrail.transcripts.model import Thinking as Thinking
    from handrail.transcripts.model import ToolCall as ToolCall
    from handrail.transcripts.model import ToolResult as ToolResult
    from handrail.transcripts.model import ToolUse as ToolUse
    from handrail.transcripts.model import Transcript as Transcript
    from handrail.transcripts.model import Usage as Usage
    from handrail.transcripts.model import Via as Via
    from handrail.transcripts.model import Write as Write
    from handrail.transcripts.spans import CropError as CropError
    from handrail.transcripts.spans import Span as Span

_HOMES = {
    "errors": "HandrailError TranscriptError",
    "harnesses": "convert harness harness_names",
    "learning.interventions": "Intervention Trigger find_interventions",
    "learning.provenance": "covering evidence_for taint_timeline",
    "transcripts.codec": "Branch Codec Fault HarnessInfo Loss LossItem Store",
    "transcripts.model": (
        "Artifact Author Bash Block Command Common Compaction Decision Edit EditStep Image Interrupt Message Meta "
        "MultiEdit Parent Raw Read Refusal RefusalKind Taint Text Thinking ToolCall ToolResult ToolUse Transcript "
        "Usage Via Write"
    ),
    "transcripts.spans": "CropError Span",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted([*_HOME_OF, "__version__"])

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    try:
        module = _HOME_OF[name]
    except KeyError:
        raise AttributeError(f"module 'handrail' has no attribute {name!r}") from None
    import importlib

    value = getattr(importlib.import_module(f"handrail.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
