"""Over real sessions: moments are well formed, hold nobody's words but the person's, and cover what people labelled."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import handrail
from handrail.learning.interventions import Intervention, Trigger, find_interventions
from handrail.learning.provenance import EvidenceKind, covering, evidence_for
from handrail.transcripts.codec import Branch
from handrail.transcripts.model import Author, Common, Decision, Refusal, RefusalKind, Text, ToolResult, Transcript
from tests.corpus import CORPUS, corpus_files

HARNESSES = ["claude_code", "codex"]
LABELS = CORPUS.parent / "labels" / "moments.jsonl" if CORPUS else None

pytestmark = pytest.mark.skipif(CORPUS is None, reason="the real sessions are not at hand")


@cache
def read(path: Path, harness: str) -> tuple[Transcript[Common], tuple[Branch, ...], tuple[Intervention, ...]]:
    codec = handrail.harness(harness).codec
    native = codec.parse(path.read_bytes())
    session, branches = codec.to_common(native), codec.branches(native)
    return session, branches, find_interventions(session, branches)


def bodies(session: Transcript[Common], branches: Sequence[Branch]) -> dict[str | None, Common]:
    return {None: session.body, **{branch.id: branch.body for branch in branches}}


def a_persons_words(body: Common) -> Iterator[str]:
    for message in body:
        for block in message.content:
            match block:
                case Text(text=text, author=Author.PERSON) if message.role == "user":
                    yield text.strip()
                case ToolResult(refusal=Refusal(kind=RefusalKind.DENIED, reason=str() as reason)):
                    yield reason.strip()
                case Decision(by=Author.PERSON, comment=str() as comment):
                    yield comment.strip()


@pytest.mark.parametrize("harness", HARNESSES)
def test_every_moment_of_every_session_is_well_formed(harness: str) -> None:
    for path in corpus_files(harness):
        session, branches, moments = read(path, harness)
        lines = bodies(session, branches)
        said = set(chain.from_iterable(a_persons_words(body) for body in lines.values()))
        assert len({moment.id for moment in moments}) == len(moments), path
        for moment in moments:
            body = lines[moment.branch]
            assert 0 <= moment.at <= moment.until < len(body), path
            assert not moment.words or set(moment.words.split("\n\n")) <= {
                piece for words in said for piece in words.split("\n\n")
            }, path
            assert moment.reasons, path


@pytest.mark.parametrize("harness", HARNESSES)
def test_a_refusal_with_words_is_a_denial_with_these_words_and_nothing_else_is_a_denial(harness: str) -> None:
    for path in corpus_files(harness):
        session, branches, moments = read(path, harness)
        refusals = [
            block.refusal
            for body in bodies(session, branches).values()
            for message in body
            if message.origin is None
            for block in message.content
            if type(block) is ToolResult and block.refusal and block.refusal.kind == RefusalKind.DENIED
        ]
        denials = [moment for moment in moments if moment.trigger == Trigger.DENIAL]
        worded = sorted(refusal.reason.strip() for refusal in refusals if refusal.reason and refusal.reason.strip())
        assert not worded or set(worded) <= {moment.words for moment in denials}, path
        assert len(worded) <= len(denials) <= len(refusals), path


@pytest.mark.parametrize("harness", HARNESSES)
def test_the_clean_view_of_real_moments_holds_no_excerpt(harness: str) -> None:
    for path in corpus_files(harness):
        session, branches, moments = read(path, harness)
        for moment in moments:
            evidence = evidence_for(covering(session, moment, branches), moment)
            clean = moment.user_evidence_only()
            assert clean.context.startswith("[withheld: ")
            assert clean.aftermath.startswith("[withheld: ")
            assert evidence.view == (moment if evidence.kind == EvidenceKind.FULL else clean), path


def labelled() -> list[dict[str, Any]]:
    if LABELS is None or not LABELS.exists():
        return []
    return [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]


def submitted(turn: dict[str, Any]) -> str:
    """The text of a labelled Codex item."""
    assert CORPUS is not None
    line = (CORPUS / turn["file"]).read_bytes().split(b"\n")[turn["line"]]
    content = json.loads(line)["payload"]["content"]
    return "\n\n".join(part["text"] for part in content if "text" in part).strip()


@pytest.mark.parametrize("harness", HARNESSES)
def test_every_step_in_on_which_both_raters_agree_is_a_moment(harness: str) -> None:
    agreed = [turn for turn in labelled() if turn["rater1"]["stepin"] and turn["rater2"]["stepin"]]
    agreed = [turn for turn in agreed if turn["harness"] == harness]
    if not agreed:
        pytest.skip("the labels are not at hand")
    assert CORPUS is not None
    for turn in agreed:
        _, _, moments = read(CORPUS / turn["file"], turn["harness"])
        if turn.get("uid"):
            found = any(turn["uid"] in moment.uids for moment in moments)
        else:
            text = submitted(turn)
            found = any(moment.words and (text in moment.words or moment.words in text) for moment in moments)
        assert found, (turn["file"], turn["line"])


def test_a_labelled_turn_of_the_harness_is_no_moment_of_its_own() -> None:
    turns = [turn for turn in labelled() if turn["harness"] == "claude_code" and turn["kind"] == "turn"]
    turns = [turn for turn in turns if turn["rater1"]["author"] == turn["rater2"]["author"] == "harness"]
    if not turns:
        pytest.skip("the labels are not at hand")
    assert CORPUS is not None
    for turn in turns:
        _, _, moments = read(CORPUS / turn["file"], turn["harness"])
        assert not [moment for moment in moments if moment.uid == turn["uid"] and moment.words], turn["file"]
