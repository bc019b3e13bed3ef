"""The moments a rule came from, in their sessions: what its check is proved on, and the tools there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from handrail.app.learning.cases import root_of
from handrail.app.machine import Judging, Machine
from handrail.app.opening import Opened, open_ref
from handrail.errors import HandrailError
from handrail.learning.checks.examples import Episode
from handrail.learning.corrections import corrected
from handrail.learning.interventions import find_interventions
from handrail.learning.lines import line_of
from handrail.learning.provenance import builtin_tools
from handrail.learning.rules.model import Rule
from handrail.transcripts.calls import render_call
from handrail.transcripts.model import Raw, ToolUse, Transcript


class Episodes:
    """The moments of rules in their sessions; each listing is made once."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._refs = {(ref.harness, ref.id): ref for ref in machine.catalog().sessions}

    def of(self, rule: Rule) -> tuple[Episode, ...]:
        """The moments of ``rule`` that are still there; a session that is gone or cannot be read proves nothing."""
        found: list[Episode] = []
        for key in dict.fromkeys((source.harness, source.session) for source in rule.sources):
            moments = {source.moment for source in rule.sources if (source.harness, source.session) == key}
            ref = self._refs.get(key)
            if ref is None:
                continue
            try:
                found += _episodes_in(open_ref(self._machine, ref), moments, self._machine.judging)
            except HandrailError:
                continue
        return tuple(found)


def _episodes_in(opened: Opened, moments: set[str], judging: Judging) -> list[Episode]:
    branches = {branch.id: branch for branch in opened.info.codec.branches(opened.native)}
    found = find_interventions(opened.session, branches=tuple(branches.values()), scorer=judging.scorer)
    found = corrected(found, judging.corrections)
    made: list[Episode] = []
    for moment in found:
        if moment.id not in moments:
            continue
        line = line_of(opened.session.body, None if moment.branch is None else branches[moment.branch])
        made.append(
            Episode(
                moment=moment.id,
                session=Transcript(opened.session.meta, line.body),
                at=line.start + moment.at,
                step_ins=frozenset(
                    line.start + one.at for one in found if one.is_stepin and one.branch == moment.branch
                ),
                root=root_of(opened.session.meta.cwd),
            )
        )
    return made


def tools_in(episodes: Iterable[Episode]) -> Mapping[str, tuple[str, ...]]:
    """The tools that were called in those sessions, each with the arguments it was given; none that nobody knows: a
    model may call what there is not, by a name of its own making."""
    fields: dict[str, dict[str, None]] = {}
    for episode in episodes:
        known = builtin_tools(episode.session.meta.harness)
        for message in episode.session.body:
            for block in message.content:
                if type(block) is ToolUse:
                    name, given = render_call(block.call)
                    if isinstance(given, dict) and (name in known or type(block.call) is not Raw):
                        fields.setdefault(name, {}).update(dict.fromkeys(given))
    return {name: tuple(given) for name, given in fields.items()}
