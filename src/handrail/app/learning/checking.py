"""Use case: from a rule to its check: proposed by a model or written by hand, proved on the person's own sessions,
published, and then off, in shadow or on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

from handrail import jsonio
from handrail.app.learning.asking import Bounds, Spent
from handrail.app.learning.episodes import Episodes, tools_in
from handrail.app.machine import SCHEMA_VERSION, Machine
from handrail.clock import Clock, SystemClock
from handrail.learning.checks.compiling import Compiled, asked_for_check, compiled
from handrail.learning.checks.examples import Episode, Proof, proved
from handrail.learning.checks.spec import Check, NotACheck, check_from, to_json
from handrail.learning.rules.model import By, Life, Rule, RuleBook
from handrail.learning.rules.operations import Refused, SetCheck, apply
from handrail.learning.rules.store import RuleStore
from handrail.models.port import Model
from handrail.transcripts.model import Json

Enforced = Literal["off", "shadow", "on"]

CANNOT = "cannot be checked: "
"""What stands before the reason in the history of a rule that no check can be made of."""


class CheckRow(Struct, frozen=True, kw_only=True):
    """A rule as far as its check goes. ``is_checkable`` None: nobody has tried since its words last changed."""

    rule: str
    text: str
    life: str
    is_checkable: bool | None
    why_not: str | None
    check: Json
    enforced: str


class CheckList(Struct, frozen=True, kw_only=True):
    """The rules that are not retired."""

    schema_version: int = SCHEMA_VERSION
    rules: tuple[CheckRow, ...]


class Published(Struct, frozen=True, kw_only=True):
    """What became of one rule: its check, what it came to on the examples, and whether it was taken.

    ``is_checkable`` False: there can be none, and that is remembered. None: nothing that can be used was proposed.
    """

    rule: str
    text: str
    is_checkable: bool | None
    is_published: bool
    why_not: str | None = None
    check: Json = None
    proof: Proof | None = None


class Compilation(Struct, frozen=True, kw_only=True):
    """What compiling came to. ``left`` are rules there was no room for in the bounds, and ``stopped`` says in which."""

    schema_version: int = SCHEMA_VERSION
    rules: tuple[Published, ...]
    left: tuple[str, ...] = ()
    stopped: str | None = None
    spent: Spent = Spent()


class WouldSend(Struct, frozen=True, kw_only=True):
    """What a model would be given for a rule, already redacted."""

    rule: str
    instructions: str
    prompt: str


class CompilePreview(Struct, frozen=True, kw_only=True):
    """What compiling would send; nothing was."""

    schema_version: int = SCHEMA_VERSION
    requests: tuple[WouldSend, ...]


class Switched(Struct, frozen=True, kw_only=True):
    """The rule and what its check does from now on."""

    schema_version: int = SCHEMA_VERSION
    rule: str
    text: str
    enforced: str
    before: str


def list_checks(store: RuleStore) -> CheckList:
    """Every rule that is not retired, checkable or not."""
    return CheckList(rules=tuple(map(_row, _living(store))))


def rules_named(store: RuleStore, prefixes: Sequence[str]) -> tuple[Rule, ...]:
    """The rules whose ids begin like that, all that are not retired where none is named; ``NoSuchRule``."""
    book = store.load().book
    named = {rule.id: rule for rule in map(book.find, prefixes)}
    return tuple(named.values()) if prefixes else tuple(_living(store))


def uncompiled(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Those of ``rules`` that have no check and that nobody has tried to make one of."""
    return tuple(rule for rule in rules if rule.check is None and _row(rule).is_checkable is None)


def preview_compiling(machine: Machine, rules: Sequence[Rule]) -> CompilePreview:
    """What would be sent for each of ``rules``."""
    episodes = Episodes(machine)
    asked = ((rule, asked_for_check(rule, tools_in(episodes.of(rule)))) for rule in rules)
    return CompilePreview(
        requests=tuple(WouldSend(rule=rule.id, instructions=one.instructions, prompt=one.prompt) for rule, one in asked)
    )


async def compile_checks(
    machine: Machine,
    store: RuleStore,
    rules: Sequence[Rule],
    model: Model,
    bounds: Bounds,
    clock: Clock | None = None,
) -> Compilation:
    """Ask ``model`` for a check of each of ``rules``; what is proved on the rule's own moments is published, off.

    Raises the ``ModelError`` of a model that cannot be reached; what was published before it stays.
    """
    clock = clock or SystemClock()
    episodes = Episodes(machine)
    done: list[Published] = []
    spent = Spent()
    for number, rule in enumerate(rules):
        stopped = spent.reached(bounds)
        if stopped is not None:
            left = tuple(one.id for one in rules[number:])
            return Compilation(rules=tuple(done), left=left, stopped=stopped, spent=spent)
        own = episodes.of(rule)
        answer, reply = await compiled(model, rule, tools_in(own))
        spent = spent.and_for(reply)
        done.append(_taken(store, rule, answer, own, clock.now()))
    return Compilation(rules=tuple(done), spent=spent)


def set_check(
    machine: Machine, store: RuleStore, rule: Rule, spec: bytes, *, is_anyway: bool = False, clock: Clock | None = None
) -> Published:
    """Give ``rule`` the check that ``spec`` spells.

    One that fails on the rule's own moments is taken only where ``is_anyway`` is said; a rule that no moment stands
    behind has nothing to be held to, and the owner's word is enough.

    Raises ``NotACheck`` for a spec that is none.
    """
    try:
        data = jsonio.decode(spec)
    except jsonio.NotJson as problem:
        raise NotACheck(f"the check is no JSON: {problem}") from problem
    check = check_from(data)
    proof = proved(check, rule.scope, Episodes(machine).of(rule))
    is_taken = is_anyway or proof.is_passed or not rule.sources
    if is_taken:
        _publish(store, rule, check, "owner", (clock or SystemClock()).now(), "set by hand")
    return _published(rule, check, proof, is_published=is_taken)


def remove_check(store: RuleStore, rule: Rule, clock: Clock | None = None) -> Switched:
    """Take the check away from ``rule``."""
    _set(store, rule, SetCheck(rule=rule.id, check=None, reason="taken away"), "owner", (clock or SystemClock()).now())
    return Switched(rule=rule.id, text=rule.text, enforced="off", before=rule.enforced)


def switch_check(
    store: RuleStore, rule: Rule, to: Enforced, *, is_anyway: bool = False, clock: Clock | None = None
) -> Switched:
    """Let the check of ``rule`` be off, in shadow or on; the owner's act, and nobody else's.

    ``Refused`` where there is no check, and for ``on`` where the rule rides nowhere yet, or its check was never in
    shadow and ``is_anyway`` is not said.
    """
    if rule.check is None:
        raise Refused(f"rule {rule.id} has no check", hint=f"handrail checks compile {rule.id}, or set one by hand")
    if to == "on":
        _may_be_on(rule, is_anyway)
    given = SetCheck(rule=rule.id, check=rule.check, enforced=to, reason=f"switched {to}")
    _set(store, rule, given, "owner", (clock or SystemClock()).now())
    return Switched(rule=rule.id, text=rule.text, enforced=to, before=rule.enforced)


def _may_be_on(rule: Rule, is_anyway: bool) -> None:
    check_from(rule.check)
    if not rule.rides:
        raise Refused(f"rule {rule.id} is a {rule.life}: a check refuses only for rules that ride in prompts too")
    if rule.enforced == "off" and not is_anyway:
        hint = f"handrail checks shadow {rule.id} notes what it would refuse; --anyway leaves that out"
        raise Refused(f"the check of rule {rule.id} was never in shadow", hint=hint)


# Publishing ------------------------------------------------------------------------------------------------


def _taken(store: RuleStore, rule: Rule, answer: Compiled, episodes: Sequence[Episode], at: datetime) -> Published:
    if answer.check is None:
        if answer.is_checkable is False:
            _publish(store, rule, None, "model", at, CANNOT + answer.why)
        return Published(
            rule=rule.id, text=rule.text, is_checkable=answer.is_checkable, is_published=False, why_not=answer.why
        )
    proof = proved(answer.check, rule.scope, episodes)
    if proof.is_passed:
        _publish(store, rule, answer.check, "model", at, "proved on the moments it came from")
    return _published(rule, answer.check, proof, is_published=proof.is_passed)


def _published(rule: Rule, check: Check, proof: Proof, *, is_published: bool) -> Published:
    return Published(
        rule=rule.id,
        text=rule.text,
        is_checkable=True,
        is_published=is_published,
        why_not=proof.why_not,
        check=to_json(check),
        proof=proof,
    )


def _publish(store: RuleStore, rule: Rule, check: Check | None, by: By, at: datetime, reason: str) -> None:
    spec = None if check is None else to_json(check)
    _set(store, rule, SetCheck(rule=rule.id, check=spec, reason=reason), by, at)


def _set(store: RuleStore, rule: Rule, given: SetCheck, by: By, at: datetime) -> None:
    """Set it, unless the rule says something else by now: what was proved was proved of the words there were."""

    def change(book: RuleBook) -> RuleBook:
        now = book.find(rule.id)
        if (now.text, now.check) != (rule.text, rule.check):
            raise Refused(f"rule {rule.id} was changed in the meantime", hint="look at it and try again")
        return apply(book, given, by=by, at=at)

    store.update(change)


# Rows ------------------------------------------------------------------------------------------------------


def _living(store: RuleStore) -> list[Rule]:
    return [rule for rule in store.load().book if rule.life is not Life.RETIRED]


def _row(rule: Rule) -> CheckRow:
    why_not = _why_not(rule)
    return CheckRow(
        rule=rule.id,
        text=rule.text,
        life=rule.life.value,
        is_checkable=True if rule.check is not None else None if why_not is None else False,
        why_not=why_not,
        check=rule.check,
        enforced=rule.enforced,
    )


def _why_not(rule: Rule) -> str | None:
    """Why no check can be made of the rule as it reads now; None where nobody has said so."""
    for change in reversed(rule.history):
        if change.did in ("amend", "merge"):
            return None
        if change.did == "set_check":
            reason = change.reason or ""
            return reason.removeprefix(CANNOT) if rule.check is None and reason.startswith(CANNOT) else None
    return None
