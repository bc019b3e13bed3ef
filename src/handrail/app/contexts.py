"""Use case: what the model of a run sees, by region, and how much room that takes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from handrail.agents.conversation import Conversation
from handrail.app.journals import opened_journal
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.app.ordering import Order, read_order
from handrail.app.outfitting import instructions
from handrail.app.running import find_session, require_extra
from handrail.blueprints.forms import from_plain
from handrail.blueprints.model import Blueprint
from handrail.blueprints.regions import Region
from handrail.errors import HandrailError
from handrail.journal.events import Event, RunStarted
from handrail.journal.vocabulary import RegionEntry
from handrail.models.names import model_from_name
from handrail.runs.regions.report import ContextReport, report_of
from handrail.runs.regions.size import Size, calibrated
from handrail.runs.regions.view import view_of
from handrail.runs.stages.progress import Progress, progress_of
from handrail.workspace.discovery import config_folder, discover


class Context(Struct, frozen=True, kw_only=True):
    """What the run of ``session`` sees in its present stage, or saw in its last one.

    ``blueprint`` is the name of the one it obeys, ``model`` the one that is asked. Tools are not counted. What the
    workspace contributes to the instructions is as it is now.
    """

    schema_version: int = SCHEMA_VERSION
    session: str
    blueprint: str | None
    model: str | None
    report: ContextReport


def context_of(
    machine: Machine,
    environment: Mapping[str, str],
    name: str,
    *,
    with_text: bool = False,
    database: str | None = None,
) -> Context:
    """The context of the run that ``name`` means, with the text of its regions where that is asked for.

    Raises ``MissingExtra``, and as ``find_session``.
    """
    require_extra()

    async def read() -> tuple[str, tuple[Event, ...]]:
        with opened_journal(machine, environment, database) as journal:
            session = await find_session(machine, journal, name)
            return session, await journal.read(session)

    session, events = asyncio.run(read())
    return _context(session, events, environment, with_text=with_text)


def _context(session: str, events: tuple[Event, ...], environment: Mapping[str, str], *, with_text: bool) -> Context:
    progress = progress_of(events)
    conversation = Conversation()
    for event in events:
        conversation.add(event)
    starts = [event.body for event in events if isinstance(event.body, RunStarted)]
    order = read_order(starts[-1].order) if starts else None
    blueprint = None if progress.blueprint is None else from_plain(progress.blueprint.source)
    stage = _stage_of(progress)
    told = _instructions(order, blueprint, stage, environment)
    visible = _visible(blueprint, stage)
    contents: dict[str, tuple[RegionEntry, ...]] = progress.regions
    window = _window(order, environment)
    reported = None if conversation.last_usage is None else conversation.last_usage.input_tokens
    plain = view_of(visible, contents, told, conversation.sent, Size(window))
    size = Size(window, calibrated(reported or 0, plain.sent_bytes))
    view = view_of(visible, contents, told, conversation.sent, size)
    return Context(
        session=session,
        blueprint=None if blueprint is None else blueprint.name,
        model=(order.model if order is not None else None) or (starts[-1].model if starts else None),
        report=report_of(
            () if blueprint is None else blueprint.regions,
            [region.name for region in visible],
            contents,
            view,
            size,
            locked=frozenset(progress.locked),
            reported_tokens=reported,
            stage=stage,
            with_text=with_text,
        ),
    )


def _stage_of(progress: Progress) -> str | None:
    if progress.visit is not None:
        return progress.visit.stage
    return None if progress.left is None else progress.left.stage


def _visible(blueprint: Blueprint | None, stage: str | None) -> tuple[Region, ...]:
    if blueprint is None or stage is None:
        return ()
    return blueprint.regions_of(blueprint.stage(stage))


def _instructions(
    order: Order | None, blueprint: Blueprint | None, stage: str | None, environment: Mapping[str, str]
) -> str:
    """The instructions as a run of ``order`` gets them now: the host's, then the stage's."""
    told = [] if order is None else [_hosts(order.workspace, order.is_trusted, environment)]
    if blueprint is not None and stage is not None:
        told.append(blueprint.stage(stage).instructions)
    return "\n\n".join(part for part in told if part)


def _hosts(workspace: Path, is_trusted: bool, environment: Mapping[str, str]) -> str:
    try:
        found = discover(workspace, config=config_folder(environment), environment=environment, is_trusted=is_trusted)
    except OSError:
        # The folder the run began in is gone, and with it what it contributed.
        return ""
    return instructions(found)


def _window(order: Order | None, environment: Mapping[str, str]) -> int | None:
    """How much the model of the run can be given, where it can be made here; a script has no such bound."""
    if order is None or order.model is None:
        return None
    try:
        return model_from_name(order.model, base_url=order.base_url, environ=environment).info.context_tokens
    except HandrailError:
        return None
