"""The stages of one run: the fold, the decisions and what a stage works with, behind the seam of the round loop.

It holds nothing that its events do not say: whatever drives the run next makes another one of them. The decisions are
pure (``deciding``); here they are given what they need, and recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing

from msgspec.structs import replace

from handrail import ids
from handrail.agents.asks import BOTH
from handrail.agents.boundary import Enlisted
from handrail.agents.conversation import Conversation
from handrail.agents.options import RunOptions
from handrail.agents.regions import Regions
from handrail.agents.staging import Frozen, Seen, Staged
from handrail.agents.summarising import Ask
from handrail.agents.writer import Said, Writer
from handrail.blueprints.edges.stuck import OnStuck
from handrail.blueprints.forms import digest_of, to_plain
from handrail.blueprints.model import Blueprint
from handrail.journal import events as ev
from handrail.journal.effects import Advance, End
from handrail.journal.ends import closing_events
from handrail.journal.state import State
from handrail.journal.vocabulary import DRIVER, Actor, ActorKind, EndReason, RegionEntry
from handrail.runs.regions.blocks import tokens_of
from handrail.runs.regions.contents import is_conversation
from handrail.runs.regions.drafts import Origin
from handrail.runs.regions.keeping import Standing, keeping
from handrail.runs.regions.seeding import Ground, Permit, SeedFailed
from handrail.runs.regions.shelf import Shelf
from handrail.runs.regions.size import Size, calibrated
from handrail.runs.regions.view import overfull, view_of
from handrail.runs.stages.assembly import Assemble, HandOut, Parts, parts_of
from handrail.runs.stages.deciding import decide
from handrail.runs.stages.entering import entering, fetched
from handrail.runs.stages.leaving import is_available
from handrail.runs.stages.measuring import Stuck, visit_of
from handrail.runs.stages.progress import Progress
from handrail.runs.stages.scene import Scene, Step
from handrail.transcripts.model import Taint


class StageMachine:
    """Fulfils ``agents.staging.Stages`` for a run of ``blueprint``.

    ``assemble`` gives what a stage may use, ``hand_out`` the tool by which one that fans out does so. ``permit``
    decides about commands that regions begin with (None: none may run). Raises ``UnknownName`` for what a stage needs
    and nobody offers, before anything is started.
    """

    def __init__(
        self,
        blueprint: Blueprint,
        assemble: Assemble,
        options: RunOptions,
        *,
        permit: Permit | None = None,
        origin: tuple[str, ...] = (),
        hand_out: HandOut = lambda stage: None,
    ) -> None:
        self.blueprint = blueprint
        self.progress = Progress()
        self._options = options
        self._permit = permit
        self._origin = origin
        self._parts = {
            stage.name: parts_of(blueprint, stage, assemble(stage), options, hand_out(stage))
            for stage in blueprint.stages
        }
        self._enlisted: dict[tuple[str, int], tuple[Enlisted, ...]] = {}
        self._sent_bytes = 0
        self._size = Size()

    @property
    def frozen(self) -> Frozen:
        return Frozen(name=self.blueprint.name, digest=digest_of(self.blueprint), source=to_plain(self.blueprint))

    @property
    def entry(self) -> Parts:
        """What the stage works with that a run begins with."""
        return self._parts[self.blueprint.entry_stage]

    def take(self, event: ev.Event) -> None:
        self.progress.take(event)
        if isinstance(event.body, ev.ModelReplied):
            self._calibrate(event.body)

    def _calibrate(self, body: ev.ModelReplied) -> None:
        usage = body.message.usage
        if usage is not None and self._sent_bytes:
            estimate = calibrated(usage.input_tokens + (usage.cache_read_input_tokens or 0), self._sent_bytes)
            self._size = replace(self._size, estimate=estimate)

    # What a stage works with

    def staged(self) -> Staged | None:
        visit = self.progress.visit
        if visit is None:
            return None
        parts = self._parts[visit.stage]
        return Staged(
            agent=parts.agent,
            options=parts.options,
            strategies=self._strategies(visit.stage, visit.visit),
            fallbacks=parts.fallbacks,
            output=parts.output,
            view=self._view if self.blueprint.regions else None,
        )

    def _strategies(self, stage: str, visit: int) -> tuple[Enlisted, ...]:
        """The strategies of one visit, made once."""
        key = (stage, visit)
        if key not in self._enlisted:
            edges = self.blueprint.edges_of(self.blueprint.stage(stage))
            may_be_stuck = any(isinstance(edge, OnStuck) for edge in edges)
            more = (Stuck(self._measured),) if may_be_stuck else ()
            self._enlisted = {key: self._parts[stage].enlisted(*more)}
        return self._enlisted[key]

    def _measured(self) -> str | None:
        """How the stage is stuck, in words; None where it is not, was told so already, or has no way out of it."""
        scene = self._scene_of(State())
        if scene is None or scene.visit.is_stuck:
            return None
        seen = visit_of(self.progress, scene.visit, "stuck")
        edges = self.blueprint.edges_of(scene.stage)
        ways = (edge for edge in edges if isinstance(edge, OnStuck) and is_available(scene, edge.to))
        return next((told for edge in ways if (told := edge.reached(seen)) is not None), None)

    def _window(self, stage: str) -> Size:
        return replace(self._size, window=self._parts[stage].agent.model.info.context_tokens)

    def _view(self, conversation: Conversation) -> Seen:
        visit = self.progress.visit
        if visit is None:
            raise RuntimeError("a request is made in no stage")
        stage = self.blueprint.stage(visit.stage)
        view = view_of(
            self.blueprint.regions_of(stage),
            self.progress.regions,
            self._parts[stage.name].agent.instructions,
            conversation.sent,
            self._window(stage.name),
            stage_from=_first_of_visit(conversation, self.progress.from_seq),
        )
        self._sent_bytes = view.sent_bytes
        return Seen(view.instructions, view.messages)

    # Regions

    def regions(self, taint: Taint) -> Regions | None:
        visit = self.progress.visit
        if visit is None or not self.blueprint.regions:
            return None
        stage = self.blueprint.stage(visit.stage)
        return Shelf(
            self.blueprint.regions_of(stage),
            self.progress.regions,
            self._window(stage.name),
            Origin(taint, Actor(ActorKind.MODEL, self._parts[stage.name].agent.name)),
            frozenset(self.progress.locked),
        )

    def refused(self, written: Mapping[str, tuple[RegionEntry, ...]]) -> str | None:
        visit = self.progress.visit
        stage = None if visit is None else self.blueprint.stage(visit.stage)
        visible = {} if stage is None else {region.name: region for region in self.blueprint.regions_of(stage)}
        for name, entries in written.items():
            region = visible.get(name)
            if region is None or is_conversation(region):
                return f"there is no region {name!r} here"
            if region.is_read_only or name in self.progress.locked:
                return f"the region {name} is not for tools to write"
            size = self._window("" if stage is None else stage.name)
            held = tokens_of(region, self.progress.regions.get(name, ()), size.estimate)
            # What is over its budget, since the window or the estimate changed, may still become less.
            if tokens_of(region, entries, size.estimate) > max(region.budget_tokens(size.window), held):
                return f"that is more than the region {name} has room for"
        return None

    async def keep_up(self, writer: Writer, ask: Ask) -> None:
        visit = self.progress.visit
        if visit is None or not self.blueprint.regions:
            return
        stage = self.blueprint.stage(visit.stage)
        model = self._parts[stage.name].agent.model.info.name
        standing = Standing(
            stage=stage.name,
            visible=self.blueprint.regions_of(stage),
            contents=dict(self.progress.regions),
            instructions=self._parts[stage.name].agent.instructions,
            messages=writer.conversation.sent,
            size=self._window(stage.name),
            taint=writer.state.taint or BOTH,
            by=Actor(ActorKind.MODEL, model),
            stage_from=_first_of_visit(writer.conversation, self.progress.from_seq),
            passed_over=frozenset(self.progress.passed_over),
        )
        async with aclosing(keeping(standing, ask)) as steps:
            async for step in steps:
                await writer.record(*step)

    # What follows

    async def advance(self, effect: Advance, writer: Writer) -> None:
        step = self._step(effect, writer)
        try:
            arriving = await self._arriving(step, writer.state)
        except SeedFailed as problem:
            told = f"stage {step.enters} cannot begin: {problem}"
            step = Step(events=step.events, end=End(reason=EndReason.FAILED, detail=told))
            arriving = ()
        closing = () if step.end is None else closing_events(writer.state, step.end)
        said = (*step.events, *arriving, *((body, DRIVER) for body in closing))
        if not said:
            # Asked again about the very same state it would say the same, without an end.
            raise RuntimeError(f"nothing follows the work of stage {effect.stage}")
        await writer.record_by(*said)

    def _step(self, effect: Advance, writer: Writer) -> Step:
        if effect.stage is None:
            left = self.progress.left
            to = self.blueprint.entry_stage if left is None else left.to
            return Step(enters=to) if to is not None else Step(end=End(reason=effect.reason))
        scene = self._scene_of(writer.state, writer)
        if scene is None:
            raise RuntimeError(f"the run is in stage {effect.stage} and its events do not say so")
        return decide(scene, effect)

    def _scene_of(self, state: State, writer: Writer | None = None) -> Scene | None:
        visit = self.progress.visit
        if visit is None:
            return None
        clock = self.entry.agent.clock if writer is None else writer.clock
        return Scene(
            blueprint=self.blueprint,
            stage=self.blueprint.stage(visit.stage),
            progress=self.progress,
            visit=visit,
            state=state,
            size=self._window(visit.stage),
            now=clock.now(),
            new_id=ids.new_uuid4,
            origin=self._origin,
        )

    async def _arriving(self, step: Step, state: State) -> tuple[Said, ...]:
        """The events that enter the next stage; none where the run ends or stays where it is."""
        if step.enters is None:
            return ()
        stage = self.blueprint.stage(step.enters)
        parts = self._parts[stage.name]
        ground = Ground(
            workspace=parts.options.workspace,
            task=self.progress.task,
            permit=self._permit,
            environment=parts.options.environment,
        )
        size = self._window(stage.name)
        seeds = await fetched(self.blueprint, stage, self.progress, ground, size)
        held = {**self.progress.regions, **seeds}
        if why := overfull(self.blueprint.regions_of(stage), held, parts.agent.instructions, size):
            raise SeedFailed(why)
        visit = self.progress.visits[stage.name] + 1
        names = tuple(one.name for one in self._strategies(stage.name, visit))
        leaving = (body for body, _ in step.events if isinstance(body, ev.StageLeft))
        return entering(stage, visit, state, seeds, names, next(leaving, self.progress.left))


def _first_of_visit(conversation: Conversation, from_seq: int) -> int:
    """The index, in what is sent, of the first message that came after the event ``from_seq``."""
    if not from_seq:
        return 0
    messages = conversation.messages
    index = len(messages)
    while index > 0 and conversation.seq_of(index - 1) > from_seq:
        index -= 1
    began = messages[index] if index < len(messages) else None
    sent = conversation.sent
    return next((place for place in range(len(sent) - 1, -1, -1) if sent[place] is began), len(sent))
