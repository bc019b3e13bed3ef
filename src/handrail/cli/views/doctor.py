"""``handrail doctor`` and ``handrail repair``: findings and changes, with their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from handrail.app import Checkup, Complaint, DoctorReport, Repaired
from handrail.cli.cells import one_line
from handrail.cli.exit_codes import ExitCode
from handrail.cli.formats import count, size
from handrail.cli.surface import Surface
from handrail.cli.views.notes import note_source
from handrail.transcripts.repair import Change, Severity

_SHOWN = 5
"""How many of a kind are shown one by one; with ``--json`` all are."""

_LOOKS = {Severity.NOTE: "cyan", Severity.DAMAGE: "yellow", Severity.UNREADABLE: "red"}


def render_doctor(found: DoctorReport, surface: Surface, *, with_notes: bool) -> Iterator[str]:
    """Session by session: what it costs, where, what helps. Then how many there are."""
    for checkup in found.sessions:
        if with_notes or checkup.severity is not Severity.NOTE:
            yield from _checkup(checkup, surface, with_notes)
            yield ""
    fine = found.checked - found.damaged - sum(c.severity is Severity.UNREADABLE for c in found.sessions)
    figures = [f"{count(found.checked, 'session')} looked at ({size(found.size_bytes)})", f"{fine:,} without damage"]
    if found.damaged:
        figures.append(f"{found.damaged:,} damaged")
    if found.unreadable:
        figures.append(f"{found.unreadable:,} could not be read")
    yield ", ".join(figures) + "."


def _checkup(checkup: Checkup, surface: Surface, with_notes: bool) -> Iterator[str]:
    source = checkup.source
    title = f" “{one_line(source.title)}”" if source.title else ""
    yield surface.style(f"{one_line(source.id)}  {source.harness}{title}", bold=True)
    yield f"  {_place(source.locator)}"
    if not checkup.findings:
        yield f"  nothing found in {count(checkup.records, 'record')}"
    shown: dict[tuple[str, Severity], list[Complaint]] = {}
    for finding in checkup.findings:
        if with_notes or finding.severity is not Severity.NOTE:
            shown.setdefault((finding.code, finding.severity), []).append(finding)
    fixes: list[str] = []
    for findings in shown.values():
        for finding in findings[:_SHOWN]:
            yield _finding(finding, surface)
        if len(findings) > _SHOWN:
            yield f"  and {len(findings) - _SHOWN:,} more of {findings[0].code}"
        fixes += (finding.fix for finding in findings if finding.fix is not None and finding.fix not in fixes)
    for fix in fixes[:_SHOWN]:
        yield f"  fix: {one_line(fix)}"


def _place(name: str) -> str:
    """``name`` of a file, or standard input where that stands for it as ``-``."""
    return "standard input" if name == "-" else one_line(name)


def _finding(finding: Complaint, surface: Surface) -> str:
    severity = surface.style(finding.severity.value, fg=_LOOKS[finding.severity])
    where = f"bytes {finding.start:,}-{finding.end:,}" if finding.end else "the file"
    return f"  {severity} {finding.code}: {one_line(finding.message)} ({where})"


def finish_doctor(found: DoctorReport, surface: Surface) -> None:
    """Say what could not be looked at, and end with the code for what was found."""
    for checkup in found.sessions if found.checked == 1 else ():
        note_source(checkup.source, surface)
    for item in found.unread[:_SHOWN]:
        surface.note(f"could not read {item.where}: {item.message}")
    if len(found.unread) > _SHOWN:
        surface.note(f"and {len(found.unread) - _SHOWN} more")
    if found.unreadable:
        raise click.exceptions.Exit(ExitCode.UNREADABLE)
    if found.damaged:
        raise click.exceptions.Exit(ExitCode.PROBLEMS)


def render_repair(done: Repaired, surface: Surface) -> Iterator[str]:
    """What was changed, by kind, with places in the original; what was given up; what a resume shows now."""
    place = "standard output" if done.out is None else one_line(done.out)
    yield f"{place}  {size(done.size_bytes)}"
    if not done.changes:
        yield "  nothing had to be changed: the copy has the same bytes"
    yield from _changes("changed", done.changes)
    if done.losses:
        yield from _changes("given up", done.losses)
    for finding in done.remaining:
        yield f"  left as it is: {finding.code}: {one_line(finding.message)}"
    yield f"  a resume shows {done.shown:,} of {count(done.turns, 'turn')} (before: {done.shown_before:,})"
    yield "  proved: no other damage is left, and every byte that no change names is the original's"


def _changes(what: str, changes: Sequence[Change]) -> Iterator[str]:
    kinds: dict[str, list[Change]] = {}
    for change in changes:
        kinds.setdefault(change.kind, []).append(change)
    for kind, own in kinds.items():
        for change in own[:_SHOWN]:
            yield f"  {what} {kind}: {one_line(change.message)} (bytes {change.start:,}-{change.end:,})"
        if len(own) > _SHOWN:
            yield f"  and {len(own) - _SHOWN:,} more of {kind}"


def finish_repair(done: Repaired, surface: Surface) -> None:
    """Say whose file it was taken for."""
    note_source(done.source, surface)
