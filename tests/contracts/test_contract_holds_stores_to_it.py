"""The contract passes a store that is right and fails each that is wrong in one way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail import files
from handrail.testing.contracts.rules import Rule
from handrail.testing.contracts.store import STORE_RULES, StoreCase
from handrail.transcripts.codec import SessionRef
from tests.contracts.echo import EchoCodec, EchoStore, Native, info


@pytest.mark.parametrize("rule", STORE_RULES, ids=str)
def test_a_right_store_passes(rule: Rule[StoreCase], tmp_path: Path) -> None:
    rule.check(StoreCase(info(EchoCodec()), tmp_path))


class _MakesItsRoot(EchoStore):
    def discover(self) -> Iterator[SessionRef]:
        self.root.mkdir(exist_ok=True)
        return super().discover()


class _Overwrites(EchoStore):
    def save(self, native: Native) -> SessionRef:
        path = self.root / f"{native.meta.id}.echo"
        assert isinstance(native.body.data, bytes)
        files.write_atomically(path, native.body.data, replace=True)
        return self._ref(path)


class _WritesForAll(EchoStore):
    def save(self, native: Native) -> SessionRef:
        ref = super().save(native)
        Path(ref.locator).chmod(0o644)
        return ref


class _DeletesAnything(EchoStore):
    def delete(self, ref: SessionRef) -> None:
        Path(ref.locator).unlink()


class _NamesItAfterItsPlace(EchoStore):
    def fingerprint(self, ref: SessionRef) -> str:
        return ref.locator


@pytest.mark.parametrize(
    ("store", "number"),
    [
        (_MakesItsRoot, 1),
        (_Overwrites, 4),
        (_Overwrites, 6),
        (_WritesForAll, 5),
        (_DeletesAnything, 8),
        (_NamesItAfterItsPlace, 11),
    ],
)
def test_a_wrong_store_fails_its_rule(store: type[EchoStore], number: int, tmp_path: Path) -> None:
    (rule,) = (rule for rule in STORE_RULES if rule.number == number)
    with pytest.raises((AssertionError, OSError, ValueError)):
        rule.check(StoreCase(info(EchoCodec(), store), tmp_path))


def test_rules_are_numbered_from_one_without_gaps() -> None:
    assert [rule.number for rule in STORE_RULES] == list(range(1, len(STORE_RULES) + 1))
