"""``handrail checks``: rules and their checks, what these came to, what they did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click

from handrail import jsonio
from handrail.app.learning.checking import CheckList, CheckRow, Compilation, CompilePreview, Published, Switched
from handrail.app.learning.fired import FiredList
from handrail.app.learning.violations import CheckReplay, RuleFigures
from handrail.cli.cells import one_line
from handrail.cli.exit_codes import ExitCode
from handrail.cli.formats import count, instant
from handrail.cli.surface import Surface
from handrail.cli.views.notes import finish_unread
from handrail.transcripts.model import Json

_NO_RULES = "There are no rules yet: `handrail rules add` makes one, `handrail learn` proposes some."


def render_list(found: CheckList, surface: Surface) -> Iterator[str]:
    """Each rule with its check, or why it has none."""
    if not found.rules:
        yield _NO_RULES
    for row in found.rules:
        yield f"{surface.style(row.rule, bold=True)}  {one_line(row.text)}"
        yield f"    {_state(row)}"


def _state(row: CheckRow) -> str:
    if row.check is not None:
        return f"{row.enforced}: {spelled(row.check)}"
    if row.is_checkable is False:
        return f"cannot be checked: {one_line(row.why_not or '')}"
    return f"no check yet: `handrail checks compile {row.rule}` asks a model for one"


def spelled(check: Json) -> str:
    """A check on one line."""
    return one_line(jsonio.encode(check).decode("utf-8", "replace"))


def render_preview(found: CompilePreview, surface: Surface) -> Iterator[str]:
    """What would be sent."""
    if not found.requests:
        yield "There is no rule to make a check of."
        return
    yield "To every rule the same instructions:"
    yield found.requests[0].instructions
    for request in found.requests:
        yield ""
        yield surface.style(request.rule, bold=True)
        yield request.prompt
    yield ""
    yield f"{count(len(found.requests), 'request')} would be made; nothing was sent."


def render_compiled(found: Compilation, surface: Surface) -> Iterator[str]:
    """Rule by rule what was proposed and whether it was kept."""
    if not found.rules and not found.left:
        yield "There is no rule to make a check of."
        return
    for one in found.rules:
        yield from render_published(one, surface)
    kept = sum(one.is_published for one in found.rules)
    cannot = sum(one.is_checkable is False for one in found.rules)
    yield f"{count(len(found.rules), 'rule')}: {kept} with a check now, {cannot} that cannot be checked."


def render_published(one: Published, surface: Surface) -> Iterator[str]:
    """What became of a rule's check, with what it came to on the examples."""
    yield f"{surface.style(one.rule, bold=True)}  {one_line(one.text)}"
    if one.check is not None:
        yield f"    {spelled(one.check)}"
    if one.proof is not None:
        for kind in ("positive", "negative", "not_applicable"):
            given = [example for example in one.proof.examples if example.kind == kind]
            if given:
                yield f"    {kind.replace('_', ' ')}: right on {sum(e.is_passed for e in given)} of {len(given)}"
    if one.is_published:
        note = "" if one.why_not is None else f" (not proved: {one.why_not})"
        yield f"    kept, and off{note}; `handrail checks shadow {one.rule}` lets it look on"
    elif one.is_checkable is False:
        yield f"    cannot be checked: {one_line(one.why_not or '')}"
    else:
        yield f"    not kept: {one_line(one.why_not or '')}"


def finish_published(found: Iterable[Published]) -> None:
    """End with the code for a check that was not good enough."""
    if any(not one.is_published and one.is_checkable is not False for one in found):
        raise click.exceptions.Exit(ExitCode.PROBLEMS)


def finish_compiled(found: Compilation, surface: Surface) -> None:
    """Say what was spent and what there was no room for."""
    if found.spent.requests:
        unpriced = f", {found.spent.unpriced} of unknown price" if found.spent.unpriced else ""
        surface.note(f"{count(found.spent.requests, 'request')}, {found.spent.tokens:,} tokens{unpriced}")
    if found.stopped is not None:
        surface.note(f"{found.stopped}: {count(len(found.left), 'rule')} left for another time")
    finish_published(found.rules)


def render_switched(done: Switched, surface: Surface) -> Iterator[str]:
    """What the check does from now on."""
    yield f"{surface.style(done.rule, bold=True)}  {one_line(done.text)}"
    yield f"    {done.before} → {done.enforced}"


def render_replay(found: CheckReplay, surface: Surface) -> Iterator[str]:
    """The figures of each rule, and its newest violations."""
    for figures in found.rules:
        yield f"{surface.style(figures.rule, bold=True)}  {one_line(figures.text)}"
        yield f"    {_figures(figures)}"
        for shown in figures.shown:
            mark = "rightly" if shown.is_rightly else "nobody minded"
            yield f"    {shown.short_id}#{shown.message}  {mark}: {one_line(shown.what)}"
    for bad in found.bad:
        yield f"{surface.style(bad.rule, bold=True)}  the check cannot be read: {one_line(bad.reason)}"
    if not found.rules and not found.bad:
        yield "No rule has a check: `handrail checks compile` asks a model for some, `handrail checks set` takes yours."
        return
    yield f"{count(found.sessions, 'session')} looked at."


def _figures(figures: RuleFigures) -> str:
    if figures.rate is None or figures.interval is None:
        return "no occasion in these sessions"
    low, high = figures.interval.low, figures.interval.high
    return (
        f"violated {figures.violations:,} of {count(figures.occasions, 'time')} "
        f"({_share(figures.rate)}, {figures.interval.level:.0%} interval {_share(low)} to {_share(high)}) "
        f"in {count(figures.sessions, 'session')}; rightly {figures.rightly:,}"
    )


def _share(share: float) -> str:
    """A share in per cent, with two figures where it is small: few is not none."""
    return f"{share:.0%}" if share >= 0.1 or not share else f"{100 * share:.2g}%"


def finish_replay(found: CheckReplay, surface: Surface) -> None:
    """Say what could not be read."""
    finish_unread(found.unread, surface)


def render_fired(found: FiredList, surface: Surface) -> Iterator[str]:
    """What checks did, the newest first, and how often each did what."""
    for row in found.fired:
        when = "" if row.at is None else f"{instant(row.at, surface.zone)}  "
        yield f"{when}{row.did}  {surface.style(row.rule, bold=True)}  {row.host} {one_line(row.session)}"
        if row.what:
            yield f"    {one_line(row.what)}"
    if not found.fired:
        yield "No check has fired."
        return
    for one in found.rules:
        yield (
            f"{one.rule or 'the hook'}: {one.refused} refused, {one.asked} asked, {one.let_pass} let pass, "
            f"{one.noted} noted in shadow, {one.failed} failed"
        )


def finish_fired(found: FiredList, surface: Surface) -> None:
    """Say what could not be read."""
    finish_unread(found.unread, surface)
