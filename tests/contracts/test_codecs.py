"""Every codec the registry finds, under every rule of the codec contract."""

from __future__ import annotations

import pytest

from handrail.harnesses import harness, harness_names
from handrail.testing.contracts.codec import CODEC_RULES, CodecCase
from handrail.testing.contracts.rules import Rule


@pytest.mark.parametrize("rule", CODEC_RULES, ids=str)
@pytest.mark.parametrize("name", harness_names())
def test_codec_contract(name: str, rule: Rule[CodecCase]) -> None:
    rule.check(CodecCase(harness(name)))
