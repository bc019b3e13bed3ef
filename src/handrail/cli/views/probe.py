"""``handrail probe``: rule by rule what may be said of it, and what it was measured at."""

from __future__ import annotations

from collections.abc import Iterator

import click

from handrail.app.learning.probed import ProbedMoment, ProbedRule, ProbeReport
from handrail.cli.cells import one_line
from handrail.cli.exit_codes import ExitCode
from handrail.cli.formats import amount, count
from handrail.cli.surface import Surface
from handrail.learning.probes.ledger import Outcome
from handrail.learning.probes.tenure import Finding

SAID: dict[Outcome, str] = {
    "improved": "helps",
    "regressed": "harms",
    "no_effect": "no effect shown",
    "not_measured": "not measured",
}
_COLOURS: dict[Outcome, str] = {"improved": "green", "regressed": "red", "no_effect": "yellow", "not_measured": "cyan"}


def render_probed(found: ProbeReport, surface: Surface) -> Iterator[str]:
    """Each rule with its moments, then what it took."""
    for rule in found.rules:
        yield from _rule(rule, surface, is_dry_run=found.is_dry_run)
        yield ""
    if not found.rules:
        yield "There are no rules to probe."
    elif found.is_dry_run:
        yield f"At most {count(found.requests_at_most, 'request')} would be sent; nothing was."
    else:
        judge = "nobody judged" if found.judge is None else f"judged by {one_line(found.judge)}"
        told = f"{count(found.pairs, 'pair')} with {one_line(found.model or '')}, {judge}"
        yield f"{told}: {count(found.spent.requests, 'request')}, {amount(found.spent.tokens)} tokens"
    for proposal in found.proposals:
        yield f"proposed: handrail proposals show {proposal}"


def finish_probed(found: ProbeReport, surface: Surface) -> None:
    """Say why no more was done; ends with 1 when the model could not be asked."""
    if found.bad_lines:
        surface.note(f"{count(len(found.bad_lines), 'line')} of the measurements could not be read")
    if found.stopped is None:
        return
    surface.note(f"ended early: {found.stopped}; what was measured is kept")
    if not found.is_bound:
        raise click.exceptions.Exit(ExitCode.ERROR)


def _rule(rule: ProbedRule, surface: Surface, *, is_dry_run: bool) -> Iterator[str]:
    finding = rule.finding
    yield surface.style(f"{rule.rule}  [{rule.life}] {one_line(rule.text)}", bold=True)
    said = SAID[finding.outcome]
    why = finding.reason.removeprefix(f"{said}: ")
    yield f"  so far: {surface.style(said, fg=_COLOURS[finding.outcome])}: {why}{_share(finding)}"
    for moment in rule.moments:
        yield f"  {moment.moment}  {_moment(moment, is_dry_run=is_dry_run)}"
    if not rule.moments:
        yield "  no moment to probe it at"


def _share(finding: Finding) -> str:
    """How large an effect the looking leaves open; nothing where nobody looked."""
    if finding.outcome == "not_measured":
        return ""
    share = finding.share
    return f"; where it makes a difference it helps in {share.low:.0%} to {share.high:.0%}"


def _moment(moment: ProbedMoment, *, is_dry_run: bool) -> str:
    if moment.grading is None:
        return f"cannot be gone through: {moment.reason}"
    marks = [
        *(["held out"] if moment.held_out else []),
        *(["approximate"] if moment.approximate else []),
        *(["only a judge can tell"] if moment.grading == "judged" else []),
    ]
    shown = f"  ({', '.join(marks)})" if marks else ""
    if is_dry_run:
        return f"{moment.grading}{shown}"
    if not moment.pairs:
        return f"not gone through{shown}"
    told = f"{_HERE[moment.outcome]}: {moment.better} better, {moment.worse} worse, {moment.same} the same"
    if moment.ungraded:
        told += f", {moment.ungraded} not to be told ({one_line(moment.reason or '')})"
    return told + shown


_HERE: dict[Outcome, str] = {
    "improved": "better here",
    "regressed": "worse here",
    "no_effect": "no difference here",
    "not_measured": "not measured here",
}
