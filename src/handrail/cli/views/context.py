"""``handrail context``: what the model of a run sees, by region."""

from __future__ import annotations

from handrail.app import Context
from handrail.cli.cells import scrub
from handrail.cli.formats import amount, count
from handrail.cli.surface import Surface
from handrail.cli.table import Column, render_table
from handrail.runs.regions.report import RegionReport

_COLUMNS = (
    Column("REGION", flexible=True),
    Column("KIND"),
    Column("TOKENS", right=True),
    Column("BUDGET", right=True),
    Column("SHARE", right=True),
    Column("ITEMS", right=True),
    Column("STATE"),
)


def render_context(found: Context, surface: Surface) -> list[str]:
    """A table of the regions with their budgets, what is used of the window, and the texts that were asked for."""
    report = found.report
    head = f"{found.blueprint or 'no blueprint'}{f', stage {report.stage}' if report.stage else ''}"
    lines = render_table(_COLUMNS, [_cells(row) for row in report.regions], surface.terminal_width)
    window = "" if report.window_tokens is None else f" of {amount(report.window_tokens)}"
    used = f"{amount(report.used_tokens)}{window} tokens, {amount(report.instructions_tokens)} of them instructions"
    reported = f"; the provider counted {amount(report.reported_tokens)}" if report.reported_tokens else ""
    return [
        head,
        surface.style(lines[0], bold=True),
        *lines[1:],
        "",
        f"{used}{reported}",
        *(line for row in report.regions if row.text for line in ("", f"── {row.name} ──", *_text(row.text))),
    ]


def _text(text: str) -> list[str]:
    return [scrub(line) for line in text.split("\n")]


def _cells(row: RegionReport) -> list[str]:
    states = (
        (not row.is_visible, "hidden"),
        (row.is_over, "over its budget"),
        (row.is_read_only, "read only"),
        (row.taint.untrusted, "untrusted"),
        (row.taint.private, "private"),
        (bool(row.hidden_items), f"{count(row.hidden_items, 'turn')} left out"),
    )
    return [
        row.name,
        row.kind,
        amount(row.tokens),
        "" if row.budget_tokens is None else amount(row.budget_tokens),
        "" if row.share is None else f"{row.share:.0%}",
        f"{row.items:,}",
        ", ".join(word for holds, word in states if holds),
    ]
