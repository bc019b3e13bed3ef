"""Notes that several commands end with: what could not be read, what was lost, whose file it was taken for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click

from handrail.app import DamagedSession, Source, Written
from handrail.cli.exit_codes import ExitCode
from handrail.cli.formats import count, size
from handrail.cli.surface import Surface
from handrail.library import Unread
from handrail.transcripts.codec import Fault, LossItem

_SHOWN = 5
_SURE = 0.9


def finish_unread(unread: Sequence[Unread], surface: Surface) -> None:
    """Say what could not be read and end with the code for it; nothing when all was."""
    if not unread:
        return
    for item in unread[:_SHOWN]:
        surface.note(f"could not read {item.where}: {item.message}")
    if len(unread) > _SHOWN:
        surface.note(f"and {len(unread) - _SHOWN} more")
    raise click.exceptions.Exit(ExitCode.UNREADABLE)


def note_source(source: Source, surface: Surface) -> None:
    """Say whose session a file was taken for when that is not certain."""
    if source.confidence is not None and source.confidence < _SURE:
        where = "standard input" if source.locator == "-" else source.locator
        surface.note(f"{where} was read as {source.harness} ({source.confidence:.0%} sure); --from names another")


def note_faults(faults: Sequence[Fault], surface: Surface, see: str | None = None) -> None:
    """Say where records could not be read; ``see`` is the command that says what that costs."""
    if not faults:
        return
    surface.note(f"{count(len(faults), 'place')} in the source could not be read:")
    for fault in faults[:_SHOWN]:
        where = f"{fault.part} " if fault.part else ""
        surface.note(f"  {where}bytes {fault.start:,}-{fault.end:,}: {fault.message}")
    if len(faults) > _SHOWN:
        surface.note(f"  and {len(faults) - _SHOWN} more")
    if see is not None:
        surface.note(f"  `{see}` says what that costs")


def note_damaged(damaged: Sequence[DamagedSession], surface: Surface, *, of_all: bool) -> None:
    """Say in a line how much could not be read, and which command tells more.

    ``of_all``: all sessions of the machine were looked at, as that command can do it too.
    """
    if not damaged:
        return
    first = damaged[0]
    where = "standard input" if first.short_id == "-" else first.short_id
    command, of_which = first.see, ""
    if len(damaged) > 1:
        where = count(len(damaged), "session")
        command, of_which = ("handrail doctor", "") if of_all else (first.see, " in the first")
    places = count(sum(session.places for session in damaged), "place")
    surface.note(f"{places} in {where} could not be read; `{command}` says what that costs{of_which}")


def note_loss(loss: Sequence[LossItem], target: str, surface: Surface) -> None:
    """Say what the target could not carry, counted by what and why."""
    if not loss:
        return
    surface.note(f"what {target} could not carry:")
    for (what, why), times in Counter((item.what, item.why) for item in loss).most_common():
        surface.note(f"  {what} ({times:,}): {why}")


def finish_written(written: Written, surface: Surface) -> None:
    """Say what was written and what was not; ends with the code for problems when records were damaged."""
    for name in written.files:
        surface.note(f"wrote {name}")
    surface.note(f"{count(written.messages, 'message')}, {size(written.size_bytes)}, as {written.harness}")
    if written.left_out:
        surface.note(f"{count(len(written.left_out), 'sub-agent file')} left out: give a folder to --out to keep them")
    if written.subagents_left_out:
        surface.note(f"{count(written.subagents_left_out, 'sub-agent')} not carried over")
    finish_draft(written.source, written.loss, written.faults, written.harness, surface)


def finish_draft(
    source: Source, loss: Sequence[LossItem], faults: Sequence[Fault], target: str, surface: Surface
) -> None:
    """The notes of a conversion, and the code for problems when records of the source were damaged."""
    note_source(source, surface)
    note_loss(loss, target, surface)
    note_faults(faults, surface)
    if faults:
        raise click.exceptions.Exit(ExitCode.PROBLEMS)
