"""Handrail keeps a person's hand on AI agents.

Everything here is loaded when it is first used, so ``import handrail`` costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take the name for true; importing typing would cost more than all the rest

if TYPE_CHECKING:
    from typing import Any

    from handrail.agents.admission import Gate as Gate
    from handrail.agents.agent import Agent as Agent
    from handrail.agents.approval import HOLD as HOLD
    from handrail.agents.approval import Approve as Approve
    from handrail.agents.approval import ApproveEdited as ApproveEdited
    from handrail.agents.approval import Approver as Approver
    from handrail.agents.approval import Deny as Deny
    from handrail.agents.cancellation import CancellationToken as CancellationToken
    from handrail.agents.hooks import Hook as Hook
    from handrail.agents.options import OnError as OnError
    from handrail.agents.options import RunOptions as RunOptions
    from handrail.agents.permissions import Policy as Policy
    from handrail.agents.permissions import Rule as Rule
    from handrail.agents.permissions import Verdict as Verdict
    from handrail.agents.pool import Pool as Pool
    from handrail.agents.remote import RemoteRun as RemoteRun
    from handrail.agents.result import RunFailed as RunFailed
    from handrail.agents.result import RunResult as RunResult
    from handrail.agents.result import Session as Session
    from handrail.agents.run import Relayed as Relayed
    from handrail.agents.run import Run as Run
    from handrail.agents.sessions import continued as continued
    from handrail.agents.sessions import fork as fork
    from handrail.agents.sessions import rewind as rewind
    from handrail.agents.spawn import spawn_tool as spawn_tool
    from handrail.agents.steering import Receipt as Receipt
    from handrail.agents.strategy import Continue as Continue
    from handrail.agents.strategy import Fail as Fail
    from handrail.agents.strategy import Finish as Finish
    from handrail.agents.strategy import Inject as Inject
    from handrail.agents.strategy import Pause as Pause
    from handrail.agents.strategy import ReasoningChange as ReasoningChange
    from handrail.agents.strategy import Retry as Retry
    from handrail.agents.strategy import RoundAdjustment as RoundAdjustment
    from handrail.agents.strategy import RoundBoundary as RoundBoundary
    from handrail.agents.strategy import RoundContext as RoundContext
    from handrail.agents.strategy import RoundDecision as RoundDecision
    from handrail.agents.strategy import RoundStrategy as RoundStrategy
    from handrail.agents.strategy import RoundToolResult as RoundToolResult
    from handrail.agents.strategy import Stop as Stop
    from handrail.agents.tool import Answer as Answer
    from handrail.agents.tool import Question as Question
    from handrail.agents.tool import Tool as Tool
    from handrail.agents.tool import ToolContext as ToolContext
    from handrail.agents.tool import ToolError as ToolError
    from handrail.agents.tool import ToolOutput as ToolOutput
    from handrail.agents.tool import tool as tool
    from handrail.agents.work import Progress as Progress
    from handrail.blueprints.labels import AnswerRefused as AnswerRefused
    from handrail.blueprints.points import Aborted as Aborted
    from handrail.blueprints.points import Approved as Approved
    from handrail.blueprints.points import Directed as Directed
    from handrail.blueprints.points import Edited as Edited
    from handrail.blueprints.points import InteractionPoint as InteractionPoint
    from handrail.blueprints.points import InteractionStyle as InteractionStyle
    from handrail.blueprints.points import Skipped as Skipped
    from handrail.errors import HandrailError as HandrailError
    from handrail.errors import TranscriptError as TranscriptError
    from handrail.harnesses import convert as convert
    from handrail.harnesses import harness as harness
    from handrail.harnesses import harness_names as harness_names
    from handrail.journal.events import Event as Event
    from handrail.journal.file import FileJournal as FileJournal
    from handrail.journal.memory import MemoryJournal as MemoryJournal
    from handrail.journal.vocabulary import Actor as Actor
    from handrail.journal.vocabulary import ActorKind as ActorKind
    from handrail.journal.vocabulary import Bound as Bound
    from handrail.journal.vocabulary import EndReason as EndReason
    from handrail.journal.vocabulary import Limits as Limits
    from handrail.learning.interventions import Intervention as Intervention
    from handrail.learning.interventions import Trigger as Trigger
    from handrail.learning.interventions import find_interventions as find_interventions
    from handrail.learning.provenance import covering as covering
    from handrail.learning.provenance import evidence_for as evidence_for
    from handrail.learning.provenance import taint_timeline as taint_timeline
    from handrail.models.port import Effort as Effort
    from handrail.models.port import ModelInfo as ModelInfo
    from handrail.models.port import ReasoningOptions as ReasoningOptions
    from handrail.models.port import TextDelta as TextDelta
    from handrail.models.port import ThinkingDelta as ThinkingDelta
    from handrail.models.port import ToolCallDelta as ToolCallDelta
    from handrail.models.replay import ReplayModel as ReplayModel
    from handrail.models.scripted import Reply as Reply
    from handrail.models.scripted import ScriptedModel as ScriptedModel
    from handrail.models.scripted import call as call
    from handrail.runs.fan_out.tool import fan_out_tool as fan_out_tool
    from handrail.runs.journals.postgres import PostgresJournal as PostgresJournal
    from handrail.runs.journals.sqlite import SqliteJournal as SqliteJournal
    from handrail.runs.stages import resume_blueprint as resume_blueprint
    from handrail.runs.stages import run_blueprint as run_blueprint
    from handrail.runs.stages import start_blueprint as start_blueprint
    from handrail.transcripts.codec import Branch as Branch
    from handrail.transcripts.codec import Codec as Codec
    from handrail.transcripts.codec import Fault as Fault
    from handrail.transcripts.codec import HarnessInfo as HarnessInfo
    from handrail.transcripts.codec import Loss as Loss
    from handrail.transcripts.codec import LossItem as LossItem
    from handrail.transcripts.codec import Store as Store
    from handrail.transcripts.context import context as context
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
    "agents.admission": "Gate",
    "agents.agent": "Agent",
    "agents.approval": "HOLD Approve ApproveEdited Approver Deny",
    "agents.cancellation": "CancellationToken",
    "agents.hooks": "Hook",
    "agents.options": "OnError RunOptions",
    "agents.permissions": "Policy Rule Verdict",
    "agents.pool": "Pool",
    "agents.result": "RunFailed RunResult Session",
    "agents.remote": "RemoteRun",
    "agents.sessions": "continued fork rewind",
    "agents.spawn": "spawn_tool",
    "agents.run": "Relayed Run",
    "agents.steering": "Receipt",
    "agents.strategy": (
        "Continue Fail Finish Inject Pause ReasoningChange Retry RoundAdjustment RoundBoundary RoundContext "
        "RoundDecision RoundStrategy RoundToolResult Stop"
    ),
    "agents.tool": "Answer Question Tool ToolContext ToolError ToolOutput tool",
    "agents.work": "Progress",
    "blueprints.labels": "AnswerRefused",
    "blueprints.points": "Aborted Approved Directed Edited InteractionPoint InteractionStyle Skipped",
    "errors": "HandrailError TranscriptError",
    "harnesses": "convert harness harness_names",
    "journal.events": "Event",
    "journal.file": "FileJournal",
    "journal.memory": "MemoryJournal",
    "journal.vocabulary": "Actor ActorKind Bound EndReason Limits",
    "learning.interventions": "Intervention Trigger find_interventions",
    "learning.provenance": "covering evidence_for taint_timeline",
    "models.port": "Effort ModelInfo ReasoningOptions TextDelta ThinkingDelta ToolCallDelta",
    "models.replay": "ReplayModel",
    "models.scripted": "Reply ScriptedModel call",
    "runs.fan_out.tool": "fan_out_tool",
    "runs.journals.postgres": "PostgresJournal",
    "runs.journals.sqlite": "SqliteJournal",
    "runs.stages": "resume_blueprint run_blueprint start_blueprint",
    "transcripts.codec": "Branch Codec Fault HarnessInfo Loss LossItem Store",
    "transcripts.model": (
        "Artifact Author Bash Block Command Common Compaction Decision Edit EditStep Image Interrupt Message "
        "Meta MultiEdit Parent Raw Read Refusal RefusalKind Taint Text Thinking ToolCall ToolResult ToolUse "
        "Transcript Usage Via Write"
    ),
    "transcripts.context": "context",
    "transcripts.spans": "CropError Span",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted([*_HOME_OF, "__version__"])

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    from handrail.exports import load

    return load(__name__, _HOME_OF, name)


def __dir__() -> list[str]:
    return __all__
