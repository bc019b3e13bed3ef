"""Every codec the registry finds, under every rule of the codec contract."""

from __future__ import annotations

import pytest

from handrail.harnesses import harness, harness_names
from handrail.testing.contracts.codec import CODEC_RULES, CodecCase
from handrail.testing.contracts.rules import Rule
from tests.harnesses import bare_rollouts


@pytest.mark.parametrize("rule", CODEC_RULES, ids=str)
@pytest.mark.parametrize("name", harness_names())
def test_codec_contract(name: str, rule: Rule[CodecCase]) -> None:
    rule.check(CodecCase(harness(name)))


@pytest.mark.parametrize("rule", CODEC_RULES, ids=str)
def test_codec_contract_over_rollouts_from_before_the_envelope(rule: Rule[CodecCase]) -> None:
    rule.check(CodecCase(harness("codex"), samples=(bare_rollouts.SESSION, bare_rollouts.OLDER)))
