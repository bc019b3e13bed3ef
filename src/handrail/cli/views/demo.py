"""``handrail demo``: the overview and the newest moments."""

from __future__ import annotations

from handrail.app import Demo
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
    ]
