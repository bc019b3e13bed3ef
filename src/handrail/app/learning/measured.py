"""What was measured of rules, looked up for those who look at them."""

from __future__ import annotations

from collections.abc import Iterable

from handrail.app.learning.memory import Memory
from handrail.learning.probes.ledger import ProbeRow
from handrail.learning.probes.pairing import words_digest
from handrail.learning.probes.store import LedgerStore
from handrail.learning.rules.model import Rule


def rows_of(memory: Memory, rules: Iterable[Rule]) -> tuple[ProbeRow, ...]:
    """The measurements of ``rules`` in the words they have, in the order they were made."""
    words = {rule.id: words_digest(rule) for rule in rules}
    return tuple(row for row in LedgerStore(memory.folder).load().rows if words.get(row.rule) == row.words)
