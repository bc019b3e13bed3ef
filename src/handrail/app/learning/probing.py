"""Use case: go through moments again, with a rule and without it, and say what was measured.

Every paired repeat is kept the moment it is done, so that whatever ends the work costs one repeat and no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from handrail import files
from handrail.app.learning.asking import Bounds, asked
from handrail.app.learning.memory import Memory
from handrail.app.learning.metering import BudgetSpent, Metered, Purse
from handrail.app.learning.points import Point, find_source, points_of
from handrail.app.learning.probed import ProbeReport, RuleAtMoment, Task, rules_probed
from handrail.app.machine import Machine
from handrail.clock import Clock, SystemClock
from handrail.learning.probes.arms import MAX_ROUNDS, Judging, judged_by
from handrail.learning.probes.ledger import ProbeRow, is_worse, verdict_rows
from handrail.learning.probes.pairing import Probe, conviction, probed, words_digest
from handrail.learning.probes.store import LedgerStore
from handrail.learning.rules.block import rules_for
from handrail.learning.rules.model import Life, Rule, RuleBook, Source
from handrail.learning.rules.scope import Place, matches
from handrail.learning.statistics import is_held_out
from handrail.models.errors import ModelError
from handrail.models.port import Model

HOLDOUT = 0.25
"""The share of lessons that no rule is made of, so that rules can be measured on moments they were not made from."""


class ProbeOrder(Struct, frozen=True, kw_only=True):
    """What is to be probed.

    ``rules`` are ids or unique starts of some; none means every rule that is not retired. ``moment`` is the one moment
    to probe them at (None: those they were made from, and held-out ones where they count). ``repeats`` pairs at each,
    at most ``moments`` of them a rule. ``holdout`` is the share of lessons held out (0 to 1).
    """

    rules: tuple[str, ...] = ()
    moment: str | None = None
    repeats: int = 3
    moments: int = 12
    holdout: float = HOLDOUT
    bounds: Bounds = Bounds()


def preview_probes(machine: Machine, memory: Memory, order: ProbeOrder, *, has_judge: bool) -> ProbeReport:
    """What ``probe`` would go through: no model is asked, nothing is written."""
    book = memory.rules.load().book
    tasks = tuple(_tasks(machine, memory, book, order))
    known = LedgerStore(memory.folder).load()
    ready = sum(isinstance(task.point, Point) for task in tasks)
    return ProbeReport(
        is_dry_run=True,
        rules=rules_probed(_chosen(book, order), tasks, known.rows, {}),
        requests_at_most=ready * order.repeats * 2 * (MAX_ROUNDS + int(has_judge)),
        bad_lines=known.bad,
    )


def probe(
    machine: Machine,
    memory: Memory,
    order: ProbeOrder,
    model: Model,
    *,
    judge: Model | None = None,
    book: RuleBook | None = None,
    clock: Clock | None = None,
) -> ProbeReport:
    """Probe rules by ``order`` with ``model``; what only a judge can tell is told by ``judge``, or not at all.

    ``book`` are the rules as they would be (None: as they are), to probe what is only proposed.

    One at a time on one machine: ``Locked`` where another process probes. A model that fails, and a bound that is
    reached, end the pass; the report says so. Raises ``NoSuchRule``, ``MomentNotFound``, ``StoreError``.
    """
    clock = clock or SystemClock()
    book = memory.rules.load().book if book is None else book
    tasks = tuple(_tasks(machine, memory, book, order))
    with files.lock(memory.folder / "probe.lock", waits=False):
        purse = Purse(order.bounds)
        metered = Metered(model, purse)
        judging = None if judge is None else judged_by(Metered(judge, purse), "probe/judge")
        desk = _Probing(memory, order, book, metered, judging, clock)
        asked(metered, lambda: desk.work(tasks))
    known = desk.ledger.load()
    return ProbeReport(
        rules=rules_probed(_chosen(book, order), tasks, known.rows, desk.rows),
        pairs=sum(map(len, desk.rows.values())),
        spent=purse.spent,
        stopped=desk.stopped,
        is_bound=desk.is_bound,
        model=model.info.name,
        judge=None if judge is None else judge.info.name,
        bad_lines=known.bad,
    )


class _Probing:
    """One pass: what was measured in it, and why it stopped."""

    def __init__(
        self, memory: Memory, order: ProbeOrder, book: RuleBook, model: Metered, judge: Judging | None, clock: Clock
    ) -> None:
        self.ledger = LedgerStore(memory.folder)
        self.rows: dict[RuleAtMoment, list[ProbeRow]] = {}
        self.stopped: str | None = None
        self.is_bound = False
        self._memory = memory
        self._order = order
        self._book = book
        self._own = memory.rules.owners()
        self._model = model
        self._judge = judge
        self._clock = clock
        self._known = self.ledger.load().rows

    async def work(self, tasks: Iterable[Task]) -> None:
        """Go through ``tasks``; the first repeat of each before the second of any, so that a bound leaves no gaps."""
        ready = [(task, task.point) for task in tasks if isinstance(task.point, Point)]
        try:
            for _ in range(self._order.repeats):
                for task, point in ready:
                    await self._repeat(task, point)
        except ModelError as problem:
            self.stopped, self.is_bound = problem.message, isinstance(problem, BudgetSpent)

    async def _repeat(self, task: Task, point: Point) -> None:
        at = self._clock.now()
        probe = self._probe(task, point)
        (row,) = await probed(self._model, probe, self._judge, repeats=1, at=at, first=self._next(task, point))
        if self._is_to_be_charged(task.rule, row):
            guilty = await conviction(self._model, probe, self._judge)
            words = None if guilty is None else words_digest(guilty)
            row = replace(row, convicted=None if guilty is None else guilty.id, convicted_words=words)
        self.ledger.add((row,))
        self.rows.setdefault((task.rule.id, point.source.moment), []).append(row)

    def _probe(self, task: Task, point: Point) -> Probe:
        others = tuple(rule for rule in rules_for(self._book, point.place) if rule.id != task.rule.id)
        return Probe(
            moment=point.source.moment,
            trigger=point.trigger,
            branch=point.branch,
            setting=point.setting,
            candidate=task.rule,
            others=others,
            own=self._own,
            held_out=task.held_out,
        )

    def _next(self, task: Task, point: Point) -> int:
        """The number of the next repeat: it goes on where another night stopped."""
        return 1 + max((row.repeat for row in self._of(task.rule, point.source.moment)), default=-1)

    def _is_to_be_charged(self, rule: Rule, row: ProbeRow) -> bool:
        """Whether bisection is to be done: with ``row`` the moment counts, went worse, and no judge had to tell."""
        before = tuple(self._of(rule, row.moment))
        deciding = verdict_rows((*before, row))
        if not deciding or verdict_rows(before) or any(one.judged for one in deciding):
            return False
        return is_worse(deciding)

    def _of(self, rule: Rule, moment: str) -> Iterator[ProbeRow]:
        words = words_digest(rule)
        yield from (one for one in self._known if (one.rule, one.moment, one.words) == (rule.id, moment, words))
        yield from self.rows.get((rule.id, moment), ())


def _chosen(book: RuleBook, order: ProbeOrder) -> tuple[Rule, ...]:
    if order.rules:
        return tuple({rule.id: rule for rule in map(book.find, order.rules)}.values())
    return tuple(rule for rule in book if rule.life is not Life.RETIRED)


def _tasks(machine: Machine, memory: Memory, book: RuleBook, order: ProbeOrder) -> Iterator[Task]:
    chosen = _chosen(book, order)
    named = None if order.moment is None else find_source(machine, order.moment)
    held = _held_out(memory, order)
    by_rule: dict[str, list[Source]] = {}
    for rule in chosen:
        where = [source for source, place in held if matches(rule.scope, place)]
        sources = [named] if named is not None else [*rule.sources, *where]
        by_rule[rule.id] = list({source.moment: source for source in sources}.values())[: order.moments]
    points = points_of(machine, (source for sources in by_rule.values() for source in sources))
    for rule in chosen:
        made_from = {source.moment for source in rule.sources}
        for source in by_rule[rule.id]:
            yield Task(rule=rule, point=points[source.moment], held_out=source.moment not in made_from)


def _held_out(memory: Memory, order: ProbeOrder) -> list[tuple[Source, Place]]:
    """The moments of lessons that no rule is made of, with where each was."""
    return [
        (lesson.reflected.source, lesson.reflected.place)
        for lesson in memory.lessons.load().lessons()
        if not lesson.is_dropped and is_held_out(lesson.id, order.holdout)
    ]
