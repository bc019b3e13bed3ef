"""Checks in our own runs: hooks before calls, questions to a person, and a strategy that holds answers back.

In shadow everything is judged and recorded just the same (``HookRan`` and ``BoundaryDecided`` carry the note), and
nothing is stopped. What was refused before stands in the conversation itself, so a run that is gone on with goes on
counting where it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Literal

from msgspec import Struct

from handrail.agents.hooks import Block, Hook, HookCall, Pass, Reply
from handrail.agents.permissions import Rule, Verdict
from handrail.agents.strategy import Continue, Inject, RoundBoundary, RoundContext, RoundDecision
from handrail.journal.events import BoundaryDecided, Event, HookRan
from handrail.journal.vocabulary import Choice, Contribution, HookVerdict
from handrail.learning.checks import spec
from handrail.learning.checks.force import LET_PASS, MAX_REFUSALS, InForce, verdict_on
from handrail.learning.checks.history import past_of, refusals_by, words_of
from handrail.learning.checks.judging import CHANGES, Done, fits, judge_reply
from handrail.transcripts.model import Text

STRATEGY = "rule_checks"
"""The name of the strategy that holds answers to the rules about them."""

_HOOK = "rule:"
_WOULD_ASK = "a person would be asked"
_BETWEEN = "\n"
_RULE = re.compile(r"\(rule (\w+)\)")


def hook_name(rule: str) -> str:
    """The name of the hook of a rule: it tells the events of its check from all others."""
    return f"{_HOOK}{rule}"


def rule_of_hook(hook: str) -> str | None:
    """The rule whose check the hook is; None for any other hook."""
    return hook.removeprefix(_HOOK) if hook.startswith(_HOOK) else None


def hooks_of(checks: Iterable[InForce], root: str | None) -> tuple[Hook, ...]:
    """A hook for every check of calls, for a run in the repository at ``root``.

    One that asks before a call is a hook in shadow only; in force it is a rule of ``asking_rules``.
    """
    return tuple(
        Hook(name=hook_name(one.rule), ask=_Asked(one, root).ask, tools=_tools(one.check))
        for one in checks
        if not isinstance(one.check, spec.Reply) and not (one.is_enforced and isinstance(one.check, spec.AskBefore))
    )


def asking_rules(checks: Iterable[InForce]) -> tuple[Rule, ...]:
    """The permission rules by which a person is asked before such calls; they can only tighten."""
    return tuple(
        Rule(Verdict.ASK, one.check.call.tool, _where(one.check.call), one.text)
        for one in checks
        if one.is_enforced and isinstance(one.check, spec.AskBefore)
    )


class _Asked:
    """One check as a hook."""

    def __init__(self, one: InForce, root: str | None) -> None:
        self._one = one
        self._root = root

    async def ask(self, call: HookCall) -> Reply:
        """See ``Hook.ask``."""
        one, done = self._one, Done(call.call_id, call.tool, call.input)
        if isinstance(one.check, spec.AskBefore):
            return Pass(f"{_WOULD_ASK}: {one.text} (rule {one.rule})") if fits(one.check.call, done) else Pass()
        verdict = verdict_on(
            one.check, one.scope, done, self._root, lambda: past_of(call.read_history(), until=call.call_id)
        )
        if verdict is not False:
            return Pass()
        if not one.is_enforced:
            return Pass(one.noted)
        if refusals_by(call.read_history(), f"hook:{hook_name(one.rule)}") >= MAX_REFUSALS:
            return Pass(f"{LET_PASS}: {one.text} (rule {one.rule})")
        return Block(one.refusal)


class HoldReplies:
    """Sends an answer back that a rule about answers forbids, at most ``MAX_REFUSALS`` times a rule and run."""

    name = STRATEGY

    def __init__(self, checks: Iterable[InForce] = ()) -> None:
        self.checks = tuple(one for one in checks if isinstance(one.check, spec.Reply))

    async def on_round(self, ctx: RoundContext) -> RoundDecision:
        """See ``RoundStrategy``."""
        if ctx.boundary is not RoundBoundary.ASSISTANT_MESSAGE_COMMITTED or ctx.assistant_message is None:
            return RoundDecision.proceed()
        text = words_of(ctx.assistant_message)
        violated = [one for one in self.checks if judge_reply(one.check, text) is False]
        held = [one for one in violated if one.is_enforced and _sent_back(ctx, one) < MAX_REFUSALS]
        if held and ctx.can_continue:
            return Inject("\n".join(f"Say it again: {one.refusal}." for one in held))
        notes = [f"{LET_PASS}: {one.text} (rule {one.rule})" if one.is_enforced else one.noted for one in violated]
        return Continue(note=_BETWEEN.join(notes)) if notes else RoundDecision.proceed()


class RunFiring(Struct, frozen=True, kw_only=True, gc=False):
    """One time a check fired in a run of ours, as its journal has it."""

    at: datetime | None
    rule: str
    did: Literal["refused", "let_pass", "noted", "failed"]
    what: str


def fired_in(events: Iterable[Event]) -> Iterator[RunFiring]:
    """What the checks of rules did in a session of ours. A question to a person is on record as a question."""
    for event in events:
        body = event.body
        if isinstance(body, HookRan):
            rule = rule_of_hook(body.hook)
            if rule is not None and body.reason is not None:
                yield RunFiring(at=event.at, rule=rule, did=_did(body.verdict, body.reason), what=body.reason)
        elif isinstance(body, BoundaryDecided):
            for said in body.contributions:
                if said.strategy == STRATEGY:
                    yield from _fired_at_boundary(event, said)


def _did(verdict: HookVerdict, reason: str) -> Literal["refused", "let_pass", "noted", "failed"]:
    if verdict is HookVerdict.DENY:
        return "refused"
    if verdict is HookVerdict.ERROR:
        return "failed"
    return "let_pass" if reason.startswith(LET_PASS) else "noted"


def _fired_at_boundary(event: Event, said: Contribution) -> Iterator[RunFiring]:
    words = "\n".join(block.text for block in said.content if type(block) is Text)
    for line in words.splitlines():
        for rule in _RULE.findall(line)[-1:]:
            yield RunFiring(at=event.at, rule=rule, did="refused", what=line)
    for note in (said.note or "").split(_BETWEEN):
        for rule in _RULE.findall(note)[-1:]:
            yield RunFiring(at=event.at, rule=rule, did=_did(HookVerdict.ALLOW, note), what=note)


def _sent_back(ctx: RoundContext, one: InForce) -> int:
    """How often the run had an answer sent back for the rule."""
    said = (contribution for decided in ctx.decisions if decided.is_accepted for contribution in decided.contributions)
    return sum(
        contribution.choice is Choice.INJECT
        and contribution.strategy == STRATEGY
        and any(type(block) is Text and one.refusal in block.text for block in contribution.content)
        for contribution in said
    )


def _tools(check: spec.Check) -> tuple[str, ...]:
    """The tools whose calls the check may speak of: names or patterns, none for all."""
    match check:
        case spec.Forbid():
            return _distinct(check.call.tool, *(() if check.among is None else (check.among.tool,)))
        case spec.Order() | spec.AskBefore():
            return _distinct(check.call.tool)
        case spec.KeepWithin():
            return tuple(sorted(CHANGES))
        case spec.Reply():
            return ()


def _distinct(*tools: str) -> tuple[str, ...]:
    return () if "*" in tools else tuple(dict.fromkeys(tools))


def _where(call: spec.CallPattern) -> Mapping[str, str]:
    return dict(_fields(call))


def _fields(call: spec.CallPattern) -> Iterator[tuple[str, str]]:
    yield from call.where.items()
    if call.command is not None:
        yield "command", call.command
