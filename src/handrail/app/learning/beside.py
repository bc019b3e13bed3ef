"""The moments behind rules, found in their sessions again."""

from __future__ import annotations

from collections.abc import Iterable

from handrail.app.counting import MomentRow
from handrail.app.machine import Machine
from handrail.app.mining import mine
from handrail.app.opening import open_ref
from handrail.errors import HandrailError
from handrail.learning.rules.model import Source


def moments_beside(machine: Machine, sources: Iterable[Source]) -> tuple[MomentRow, ...]:
    """The moments that ``sources`` name, in their order; those whose session is gone, or cannot be read, are left out.

    Only the sessions that are named are read, each once.
    """
    wanted = tuple(sources)
    if not wanted:
        return ()
    catalog = machine.catalog()
    short = catalog.short_ids()
    sessions = {(source.harness, source.session) for source in wanted}
    found: dict[str, MomentRow] = {}
    for ref in catalog.sessions:
        if (ref.harness, ref.id) not in sessions:
            continue
        try:
            mined = mine(open_ref(machine, ref), short[ref.id], machine.judging)
        except HandrailError:
            # The rule stands without its moment: sessions are cleaned up, and the words are kept with the lesson.
            continue
        found.update({row.id: row for row in mined.rows})
    return tuple(found[source.moment] for source in wanted if source.moment in found)
