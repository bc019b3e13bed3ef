"""The points that moments branch at, found again in their sessions, with what was recorded of the prompt there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from handrail.app.learning.cases import root_of
from handrail.app.learning.recorded import setting_of
from handrail.app.machine import Machine
from handrail.app.mining import has_people, iter_mined
from handrail.app.opening import Opened, open_ref
from handrail.errors import HandrailError, MomentNotFound
from handrail.learning.delivery.managed import BlockFault, without_block
from handrail.learning.interventions import find_interventions
from handrail.learning.lines import line_of
from handrail.learning.moment import Intervention
from handrail.learning.probes.arms import Setting
from handrail.learning.probes.branching import Branch, NoBranch, branch_at, calls_of, is_sendable, with_results
from handrail.learning.probes.redacting import Cleaning, redacted, redacted_text
from handrail.learning.rules.model import Source
from handrail.learning.rules.scope import Place
from handrail.library import Unread
from handrail.transcripts.context import seen_of
from handrail.transcripts.model import Common, Message, Text


class Point(Struct, frozen=True, kw_only=True):
    """A moment that can be gone through again: what both arms begin with, and where it was."""

    source: Source
    trigger: str
    branch: Branch
    setting: Setting
    place: Place


class NoPoint(Struct, frozen=True, kw_only=True):
    """A moment that cannot, and why."""

    source: Source
    reason: str


def points_of(machine: Machine, sources: Iterable[Source]) -> dict[str, Point | NoPoint]:
    """The point of each of ``sources``, by its moment's id. A session is opened once, however many moments it holds."""
    wanted: dict[tuple[str, str], list[Source]] = {}
    for source in sources:
        wanted.setdefault((source.harness, source.session), []).append(source)
    if not wanted:
        return {}
    refs = {(ref.harness, ref.id): ref for ref in machine.catalog().sessions}
    found: dict[str, Point | NoPoint] = {}
    for key, own in wanted.items():
        ref = refs.get(key)
        if ref is None:
            found.update(_none(own, "its session is not on this machine any more"))
            continue
        try:
            found.update(_in_session(open_ref(machine, ref), own))
        except HandrailError as problem:
            found.update(_none(own, f"its session cannot be read: {problem.message}"))
    return found


def find_source(machine: Machine, moment: str) -> Source:
    """Where the moment of that id is; sessions are read, the newest first. ``MomentNotFound``."""
    wanted = moment.strip().lower()
    catalog = machine.catalog()
    refs = [ref for ref in catalog.sessions if has_people(ref)]
    unread: list[Unread] = []
    for mined in iter_mined(machine, refs, catalog.short_ids(), unread, total=len(refs)):
        if any(row.id == wanted for row in mined.rows):
            return Source(harness=mined.harness, session=mined.session, uid="", moment=wanted)
    raise MomentNotFound(f"no moment has the id {moment!r}", hint="handrail moments --all --why shows the ids")


def _none(sources: Iterable[Source], reason: str) -> Iterator[tuple[str, NoPoint]]:
    for source in sources:
        yield source.moment, NoPoint(source=source, reason=reason)


def _in_session(opened: Opened, sources: Iterable[Source]) -> Iterator[tuple[str, Point | NoPoint]]:
    branches = opened.info.codec.branches(opened.native)
    moments = {one.id: one for one in find_interventions(opened.session, branches=branches)}
    lines = {branch.id: branch for branch in branches}
    texts = cache(redacted_text)
    for source in sources:
        moment = moments.get(source.moment)
        if moment is None:
            yield source.moment, NoPoint(source=source, reason="the moment is not in its session any more")
            continue
        line = line_of(opened.session.body, lines[moment.branch] if moment.branch is not None else None)
        at = line.start + moment.at
        yield source.moment, _point(opened, source, line.body, replace(moment, at=at), texts)


def _point(opened: Opened, source: Source, body: Common, moment: Intervention, texts: Cleaning) -> Point | NoPoint:
    branch = branch_at(body, moment)
    if isinstance(branch, NoBranch):
        return NoPoint(source=source, reason=branch.reason)
    clean = _without_rules(branch.prefix)
    if clean is None:
        return NoPoint(source=source, reason="rules stand in its prompt that cannot be told from the rest")
    # What is told is told by what was sent: what a model sees of it now, answered, redacted.
    branch = redacted(replace(branch, prefix=with_results(seen_of(clean))), texts)
    if not is_sendable(branch.prefix):
        return NoPoint(source=source, reason="the conversation up to it is not one a model takes")
    calls = calls_of(body)
    setting = setting_of(opened, moment.at, calls, is_live=moment.branch is None)
    setting = replace(setting, instructions=redacted_text(setting.instructions))
    place = Place(
        repository=root_of(opened.session.meta.cwd),
        harness=opened.info.name,
        tools=tuple(tool.name for tool in setting.tools),
    )
    return Point(source=source, trigger=moment.trigger.value, branch=branch, setting=setting, place=place)


def _without_rules(prefix: Common) -> Common | None:
    """``prefix`` without the blocks of rules in the instruction files that it quotes, so that no arm has the candidate
    twice; None where the marks of one are torn."""
    try:
        return tuple(map(_plain, prefix))
    except BlockFault:
        return None


def _plain(message: Message) -> Message:
    if not any(type(block) is Text and "handrail:rules" in block.text for block in message.content):
        return message
    content = tuple(
        replace(block, text=without_block(block.text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass"))
        if type(block) is Text
        else block
        for block in message.content
    )
    return replace(message, content=content)
