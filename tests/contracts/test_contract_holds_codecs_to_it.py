"""The contract passes a codec that is right and fails each that is wrong in one way."""

from __future__ import annotations

import msgspec
import pytest

from handrail.testing.contracts.codec import CODEC_RULES, CodecCase
from handrail.testing.contracts.rules import Rule
from handrail.transcripts.codec import Fault, Loss, LossItem, Parts
from handrail.transcripts.model import Author, Common, Text, Transcript
from tests.contracts.echo import EchoCodec, Kept, Native, info


@pytest.mark.parametrize("rule", CODEC_RULES, ids=str)
def test_a_right_codec_passes(rule: Rule[CodecCase]) -> None:
    rule.check(CodecCase(info(EchoCodec())))


class _DropsBlankLines(EchoCodec):
    def render(self, native: Native) -> Parts | bytes:
        data = native.body.data
        return data.replace(b"\n\n", b"\n") if isinstance(data, bytes) else data


class _RefusesBadBytes(EchoCodec):
    def to_common(self, native: Native, branch: str | None = None) -> Transcript[Common]:
        if isinstance(native.body.data, bytes):
            native.body.data.decode()
        return super().to_common(native, branch)


class _MisplacesFaults(EchoCodec):
    def faults(self, native: Native) -> tuple[Fault, ...]:
        return tuple(msgspec.structs.replace(fault, end=fault.end + 10**9) for fault in super().faults(native))


class _LosesTitles(EchoCodec):
    def write(self, common: Transcript[Common]) -> tuple[Native, Loss]:
        return super().write(Transcript(msgspec.structs.replace(common.meta, title=None), common.body))


class _LosesTitlesAndSaysSo(_LosesTitles):
    def write(self, common: Transcript[Common]) -> tuple[Native, Loss]:
        native, loss = super().write(common)
        items = (LossItem(what="meta.title", why="no place for it"),) if common.meta.title is not None else ()
        return native, Loss(items=(*loss.items, *items))


class _CriesWolf(EchoCodec):
    def write(self, common: Transcript[Common]) -> tuple[Native, Loss]:
        return super().write(common)[0], Loss(items=(LossItem(what="meta.cwd", why="who knows"),))


class _TakesAllForPeople(EchoCodec):
    def to_common(self, native: Native, branch: str | None = None) -> Transcript[Common]:
        session = super().to_common(native, branch)
        body = tuple(
            msgspec.structs.replace(
                message,
                content=tuple(Text(b.text, Author.PERSON) if isinstance(b, Text) else b for b in message.content),
            )
            for message in session.body
        )
        return Transcript(session.meta, body)


class _CountsItsWrites(EchoCodec):
    def __init__(self) -> None:
        self.written = 0

    def write(self, common: Transcript[Common]) -> tuple[Native, Loss]:
        self.written += 1
        native, loss = super().write(common)
        assert isinstance(native.body.data, bytes)
        return Transcript(native.meta, Kept(native.body.data + b'{"type":"%d"}\n' % self.written)), loss


@pytest.mark.parametrize(
    ("codec", "number"),
    [
        (_DropsBlankLines(), 1),
        (_RefusesBadBytes(), 3),
        (_MisplacesFaults(), 4),
        (_LosesTitles(), 12),
        (_LosesTitles(), 13),
        (_TakesAllForPeople(), 10),
        (_TakesAllForPeople(), 16),
        (_CountsItsWrites(), 11),
        (_CriesWolf(), 20),
    ],
)
def test_a_wrong_codec_fails_its_rule(codec: EchoCodec, number: int) -> None:
    (rule,) = (rule for rule in CODEC_RULES if rule.number == number)
    with pytest.raises((AssertionError, UnicodeDecodeError)):
        rule.check(CodecCase(info(codec)))


def test_a_named_loss_is_no_failure() -> None:
    for rule in CODEC_RULES:
        if rule.number in {12, 13, 14}:
            rule.check(CodecCase(info(_LosesTitlesAndSaysSo())))


def test_rules_are_numbered_from_one_without_gaps() -> None:
    assert [rule.number for rule in CODEC_RULES] == list(range(1, len(CODEC_RULES) + 1))
