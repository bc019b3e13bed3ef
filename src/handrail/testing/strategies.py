"""Hypothesis strategies for canonical sessions, spans and native bytes.

``conversations`` are what a reader gives: every call answered at most once and in the next delivery, results on
user messages, calls on assistant messages, one id used once. ``sessions`` are whatever the model can hold.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from handrail.transcripts.calls import parse_call
from handrail.transcripts.model import (
    STOP_REASONS,
    Artifact,
    Author,
    Bash,
    Block,
    Command,
    Common,
    Compaction,
    Decision,
    Edit,
    EditStep,
    Image,
    Interrupt,
    Json,
    Message,
    Meta,
    MultiEdit,
    Parent,
    Raw,
    Read,
    Refusal,
    RefusalKind,
    Role,
    Taint,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolUse,
    Transcript,
    Usage,
    Via,
    Write,
)
from handrail.transcripts.spans import Span

_SPEAKERS_FOR_USER = tuple(author for author in Author if author is not Author.MODEL)

LETTERS = st.characters(exclude_categories=["Cs"])
words = st.text(LETTERS, max_size=12)
"""Any text but lone surrogates: line feeds, NUL, U+2028 and the empty string among it."""
some_words = words.filter(lambda text: text.strip() != "")
names = st.text("abcdefghijklmnopqrstuvwxyz0123456789_", min_size=1, max_size=8)
counts = st.integers(0, 1 << 40)
base64_data = st.sampled_from(["", "aGk=", "iVBORw0KGgo="])

_EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
instants = st.integers(0, 200_000_000_000).map(lambda count: _EPOCH + timedelta(milliseconds=count))
"""Aware UTC instants in whole milliseconds, which is what harnesses record."""

json_values: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
json_objects: st.SearchStrategy[dict[str, Json]] = st.dictionaries(words, json_values, max_size=3)


def optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """``strategy``, or None."""
    return st.none() | strategy


# Calls ------------------------------------------------------------------------------------------------------

_steps = st.builds(EditStep, words, words, optional(st.booleans()))

typed_calls: st.SearchStrategy[ToolCall] = st.one_of(
    st.builds(Read, words, optional(counts), optional(counts)),
    st.builds(Write, words, words),
    st.builds(Edit, words, words, words, optional(st.booleans())),
    st.builds(MultiEdit, words, st.lists(_steps, max_size=3).map(tuple)),
    st.builds(Bash, words, optional(words), optional(counts), optional(words), optional(st.booleans())),
)
commands: st.SearchStrategy[Command] = st.builds(Command, names.map("/{}".format), optional(some_words))
wire_names = st.sampled_from(["Read", "Write", "Edit", "MultiEdit", "Bash", "/clear", "mcp__a__B", "WebSearch"]) | names


@st.composite
def raw_calls(draw: st.DrawFn) -> Raw:
    """Calls that no typed form fits."""
    call = parse_call(draw(wire_names.filter(lambda name: not name.startswith("/"))), draw(json_objects))
    return call if isinstance(call, Raw) else Raw("other", {})


model_calls: st.SearchStrategy[ToolCall] = typed_calls | raw_calls()
any_calls: st.SearchStrategy[ToolCall] = model_calls | commands | st.builds(Raw, wire_names, json_values)

# Blocks -----------------------------------------------------------------------------------------------------


def texts(role: Role) -> st.SearchStrategy[Text]:
    """Texts that may stand in a message of ``role``: a model's in one, anybody's but a model's in the other."""
    if role == "assistant":
        return st.builds(Text, some_words, st.just(Author.MODEL))
    return st.builds(
        Text, some_words, st.sampled_from(_SPEAKERS_FOR_USER), optional(names), optional(st.sampled_from(Via))
    )


thoughts = st.builds(Thinking, words, optional(names), optional(names))
images = st.builds(Image, st.sampled_from(["image/png", "image/jpeg"]), base64_data, optional(words)).filter(
    lambda image: bool(image.data) or bool(image.url)
)
artifacts = st.builds(
    Artifact, names, some_words, optional(words), optional(base64_data), optional(words), optional(names)
)
interrupts = st.builds(Interrupt, st.sampled_from(Author))
compactions = st.builds(
    Compaction,
    optional(words),
    optional(st.sampled_from(["auto", "manual", "other"])),
    optional(counts),
    optional(counts),
)
decisions = st.builds(
    Decision, words, st.sampled_from(Author), optional(words), optional(words), optional(words), optional(words)
)
refusals = st.builds(
    Refusal,
    st.sampled_from(RefusalKind),
    optional(st.sampled_from(["person", "policy", "sandbox", "hook:lint"])),
    optional(some_words),
)
_mixed_output = st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": words}), min_size=1, max_size=2)
outputs: st.SearchStrategy[Json] = words | _mixed_output | json_values


def results(call_id: st.SearchStrategy[str]) -> st.SearchStrategy[ToolResult]:
    """Results of a call; a refused one is an error."""
    ran = st.builds(ToolResult, call_id, outputs, st.booleans())
    refused = st.builds(ToolResult, call_id, words, st.just(True), refusals)
    return ran | refused


def any_blocks() -> st.SearchStrategy[Block]:
    """Every kind of block, ids from a pool so small that they collide."""
    pool = st.sampled_from(["a", "b", "c", ""])
    return st.one_of(
        texts("user"),
        texts("assistant"),
        st.builds(Text, words),
        thoughts,
        st.builds(ToolUse, pool, any_calls, optional(json_values)),
        results(pool),
        images,
        artifacts,
        interrupts,
        compactions,
        decisions,
    )


# Messages and sessions --------------------------------------------------------------------------------------

usages = st.builds(
    Usage,
    input_tokens=counts,
    output_tokens=counts,
    cache_read_input_tokens=optional(counts),
    cache_creation_input_tokens=optional(counts),
    reasoning_tokens=optional(counts),
)
taints = st.builds(Taint, private=st.booleans(), untrusted=st.booleans())
parents = st.builds(
    Parent, session=names, kind=st.sampled_from(["fork", "resume", "subagent", "continued"]), at=optional(names)
)
stop_reasons = st.sampled_from(STOP_REASONS) | names


@st.composite
def metas(draw: st.DrawFn) -> Meta:
    """Metadata of a session with a usable id."""
    return Meta(
        id=draw(st.uuids(version=4)).__str__(),
        timestamp=draw(optional(instants)),
        cwd=draw(optional(names.map("/srv/{}".format))),
        git_branch=draw(optional(names)),
        title=draw(optional(some_words)),
        cli_version=draw(optional(names)),
        model=draw(optional(names)),
        harness=draw(optional(names)),
        parent=draw(optional(parents)),
    )


@st.composite
def bodies(draw: st.DrawFn, max_messages: int = 6) -> Common:
    """Any body the model can hold: blocks on either side, ids reused, results before calls, empty messages."""
    count = draw(st.integers(0, max_messages))
    return tuple(
        Message(
            role=draw(st.sampled_from(["user", "assistant"])),
            content=tuple(draw(st.lists(any_blocks(), max_size=3))),
            uid=draw(st.sampled_from(["", f"u{number}", "same"])),
            timestamp=draw(optional(instants)),
            model=draw(optional(names)),
            stop_reason=draw(optional(stop_reasons)),
            usage=draw(optional(usages)),
            taint=draw(optional(taints)),
            provider=draw(optional(json_values)),
            origin=draw(optional(names)),
            is_bridged=draw(st.booleans()),
        )
        for number in range(count)
    )


def sessions(max_messages: int = 6) -> st.SearchStrategy[Transcript[Common]]:
    """Any session the model can hold."""
    return st.builds(Transcript, metas(), bodies(max_messages))


@st.composite
def conversations(draw: st.DrawFn, max_rounds: int = 4) -> Transcript[Common]:
    """A session as a reader gives it: prompts, responses, deliveries, every id used once, uids distinct."""
    messages: list[Message] = []
    for number in range(draw(st.integers(0, max_rounds))):
        messages.append(draw(_prompt(len(messages))))
        for step in range(draw(st.integers(0, 2))):
            response, call_ids = draw(_response(len(messages), f"{number}_{step}"))
            messages.append(response)
            if not call_ids or draw(st.integers(0, 9)) == 0:
                break
            messages.append(draw(_delivery(len(messages), call_ids)))
    return Transcript(draw(metas()), tuple(messages))


@st.composite
def _prompt(draw: st.DrawFn, number: int) -> Message:
    plain = st.lists(texts("user") | images | artifacts, min_size=1, max_size=2)
    alone = st.one_of(interrupts, compactions, decisions).map(lambda block: [block])
    command = commands.map(lambda call: [ToolUse(f"slash_{number}", call)])
    content = draw(st.one_of(plain, plain, plain, alone, command))
    return Message(
        role="user",
        content=tuple(content),
        uid=f"uid-{number}",
        uids=(f"uid-{number}",),
        timestamp=draw(optional(instants)),
        taint=draw(optional(taints)),
    )


@st.composite
def _response(draw: st.DrawFn, number: int, label: str) -> tuple[Message, list[str]]:
    blocks: list[Block] = draw(st.lists(texts("assistant") | thoughts, max_size=2))
    calls = draw(st.lists(model_calls, min_size=0 if blocks else 1, max_size=3))
    call_ids = [f"call_{label}_{index}" for index in range(len(calls))]
    uses: list[Block] = [ToolUse(call_id, call) for call_id, call in zip(call_ids, calls, strict=True)]
    message = Message(
        role="assistant",
        content=tuple(draw(st.permutations([*blocks, *uses])) if draw(st.booleans()) else [*blocks, *uses]),
        uid=f"uid-{number}",
        uids=(f"uid-{number}",),
        timestamp=draw(optional(instants)),
        model=draw(optional(names)),
        stop_reason=draw(optional(stop_reasons)),
        usage=draw(optional(usages)),
    )
    return message, call_ids


@st.composite
def _delivery(draw: st.DrawFn, number: int, call_ids: list[str]) -> Message:
    blocks: list[Block] = [draw(results(st.just(call_id))) for call_id in call_ids]
    blocks += draw(st.lists(texts("user"), max_size=1))
    return Message(
        role="user",
        content=tuple(blocks),
        uid=f"uid-{number}",
        uids=(f"uid-{number}",),
        timestamp=draw(optional(instants)),
    )


# Spans ------------------------------------------------------------------------------------------------------


@st.composite
def spans_within(draw: st.DrawFn, length: int) -> Span:
    """A span inside a body of ``length`` messages; it may be empty."""
    start = draw(st.integers(0, length))
    return Span(start, draw(st.integers(start, length)))


any_spans = st.builds(Span, st.integers(-3, 12), st.integers(-3, 12))
"""Spans that may be negative, inverted or past the end."""
