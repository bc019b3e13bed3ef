"""Every model Handrail has keeps the contract."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic_ai", reason="the provider library is not installed")

from handrail.testing.contracts.model import MODEL_RULES, ModelCase
from handrail.testing.contracts.rules import Rule
from handrail.testing.models import MODEL_CASES


@pytest.mark.parametrize("rule", MODEL_RULES, ids=str)
@pytest.mark.parametrize("case", MODEL_CASES, ids=str)
def test_models_keep_the_contract(case: ModelCase, rule: Rule[ModelCase]) -> None:
    rule.check(case)
