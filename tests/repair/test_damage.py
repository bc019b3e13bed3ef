"""A thousand damaged files, by seed: repaired so that nothing a reader could still recover is lost."""

from __future__ import annotations

import pytest

from handrail.testing.damage import damaged
from handrail.testing.sample import sample_home
from tests.corpus import corpus_files
from tests.harnesses import bare_rollouts
from tests.repair.recoverable import check_damaged, check_repair

FILES = 1_000
_GROUP = 50
_LARGEST_BYTES = 300_000
_SAMPLES = [
    ("claude_code" if ".claude" in name else "codex", data)
    for name, data in sorted(sample_home().items())
    if name.startswith((".claude", ".codex"))
]


@pytest.mark.parametrize("first", range(0, FILES, _GROUP))
def test_a_damaged_file_is_repaired_and_loses_nothing_that_could_be_read(first: int) -> None:
    repaired = 0
    for seed in range(first, first + _GROUP):
        harness, data = _SAMPLES[seed % len(_SAMPLES)]
        repaired += check_damaged(harness, data, seed)
    assert repaired > _GROUP * 0.9


def test_a_damaged_rollout_from_before_the_envelope_is_repaired_and_loses_nothing_that_could_be_read() -> None:
    assert sum(check_damaged("codex", bare_rollouts.SESSION, seed) for seed in range(150)) > 140


@pytest.mark.parametrize("harness", ["claude_code", "codex"])
def test_a_damaged_real_file_is_repaired_and_loses_nothing_that_could_be_read(harness: str) -> None:
    small = [path for path in corpus_files(harness) if path.stat().st_size < _LARGEST_BYTES]
    if not small:
        pytest.skip("there is no corpus here")
    for seed in range(40):
        check_damaged(harness, small[seed * 7 % len(small)].read_bytes(), seed)


@pytest.mark.parametrize("harness", ["claude_code", "codex"])
def test_every_real_file_is_repaired_and_loses_nothing(harness: str) -> None:
    paths = [path for path in corpus_files(harness) if path.stat().st_size < 1_500_000]
    if not paths:
        pytest.skip("there is no corpus here")
    for path in paths:
        check_repair(harness, path.read_bytes())


def test_the_same_seed_gives_the_same_damage_and_another_gives_another() -> None:
    data = _SAMPLES[0][1]
    assert damaged(data, 7) == damaged(data, 7)
    assert len({damaged(data, seed).data for seed in range(30)}) > 25
    assert len({wound for seed in range(100) for wound in damaged(data, seed).wounds}) == 10
