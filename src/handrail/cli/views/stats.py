"""``handrail stats``: the sums, then one table."""

from __future__ import annotations

from handrail.app import Figures, Group, Stats
from handrail.cli.cells import one_line
from handrail.cli.formats import UNKNOWN, amount, count
from handrail.cli.surface import Surface
from handrail.cli.table import Column, render_table

_TOOLS_SHOWN = 8


def render_stats(found: Stats, surface: Surface, by: str, limit: int | None) -> list[str]:
    """The sums in words, and the figures by ``by``: the latest ``limit`` days, or the first ``limit`` of the others."""
    groups: tuple[Group, ...] = getattr(found, f"by_{by}")
    shown = groups if limit is None else groups[-limit:] if by == "day" else groups[:limit]
    lines = _sums(found)
    if not shown:
        return lines
    heading = f"DAY ({found.zone})" if by == "day" else by.upper()
    table = render_table(_columns(heading), [_cells(group) for group in shown], surface.terminal_width)
    lines += ["", surface.style(table[0], bold=True), *table[1:]]
    left = len(groups) - len(shown)
    return lines + ([f"and {left:,} {'earlier' if by == 'day' else 'more'}; --limit 0 shows all"] if left else [])


def _sums(found: Stats) -> list[str]:
    total = found.total
    rate = "" if total.per_100_rounds is None else f": {total.per_100_rounds} per 100 rounds"
    lines = [
        f"{count(total.sessions, 'session')}, {count(total.turns, 'turn')}, {count(total.rounds, 'round')}, "
        f"{count(total.tools, 'tool call')}",
        f"{count(total.stepins, 'step-in')}{rate}",
        f"tokens: {_tokens(total)}",
    ]
    if total.rounds_without_tokens:
        lines.append(f"no tokens on record for {count(total.rounds_without_tokens, 'round')}")
    if found.by_tool:
        used = list(found.by_tool.items())
        more = f", {len(used) - _TOOLS_SHOWN:,} more" if len(used) > _TOOLS_SHOWN else ""
        lines.append("tools: " + ", ".join(f"{one_line(name)} {times:,}" for name, times in used[:_TOOLS_SHOWN]) + more)
    if found.subagents:
        lines.append(f"{count(found.subagents, 'sub-agent')} among them")
    if found.copies:
        lines.append(f"{count(found.copies, 'copy', 'copies')} of turns and rounds counted once, where they come from")
    return lines


def _tokens(figures: Figures) -> str:
    tokens = figures.tokens
    return (
        f"{amount(tokens.input)} read, {amount(tokens.cache_read)} read from cache, "
        f"{amount(tokens.cache_write)} written to cache, {amount(tokens.output)} put out"
    )


def _columns(heading: str) -> tuple[Column, ...]:
    figures = ("SESSIONS", "TURNS", "ROUNDS", "TOOLS", "STEP-INS", "INPUT", "CACHED", "CACHE WRITES", "OUTPUT")
    return (Column(heading, flexible=True), *(Column(name, right=True) for name in figures))


def _cells(group: Group) -> list[str]:
    figures = group.figures
    counts = (figures.sessions, figures.turns, figures.rounds, figures.tools, figures.stepins)
    tokens = (
        figures.tokens.input,
        figures.tokens.cache_read,
        figures.tokens.cache_write,
        figures.tokens.output,
    )
    return [group.name or UNKNOWN, *(f"{number:,}" for number in counts), *map(amount, tokens)]
