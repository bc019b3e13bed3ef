"""The canonical model: what a session of any coding agent is, as frozen data.

Two rules carry everything built on top. One assistant message is one model response and one user message is
one delivery (tool results ride on user messages), so that a round means the same in every harness. And who
speaks is data, block by block: only a ``Text`` with author ``person`` is a person's words.

Every struct grows by optional fields only. The unions ``Block`` and ``ToolCall`` are closed inside the house;
readers of stored data keep a default arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from handrail import jsonio
from handrail.errors import MalformedSession

if TYPE_CHECKING:
    from handrail.transcripts.spans import Span

Json: TypeAlias = Any
"""Any JSON value: None, bool, int, float, str, list, dict with string keys."""

Role: TypeAlias = Literal["user", "assistant"]

STOP_REASONS = ("end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "aborted", "error")
"""The canonical stop reasons; a harness's own word that is none of them is kept as it is."""


class Author(StrEnum):
    """Who wrote a text. ``unknown`` never counts as a person."""

    PERSON = "person"
    MODEL = "model"
    HARNESS = "harness"
    HOST = "host"
    PEER = "peer"
    UNKNOWN = "unknown"


class Via(StrEnum):
    """How a text reached the agent."""

    PROMPT = "prompt"
    STEER = "steer"
    FOLLOW_UP = "follow_up"
    QUEUE = "queue"
    ANSWER = "answer"


class RefusalKind(StrEnum):
    """Why a call was not run, or its result is not one.

    ``denied`` is a person's no; ``blocked`` is policy, a hook or a limit. Only ``denied`` is a person stepping in.
    """

    DENIED = "denied"
    BLOCKED = "blocked"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    INTERRUPTED = "interrupted"
    NOT_RUN = "not_run"
    OUTCOME_UNKNOWN = "outcome_unknown"


class Refusal(Struct, frozen=True, omit_defaults=True, gc=False):
    """Why a result stands for a call that was not carried out. ``reason`` holds the refuser's own words, if any.

    ``by`` is ``person`` or the name of what refused (``policy``, ``sandbox``, ``hook:NAME``, …), None when the
    record does not say.
    """

    kind: RefusalKind
    by: str | None = None
    reason: str | None = None


# Tool calls -------------------------------------------------------------------------------------------------


class Command(Struct, frozen=True, tag_field="name", tag="Command", omit_defaults=True, gc=False):
    """A slash command a person ran at the harness; ``command`` starts with ``/``."""

    command: str
    args: str | None = None


class Read(Struct, frozen=True, tag_field="name", tag="Read", omit_defaults=True, gc=False):
    """Read a file; ``offset`` and ``limit`` count lines."""

    file_path: str
    offset: int | None = None
    limit: int | None = None


class Write(Struct, frozen=True, tag_field="name", tag="Write", omit_defaults=True, gc=False):
    """Write a whole file."""

    file_path: str
    content: str


class Edit(Struct, frozen=True, tag_field="name", tag="Edit", omit_defaults=True, gc=False):
    """Replace one text in a file. ``replace_all`` is None where the call did not say."""

    file_path: str
    old_string: str
    new_string: str
    replace_all: bool | None = None


class EditStep(Struct, frozen=True, omit_defaults=True, gc=False):
    """One replacement of a ``MultiEdit``."""

    old_string: str
    new_string: str
    replace_all: bool | None = None


class MultiEdit(Struct, frozen=True, tag_field="name", tag="MultiEdit", omit_defaults=True, gc=False):
    """Several replacements in one file, in order."""

    file_path: str
    edits: tuple[EditStep, ...]


class Bash(Struct, frozen=True, tag_field="name", tag="Bash", omit_defaults=True, gc=False):
    """Run a shell command. ``timeout_ms`` is in milliseconds."""

    command: str
    workdir: str | None = None
    timeout_ms: int | None = None
    description: str | None = None
    run_in_background: bool | None = None


class Raw(Struct, frozen=True, tag_field="name", tag="Raw", omit_defaults=True, gc=False):
    """Any other call, its input untouched."""

    tool_name: str
    input: Json = None


ToolCall: TypeAlias = Command | Read | Write | Edit | MultiEdit | Bash | Raw


# Blocks -----------------------------------------------------------------------------------------------------


class Text(Struct, frozen=True, tag_field="type", tag="text", omit_defaults=True, gc=False):
    """Words, with who wrote them.

    ``by`` names the strategy, hook, agent or command file the words came from. Inside an assistant message the
    author is never a person.
    """

    text: str
    author: Author = Author.UNKNOWN
    by: str | None = None
    via: Via | None = None


class Thinking(Struct, frozen=True, tag_field="type", tag="thinking", omit_defaults=True, gc=False):
    """Reasoning. ``signature`` and ``encrypted`` are opaque and mean something to the provider that made them only."""

    text: str
    signature: str | None = None
    encrypted: str | None = None


class ToolUse(Struct, frozen=True, tag_field="type", tag="tool_use", omit_defaults=True, gc=False):
    """A call the model asked for (or a slash command a person ran). ``provider`` is opaque provider-bound state."""

    id: str
    call: ToolCall
    provider: Json = None


class ToolResult(Struct, frozen=True, tag_field="type", tag="tool_result", omit_defaults=True, gc=False):
    """What came back for the call ``tool_use_id``.

    ``content`` is a string, or any other JSON value for structured output; a list of objects with a ``type``
    (``text``, ``image`` …) is the shape of mixed output.
    """

    tool_use_id: str
    content: Json = ""
    is_error: bool = False
    refusal: Refusal | None = None


class Image(Struct, frozen=True, tag_field="type", tag="image", omit_defaults=True, gc=False):
    """A picture: ``data`` in base64, or a ``url``."""

    media_type: str
    data: str = ""
    url: str | None = None


class Artifact(Struct, frozen=True, tag_field="type", tag="artifact", omit_defaults=True, gc=False):
    """A named file that was attached or made: its ``text``, its ``data`` in base64, or a ``path``."""

    id: str
    name: str
    text: str | None = None
    data: str | None = None
    path: str | None = None
    media_type: str | None = None


class Interrupt(Struct, frozen=True, tag_field="type", tag="interrupt", omit_defaults=True, gc=False):
    """The agent was stopped in the middle of its work; ``by`` is unknown unless the record proves it."""

    by: Author = Author.UNKNOWN


class Compaction(Struct, frozen=True, tag_field="type", tag="compaction", omit_defaults=True, gc=False):
    """What came before was replaced by ``summary`` (None where it is unreadable) in what the model sees.

    ``trigger`` is ``auto``, ``manual`` or the harness's own word. Token counts are of the model's context.
    """

    summary: str | None = None
    trigger: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None


class Decision(Struct, frozen=True, tag_field="type", tag="decision", omit_defaults=True, gc=False):
    """A recorded answer to a question: a point, an approval, an edit.

    ``ask`` is the question or the id of the call that asked it, ``choice`` a label that was offered, ``comment``
    words that came with it. ``before`` and ``after`` hold what was shown and what it was made into. ``effect`` is
    what the answer of an interaction point did (approve, revise, edit, abort, skip), None where that was not said.
    """

    ask: str
    by: Author = Author.UNKNOWN
    choice: str | None = None
    comment: str | None = None
    before: str | None = None
    after: str | None = None
    effect: str | None = None


Block: TypeAlias = Text | Thinking | ToolUse | ToolResult | Image | Artifact | Interrupt | Compaction | Decision


# Messages and sessions --------------------------------------------------------------------------------------


class Usage(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """Tokens of one model response, as the provider counted them."""

    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    reasoning_tokens: int | None = None


class Taint(Struct, frozen=True, kw_only=True, gc=False):
    """What had entered the conversation: somebody's private data, words of an untrusted source."""

    private: bool = False
    untrusted: bool = False

    def __or__(self, other: Taint) -> Taint:
        return Taint(private=self.private or other.private, untrusted=self.untrusted or other.untrusted)


class Message(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """One model response (``assistant``) or one delivery to the model (``user``).

    ``uid`` is the id of the first native record it was made of and ``uids`` holds all of them. ``timestamp`` is
    aware UTC or None where the record has none. ``taint`` None means unknown. ``provider`` is opaque state for a
    replay on the same provider. ``origin`` is the id of the session a copied message was inherited from;
    ``is_bridged`` marks a message whose recorded parent is missing, so that its place is a reader's inference.
    """

    role: Role
    content: tuple[Block, ...] = ()
    uid: str = ""
    uids: tuple[str, ...] = ()
    timestamp: datetime | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: Usage | None = None
    taint: Taint | None = None
    provider: Json = None
    origin: str | None = None
    is_bridged: bool = False


Common: TypeAlias = tuple[Message, ...]


class Parent(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """Where a session came from. ``at`` is the record or call in the parent it left from, where that is known."""

    session: str
    kind: Literal["fork", "resume", "subagent", "continued"]
    at: str | None = None


class Meta(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """What is known of a session across all harnesses. ``timestamp`` is when it started (aware UTC), or None."""

    id: str = ""
    timestamp: datetime | None = None
    cwd: str | None = None
    git_branch: str | None = None
    title: str | None = None
    cli_version: str | None = None
    model: str | None = None
    harness: str | None = None
    parent: Parent | None = None


Body = TypeVar("Body")


class Transcript(Struct, Generic[Body], frozen=True):
    """A session in some representation: ``body`` is a tuple of ``Message`` (``Common``), or a harness's native records.

    ``fragment``, ``crop``, ``crop_to`` and ``tool_pairs`` are for the canonical body. They are pure: nothing is
    changed in place.
    """

    meta: Meta
    body: Body

    def fragment(self: Transcript[Common], span: Span) -> Common | None:
        """The messages of ``span``, or None when it reaches past the end. Tool pairs are not looked at.

        An empty span inside the session gives ``()``. An inverted or negative one raises ``CropError``.
        """
        from handrail.transcripts.spans import fragment

        return fragment(self.body, span)

    def crop(self: Transcript[Common], span: Span) -> Transcript[Common]:
        """A copy that holds ``span`` only; metadata is kept.

        Raises ``CropError`` when the span is invalid, keeps nothing, or cuts a tool call from its result; the
        error's ``suggestion`` is then the smallest valid expansion.
        """
        from handrail.transcripts.spans import crop_to

        return Transcript(self.meta, crop_to(self.body, (span,)))

    def crop_to(self: Transcript[Common], spans: Sequence[Span]) -> Transcript[Common]:
        """A copy that holds the messages named by ``spans``, in the session's order, the cuts closed.

        Spans may come in any order and overlap. Raises as ``crop`` does; ``.span`` is the given span that holds
        one half of a separated pair.
        """
        from handrail.transcripts.spans import crop_to

        return Transcript(self.meta, crop_to(self.body, spans))

    def tool_pairs(self: Transcript[Common]) -> list[tuple[int, int]]:
        """``(call index, result index)`` of every answered call, in the order the results arrive.

        A call that is never answered is no pair, nor is a result without an earlier call. Raises ``CropError``
        when an id is used again before its earlier call was answered, or is answered twice.
        """
        from handrail.transcripts.spans import tool_pairs

        return tool_pairs(self.body)


def to_json(session: Transcript[Common]) -> bytes:
    """The session as one JSON document: ``{"meta": …, "body": […]}``, defaults left out.

    Half a character (a lone surrogate) is written as an escape.
    """
    return jsonio.encode(session)


def from_json(data: bytes | str) -> Transcript[Common]:
    """The session that ``to_json`` wrote; ``MalformedSession`` names the first path that does not fit."""
    try:
        return msgspec.json.decode(data, type=Transcript[Common])
    except msgspec.ValidationError as problem:
        raise MalformedSession(f"not a session: {problem}") from problem
    except (msgspec.DecodeError, UnicodeError):
        return _from_odd_json(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)


def _from_odd_json(data: bytes) -> Transcript[Common]:
    """JSON that msgspec refuses, half characters above all, read as leniently as is safe."""
    try:
        return msgspec.convert(jsonio.decode(data), Transcript[Common])
    except (jsonio.NotJson, msgspec.ValidationError, UnicodeError) as problem:
        raise MalformedSession(f"not a session: {problem}") from problem
