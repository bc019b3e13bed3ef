"""``handrail demo``: the overview, the newest moments, and the loop."""

from __future__ import annotations

from collections.abc import Iterator

from handrail.app import Demo
from handrail.app.learning.demonstrating import DemoRun
from handrail.cli.cells import one_line
from handrail.cli.formats import count
from handrail.cli.surface import Surface
from handrail.cli.views.moments import render_moments
from handrail.cli.views.overview import render_overview


def render_demo(shown: Demo, surface: Surface) -> list[str]:
    """Whose sessions these are, what is there, and where a person stepped in."""
    whose = (
        "A bundled sample: made-up sessions of Claude Code, Codex and Handrail."
        if shown.is_sample
        else "Your own sessions on this machine. Nothing leaves it."
    )
    return [
        surface.style(whose, bold=True),
        "",
        *render_overview(shown.overview, surface),
        "",
        surface.style("Where a person stepped in, newest first:", bold=True),
        "",
        *render_moments(shown.moments, surface),
        "",
        *_loop(shown, surface),
    ]


def _loop(shown: Demo, surface: Surface) -> Iterator[str]:
    """From one correction to a run without it; the model and the person are played, the rest is what it is."""
    yield surface.style("And then: a correction becomes a rule (a played model, a workshop of its own):", bold=True)
    yield ""
    if shown.missing is not None:
        yield f"Not shown: {shown.missing}. pip install 'handrail[agents]'"
        return
    first, *later = shown.runs
    yield f"run one: {_run(first)}"
    for moment in shown.interventions[len(shown.moments.moments) :]:
        yield f"  you, in its way: “{one_line(moment.words)}”"
    for rule in shown.rules:
        yield f"the rule: {rule.id}  [{rule.life}] {one_line(rule.text)}"
    probe = shown.probe
    yield (
        f"a probe at that moment, with the rule and without it: {probe.verdict} "
        f"({probe.better} of {count(probe.pairs, 'pair')} better, {probe.worse} worse)"
    )
    yield f"  {probe.note}"
    for run in later:
        yield f"run two: {_run(run)}"


def _run(run: DemoRun) -> str:
    rode = f"with {count(len(run.rules), 'rule')}" if run.rules else "without rules"
    return f"{rode}, {count(run.step_ins, 'step-in')}. “{one_line(run.answer)}”"
