"""The report's weeks as a picture: one SVG without anything from outside, that says in words what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from handrail.learning.report import Figure, Report

_WIDTH, _HEIGHT = 720, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 16, 34, 40
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#333}.t{font-weight:600}.g{stroke:#ddd}.i{stroke:#9db7d5;stroke-width:5}"
    ".l{fill:none;stroke:#1f5fa8;stroke-width:2}.d{fill:#1f5fa8}"
    "@media(prefers-color-scheme:dark){text{fill:#ccc}.g{stroke:#444}.i{stroke:#39506b}.l{stroke:#7fb2ef}.d{fill:#7fb2ef}}"
)


def chart_of(report: Report) -> str:
    """The step-ins per 100 rounds of each week, with their intervals; a week without a round is a gap."""
    weeks = report.weeks
    title = "Step-ins per 100 rounds, by week"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{title}">',
        f"<title>{title}</title><desc>{escape(_told(weeks))}</desc><style>{_STYLE}</style>",
        f'<text class="t" x="{_LEFT}" y="18">{title}</text>',
    ]
    top = _ceiling(weeks)
    if top is None:
        parts.append(f'<text x="{_LEFT}" y="{_HEIGHT // 2}">No week with a round yet.</text>')
    else:
        parts += _grid(top)
        parts += _weeks(weeks, top)
    return "\n".join((*parts, "</svg>", ""))


def _ceiling(weeks: Sequence[Figure]) -> float | None:
    """The top of the scale: above every rate, and above every interval that does not dwarf them."""
    rates = [week.rate for week in weeks if week.rate is not None]
    if not rates:
        return None
    highs = [week.interval.high for week in weeks if week.interval is not None]
    return max(1.0, max(rates), min(max(highs), 3 * max(rates) + 1.0)) * 1.05


def _grid(top: float) -> list[str]:
    parts = []
    for number in range(5):
        value = top * number / 4
        y = _y(value, top)
        parts.append(f'<line class="g" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.1f}</text>')
    return parts


def _weeks(weeks: Sequence[Figure], top: float) -> list[str]:
    parts: list[str] = []
    path: list[str] = []
    is_joined = False
    every = max(1, -(-len(weeks) // 8))
    for index, week in enumerate(weeks):
        x = _x(index, len(weeks))
        if index % every == 0:
            parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 14}" text-anchor="middle">{escape(week.name)}</text>')
        if week.rate is None or week.interval is None:
            is_joined = False
            continue
        low, high = _y(week.interval.low, top), _y(min(week.interval.high, top), top)
        parts.append(f'<line class="i" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>')
        path.append(f"{'L' if is_joined else 'M'}{x:.1f} {_y(week.rate, top):.1f}")
        is_joined = True
    parts.append(f'<path class="l" d="{" ".join(path)}"/>')
    for index, week in enumerate(weeks):
        if week.rate is not None:
            told = escape(f"{week.name}: {week.rate:.1f} ({week.step_ins} in {week.rounds} rounds)")
            x, y = _x(index, len(weeks)), _y(week.rate, top)
            parts.append(f'<circle class="d" cx="{x:.1f}" cy="{y:.1f}" r="3.5"><title>{told}</title></circle>')
    return parts


def _x(index: int, count: int) -> float:
    width = _WIDTH - _LEFT - _RIGHT - 40
    return _LEFT + 20 + (width * index / (count - 1) if count > 1 else width / 2)


def _y(value: float, top: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value / top


def _told(weeks: Sequence[Figure]) -> str:
    shown = (f"{week.name} {'-' if week.rate is None else f'{week.rate:.1f}'}" for week in weeks)
    return "; ".join(shown) or "no weeks"
