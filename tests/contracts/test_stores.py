"""Every store the registry finds, under every rule of the store contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.harnesses import harness, harness_names
from handrail.testing.contracts.rules import Rule
from handrail.testing.contracts.store import STORE_RULES, StoreCase, has_store


@pytest.mark.parametrize("rule", STORE_RULES, ids=str)
@pytest.mark.parametrize("name", harness_names())
def test_store_contract(name: str, rule: Rule[StoreCase], tmp_path: Path) -> None:
    info = harness(name)
    if not has_store(info, tmp_path / "root"):
        pytest.skip(f"sessions of {name} live nowhere")
    rule.check(StoreCase(info, tmp_path))
